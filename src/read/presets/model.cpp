#include "quantity/lists.hpp"
#include "read/config.hpp"
#include "read/presets/fields.hpp"

namespace llmcalc::read {
namespace {

using spec::LatentShape;
using spec::LinearAttentionShape;
using spec::MoeShape;
using spec::Shape;
using spec::WindowPattern;

template <auto... members>
void in_shape(ModelPreset& preset, const JsonPlace& value) {
  set<members...>(preset.shape, value);
}

template <auto member>
void set_layers(ModelPreset& preset, const JsonPlace& value) {
  preset.shape.*member = value.integer(max_layers);
}

constexpr Field<ModelPreset> fields[] = {
#include "fields/model_shape.inc"
};

void require(std::int64_t value, std::string_view key, const JsonPlace& entry) {
  if (value > 0) return;
  entry.fail("the model needs a positive \"" + std::string(key) + "\"",
             "or name a preset that it varies: \"base\": \"llama-3-8b\"");
}

void complete_shape(spec::Shape& shape, const JsonPlace& entry) {
  require(shape.layers, "layers", entry);
  require(shape.hidden, "hidden", entry);
  require(shape.heads, "heads", entry);
  require(shape.vocab, "vocab", entry);
  if (shape.moe.experts == 0) require(shape.ffn, "ffn", entry);
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.head_dim > 0) return;
  if (shape.hidden % shape.heads != 0) {
    entry.fail(
        "\"hidden\" " + std::to_string(shape.hidden) + " is not a multiple of \"heads\" " + std::to_string(shape.heads),
        "say the width of one head: \"head_dim\"");
  }
  shape.head_dim = shape.hidden / shape.heads;
}

/// A variation says only the keys in which its config.json differs. What a file says is null is not what it leaves out:
/// a patch drops it (RFC 7396), a whole file keeps it.
void merge_config(ModelPreset& preset, const JsonPlace& value) {
  value.keys();
  auto merged = preset.config.empty() ? value.value() : nlohmann::json::parse(preset.config);
  if (!preset.config.empty()) merged.merge_patch(value.value());
  preset.config = merged.dump();
}

/// Values of repositories among the aliases, each by its name.
template <class Value, class Read>
void read_by_alias(const ModelPreset& preset, const JsonPlace& value, const Read& read,
                   std::vector<std::pair<std::string, Value>>& values) {
  const std::vector<std::string_view> known(preset.aliases.begin(), preset.aliases.end());
  for (const std::string& repository : value.keys()) {
    if (!quantity::contains(known, repository)) fail_unknown_key(value, repository, known);
    values.emplace_back(repository, read(value.member(repository)));
  }
}

void read_positions(ModelPreset& preset, const JsonPlace& value) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  const auto read = [](const JsonPlace& positions) { return positions.integer(longest, 1); };
  read_by_alias(preset, value, read, preset.max_position_of);
}

void read_weights(ModelPreset& preset, const JsonPlace& value) {
  const auto read = [](const JsonPlace& weights) {
    PublishedWeights of_repository;
    constexpr Field<PublishedWeights> weights_fields[] = {{"quant", set<&PublishedWeights::quant>},
                                                          {"quant_group", set<&PublishedWeights::group>}};
    read_fields(of_repository, weights, weights_fields);
    if (of_repository.quant == formats::Quant::bf16) of_repository.quant.reset();
    return of_repository;
  };
  read_by_alias(preset, value, read, preset.quant_of);
}

constexpr Field<ModelPreset> record_fields[] = {
#include "fields/model.inc"
};

std::vector<Field<ModelPreset>> all_fields() {
  std::vector<Field<ModelPreset>> all(std::begin(record_fields), std::end(record_fields));
  quantity::append(all, fields);
  return all;
}

void refuse_fields_beside_config(const JsonPlace& entry) {
  for (const auto& field : fields) {
    const std::string name(field.key.substr(0, field.key.find('/')));
    if (!entry.has(name)) continue;
    entry.member(name).fail("the shape is read from a config.json", "say it under \"config\", by its key there");
  }
}

/// The shape of a model whose public config.json the entry carries is what such a file of a person would be read as.
void read_public_config(ModelPreset& preset, const JsonPlace& entry, const std::vector<PresetFile>& families) {
  refuse_fields_beside_config(entry);
  const std::string place = entry.has("config") ? entry.member("config").text() : entry.text();
  ConfigShape read = read_config(preset.config, place, {"", families});
  preset.shape = std::move(read.shape);
  preset.images = std::move(read.images);
  if (!preset.weights.quant) preset.weights.quant = read.quant;
}

}  // namespace

ModelPreset read_model_entry(const JsonPlace& entry, const ModelPreset* base, const std::vector<PresetFile>& families) {
  ModelPreset preset;
  if (base != nullptr) {  // the shape is inherited; what was published of the base is not true of the variation
    preset.shape = base->shape;
    preset.config = base->config;
    preset.images = base->images;
    preset.family = base->family;
    preset.license = base->license;
  }
  preset.file = entry.file();
  read_fields(preset, entry, all_fields());
  if (preset.id.empty()) entry.fail("the model needs an \"id\"");
  if (preset.config.empty()) {
    complete_shape(preset.shape, entry);
  } else {
    read_public_config(preset, entry, families);
  }
  preset.shape.name = preset.id;
  return preset;
}

PresetNames names_of(const ModelPreset& preset) {
  return {preset.id, {preset.aliases.begin(), preset.aliases.end()}, preset.hf_id};
}

}  // namespace llmcalc::read
