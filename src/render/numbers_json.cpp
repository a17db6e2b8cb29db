// `llmcalc dtype` for programs; docs/json.md says what each key means.
#include "render/inner/json_list.hpp"
#include "render/numbers.hpp"

#include <cmath>

namespace llmcalc::render {
namespace {

/// JSON has no infinity: null is what a number became that left the range of its format.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json block_scale(const formats::BlockScale& scale) {
  if (scale.block == 0) return {};
  return {{"block", scale.block},
          {"scale_bytes", scale.scale_bytes},
          {"nested_block", scale.nested_block},
          {"nested_bytes", scale.nested_bytes},
          {"zero_bits", scale.zero_bits},
          {"tensor_bytes", scale.tensor_bytes}};
}

Json rounded(const std::optional<formats::EncodedNumber>& number) {
  if (!number) return {};
  return {{"given", number_or_null(number->given)},
          {"stored", number_or_null(number->stored)},
          {"bits", number->bits},
          {"scale", finite_or_null(number->scale)},
          {"absolute_error", number_or_null(number->absolute_error)},
          {"relative_error", number->given == 0.0 ? Json() : number_or_null(number->relative_error)},
          {"remark", text_or_null(number->remark)}};
}

Json format_entry(const FormatLine& line) {
  const auto& facts = formats::facts(line.dtype);
  return {{"name", facts.name},
          {"bits", facts.bits},
          {"average_bits", finite(quantity::in_bits_per_element(formats::average_bits(line.dtype)))},
          {"exponent_bits", facts.exponent_bits},
          {"fraction_bits", facts.fraction_bits},
          {"block_scale", block_scale(facts.scale)},
          {"rounded", rounded(line.number)},
          {"source", text_or_null(facts.source)}};
}

}  // namespace

std::string to_json(std::span<const FormatLine> lines, std::string_view version) {
  Json object = json_answer("dtype", version);
  object["dtypes"] = json_list(lines, format_entry);
  return dump(object);
}

std::string to_json(const QuantizedList& list, std::string_view version) {
  const auto& result = list.result;
  Json object = json_answer("quantization", version);
  object["dtype"] = formats::facts(result.dtype).name;
  object["scale"] = finite(result.scale);
  object["zero_point"] = result.zero_point;
  object["given"] = list.given;
  object["codes"] = result.codes;
  object["dequantized"] = result.dequantized;
  object["max_error"] = finite(result.max_error);
  object["mean_square_error"] = finite(result.mean_square_error);
  object["source"] = text_or_null(result.source);
  return dump(object);
}

}  // namespace llmcalc::render
