#include "quantity/lists.hpp"
#include "read/config.hpp"
#include "read/presets/entry.hpp"
#include "read/presets/fields.hpp"
#include "read/presets/shape.hpp"

namespace llmcalc::read {
namespace {

constexpr Field<PublishedSize> size_fields[] = {
    {"exact", set<&PublishedSize::exact>},
    {"counted", set<&PublishedSize::counted>},
    {"active", set<&PublishedSize::active>},
    {"text", set<&PublishedSize::text>},
    {"active_text", set<&PublishedSize::active_text>},
    {"check", set<&PublishedSize::check>},
    {"source", set<&PublishedSize::source>},
    {"evidence", set<&PublishedSize::evidence>},
};

constexpr Field<CheckpointSize> checkpoint_fields[] = {
    {"total", set<&CheckpointSize::total>},
    {"vision_and_projector", set<&CheckpointSize::vision_and_projector>},
    {"mtp_unique", set<&CheckpointSize::mtp_unique>},
    {"mtp_with_copies", set<&CheckpointSize::mtp_with_copies>},
    {"fp8_scales", set<&CheckpointSize::fp8_scales>},
};

constexpr Field<TrainingRecord> training_fields[] = {
    {"tokens", set<&TrainingRecord::tokens>},
    {"source", set<&TrainingRecord::source>},
    {"hardware", set<&TrainingRecord::hardware>},
    {"gpu_hours", set<&TrainingRecord::gpu_hours>},
    {"gpu_hours_source", set<&TrainingRecord::gpu_hours_source>},
    {"verification", set<&TrainingRecord::verification>},
};

constexpr Field<ShapeSources> source_fields[] = {
    {"read", set<&ShapeSources::read>},
    {"cited", set<&ShapeSources::cited>},
    {"disagreeing", set<&ShapeSources::disagreeing>},
};

template <auto member, const auto& fields>
void set_group(ModelPreset& preset, const JsonPlace& value) {
  read_fields(preset.*member, value, fields);
}

/// A variation says only the keys in which its config.json differs. What a file says is null is not what it leaves out:
/// a patch drops it (RFC 7396), a whole file keeps it.
void merge_config(ModelPreset& preset, const JsonPlace& value) {
  value.keys();
  auto merged = preset.config.empty() ? value.value() : nlohmann::json::parse(preset.config);
  if (!preset.config.empty()) merged.merge_patch(value.value());
  preset.config = merged.dump();
}

constexpr Field<ModelPreset> record_fields[] = {
    {"id", [](ModelPreset& preset, const JsonPlace& value) { preset.id = read_name(value); }},
    {"base", set<&ModelPreset::base>},
    {"aliases", [](ModelPreset& preset, const JsonPlace& value) { preset.aliases = read_names(value); }},
    {"hf_id", [](ModelPreset& preset, const JsonPlace& value) { preset.hf_id = read_name(value); }},
    {"family", set<&ModelPreset::family>},
    {"license", set<&ModelPreset::license>},
    {"config", merge_config},
    {"quant", [](ModelPreset& preset, const JsonPlace& value) { assign(preset.quant.emplace(), value); }},
    {"quant_group", set<&ModelPreset::quant_group>},
    {"quant_not_of", [](ModelPreset& preset, const JsonPlace& value) { preset.quant_not_of = value.string(); }},
    {"size", set_group<&ModelPreset::published, size_fields>},
    {"checkpoint", set_group<&ModelPreset::checkpoint, checkpoint_fields>},
    {"training", set_group<&ModelPreset::training, training_fields>},
    {"sources", set_group<&ModelPreset::sources, source_fields>},
    {"notes", [](ModelPreset& preset, const JsonPlace& value) { preset.notes = value.sentences(); }},
};

std::vector<Field<ModelPreset>> all_fields() {
  std::vector<Field<ModelPreset>> fields(std::begin(record_fields), std::end(record_fields));
  quantity::append(fields, shape_fields());
  return fields;
}

void refuse_fields_beside_config(const JsonPlace& entry) {
  for (const auto& field : shape_fields()) {
    const std::string key(field.key);
    if (!entry.has(key)) continue;
    entry.member(key).fail("the shape is read from a config.json", "say it under \"config\", by its key there");
  }
}

/// The shape of a model whose public config.json the entry carries is what such a file of a person would be read as.
void read_public_config(ModelPreset& preset, const JsonPlace& entry, const std::vector<PresetFile>& families) {
  refuse_fields_beside_config(entry);
  const std::string place = entry.has("config") ? entry.member("config").text() : entry.text();
  ConfigShape read = read_config(preset.config, place, {"", families});
  preset.shape = std::move(read.shape);
  preset.images = std::move(read.images);
  if (!preset.quant) preset.quant = read.quant;
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
