#include "read/presets/shape.hpp"

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

template <auto member, const auto& fields>
void shape_group(ModelPreset& preset, const JsonPlace& value) {
  read_fields(preset.shape.*member, value, fields);
}

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
    {"window", shape_group<&Shape::window, window_fields>},
    {"latent", shape_group<&Shape::latent, latent_fields>},
    {"linear", shape_group<&Shape::linear, linear_fields>},
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

}  // namespace

std::span<const Field<ModelPreset>> shape_fields() { return fields; }

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

}  // namespace llmcalc::read
