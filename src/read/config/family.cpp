#include "read/config/family.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/config/fields.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/fields.hpp"
#include "read/presets/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::read {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 22> parts = {
    "id",       "aliases",   "architecture", "like",     "source", "about",     "text",         "class",
    "defaults", "let",       "shape",        "layer",    "towers", "positions", "patch_inputs", "patch_bias",
    "merged",   "projector", "refuses",      "left_out", "image",  "harmless"};

/// Longer chains of "like" than any that makes sense end those that go round.
constexpr std::size_t longest_chain = 8;

void check_fields(const JsonPlace& entry, const std::string& part, std::span<const std::string_view> known) {
  if (!entry.has(part)) return;
  const JsonPlace fields = entry.member(part);
  for (const std::string& name : fields.keys()) {
    if (!quantity::contains(known, name)) fail_unknown_key(fields, name, known);
  }
}

bool is_called(const Families::Entry& entry, std::string_view name) {
  const auto same = [name](const std::string& mine) { return same_name(mine, name); };
  return same(entry.id) || std::ranges::any_of(entry.aliases, same);
}

bool is_called(const EmbeddedFamily& entry, std::string_view name) {
  return PresetNames{entry.id, split_aliases(entry.aliases), {}}.contains(name);
}

std::optional<Families::Entry> embedded_entry(std::string_view name) {
  const auto is_it = [&](const EmbeddedFamily& each) { return is_called(each, name); };
  const auto* entry = quantity::find_if_or_null(embedded_families(), is_it);
  if (entry == nullptr) return std::nullopt;
  return Families::Entry{std::string(entry->id), {}, std::string(entry->file), json::parse(entry->json)};
}

/// What an entry says on top of what it inherits: its fields one by one, other parts as a whole.
json merged(json base, const json& entry) {
  for (const auto& [part, value] : entry.items()) {
    const bool by_field = value.is_object() && base.contains(part) && base[part].is_object();
    if (by_field) {
      for (const auto& [name, field] : value.items()) base[part][name] = field;
    } else {
      base[part] = value;
    }
  }
  return base;
}

}  // namespace

std::string Family::at(std::string_view part, std::string_view name) const {
  return fmt::format("{}: {} /{}/{}", file_, id_, part, name);
}

const json* Family::inside(std::string_view part, std::string_view name) const {
  const auto fields = description_.find(part);
  if (fields == description_.end()) return nullptr;
  const auto field = fields->find(name);
  return field == fields->end() ? nullptr : &*field;
}

Family Family::with(const Family& around) const {
  json fields = json::object();
  for (const auto part : {"shape", "layer", "let", "class", "defaults", "refuses"}) {
    if (around.description_.contains(part)) fields[part] = around.description_[part];
  }
  return Family(id_, file_, merged(description_, fields));
}

Families::Entry read_family_entry(const JsonPlace& entry) {
  for (const std::string& part : entry.keys()) {
    if (!quantity::contains(parts, part)) fail_unknown_key(entry, part, parts);
  }
  if (!entry.has("id")) entry.fail("the family needs an \"id\": its model_type");
  check_fields(entry, "shape", shape_field_names());
  check_fields(entry, "layer", layer_field_names());
  Families::Entry read{read_name(entry.member("id")), {}, std::string(entry.file()), entry.value()};
  if (entry.has("like")) read_name(entry.member("like"));
  if (entry.has("aliases")) read.aliases = read_names(entry.member("aliases"));
  return read;
}

Families::Families(const std::vector<PresetFile>& users) {
  for (const auto& file : users) {
    const PresetDocument document(file.text, file.path);
    for (const JsonPlace& entry : document.entries()) users_.push_back(read_family_entry(entry));
  }
}

/// The latest of the user's comes first, so that it overrides.
std::optional<Families::Entry> Families::entry(std::string_view name) const {
  const auto* own = quantity::find_last_if_or_null(users_, [name](const Entry& one) { return is_called(one, name); });
  return own != nullptr ? std::optional(*own) : embedded_entry(name);
}

std::optional<Family> Families::named(std::string_view model_type) const {
  if (model_type.empty()) return std::nullopt;
  std::vector<Entry> chain;
  std::string name(model_type);
  while (!name.empty()) {
    auto one = entry(name);
    if (!one && chain.empty()) return std::nullopt;
    if (!one || chain.size() == longest_chain) {
      const auto problem =
          fmt::format("'{}' is like '{}', which {}", chain.back().id, name, one ? "goes round" : "is no family");
      throw quantity::BadInput(chain.back().file, problem);
    }
    name = one->value.value("like", std::string());
    chain.push_back(*std::move(one));
  }
  json description = json::object();
  for (auto one = chain.rbegin(); one != chain.rend(); ++one) description = merged(std::move(description), one->value);
  return Family(chain.front().id, chain.front().file, std::move(description));
}

Family Families::inheriting(const json& description, std::string id, std::string file) const {
  const std::string base = description.value("like", std::string());
  const auto inherited = base.empty() ? std::nullopt : named(base);
  if (!base.empty() && !inherited)
    throw quantity::BadInput(file, fmt::format("'{}' is like no family: '{}'", id, base));
  return Family(std::move(id), std::move(file),
                merged(inherited ? inherited->description() : json::object(), description));
}

}  // namespace llmcalc::read
