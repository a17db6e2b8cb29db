// `llmcalc model`, `llmcalc gpu` and `llmcalc dtype` for people.
//
//   llama-3-8b
//     parameters  8,030,261,248 (8.03B)
//     published   8,030,261,248, exact

#include "quantity/format.hpp"
#include "render/foreign.hpp"
#include "render/inner/described.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

using spec::LayerPlan;
using spec::MixerWord;

template <class Predicate>
std::ptrdiff_t layers_that(const spec::Shape& shape, Predicate holds) {
  return std::ranges::count_if(shape.plan, holds);
}

std::string_view name_of_mixer(MixerWord mixer) {
  switch (mixer) {
    case MixerWord::attention: return "softmax attention";
    case MixerWord::linear: return "linear attention";
    case MixerWord::state_space: return "state space";
    case MixerWord::attention_and_state: return "attention beside state space";
    case MixerWord::none: return "no mixer";
  }
  return "";
}

/// Differences from layer to layer of a model, and parts beside its layers; empty where nothing does.
std::string windows_text(const spec::Shape& shape) {
  const spec::WindowPattern& pattern = shape.window;
  if (pattern.window == 0) return {};
  if (!shape.plan.empty()) {
    const auto windowed = layers_that(shape, [](const LayerPlan& layer) { return layer.windowed; });
    return fmt::format("{} in {} of {} layers", pattern.window, windowed, shape.plan.size());
  }
  if (pattern.full_every == 0) return fmt::format("{} in every layer", pattern.window);
  return fmt::format("{}, but every {}. layer sees everything", pattern.window, pattern.full_every);
}

std::string mixers_text(const spec::Shape& shape) {
  std::string text;
  for (const auto mixer : {MixerWord::attention, MixerWord::linear, MixerWord::state_space,
                           MixerWord::attention_and_state, MixerWord::none}) {
    const auto layers = layers_that(shape, [mixer](const LayerPlan& layer) { return layer.mixer == mixer; });
    if (layers > 0) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", layers, name_of_mixer(mixer));
  }
  return text;
}

std::string borrowed_text(const spec::Shape& shape) {
  const auto borrowing = layers_that(shape, [](const LayerPlan& layer) { return layer.borrows_keys; });
  return borrowing == 0 ? std::string()
                        : "keys and values of earlier layers in " + quantity::format_counted(borrowing, "layer");
}

std::string towers_text(const spec::Shape& shape) {
  return quantity::joined(shape.towers, "; ", [](const auto& tower) {
    return fmt::format("{}: {} layers, {} wide", tower.name, tower.layers.layers, tower.layers.hidden);
  });
}

using quantity::format_count;
using quantity::in_parameters;

std::string count_text(quantity::Parameters count) {
  return fmt::format("{} ({})", format_count(in_parameters(count)), quantity::format_parameters(count));
}

std::string published_text(const ModelCard& card) {
  auto text = card.published_parameters ? format_count(*card.published_parameters) : card.published_text;
  if (!card.published_check.empty()) text.append(text.empty() ? "" : ", ").append(card.published_check);
  return text;
}

/// "32.1 GB in 32 bits, 16.1 GB in 16, ...": of all parameters, without the scales that formats of few bits need.
std::string weights_text(quantity::Parameters count) {
  std::string text;
  for (const std::int64_t bits : {32, 16, 8, 4}) {
    const auto bytes = quantity::bytes(in_parameters(count) * bits / 8);
    text += fmt::format("{}{} in {}{}", text.empty() ? "" : ", ", quantity::format_gigabytes(bytes), bits,
                        text.empty() ? " bits" : "");
  }
  return text;
}

void add_size(Card& card, const ModelCard& model) {
  card.add("parameters", count_text(model.size.total));
  card.add("active", model.size.active == model.size.total ? std::string() : count_text(model.size.active));
  card.add("in tables", count_text(model.size.embedding));
  card.add("weights", weights_text(model.size.total));
  card.add("published", published_text(model));
  card.add("source", model.published_source);
}

std::string biases(const spec::Shape& shape) {
  std::vector<std::string> names;
  if (shape.qkv_bias) names.emplace_back("qkv");
  if (shape.out_bias) names.emplace_back("attention output");
  if (shape.mlp_bias) names.emplace_back("MLP");
  if (shape.head_bias) names.emplace_back("head");
  return names.empty() ? "none" : quantity::joined(names, ", ");
}

std::string experts_text(const spec::MoeShape& moe) {
  if (moe.experts == 0) return {};
  auto text = fmt::format("{} of width {}, {} for a token", moe.experts, moe.expert_ffn, moe.top_k);
  if (moe.shared_ffn > 0) text += fmt::format("; shared width {}", moe.shared_ffn);
  if (moe.dense_layers > 0)
    text += fmt::format("; first {} dense", quantity::format_counted(moe.dense_layers, "layer"));
  if (moe.every > 1) text += fmt::format("; every {}. layer", moe.every);
  return text;
}

std::string latent_text(const spec::LatentShape& latent) {
  if (latent.kv_rank == 0) return {};
  const std::string index = latent.index_heads == 0
                                ? std::string()
                                : fmt::format("; {} heads of {} choose {} positions", latent.index_heads,
                                              latent.index_dim, latent.index_top_k);
  return fmt::format("query rank {}, key and value rank {}, head {} + {} rope, value head {}{}", latent.q_rank,
                     latent.kv_rank, latent.qk_nope_dim, latent.qk_rope_dim, latent.v_dim, index);
}

std::string linear_text(const spec::LinearAttentionShape& linear) {
  if (linear.full_every == 0) return {};
  return fmt::format("{} key heads of {}, {} value heads of {}; every {}. layer is softmax attention", linear.key_heads,
                     linear.key_dim, linear.value_heads, linear.value_dim, linear.full_every);
}

void add_dimensions(Card& card, const spec::Shape& shape) {
  card.add("layers", unless_zero(shape.layers));
  card.add("decoder layers", unless_zero(shape.decoder_layers));
  card.add("hidden", unless_zero(shape.hidden));
  card.add("heads", fmt::format("{} of {}, {} for keys and values", shape.heads, shape.head_dim, shape.kv_heads));
  card.add("ffn", unless_zero(shape.ffn));
  card.add("vocab", format_count(shape.vocab));
  card.add("max position", format_count(shape.max_position));
}

void add_structure(Card& card, const spec::Shape& shape) {
  card.add("stack", std::string(spec::name_of(shape.stack)));
  card.add("mlp", std::string(spec::name_of(shape.mlp)));
  card.add("norm", fmt::format("{}, {} a layer", spec::name_of(shape.norm), shape.norms_per_layer));
  card.add("position", std::string(spec::name_of(shape.position)));
  card.add("bias", biases(shape));
  card.add("tied", shape.tied ? "yes" : "no");
  card.add("mixers", mixers_text(shape));
  card.add("window", windows_text(shape));
  card.add("borrowed", borrowed_text(shape));
  card.add("latent", latent_text(shape.latent));
  card.add("linear", linear_text(shape.linear));
  card.add("experts", experts_text(shape.moe));
  card.add("towers", towers_text(shape));
}

using spec::Accelerator;

std::string bandwidth_text(const std::optional<quantity::Bandwidth>& bandwidth) {
  return bandwidth ? quantity::format_bandwidth(*bandwidth) + " one way" : std::string();
}

std::string usable_text(const Accelerator& gpu) {
  return fmt::format("{}{}", quantity::format_gib(gpu.memory_usable), gpu.usable_verified ? "" : ", not verified");
}

std::string price_text(const Accelerator& gpu) {
  if (!gpu.price_per_hour) return {};
  return fmt::format("{} an hour, {}", quantity::format_rate_of_money(*gpu.price_per_hour), gpu.price_source);
}

std::string verification_text(std::string_view grade) {
  if (grade == "A") return "A, read in several places";
  if (grade == "B") return "B, read in one place";
  return grade == "C" ? "C, inferred" : std::string(grade);
}

void add_memory(Card& card, const Accelerator& gpu) {
  card.add("memory", quantity::format_gib(gpu.memory_nominal) + " " + gpu.memory_type);
  card.add("usable", usable_text(gpu));
  card.add("bandwidth", quantity::format_bandwidth(gpu.memory_bandwidth));
}

void add_peaks(Card& card, const Accelerator& gpu) {
  card.add_heading("dense peaks");
  for (const auto& peak : named_peaks) {
    if (const auto& rate = gpu.peaks.*peak.rate) card.add(peak.name, quantity::format_rate(*rate));
  }
}

void add_links(Card& card, const Accelerator& gpu) {
  card.add_heading("node");
  card.add("interconnect", gpu.interconnect);
  card.add("to peers", bandwidth_text(gpu.link));
  card.add("joins", unless_zero(gpu.joined));
  card.add("to host", bandwidth_text(gpu.pcie));
  card.add("per node", unless_zero(gpu.gpus_per_node));
  if (gpu.host_memory) {
    card.add("host memory", fmt::format("{} each, {}", quantity::format_gib(*gpu.host_memory), gpu.host_memory_source));
  }
  if (gpu.network_gbps) card.add("network", fmt::format("{:g} Gbit/s", *gpu.network_gbps));
  if (gpu.tdp_watts) card.add("power", fmt::format("{:g} W", *gpu.tdp_watts));
  if (gpu.units) card.add("SMs or CUs", std::to_string(*gpu.units));
  if (gpu.cache) card.add("cache", quantity::format_gib(*gpu.cache));
}

std::string share_of_rate(double share, std::string_view of) {
  return share > 0.0 ? fmt::format("{} of {}", quantity::format_percent(share), of) : std::string();
}

/// Sources that speeds rest on; the rest of the entry is in its file.
void add_rates(Card& card, const spec::Rates& rates) {
  if (!rates.known()) return;
  card.add_heading("measured rates");
  card.add("measured on", rates.measured.empty() ? "nothing: as a part of its kind" : rates.measured);
  card.add("products", share_of_rate(rates.products.ceiling, "the dense peak, large ones alone"));
  card.add("attention", share_of_rate(rates.attention.native.share, "the peak, long sequences"));
  card.add("memory", share_of_rate(rates.memory.kernels, "the bandwidth, large kernels"));
  card.add("serving", rates.operations.empty() ? std::string() : "curves of " + rates.operations);
  card.add("entry", rates.id + " of presets/rates");
}

std::string element_text(const formats::DtypeFacts& facts) {
  if (facts.exponent_bits > 0) return fmt::format("1 + {} + {}", facts.exponent_bits, facts.fraction_bits);
  return facts.fraction_bits > 0 ? fmt::format("1 + {}", facts.fraction_bits) : "codebook";
}

std::string average_text(formats::Dtype dtype) {
  return fmt::format("{:.10g}", quantity::in_bits_per_element(formats::average_bits(dtype)));
}

std::string block_text(const formats::BlockScale& scale) {
  if (scale.block == 0) return {};
  auto text = fmt::format("{} B for {}", scale.scale_bytes, scale.block);
  if (scale.zero_bits > 0) text += fmt::format(", {} bits of zero point", scale.zero_bits);
  if (scale.nested_block > 0) text += fmt::format(", {} B for {} scales", scale.nested_bytes, scale.nested_block);
  if (scale.tensor_bytes > 0) text += fmt::format(", {} B for the tensor", scale.tensor_bytes);
  return text;
}

void add_number(Card& card, const formats::EncodedNumber& number) {
  card.add_heading(fmt::format("{} as {}", number.given, formats::facts(number.dtype).name));
  card.add("bits", number.bits);
  if (number.scale) card.add("scale", fmt::format("{} ({})", *number.scale, number.scale_bits));
  card.add("stored", fmt::format("{}", number.stored));
  card.add("off by",
           fmt::format("{:.3g} ({})", number.absolute_error, quantity::format_percent(number.relative_error)));
  card.add("remark", std::string(number.remark));
}

void add_range(Card& card, formats::Dtype dtype) {
  if (!quantity::contains(formats::encodable_dtypes(), dtype)) return;
  const auto range = formats::number_range(dtype);
  card.add("range", fmt::format("{:.9g} to {:.9g}", range.lowest, range.max));
  if (range.min_normal) card.add("smallest normal", fmt::format("{:.9g}", *range.min_normal));
  if (range.min_subnormal) card.add("smallest", fmt::format("{:.9g}", *range.min_subnormal));
  if (range.epsilon) card.add("epsilon", fmt::format("{:.9g}", *range.epsilon));
}

std::string card_text(const FormatLine& line) {
  const auto& facts = formats::facts(line.dtype);
  Card card(facts.name);
  card.add("bits", std::to_string(facts.bits));
  card.add("element", element_text(facts));
  card.add("with scales", average_text(line.dtype) + " bits");
  card.add("scales", block_text(facts.scale));
  add_range(card, line.dtype);
  card.add("source", std::string(facts.source));
  if (line.number) add_number(card, *line.number);
  return card.render();
}

std::string table_text(std::span<const FormatLine> lines) {
  Table table({Align::left, Align::right, Align::left, Align::right, Align::left, Align::left}, "");
  const bool valued = std::ranges::any_of(lines, [](const auto& line) { return line.number.has_value(); });
  table.add_row({"format", "bits", "element", "with scales", valued ? "stored" : "scales", valued ? "as bits" : ""});
  for (const auto& line : lines) {
    const auto& facts = formats::facts(line.dtype);
    const auto stored = line.number ? fmt::format("{}", line.number->stored) : std::string();
    table.add_row({std::string(facts.name), std::to_string(facts.bits), element_text(facts), average_text(line.dtype),
                   valued ? stored : block_text(facts.scale), line.number ? line.number->bits : ""});
  }
  return table.render();
}

}  // namespace

std::string to_text(const ModelCard& model) {
  Card card(model.id);
  add_size(card, model);
  card.add_heading("shape");
  add_dimensions(card, model.shape);
  add_structure(card, model.shape);
  card.add_heading("preset");
  card.add("names", quantity::joined(model.aliases, ", "));
  card.add("hugging face", model.hf_id);
  card.add("family", model.family);
  card.add("license", model.license);
  if (model.training_tokens) {
    card.add("trained on", quantity::format_tokens(quantity::tokens(*model.training_tokens)) + " tokens");
    card.add("", model.training_source);
  }
  card.add("notes", model.notes);
  card.add("file", model.file);
  return on_screen(card.render());
}

std::string to_text(std::span<const ModelCard> models) {
  Table table({Align::left, Align::right, Align::right, Align::right, Align::left}, "");
  table.add_row({"model", "total", "active", "context", "family"});
  for (const auto& model : models) {
    const bool sparse = model.size.active != model.size.total;
    table.add_row({model.id, quantity::format_parameters(model.size.total),
                   sparse ? quantity::format_parameters(model.size.active) : "", unless_zero(model.shape.max_position),
                   model.family});
  }
  return on_screen(table.render());
}

std::string to_text(const AcceleratorCard& preset) {
  const auto& gpu = preset.accelerator;
  Card card(gpu.id);
  card.add("name", fmt::format("{} ({} {}, {})", gpu.name, gpu.vendor, gpu.arch, gpu.year));
  add_memory(card, gpu);
  card.add("price", price_text(gpu));
  add_peaks(card, gpu);
  add_links(card, gpu);
  add_rates(card, gpu.rates);
  card.add_heading("preset");
  card.add("names", quantity::joined(preset.aliases, ", "));
  card.add("sources", gpu.sources);
  card.add("verification", verification_text(gpu.verification));
  card.add("notes", gpu.notes);
  card.add("file", preset.file);
  return on_screen(card.render());
}

std::string to_text(std::span<const AcceleratorCard> presets) {
  constexpr int digits = 4;
  Table table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::left}, "");
  table.add_row({"gpu", "GiB", "GB/s", "bf16 TFLOP/s", "$/h", "kind"});
  const auto unit = memory_unit_for(quantity::gib(1));
  for (const auto& preset : presets) {
    const auto& gpu = preset.accelerator;
    table.add_row(
        {gpu.id, in_unit(gpu.memory_usable, unit),
         quantity::format_number(quantity::in_gigabytes_per_second(gpu.memory_bandwidth), digits),
         gpu.peaks.bf16 ? quantity::format_number(quantity::in_flops_per_second(*gpu.peaks.bf16) / 1e12, digits) : "",
         gpu.price_per_hour ? fmt::format("{:.2f}", quantity::in_dollars(*gpu.price_per_hour)) : "", gpu.arch});
  }
  return on_screen(table.render());
}

std::string to_text(std::span<const FormatLine> lines) {
  return lines.size() == 1 ? card_text(lines.front()) : table_text(lines);
}

std::string to_text(const QuantizedList& list) {
  const auto& result = list.result;
  Card card(formats::facts(result.dtype).name);
  card.add("scale", fmt::format("{:.9g}", result.scale));
  card.add("zero point", std::to_string(result.zero_point));
  card.add("largest error", fmt::format("{:.3g}", result.max_error));
  card.add("mean square", fmt::format("{:.3g}", result.mean_square_error));
  card.add("source", std::string(result.source));
  card.add_heading("numbers");
  Table table({Align::right, Align::right, Align::right});
  table.add_row({"given", "code", "stored"});
  for (std::size_t i = 0; i < list.given.size(); ++i) {
    table.add_row({fmt::format("{:.6g}", list.given[i]), std::to_string(result.codes[i]),
                   fmt::format("{:.6g}", result.dequantized[i])});
  }
  return card.render() + table.render();
}

}  // namespace llmcalc::render
