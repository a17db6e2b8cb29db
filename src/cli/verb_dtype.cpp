// llmcalc dtype [NAME] [--value NUMBER | --quantize LIST]
#include "cli/dtype_name.hpp"
#include "cli/preset_verb.hpp"
#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "render/numbers.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::cli {
namespace {

using formats::Dtype;
using quantity::BadInput;

struct DtypeRequest {
  std::optional<Dtype> dtype;
  std::optional<double> value;
  std::vector<double> list;
  formats::QuantizationScheme scheme = formats::QuantizationScheme::absmax;
  bool json = false;
};

constexpr std::array<std::string_view, 2> schemes{"absmax", "zero-point"};

std::vector<double> number_list(std::string_view text, std::string_view place) {
  std::vector<double> numbers;
  while (true) {
    const auto comma = text.find(',');
    numbers.push_back(quantity::parse_real(text.substr(0, comma), place));
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

DtypeRequest dtype_request(const Arguments& arguments) {
  DtypeRequest options;
  const auto& names = arguments.names(1);
  if (!names.empty()) options.dtype = find_dtype(names.front(), "dtype");
  const std::string* value = arguments.find("value");
  const std::string* list = arguments.find("quantize");
  if (value != nullptr && list != nullptr) throw BadInput("--quantize", "contradicts --value: ask one at a time");
  if (value != nullptr) options.value = quantity::parse_real(*value, "--value");
  if (list != nullptr) options.list = number_list(*list, "--quantize");
  if (list == nullptr && arguments.has("scheme")) throw BadInput("--scheme", "belongs to --quantize");
  const bool affine = arguments.choice("scheme", schemes) == "zero-point";
  options.scheme = affine ? formats::QuantizationScheme::zero_point : formats::QuantizationScheme::absmax;
  options.json = wants_json(arguments);
  return options;
}

/// A format that was named must be able to hold the number; in the list of all, those that cannot are left blank.
std::vector<render::FormatLine> format_lines(const DtypeRequest& options) {
  const auto line_of = [&](Dtype dtype, bool encodes) {
    render::FormatLine line{dtype, {}};
    if (options.value && encodes) line.number = formats::encode(dtype, *options.value);
    return line;
  };
  if (options.dtype) return {line_of(*options.dtype, true)};
  const auto encodable = formats::encodable_dtypes();
  std::vector<render::FormatLine> lines;
  for (const auto& facts : formats::all_dtypes()) {
    lines.push_back(line_of(facts.dtype, quantity::contains(encodable, facts.dtype)));
  }
  return lines;
}

Outcome run(const DtypeRequest& options) {
  if (options.list.empty()) return show(std::span<const render::FormatLine>(format_lines(options)), options.json);
  auto result = formats::quantize(options.list, options.scheme, options.dtype.value_or(Dtype::int8));
  return show(render::QuantizedList{options.list, std::move(result)}, options.json);
}

}  // namespace

std::vector<Flag> dtype_flags() {
  return {
      {"value", "number", "what each format makes of this number", "Number"},
      {"quantize", "numbers, as 1.5,-0.2,3", "quantize a list to int8 or int4", "Number"},
      {"scheme", "absmax|zero-point", "of --quantize", "Number"},
  };
}

Outcome dtype(const Arguments& arguments, const Environment&) { return run(dtype_request(arguments)); }

}  // namespace llmcalc::cli
