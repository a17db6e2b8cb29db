#include "llmcalc/read/config.hpp"

#include "llmcalc/quantity/error.hpp"
#include "read/config/layers.hpp"
#include "read/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::read {
namespace {

using spec::Mlp;
using spec::Shape;

/// An activation by the names of transformers activations.py, as a plain MLP and as one with a gate.
struct Activation {
  std::string_view name;
  std::optional<Mlp> plain;
  std::optional<Mlp> gated;
};

constexpr std::array activations = {
    Activation{"silu", std::nullopt, Mlp::swiglu},
    Activation{"swish", std::nullopt, Mlp::swiglu},
    Activation{"gelu", Mlp::gelu, Mlp::geglu},
    Activation{"gelu_new", Mlp::gelu, Mlp::geglu},
    Activation{"gelu_fast", Mlp::gelu, Mlp::geglu},
    Activation{"gelu_python", Mlp::gelu, Mlp::geglu},
    Activation{"gelu_pytorch_tanh", Mlp::gelu, Mlp::geglu},
    Activation{"quick_gelu", Mlp::gelu, Mlp::geglu},
    Activation{"gegelu", std::nullopt, Mlp::geglu},
    Activation{"relu", Mlp::relu, std::nullopt},
    Activation{"relu2", Mlp::squared_relu, std::nullopt},
};

/// transformers activations.py, NewGELUActivation; gelu_pytorch_tanh is the same function in one kernel.
constexpr std::string_view chained_gelu = "gelu_new";

Shape family_shape(const Family& family) {
  Shape shape;
  shape.stack = family.stack;
  shape.norm = family.norm;
  shape.norms_per_layer = family.norms_per_layer;
  shape.final_norm = family.final_norm;
  shape.embedding_norm = family.embedding_norm;
  shape.pooler = family.pooler;
  shape.position = family.position;
  shape.output_gate = family.output_gate;
  shape.attention_sinks = family.attention_sinks;
  shape.writing = family.writing;
  return shape;
}

void read_sizes(ConfigReader& reader, Shape& shape) {
  const OmittedSizes& omitted = reader.family().omitted;
  shape.hidden = reader.need(concepts::hidden);
  shape.layers = reader.need(concepts::layers);
  shape.heads = reader.need(concepts::heads, omitted.heads);
  shape.ffn =
      reader.need(concepts::ffn, omitted.ffn_per_hidden > 0 ? omitted.ffn_per_hidden * shape.hidden : omitted.ffn);
  shape.vocab = reader.need(concepts::vocab, omitted.vocab);
  shape.max_position = reader.need(concepts::max_position, omitted.max_position);
}

/// Multi-head latent attention: q_lora_rank null means that queries are projected directly (DeepSeek-V2-Lite), and
/// MiniCPM3 leaves v_head_dim to hidden / heads (its configuration_minicpm.py).
void read_latent(ConfigReader& reader, Shape& shape) {
  shape.latent.kv_rank = reader.need(concepts::kv_rank);
  shape.latent.q_rank = reader.text_model().null_at(keys::q_rank) ? 0 : reader.need(concepts::q_rank);
  shape.latent.qk_nope_dim = reader.need(concepts::qk_nope_dim);
  shape.latent.qk_rope_dim = reader.need(concepts::qk_rope_dim);
  shape.latent.v_dim = reader.need(concepts::v_dim, shape.heads > 0 ? shape.hidden / shape.heads : 0);
}

void read_linear(ConfigReader& reader, Shape& shape) {
  shape.linear.key_heads = reader.need(concepts::key_heads);
  shape.linear.value_heads = reader.need(concepts::value_heads);
  shape.linear.key_dim = reader.need(concepts::key_dim);
  shape.linear.value_dim = reader.need(concepts::value_dim);
  shape.linear.conv_kernel = reader.need(concepts::conv_kernel);
}

void read_experts(ConfigReader& reader, Shape& shape) {
  const Family& family = reader.family();
  if (family.experts == Experts::optional && !reader.text_model().has(keys::experts)) return;
  shape.moe.experts = reader.need(concepts::experts);
  shape.moe.top_k = reader.need(concepts::top_k);
  shape.moe.expert_ffn = reader.value_or(concepts::expert_ffn, shape.ffn);
  if (const auto width = reader.find(concepts::shared_ffn)) {
    shape.moe.shared_ffn = *width;
  } else if (const auto count = reader.find(concepts::shared_experts)) {
    shape.moe.shared_ffn = *count * shape.moe.expert_ffn;
  }
  const auto method = reader.text_model().text(keys::topk_method);
  shape.moe.correction_bias = family.correction_bias || (method && method->value == "noaux_tc");
  shape.moe.router_bias = family.router_bias;
  shape.moe.expert_bias = family.expert_bias;
  shape.moe.shared_gate = family.shared_gate && shape.moe.shared_ffn > 0;
  if (shape.moe.top_k > shape.moe.experts && shape.moe.experts > 0) {
    reader.refuse("top_k", fmt::format("is {}, expected at most the {} experts", shape.moe.top_k, shape.moe.experts));
  }
}

void read_heads(ConfigReader& reader, Shape& shape) {
  const OmittedSizes& omitted = reader.family().omitted;
  const bool latent = shape.latent.kv_rank > 0;
  shape.kv_heads = reader.value_or(concepts::kv_heads, omitted.kv_heads > 0 ? omitted.kv_heads : shape.heads);
  const std::int64_t share = shape.hidden / shape.heads;
  shape.head_dim =
      latent ? share : reader.value_or(concepts::head_dim, omitted.head_dim > 0 ? omitted.head_dim : share);
  if (!latent && shape.head_dim * shape.heads != shape.hidden && omitted.head_dim == 0 &&
      !reader.text_model().has(keys::head_dim)) {
    reader.refuse("heads", fmt::format("is {}, which does not divide the hidden size {}, and there is no head_dim",
                                       shape.heads, shape.hidden));
  }
}

/// The trained length: YaRN's factor counts from the original length (Peng et al. 2023, arXiv:2309.00071), and
/// Cohere's files say the whole in model_max_length.
void read_positions(ConfigReader& reader, Shape& shape) {
  if (const auto longest = reader.find(concepts::model_max_length)) shape.max_position = *longest;
  const auto kind = reader.text_model().text(keys::yarn_kind);
  const auto factor = reader.text_model().number(keys::yarn_factor);
  const auto original = reader.text_model().integer(keys::yarn_original, concepts::max_position.range);
  if (kind && kind->value == "yarn" && factor && original) {
    const double stretched = std::round(factor->value * static_cast<double>(original->value));
    if (!(stretched >= 1.0 && stretched <= static_cast<double>(concepts::most_positions))) {
      throw quantity::BadInput(
          reader.document().at(factor->pointer),
          fmt::format("is {}, which stretches {} positions out of range", factor->value, original->value));
    }
    shape.max_position = std::max(shape.max_position, static_cast<std::int64_t>(stretched));
  }
  // Without an offset the table has max_position rows, which build_model() knows.
  if (reader.family().position_offset > 0) shape.position_rows = shape.max_position + reader.family().position_offset;
}

void read_activation(ConfigReader& reader, Shape& shape) {
  constexpr std::string_view gate_prefix = "gated-";  // T5's feed_forward_proj
  const std::string word = reader.word_or("mlp", keys::activation, reader.family().activation);
  std::string_view name = word;
  const bool gated = reader.family().gated || name.starts_with(gate_prefix);
  if (name.starts_with(gate_prefix)) name.remove_prefix(gate_prefix.size());
  const auto known = std::ranges::find(activations, name, &Activation::name);
  const auto mlp = known == activations.end() ? std::nullopt : gated ? known->gated : known->plain;
  if (!mlp) {
    std::string names;
    for (const auto& one : activations) {
      if (gated ? one.gated : one.plain) names += names.empty() ? one.name : fmt::format(", {}", one.name);
    }
    reader.refuse("mlp", fmt::format("is '{}', expected an activation for {} MLP: {}", word,
                                     gated ? "a gated" : "an ungated", names));
  }
  shape.mlp = *mlp;
  shape.writing.chained_gelu = name == chained_gelu;
}

void read_switches(ConfigReader& reader, Shape& shape) {
  const Family& family = reader.family();
  shape.qkv_bias = reader.flag(family.biases.qkv);
  shape.out_bias = reader.flag(family.biases.out);
  shape.mlp_bias = reader.flag(family.biases.mlp);
  shape.head_bias = reader.flag(family.biases.head);
  shape.parallel_residual = reader.flag(family.parallel_residual);
  if (reader.flag(family.qk_norm_on)) shape.qk_norm = family.qk_norm;
  auto tied = reader.document().root().boolean(keys::tied);
  if (!tied) tied = reader.text_model().boolean(keys::tied);
  shape.tied = tied ? tied->value : family.tied;
  if (tied) {
    reader.came_from("tied", tied->pointer);
  } else {
    reader.by_default("tied");
  }
  for (const auto term : {"norm", "position", "bias"}) reader.by_default(term);
}

void note_what_is_left_out(ConfigReader& reader) {
  const ConfigObject& root = reader.document().root();
  if (root.has(keys::towers)) reader.note("the vision or audio tower and its projector are not counted");
  if (const auto mtp = reader.text_model().integer(keys::mtp_layers, {0, concepts::most_layers});
      mtp && mtp->value > 0) {
    reader.note(fmt::format("{} multi-token-prediction layer(s) are not counted", mtp->value));
  }
  const auto says = [&](Keys keys) {
    const auto found = reader.text_model().boolean(keys);
    return found && found->value;
  };
  if (reader.family().latent && says(keys::latent_bias)) reader.note("the biases of latent attention are not counted");
  if (says(keys::uncounted_norms)) reader.note("the norms of queries and keys are not counted");
  if (root.has(keys::quantization) || reader.text_model().has(keys::quantization)) {
    reader.note("the checkpoint is quantized; the precision of the run is the question's, not the file's");
  }
  if (const auto dropout = reader.text_model().number(keys::dropout); dropout && dropout->value > 0.0) {
    reader.note(
        fmt::format("the file trains with dropout {}; the shape has none until the question says so", dropout->value));
  }
}

}  // namespace

ConfigShape read_config(std::string_view json, std::string_view place) {
  const ConfigDocument document(json, place);
  ConfigReader reader(document, family_of(document));
  const Family& family = reader.family();
  Shape shape = family_shape(family);
  read_sizes(reader, shape);
  if (family.latent) read_latent(reader, shape);
  if (family.linear) read_linear(reader, shape);
  if (family.experts != Experts::none) read_experts(reader, shape);
  reader.refuse_missing();

  read_heads(reader, shape);
  read_positions(reader, shape);
  read_activation(reader, shape);
  read_switches(reader, shape);
  read_windows(reader, shape);
  if (family.linear) read_linear_layers(reader, shape);
  if (shape.moe.experts > 0) read_expert_layers(reader, shape);
  if (family.adjust != nullptr) family.adjust(reader, shape);
  if (shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    reader.refuse("kv_heads", fmt::format("is {}, expected a divisor of the {} heads", shape.kv_heads, shape.heads));
  }
  note_what_is_left_out(reader);
  const auto name = document.root().text(keys::name);
  shape.name = name && !name->value.empty() ? name->value : std::string(family.model_type);
  return {std::move(shape), reader.take_origins(), reader.take_notes()};
}

}  // namespace llmcalc::read
