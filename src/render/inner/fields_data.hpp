// Models, accelerators and number formats, described.
#pragma once

#include "quantity/lists.hpp"
#include "render/answers.hpp"
#include "render/inner/fields.hpp"
#include "spec/names.hpp"

namespace llmcalc::render {

struct NamedPeak {
  std::string_view name;
  std::optional<quantity::FlopRate> spec::Accelerator::Peaks::*rate;
};

inline constexpr NamedPeak named_peaks[] = {
    {"fp64", &spec::Accelerator::Peaks::fp64}, {"fp64_matrix", &spec::Accelerator::Peaks::fp64_matrix},
    {"fp32", &spec::Accelerator::Peaks::fp32}, {"fp32_matrix", &spec::Accelerator::Peaks::fp32_matrix},
    {"tf32", &spec::Accelerator::Peaks::tf32}, {"fp16", &spec::Accelerator::Peaks::fp16},
    {"bf16", &spec::Accelerator::Peaks::bf16}, {"fp8", &spec::Accelerator::Peaks::fp8},
    {"int8", &spec::Accelerator::Peaks::int8}, {"fp4", &spec::Accelerator::Peaks::fp4},
};

/// Figures that were published of a model's size.
void describe_published(auto& field, const ModelCard& card) {
  field("parameters", card.published_parameters, "the integer");
  field("text", Text{card.published_text}, "the rounded number");
  field("check", Text{card.published_check}, "how far the count agrees");
  field("source", Text{card.published_source}, "where it was published");
}

void describe(auto& field, const spec::WindowPattern& window) {
  field.is("window", "Layers that see the last tokens alone.");
  field("window", window.window, "tokens that such a layer sees");
  field("full_every", window.full_every, "every n-th layer sees everything; 0: none does");
}

void describe(auto& field, const spec::LatentShape& latent) {
  const bool indexed = latent.index_heads > 0;
  field.is("latent", "Multi-head latent attention.");
  field("q_rank", latent.q_rank, "0: queries are projected directly");
  field("kv_rank", latent.kv_rank, "of keys and values");
  field("qk_nope_dim", latent.qk_nope_dim, "of a head, without positions");
  field("qk_rope_dim", latent.qk_rope_dim, "of a head, with positions");
  field("v_dim", latent.v_dim, "of a head");
  field("index_heads", where(indexed, latent.index_heads), "of an indexer that chooses the positions attended to");
  field("index_dim", where(indexed, latent.index_dim), "of such a head");
  field("index_top_k", where(indexed, latent.index_top_k), "positions that it chooses");
}

void describe(auto& field, const spec::LinearAttentionShape& linear) {
  field.is("linear", "Layers of linear attention.");
  field("full_every", linear.full_every, "every n-th layer is softmax attention");
  field("key_heads", linear.key_heads, "of such a layer");
  field("value_heads", linear.value_heads, "of such a layer");
  field("key_dim", linear.key_dim, "of a head");
  field("value_dim", linear.value_dim, "of a head");
  field("conv_kernel", linear.conv_kernel, "tokens");
}

void describe(auto& field, const spec::MoeShape& moe) {
  field.is("moe", "Mixture of experts.");
  field("experts", moe.experts, "of a layer");
  field("top_k", moe.top_k, "that a token goes through");
  field("expert_ffn", moe.expert_ffn, "width of one");
  field("shared_ffn", moe.shared_ffn, "width of those that every token goes through");
  field("dense_layers", moe.dense_layers, "first layers that have none");
  field("every", moe.every, "every n-th layer has them");
}

void describe_dimensions(auto& field, const spec::Shape& shape) {
  field("stack", shape.stack, "which blocks stand on each other");
  field("layers", shape.layers, "of the stack, or of its encoder");
  field("decoder_layers", shape.decoder_layers, "of a decoder beside an encoder");
  field("hidden", shape.hidden, "width");
  field("heads", shape.heads, "of queries");
  field("kv_heads", shape.kv_heads, "of keys and values");
  field("head_dim", shape.head_dim, "width of a head");
  field("ffn", shape.ffn, "width of the MLP");
  field("vocab", shape.vocab, "rows of the token table");
  field("max_position", shape.max_position, "tokens of the longest sequence");
}

void describe(auto& field, const spec::Shape& shape) {
  field.is("shape", "A model in the words of the command line; null where it has no such part.");
  describe_dimensions(field, shape);
  field("mlp", spec::name_of(shape.mlp), "kind of MLP");
  field("norm", spec::name_of(shape.norm), "kind of norm");
  field("position", spec::name_of(shape.position), "how positions are told");
  field("norms_per_layer", shape.norms_per_layer, "how many");
  field("qkv_bias", shape.qkv_bias, "of the projections into attention");
  field("out_bias", shape.out_bias, "of the projection out of attention");
  field("mlp_bias", shape.mlp_bias, "of the MLP");
  field("head_bias", shape.head_bias, "of the output");
  field("tied", shape.tied, "token table and head are one");
  field("parallel_residual", shape.parallel_residual, "attention and MLP read the same");
  field("qk_norm", spec::name_of(shape.qk_norm), "norm of queries and keys");
  field("output_gate", shape.output_gate, "of attention");
  field("attention_sinks", shape.attention_sinks, "a learned logit a head");
  field("window", where(shape.window.window > 0, shape.window), "layers that see the last tokens alone");
  field("latent", where(shape.latent.kv_rank > 0, shape.latent), "multi-head latent attention");
  field("linear", where(shape.linear.full_every > 0, shape.linear), "layers of linear attention");
  field("moe", where(shape.moe.experts > 0, shape.moe), "mixture of experts");
}

void describe(auto& field, const ModelCard& card) {
  field.is("model_entry", "A model.");
  field("id", card.id, "its name");
  field("aliases", card.aliases, "its other names");
  field("hf_id", Text{card.hf_id}, "on the Hugging Face Hub");
  field("family", Text{card.family}, "whose code it shares");
  field("license", Text{card.license}, "of the weights");
  field("parameters_total", card.size.total, "counted from the shape");
  field("parameters_active", card.size.active, "those that one token passes through");
  field("parameters_embedding", card.size.embedding, "of token, position and type tables and of a head of its own");
  field.object("published", "what was published of its size", [&] { describe_published(field, card); });
  field("training_tokens", card.training_tokens, "of the published training run");
  field("training_source", Text{card.training_source}, "where it was published");
  field("shape", card.shape, "its layers");
  field("notes", Text{card.notes}, "remarks");
  field("file", Text{card.file}, "the preset file that defines it");
}

void describe(auto& field, const Versioned<ModelCard>& answer) {
  field.answer("model", answer.version, "`llmcalc model show NAME`.");
  field("model", or_empty(answer.value), "the model");
}

void describe(auto& field, const Versioned<std::span<const ModelCard>>& list) {
  field.answer("model_list", list.version, "`llmcalc model list`.");
  field("models", or_empty(list.value), "all, or those with the part of a name");
}

void describe(auto& field, const spec::Accelerator::Peaks& peaks) {
  field.is("peaks", "Dense peaks; null where the part lacks the type.");
  for (const auto& peak : named_peaks) field(peak.name, peaks.*peak.rate, "FLOP a second");
}

void describe(auto& field, const spec::Rates& rates) {
  const auto share = [](double value) { return where(value > 0.0, value); };
  field.is("rates", "The entry of `presets/rates` that speeds rest on.");
  field("id", Text{rates.id}, "its name");
  field("measured", Text{rates.measured}, "the part that was measured");
  field("products_share_of_peak", share(rates.products.ceiling), "that large products reach");
  field("attention_share_of_peak", share(rates.attention.native.share), "that attention over long sequences reaches");
  field("memory_share_of_bandwidth", share(rates.memory.kernels), "that large kernels reach");
  field("operations", Text{rates.operations}, "whose curves tell the speed of servers");
}

void describe_node(auto& field, const spec::Accelerator& gpu) {
  field("interconnect", Text{gpu.interconnect}, "of a node");
  field("link_bytes_per_second", gpu.link, "to its peers, one direction");
  field("pcie_bytes_per_second", gpu.pcie, "to its host, one direction");
  field("link_joins", where(gpu.joined > 0, gpu.joined),
        "accelerators that the link joins where they are not those of a node: 2 on a bridge, 72 in a rack");
  field("gpus_per_node", gpu.gpus_per_node, "of a typical node");
  field(
      "host_memory_bytes", gpu.host_memory,
      "its share of its machine's memory, 0 where both are one; null where that is not known, and `fit` takes 64 GiB");
  field("network_gigabits_per_second", gpu.network_gbps, "its share of a typical node's");
  field("tdp_watts", gpu.tdp_watts, "power");
  field("units", gpu.units, "SMs or CUs");
  field("cache_bytes", gpu.cache, "last level, where speeds rest on it");
}

void describe(auto& field, const AcceleratorCard& card) {
  const auto& gpu = card.accelerator;
  field.is("gpu_entry", "An accelerator.");
  field("id", gpu.id, "its name");
  field("aliases", card.aliases, "its other names");
  field("name", gpu.name, "as it is sold");
  field("vendor", Text{gpu.vendor}, "who makes it");
  field("arch", Text{gpu.arch}, "its generation");
  field("year", gpu.year, "of its release");
  field("memory_nominal_bytes", gpu.memory_nominal, "as marketed");
  field("memory_usable_bytes", gpu.memory_usable, "as the driver offers it");
  field("memory_usable_verified", gpu.usable_verified, "whether that was read from a device");
  field("memory_type", Text{gpu.memory_type}, "kind of memory");
  field("memory_bandwidth_bytes_per_second", gpu.memory_bandwidth, "of its memory");
  field("peaks_flops_per_second", gpu.peaks, "dense peaks");
  describe_node(field, gpu);
  field("rates", gpu.rates, "what speeds rest on");
  field("price_usd_per_hour", gpu.price_per_hour, "of one");
  field("price_source", Text{gpu.price_source}, "who asks it, and when");
  field("sources", Text{gpu.sources}, "where the entry comes from");
  field("verification", Text{gpu.verification}, "`A` (read in several places), `B` (one place) or `C` (inferred)");
  field("notes", Text{gpu.notes}, "remarks");
  field("file", Text{card.file}, "the preset file that defines it");
}

void describe(auto& field, const Versioned<AcceleratorCard>& answer) {
  field.answer("gpu", answer.version, "`llmcalc gpu show NAME`.");
  field("gpu", or_empty(answer.value), "the accelerator");
}

void describe(auto& field, const Versioned<std::span<const AcceleratorCard>>& list) {
  field.answer("gpu_list", list.version, "`llmcalc gpu list`.");
  field("gpus", or_empty(list.value), "all, or those with the part of a name");
}

void describe(auto& field, const formats::BlockScale& scale) {
  field.is("block_scale", "Scales that elements share.");
  field("block", scale.block, "elements that share one");
  field("scale_bytes", scale.scale_bytes, "of one");
  field("nested_block", scale.nested_block, "scales that share one of their own");
  field("nested_bytes", scale.nested_bytes, "of such a one");
  field("zero_bits", scale.zero_bits, "of the zero point of a block");
  field("tensor_bytes", scale.tensor_bytes, "of the scale that the whole tensor has");
}

void describe(auto& field, const formats::EncodedNumber& number) {
  const auto finite = [](double value) { return where(std::isfinite(value), value); };
  const auto either = [](double value) { return where(std::isfinite(value), Signed<double>{value}); };
  field.is("rounded", "What becomes of the number given with --value; null stands for what is not finite.");
  field("given", either(number.given), "the number");
  field("stored", either(number.stored), "what comes back, scale included");
  field("bits", number.bits, "sign, exponent, fraction");
  field("scale", number.scale, "of the block");
  field("absolute_error", finite(number.absolute_error), "of what comes back");
  field("relative_error", number.given == 0.0 ? std::nullopt : finite(number.relative_error), "null of 0");
  field("remark", Text{number.remark}, "what is special");
}

void describe(auto& field, const FormatLine& line) {
  const auto& facts = formats::facts(line.dtype);
  field.is("dtype_entry", "A number format.");
  field("name", facts.name, "its name");
  field("bits", facts.bits, "of an element");
  field("average_bits", formats::average_bits(line.dtype), "of an element with its share of the scales");
  field("exponent_bits", facts.exponent_bits, "of the element");
  field("fraction_bits", facts.fraction_bits, "of the element");
  field("block_scale", where(facts.scale.block > 0, facts.scale), "null of formats without scales");
  field("rounded", line.number, "with --value; null without it, or where the format has no encoding of its own");
  field("source", Text{facts.source}, "its definition");
}

void describe(auto& field, const Versioned<std::span<const FormatLine>>& list) {
  field.answer("dtype", list.version, "`llmcalc dtype`.");
  field("dtypes", or_empty(list.value), "all formats, or the one that was named");
}

void describe(auto& field, const Versioned<QuantizedList>& answer) {
  const auto& list = or_empty(answer.value);
  const auto& result = list.result;
  const auto numbers = [](const auto& values) {
    return quantity::mapped(values, [](auto value) { return Signed<decltype(value)>{value}; });
  };
  field.answer("quantization", answer.version, "`llmcalc dtype --quantize LIST`.");
  field("dtype", formats::facts(result.dtype).name, "that the numbers are stored in");
  field("scale", result.scale, "a number comes back as scale x (code - zero_point)");
  field("zero_point", Signed<std::int64_t>{result.zero_point}, "the code of 0");
  field("given", numbers(list.given), "the numbers");
  field("codes", numbers(result.codes), "what is stored of each");
  field("dequantized", numbers(result.dequantized), "what comes back of each");
  field("max_error", result.max_error, "of what comes back");
  field("mean_square_error", result.mean_square_error, "of what comes back");
  field("source", Text{result.source}, "of the scheme");
}

}  // namespace llmcalc::render
