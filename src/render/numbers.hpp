// Number formats, and numbers in them.
#pragma once

#include "formats/number_format.hpp"
#include "formats/quantization.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

/// One format; what it makes of a number where one was given and it has an encoding of its own.
struct FormatLine {
  formats::Dtype dtype = formats::Dtype::fp32;
  std::optional<formats::EncodedNumber> number;
};

std::string to_text(std::span<const FormatLine> lines);
std::string to_json(std::span<const FormatLine> lines, std::string_view version);

/// A list of numbers and what quantization makes of them.
struct QuantizedList {
  std::vector<double> given;
  formats::Quantization result;
};

std::string to_text(const QuantizedList& list);
std::string to_json(const QuantizedList& list, std::string_view version);

}  // namespace llmcalc::render
