#include "read/config/fields.hpp"

#include "quantity/lists.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace llmcalc::read {
namespace {

using spec::LatentShape;
using spec::LinearAttentionShape;
using spec::MoeShape;
using spec::Shape;
using spec::StateShape;
using spec::Writing;

constexpr std::int64_t most_layers = 2048;
constexpr std::int64_t most_width = std::int64_t{1} << 17;
constexpr std::int64_t most_ffn = std::int64_t{1} << 20;
constexpr std::int64_t most_heads = std::int64_t{1} << 14;
constexpr std::int64_t most_experts = std::int64_t{1} << 12;
constexpr std::int64_t most_words = std::int64_t{1} << 28;
constexpr std::int64_t most_positions = std::int64_t{1} << 32;

template <auto... members>
auto& part_of(Shape& shape) {
  return (shape.*....*members);
}

/// spec::NormForm in descriptions.
constexpr spec::Named<spec::NormForm> norm_forms[] = {
    {spec::NormForm::plain, "plain"},           {spec::NormForm::offset, "offset"},
    {spec::NormForm::widened, "widened"},       {spec::NormForm::chained, "chained"},
    {spec::NormForm::unweighted, "unweighted"}, {spec::NormForm::narrow_product, "narrow-product"},
};

constexpr spec::Named<spec::StateForm> state_forms[] = {
    {spec::StateForm::selective_scan, "selective-scan"},
    {spec::StateForm::duality, "duality"},
    {spec::StateForm::gated_recurrence, "gated-recurrence"},
    {spec::StateForm::short_convolution, "short-convolution"},
    {spec::StateForm::wkv, "wkv"},
    {spec::StateForm::matrix_memory, "matrix-memory"},
    {spec::StateForm::lightning, "lightning"},
};

constexpr spec::Named<spec::DeltaProjections> delta_projections[] = {
    {spec::DeltaProjections::joined, "joined"},
    {spec::DeltaProjections::parts, "parts"},
    {spec::DeltaProjections::apart, "apart"},
};

/// Sets the member to the value of the word; false if there is no such word.
template <class E>
bool set(E& member, const spec::Named<E>* known) {
  if (known != nullptr) member = known->value;
  return known != nullptr;
}

template <class E>
bool set(E& member, std::span<const spec::Named<E>> names, std::string_view word) {
  return set(member, quantity::find_or_null(names, word, &spec::Named<E>::name));
}

bool set_form(Shape& shape, std::string_view word) { return set<spec::NormForm>(shape.writing.norm, norm_forms, word); }

bool set_state_form(Shape& shape, std::string_view word) {
  return set<spec::StateForm>(shape.state.form, state_forms, word);
}

bool set_projections(Shape& shape, std::string_view word) {
  return set<spec::DeltaProjections>(shape.writing.projections, delta_projections, word);
}

template <auto member>
bool set_word(Shape& shape, std::string_view word) {
  return set(shape.*member, spec::find_name<std::remove_reference_t<decltype(shape.*member)>>(word));
}

using enum FieldGroup;

constexpr NumberField numbers[] = {
    {"hidden", "hidden", always, {1, most_width}, part_of<&Shape::hidden>},
    {"layers", "layers", always, {1, most_layers}, part_of<&Shape::layers>},
    {"decoder_layers", "decoder_layers", always, {1, most_layers}, part_of<&Shape::decoder_layers>},
    {"heads", "heads", always, {1, most_heads}, part_of<&Shape::heads>},
    {"ffn", "ffn", always, {0, most_ffn}, part_of<&Shape::ffn>},
    {"vocab", "vocab", always, {1, most_words}, part_of<&Shape::vocab>},
    {"max_position", "max_position", always, {1, most_positions}, part_of<&Shape::max_position>},
    {"kv_rank", "kv_rank", latent, {0, most_width}, part_of<&Shape::latent, &LatentShape::kv_rank>},
    {"q_rank", "q_rank", latent, {0, most_width}, part_of<&Shape::latent, &LatentShape::q_rank>},
    {"qk_nope_dim", "qk_nope_dim", latent, {1, most_width}, part_of<&Shape::latent, &LatentShape::qk_nope_dim>},
    {"qk_rope_dim", "qk_rope_dim", latent, {0, most_width}, part_of<&Shape::latent, &LatentShape::qk_rope_dim>},
    {"v_dim", "v_dim", latent, {1, most_width}, part_of<&Shape::latent, &LatentShape::v_dim>},
    {"index_heads", "index_heads", latent, {0, most_heads}, part_of<&Shape::latent, &LatentShape::index_heads>},
    {"index_dim", "index_dim", latent, {0, most_width}, part_of<&Shape::latent, &LatentShape::index_dim>},
    {"index_top_k", "index_top_k", latent, {0, most_positions}, part_of<&Shape::latent, &LatentShape::index_top_k>},
    {"key_heads", "key_heads", linear, {1, most_heads}, part_of<&Shape::linear, &LinearAttentionShape::key_heads>},
    {"value_heads",
     "value_heads",
     linear,
     {1, most_heads},
     part_of<&Shape::linear, &LinearAttentionShape::value_heads>},
    {"key_dim", "key_dim", linear, {1, most_width}, part_of<&Shape::linear, &LinearAttentionShape::key_dim>},
    {"value_dim", "value_dim", linear, {1, most_width}, part_of<&Shape::linear, &LinearAttentionShape::value_dim>},
    {"conv_kernel", "conv_kernel", linear, {1, 4096}, part_of<&Shape::linear, &LinearAttentionShape::conv_kernel>},
    {"gate_rank", "gate_rank", linear, {0, most_width}, part_of<&Shape::linear, &LinearAttentionShape::gate_rank>},
    {"experts", "experts", experts, {0, most_experts}, part_of<&Shape::moe, &MoeShape::experts>},
    {"top_k", "top_k", experts, {1, most_experts}, part_of<&Shape::moe, &MoeShape::top_k>},
    {"expert_ffn", "expert_ffn", experts, {1, most_ffn}, part_of<&Shape::moe, &MoeShape::expert_ffn>},
    {"expert_width", "expert_width", experts, {0, most_width}, part_of<&Shape::moe, &MoeShape::expert_width>},
    {"shared_ffn", "shared_ffn", experts, {0, most_ffn}, part_of<&Shape::moe, &MoeShape::shared_ffn>},
    {"kv_heads", "kv_heads", always, {1, most_heads}, part_of<&Shape::kv_heads>},
    {"head_dim", "head_dim", always, {1, most_width}, part_of<&Shape::head_dim>},
    {"window", "window", always, {0, most_positions}, part_of<&Shape::window, &spec::WindowPattern::window>},
    {"position_rows", "max_position", always, {0, most_positions}, part_of<&Shape::position_rows>},
    {"relative_buckets", "relative_buckets", always, {0, most_experts}, part_of<&Shape::relative_buckets>},
    {"token_types", "token_types", always, {0, most_experts}, part_of<&Shape::token_types>},
    {"embedding_width", "embedding_width", always, {0, most_width}, part_of<&Shape::embedding_width>},
    {"state_width", "state_width", always, {1, most_ffn}, part_of<&Shape::state, &StateShape::width>},
    {"state_heads", "state_heads", always, {1, most_width}, part_of<&Shape::state, &StateShape::heads>},
    {"state_size", "state_size", always, {1, most_width}, part_of<&Shape::state, &StateShape::state>},
    {"state_groups", "state_groups", always, {1, most_heads}, part_of<&Shape::state, &StateShape::groups>},
    {"state_conv_kernel", "state_conv_kernel", always, {1, 4096}, part_of<&Shape::state, &StateShape::conv_kernel>},
    {"state_step_rank", "state_step_rank", always, {1, most_width}, part_of<&Shape::state, &StateShape::step_rank>},
    {"state_block", "state_block", always, {1, most_positions}, part_of<&Shape::state, &StateShape::block>},
    {"writes_sublayers", "writes_sublayers", always, {1, 8}, part_of<&Shape::writing, &Writing::sublayers>},
    {"layer_input_width",
     "layer_input_width",
     always,
     {0, most_width},
     part_of<&Shape::layer_inputs, &spec::LayerInputShape::width>},
    {"layer_input_vocab",
     "layer_input_vocab",
     always,
     {0, most_words},
     part_of<&Shape::layer_inputs, &spec::LayerInputShape::vocab>},
    {"stream_count", "stream_count", always, {0, most_heads}, part_of<&Shape::streams, &spec::StreamShape::count>},
    {"residual_rank",
     "residual_rank",
     always,
     {1, most_width},
     part_of<&Shape::streams, &spec::StreamShape::residual_rank>},
    {"memory_width", "memory_width", always, {1, most_width}, part_of<&Shape::memory_width>},
    {"extra", "extra", always, {0, most_positions}, part_of<&Shape::extra>},
};

constexpr SwitchField switches[] = {
    {"final_norm", part_of<&Shape::final_norm>},
    {"qkv_bias", part_of<&Shape::qkv_bias>},
    {"out_bias", part_of<&Shape::out_bias>},
    {"mlp_bias", part_of<&Shape::mlp_bias>},
    {"head_bias", part_of<&Shape::head_bias>},
    {"tied", part_of<&Shape::tied>},
    {"parallel_residual", part_of<&Shape::parallel_residual>},
    {"output_gate", part_of<&Shape::output_gate>},
    {"attention_sinks", part_of<&Shape::attention_sinks>},
    {"embedding_norm", part_of<&Shape::embedding_norm>},
    {"pooler", part_of<&Shape::pooler>},
    {"head_transform", part_of<&Shape::head_transform>},
    {"embeds_narrow", part_of<&Shape::embeds_narrow>},
    {"channel_decay", part_of<&Shape::linear, &LinearAttentionShape::channel_decay>},
    {"wide_state", part_of<&Shape::linear, &LinearAttentionShape::wide_state>},
    {"state_wide", part_of<&Shape::state, &StateShape::wide>},
    {"state_conv_bias", part_of<&Shape::state, &StateShape::conv_bias>},
    {"state_bias", part_of<&Shape::state, &StateShape::bias>},
    {"state_norm", part_of<&Shape::state, &StateShape::norm>},
    {"state_normed_steps", part_of<&Shape::state, &StateShape::normed_steps>},
    {"chunked", part_of<&Shape::window, &spec::WindowPattern::chunked>},
    {"router_bias", part_of<&Shape::moe, &MoeShape::router_bias>},
    {"expert_bias", part_of<&Shape::moe, &MoeShape::expert_bias>},
    {"correction_bias", part_of<&Shape::moe, &MoeShape::correction_bias>},
    {"shared_gate", part_of<&Shape::moe, &MoeShape::shared_gate>},
    {"writes_fused_qkv", part_of<&Shape::writing, &Writing::fused_qkv>},
    {"writes_fused_gate_and_up", part_of<&Shape::writing, &Writing::fused_gate_and_up>},
    {"writes_rotary_by_head", part_of<&Shape::writing, &Writing::rotates_by_head>},
    {"writes_inner_norms", part_of<&Shape::writing, &Writing::inner_norms>},
    {"writes_wide_router", part_of<&Shape::writing, &Writing::wide_router>},
    {"writes_all_experts", part_of<&Shape::writing, &Writing::runs_all_experts>},
    {"writes_merged_expert_adapters", part_of<&Shape::writing, &Writing::merges_expert_adapters>},
    {"writes_clamped_gate", part_of<&Shape::writing, &Writing::clamped_gate>},
    {"writes_xielu", part_of<&Shape::writing, &Writing::xielu>},
    {"writes_wide_scores", part_of<&Shape::writing, &Writing::wide_scores>},
    {"writes_narrow_softmax", part_of<&Shape::writing, &Writing::narrow_softmax>},
    {"writes_capped_scores", part_of<&Shape::writing, &Writing::caps_scores>},
    {"writes_capped_logits", part_of<&Shape::writing, &Writing::caps_logits>},
    {"eager_attention", part_of<&Shape::writing, &Writing::eager_attention>},
    {"writes_wide_residual", part_of<&Shape::writing, &Writing::wide_residual>},
    {"writes_norm_of_values", part_of<&Shape::writing, &Writing::norms_values>},
    {"writes_norm_of_rotated", part_of<&Shape::writing, &Writing::norms_rotated>},
    {"writes_gate_apart", part_of<&Shape::writing, &Writing::gate_apart>},
    {"writes_differential_attention", part_of<&Shape::writing, &Writing::differential>},
    {"writes_clamped_qkv", part_of<&Shape::writing, &Writing::clamps_qkv>},
    {"writes_bounded_scores", part_of<&Shape::writing, &Writing::bounds_scores>},
    {"writes_scale_of_sinks", part_of<&Shape::writing, &Writing::scales_by_sinks>},
    {"writes_image_masks", part_of<&Shape::writing, &Writing::masks_images>},
    {"writes_local_blocks", part_of<&Shape::writing, &Writing::local_blocks>},
    {"writes_expert_loop", part_of<&Shape::writing, &Writing::loops_over_experts>},
    {"writes_handed_index", part_of<&Shape::writing, &Writing::hands_on_index>},
    {"writes_linear_router", part_of<&Shape::writing, &Writing::linear_router>},
    {"writes_narrow_loss", part_of<&Shape::writing, &Writing::narrow_loss>},
};

constexpr WordField words[] = {
    {"stack", set_word<&Shape::stack>},      {"norm", set_word<&Shape::norm>}, {"position", set_word<&Shape::position>},
    {"qk_norm", set_word<&Shape::qk_norm>},  {"writes_norm", set_form},        {"state_form", set_state_form},
    {"writes_projections", set_projections},
};

/// Read by functions of their own: norms_per_layer is no int64, a classifier is added to what else is extra, the
/// activation and the gate make one word, and positions may be stretched.
constexpr std::array<std::string_view, 5> others = {"norms_per_layer", "activation", "gated", "layer_words",
                                                    "classifier"};

constexpr std::array<std::string_view, 27> layer_fields = {"mixer",
                                                           "windowed",
                                                           "experts",
                                                           "mlp",
                                                           "repeated",
                                                           "heads",
                                                           "kv_heads",
                                                           "head_dim",
                                                           "value_dim",
                                                           "input_width",
                                                           "query_rank",
                                                           "output_rank",
                                                           "output_groups",
                                                           "keys_are_values",
                                                           "borrows_keys",
                                                           "borrows_index",
                                                           "attends_to_tower",
                                                           "crosses_to_tower",
                                                           "sparse_gate",
                                                           "low_rank",
                                                           "mlp_low_rank",
                                                           "projects_behind",
                                                           "ffn",
                                                           "expert_ffn",
                                                           "extra",
                                                           "idle_experts",
                                                           "beside"};

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names(others.begin(), others.end());
  quantity::append(names, quantity::mapped(numbers, &NumberField::name));
  quantity::append(names, quantity::mapped(switches, &SwitchField::name));
  quantity::append(names, quantity::mapped(words, &WordField::name));
  return names;
}

}  // namespace

std::span<const NumberField> number_fields() { return numbers; }
std::span<const SwitchField> switch_fields() { return switches; }
std::span<const WordField> word_fields() { return words; }

const NumberField* number_field(std::string_view name) {
  return quantity::find_or_null(numbers, name, &NumberField::name);
}

const SwitchField* switch_field(std::string_view name) {
  return quantity::find_or_null(switches, name, &SwitchField::name);
}

std::span<const std::string_view> shape_field_names() {
  static const std::vector<std::string_view> names = all_names();
  return names;
}

std::span<const std::string_view> layer_field_names() { return layer_fields; }

}  // namespace llmcalc::read
