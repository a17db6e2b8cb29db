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

constexpr Field<WindowPattern> window_fields[] = {
    {"tokens", set<&WindowPattern::window>},
    {"full_every", set<&WindowPattern::full_every>},
    {"chunked", set<&WindowPattern::chunked>},
};

constexpr Field<LatentShape> latent_fields[] = {
    {"q_rank", set<&LatentShape::q_rank>},
    {"kv_rank", set<&LatentShape::kv_rank>},
    {"qk_nope_dim", set<&LatentShape::qk_nope_dim>},
    {"qk_rope_dim", set<&LatentShape::qk_rope_dim>},
    {"v_dim", set<&LatentShape::v_dim>},
    {"index_heads", set<&LatentShape::index_heads>},
    {"index_dim", set<&LatentShape::index_dim>},
    {"index_top_k", set<&LatentShape::index_top_k>},
};

constexpr Field<LinearAttentionShape> linear_fields[] = {
    {"full_every", set<&LinearAttentionShape::full_every>},   {"key_heads", set<&LinearAttentionShape::key_heads>},
    {"value_heads", set<&LinearAttentionShape::value_heads>}, {"key_dim", set<&LinearAttentionShape::key_dim>},
    {"value_dim", set<&LinearAttentionShape::value_dim>},     {"conv_kernel", set<&LinearAttentionShape::conv_kernel>},
    {"wide_state", set<&LinearAttentionShape::wide_state>},
};

constexpr Field<ModelPreset> fields[] = {
    {"stack", in_shape<&Shape::stack>},
    {"layers", set_layers<&Shape::layers>},
    {"decoder_layers", set_layers<&Shape::decoder_layers>},
    {"hidden", in_shape<&Shape::hidden>},
    {"heads", in_shape<&Shape::heads>},
    {"kv_heads", in_shape<&Shape::kv_heads>},
    {"head_dim", in_shape<&Shape::head_dim>},
    {"ffn", in_shape<&Shape::ffn>},
    {"vocab", in_shape<&Shape::vocab>},
    {"max_position", in_shape<&Shape::max_position>},
    {"mlp", in_shape<&Shape::mlp>},
    {"norm", in_shape<&Shape::norm>},
    {"position", in_shape<&Shape::position>},
    {"position_rows", in_shape<&Shape::position_rows>},
    {"relative_buckets", in_shape<&Shape::relative_buckets>},
    {"norms_per_layer", in_shape<&Shape::norms_per_layer>},
    {"final_norm", in_shape<&Shape::final_norm>},
    {"embedding_norm", in_shape<&Shape::embedding_norm>},
    {"embedding_width", in_shape<&Shape::embedding_width>},
    {"tied", in_shape<&Shape::tied>},
    {"parallel_residual", in_shape<&Shape::parallel_residual>},
    {"qkv_bias", in_shape<&Shape::qkv_bias>},
    {"out_bias", in_shape<&Shape::out_bias>},
    {"mlp_bias", in_shape<&Shape::mlp_bias>},
    {"head_bias", in_shape<&Shape::head_bias>},
    {"qk_norm", in_shape<&Shape::qk_norm>},
    {"output_gate", in_shape<&Shape::output_gate>},
    {"attention_sinks", in_shape<&Shape::attention_sinks>},
    {"xl_projection", in_shape<&Shape::xl_projection>},
    {"token_types", in_shape<&Shape::token_types>},
    {"pooler", in_shape<&Shape::pooler>},
    {"window", set_group<window_fields, &ModelPreset::shape, &Shape::window>},
    {"latent", set_group<latent_fields, &ModelPreset::shape, &Shape::latent>},
    {"linear", set_group<linear_fields, &ModelPreset::shape, &Shape::linear>},
    {"experts", in_shape<&Shape::moe, &MoeShape::experts>},
    {"top_k", in_shape<&Shape::moe, &MoeShape::top_k>},
    {"expert_ffn", in_shape<&Shape::moe, &MoeShape::expert_ffn>},
    {"shared_ffn", in_shape<&Shape::moe, &MoeShape::shared_ffn>},
    {"dense_layers", in_shape<&Shape::moe, &MoeShape::dense_layers>},
    {"moe_every", in_shape<&Shape::moe, &MoeShape::every>},
    {"router_bias", in_shape<&Shape::moe, &MoeShape::router_bias>},
    {"expert_bias", in_shape<&Shape::moe, &MoeShape::expert_bias>},
    {"correction_bias", in_shape<&Shape::moe, &MoeShape::correction_bias>},
    {"shared_gate", in_shape<&Shape::moe, &MoeShape::shared_gate>},
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

/// A variation says only the keys in which its config.json differs. What a file says is null is not what it leaves out:
/// a patch drops it (RFC 7396), a whole file keeps it.
void merge_config(ModelPreset& preset, const JsonPlace& value) {
  value.keys();
  auto merged = preset.config.empty() ? value.value() : nlohmann::json::parse(preset.config);
  if (!preset.config.empty()) merged.merge_patch(value.value());
  preset.config = merged.dump();
}

constexpr Field<PublishedWeights> weights_fields[] = {
    {"quant", set<&PublishedWeights::quant>},
    {"quant_group", set<&PublishedWeights::group>},
};

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
    read_fields(of_repository, weights, std::span<const Field<PublishedWeights>>(weights_fields));
    if (of_repository.quant == formats::Quant::bf16) of_repository.quant.reset();
    return of_repository;
  };
  read_by_alias(preset, value, read, preset.quant_of);
}

constexpr Field<ModelPreset> record_fields[] = {
    {"id", [](ModelPreset& preset, const JsonPlace& value) { preset.id = read_name(value); }},
    {"base", set<&ModelPreset::base>},
    {"aliases", [](ModelPreset& preset, const JsonPlace& value) { preset.aliases = read_names(value); }},
    {"max_position_of", read_positions},
    {"hf_id", [](ModelPreset& preset, const JsonPlace& value) { preset.hf_id = read_name(value); }},
    {"family", set<&ModelPreset::family>},
    {"license", set<&ModelPreset::license>},
    {"config", merge_config},
    {"quant", set<&ModelPreset::weights, &PublishedWeights::quant>},
    {"quant_group", set<&ModelPreset::weights, &PublishedWeights::group>},
    {"quant_of", read_weights},
    {"embeds", set<&ModelPreset::embeds>},
    {"size", set_group<size_fields, &ModelPreset::published>},
    {"checkpoint", set_group<checkpoint_fields, &ModelPreset::checkpoint>},
    {"training", set_group<training_fields, &ModelPreset::training>},
    {"sources", set_group<source_fields, &ModelPreset::sources>},
    {"notes", [](ModelPreset& preset, const JsonPlace& value) { preset.notes = value.sentences(); }},
};

std::vector<Field<ModelPreset>> all_fields() {
  std::vector<Field<ModelPreset>> all(std::begin(record_fields), std::end(record_fields));
  quantity::append(all, fields);
  return all;
}

void refuse_fields_beside_config(const JsonPlace& entry) {
  for (const auto& field : fields) {
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
