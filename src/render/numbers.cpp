// `llmcalc dtype` for people.
#include "render/numbers.hpp"

#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {

namespace {

std::string element_text(const formats::DtypeFacts& facts) {
  if (facts.exponent_bits > 0) return fmt::format("1 + {} + {}", facts.exponent_bits, facts.fraction_bits);
  return facts.fraction_bits > 0 ? fmt::format("1 + {}", facts.fraction_bits) : "codebook";
}

std::string average_text(formats::Dtype dtype) {
  return fmt::format("{:.10g}", quantity::in_bits_per_element(formats::average_bits(dtype)));
}

std::string block_text(const formats::BlockScale& scale) {
  if (scale.block == 0) return {};
  auto text = fmt::format("{} B for {} elements", scale.scale_bytes, scale.block);
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
  table.add_row({"format", "bits", "sign + exponent + fraction", "with scales", valued ? "stored" : "scales",
                 valued ? "element" : ""});
  for (const auto& line : lines) {
    const auto& facts = formats::facts(line.dtype);
    const auto stored = line.number ? fmt::format("{}", line.number->stored) : std::string();
    table.add_row({std::string(facts.name), std::to_string(facts.bits), element_text(facts), average_text(line.dtype),
                   valued ? stored : block_text(facts.scale), line.number ? line.number->bits : ""});
  }
  return table.render();
}

}  // namespace

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
