#include "read/config/family.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "read/config/document.hpp"
#include "read/config/expression.hpp"
#include "read/config/reader.hpp"
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

/// Fields that an entry says on top of what it inherits: its fields one by one, other parts as a whole.
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

// Which family a file belongs to.

namespace {

/// "Llama" is the architecture of LlamaForCausalLM and of LlamaModel.
bool is_class_of(std::string_view class_name, std::string_view architecture) {
  if (architecture.empty() || !class_name.starts_with(architecture)) return false;
  const auto rest = class_name.substr(architecture.size());
  return rest.starts_with("For") || rest == "Model" || rest == "LMHeadModel";
}

std::string_view family_of_class(std::string_view class_name) {
  const auto is_of_it = [&](const auto& entry) { return is_class_of(class_name, entry.architecture); };
  const auto* entry = quantity::find_if_or_null(embedded_families(), is_of_it);
  return entry == nullptr ? std::string_view() : entry->id;
}

/// Keys that the file of a Llama-like decoder must say, each with what it holds.
std::string lacking_keys(const ConfigDocument& document, const Family& decoder) {
  std::string lacking;
  for (const auto term : {"hidden", "layers", "heads", "ffn", "vocab"}) {
    const auto* described = decoder.field(term);
    const std::string keys = described->get<std::string>();
    if (document.text_model().has(keys)) continue;
    lacking += fmt::format("{}'{}' ({})", lacking.empty() ? "" : ", ", first_key(keys), term);
  }
  return lacking;
}

[[noreturn]] void refuse_unknown(const Families& families, const ConfigDocument& document,
                                 const Found<std::string>& model_type) {
  std::vector<std::string_view> names;
  for (const auto& entry : embedded_families()) names.push_back(entry.id);
  const std::string lacking = lacking_keys(document, *families.named("llama"));
  std::string hint = quantity::did_you_mean(model_type.value, names);
  if (lacking.empty()) hint += std::string(hint.empty() ? "" : "; ") + "--as llama reads it as one";
  throw quantity::BadInput(document.at(model_type.pointer),
                           fmt::format("'{}' is not a model type we know; as a Llama-like decoder the file {}",
                                       model_type.value, lacking.empty() ? "has every key" : "lacks " + lacking),
                           hint);
}

}  // namespace

std::optional<Family> Families::wrapper_of(const ConfigDocument& document) const {
  const auto outer = document.root().text("model_type");
  auto family = outer ? named(outer->value) : std::nullopt;
  return family && family->description().contains("towers") ? family : std::nullopt;
}

namespace {

Family asked_for(const Families& families, std::string_view as) {
  if (auto family = families.named(as)) return *std::move(family);
  throw quantity::BadInput("--as", fmt::format("'{}' is not a model type we know", as),
                           quantity::did_you_mean(as, quantity::mapped(embedded_families(), &EmbeddedFamily::id)));
}

/// Names that the text model of a file may be known by, the nearest first.
std::vector<std::string> names_of(const ConfigDocument& document, const std::optional<Family>& wrapper) {
  std::vector<std::string> names;
  const auto add = [&](const auto& found) {
    if (found) names.push_back(found->value);
  };
  if (document.is_nested()) add(document.text_model().text("model_type"));
  if (wrapper && wrapper->description().contains("text")) {
    names.push_back(wrapper->description().at("text").get<std::string>());
  }
  add(document.root().text("model_type"));
  return names;
}

/// By the class that a file without a known type names; empty where none is known either.
std::string_view class_family(const ConfigDocument& document) {
  const auto classes = document.root().texts("architectures");
  if (!classes) return {};
  for (const auto& name : classes->value) {
    if (const std::string_view id = family_of_class(name); !id.empty()) return id;
  }
  return {};
}

}  // namespace

Family Families::of(const ConfigDocument& document, std::string_view as) const {
  if (!as.empty()) return asked_for(*this, as);
  for (const auto& name : names_of(document, wrapper_of(document))) {
    if (auto family = named(name)) return *std::move(family);
  }
  if (const auto id = class_family(document); !id.empty()) return *named(id);
  const auto inner = document.text_model().text("model_type");
  const auto outer = document.root().text("model_type");
  if (inner) refuse_unknown(*this, document, *inner);
  if (outer) refuse_unknown(*this, document, *outer);
  throw quantity::BadInput(document.at("/model_type"), "is missing, and no known class stands under 'architectures'",
                           "a config.json of transformers says \"model_type\": \"llama\" or the like");
}

}  // namespace llmcalc::read
