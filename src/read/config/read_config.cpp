#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/config.hpp"
#include "read/config/reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace llmcalc::read {
namespace {

using formats::Quant;

/// The type in which the checkpoint's weights are, as far as its quantization_config says so in words that are known.
std::optional<Found<Quant>> published_quant(const ConfigReader& reader) {
  const auto block = quantization_of(reader.document());
  if (!block) return std::nullopt;
  const auto stored = stored_quant(keys_of(*block, reader.object()));
  if (!stored || !stored->quant) return std::nullopt;
  return Found<Quant>{*stored->quant, block->text("quant_method ?? quant_algo")->pointer};
}

constexpr Range layer_counts{0, 2048};

constexpr std::string_view mtp_layers =
    "num_nextn_predict_layers ?? mtp_num_hidden_layers ?? n_predict ?? num_mtp_modules";
constexpr std::string_view dropouts =
    "resid_pdrop ?? hidden_dropout ?? hidden_dropout_prob ?? dropout ?? dropout_rate ?? residual_dropout";

/// Parts that a file says and the shape of its text model leaves out.
void note_what_is_left_out(ConfigReader& reader) {
  const ConfigObject& root = reader.document().root();
  const ConfigObject& text = reader.object();
  if (root.has("auto_map")) {
    reader.note("the model's own code (auto_map) is not read, " + reader.family().source() + " stands for it");
  }
  if (root.has(tower_keys) && reader.shape().towers.empty()) {
    reader.note("the vision or audio tower and its projector are not counted");
  }
  if (const auto mtp = text.integer(mtp_layers, layer_counts); mtp && mtp->value > 0) {
    reader.note(fmt::format("{} multi-token-prediction layer(s) are not counted", mtp->value));
  }
  const auto says = [&](std::string_view keys) {
    const auto found = text.boolean(keys);
    return found && found->value;
  };
  const bool latent = reader.shape().latent.kv_rank > 0;
  if (latent && says("attention_bias")) reader.note("the biases of latent attention are not counted");
  if (says("qk_layernorm ?? attn_config.qk_ln")) reader.note("the norms of queries and keys are not counted");
  if (quantization_of(reader.document()) && !published_quant(reader)) {
    reader.note("the checkpoint is quantized in a way that is not known; its weights are taken to be in 16 bits");
  }
  if (const auto dropout = text.number(dropouts); dropout && dropout->value > 0.0) {
    reader.note(
        fmt::format("the file trains with dropout {}; the shape has none until the question says so", dropout->value));
  }
}

/// The text model's family, with what the description of its wrapper says on top.
Family family_of(const Families& families, const ConfigDocument& document, const std::optional<Family>& wrapper,
                 std::string_view as) {
  Family family = families.of(document, as);
  return wrapper ? family.with(*wrapper) : family;
}

[[noreturn]] void refuse_wrapper(const ConfigReader& reader, const std::string& pointer, std::string_view problem) {
  throw quantity::BadInput(reader.document().at(pointer), std::string(problem),
                           "--as " + reader.family().id() + " reads the text model alone");
}

/// Parts that no description covers are not left out in silence: a tower, or whatever stands around the text model.
void refuse_unknown_wrapper(const Families& families, const ConfigReader& reader) {
  const ConfigObject& root = reader.document().root();
  if (const auto tower = root.any(tower_keys)) {
    refuse_wrapper(reader, tower->pointer, "is a tower that no description of a family covers");
  }
  const auto type = root.text("model_type");
  if (reader.document().is_nested() && type && !families.named(type->value)) {
    refuse_wrapper(reader, type->pointer, "'" + type->value + "' is not a model type we know, only its text model is");
  }
}

}  // namespace

ConfigShape read_config(std::string_view json, std::string_view place, const ConfigReading& reading) {
  const ConfigDocument document(json, place);
  const Families families(reading.families);
  const auto wrapper = reading.as.empty() ? families.wrapper_of(document) : std::nullopt;
  const Family family = family_of(families, document, wrapper, reading.as);
  ConfigReader reader(document, family);
  read_shape(reader);
  if (wrapper) read_towers(families, *wrapper, reader);
  if (!wrapper && reading.as.empty()) refuse_unknown_wrapper(families, reader);
  note_what_is_left_out(reader);
  if (!reading.as.empty()) reader.note("the file was read as " + reading.as + ", whatever model_type it names");

  spec::Shape shape = reader.shape();
  const auto name = document.root().text("_name_or_path");
  shape.family = wrapper ? wrapper->id() : family.id();
  shape.name = name && !name->value.empty() ? name->value : family.id();
  auto origins = reader.take_origins();
  const auto quant = published_quant(reader);
  if (quant) origins.push_back({"quant", quant->pointer});
  return {std::move(shape),    quant ? std::optional(quant->value) : std::nullopt,
          std::move(origins),  reader.take_images(),
          reader.take_notes(), unread_keys(families, reader, wrapper)};
}

spec::Writing writing_of(const Family& family) {
  const ConfigDocument nothing("{}", "no file");
  ConfigReader reader(nothing, family);
  for (const auto& field : word_fields()) reader.read(field);
  for (const auto& field : switch_fields()) reader.read(field);
  if (family.field("activation") != nullptr) read_activation(reader);
  return reader.shape().writing;
}

// Keys of a file that nobody knows: what they say may be a size that the answer leaves out.

namespace {

using nlohmann::json;

/// Parts of a description that hold no expressions.
constexpr std::array<std::string_view, 6> prose = {"id", "aliases", "source", "about", "like", "harmless"};

/// Where the keys that belong to no family stand: presets/families/keys.json.
constexpr std::string_view common_keys = "(keys)";

using KeySet = std::set<std::string, std::less<>>;

bool is_key_char(char c) { return quantity::is_name_char(c) || c == '.'; }

/// The steps of every key that an expression names, of "text.hidden_size" both; what else it names does no harm.
void add_names_in(std::string_view expression, KeySet& names) {
  while (!expression.empty()) {
    const auto end = std::ranges::find_if_not(expression, is_key_char) - expression.begin();
    for (const auto step : quantity::pieces_of(expression.substr(0, static_cast<std::size_t>(end)), ".")) {
      names.emplace(step);
    }
    expression.remove_prefix(std::min(expression.size(), static_cast<std::size_t>(end) + 1));
  }
}

void add_names(const json& description, KeySet& names) {
  if (description.is_string()) return add_names_in(description.get_ref<const std::string&>(), names);
  if (!description.is_structured()) return;
  for (const auto& [part, value] : description.items()) {
    if (!description.is_object() || !quantity::contains(prose, part)) add_names(value, names);
  }
}

/// "*_token_id", "mask_time_*", "*dropout*".
bool matches(std::string_view key, std::string_view pattern) {
  const bool open_end = pattern.ends_with('*');
  if (open_end) pattern.remove_suffix(1);
  if (!pattern.starts_with('*')) return open_end ? key.starts_with(pattern) : key == pattern;
  pattern.remove_prefix(1);
  return open_end ? key.find(pattern) != std::string_view::npos : key.ends_with(pattern);
}

/// A key that is switched off, or holds nothing, says nothing.
bool says_something(const json& value) {
  const bool off = value.is_boolean() && !value.get<bool>();
  const bool empty = (value.is_structured() || value.is_null()) && value.empty();
  return !off && !empty && value != "";
}

/// Keys that a file may say without a word of it being left out.
class KnownKeys {
 public:
  void add(const Family& family) {
    add_names(family.description(), names_);
    const auto harmless = family.description().find("harmless");
    if (harmless == family.description().end()) return;
    for (const json& words : *harmless) patterns_.push_back(words.get<std::string>());
  }

  void list_others(const Found<const json*>& object, std::vector<std::string>& unread) const {
    for (const auto& [key, value] : object.value->items()) {
      if (says_something(value) && !knows(key)) unread.push_back(object.pointer + "/" + key);
    }
  }

 private:
  bool knows(std::string_view key) const {
    const auto is_one = [key](std::string_view pattern) { return matches(key, pattern); };
    return names_.contains(key) || std::ranges::any_of(patterns_, [&](std::string_view words) {
             return std::ranges::any_of(quantity::pieces_of(words, " "), is_one);
           });
  }

  KeySet names_;
  std::vector<std::string> patterns_;
};

/// The towers of a wrapper: of the type that its description names, or the file.
void add_towers(const Families& families, const Family& wrapper, const ConfigDocument& document, KnownKeys& known) {
  for (const json& part : wrapper.description().at("towers")) {
    const auto type = document.part(part.value("at", std::string())).text("model_type");
    for (const auto& name : {part.value("like", std::string()), type ? type->value : std::string()}) {
      if (const auto family = families.named(name)) known.add(*family);
    }
  }
}

}  // namespace

std::vector<std::string> unread_keys(const Families& families, const ConfigReader& reader,
                                     const std::optional<Family>& wrapper) {
  KnownKeys known;
  if (const auto common = families.named(common_keys)) known.add(*common);
  known.add(reader.family());
  if (wrapper) {
    known.add(*wrapper);
    add_towers(families, *wrapper, reader.document(), known);
  }
  std::vector<std::string> unread;
  known.list_others(reader.object().whole(), unread);
  if (wrapper && reader.document().is_nested()) known.list_others(reader.document().root().whole(), unread);
  return unread;
}

}  // namespace llmcalc::read
