// Models, accelerators and number formats by name, as tables and as cards; numbers in formats.
#pragma once

#include "formats/number_format.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/shape.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

/// Everything that is printed about a model preset.
struct ModelCard {
  std::string id;
  std::vector<std::string> aliases;
  std::string hf_id;
  std::string family;
  std::string license;
  spec::Shape shape;
  answer::SizeAnswer size;  ///< counted from the shape
  std::optional<std::int64_t> published_parameters;
  std::string published_text;   ///< "175B", where no integer was published
  std::string published_check;  ///< how far the count agrees
  std::string published_source;
  std::optional<double> training_tokens;
  std::string training_source;
  std::string notes;
  std::string file;
};

/// Everything that is printed about an accelerator preset.
struct AcceleratorCard {
  std::vector<std::string> aliases;
  spec::Accelerator accelerator;
  std::string file;
};

std::string to_text(const ModelCard& model);
std::string to_text(const AcceleratorCard& preset);
std::string to_text(std::span<const ModelCard> models);         ///< a line a model
std::string to_text(std::span<const AcceleratorCard> presets);  ///< a line an accelerator

/// \param version  of the tool
std::string to_json(const ModelCard& card, std::string_view version);
std::string to_json(const AcceleratorCard& card, std::string_view version);
std::string to_json(std::span<const ModelCard> cards, std::string_view version);
std::string to_json(std::span<const AcceleratorCard> cards, std::string_view version);

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
