// llmcalc dtype [NAME] [--value NUMBER | --quantize LIST]
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "render/presets.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::api {
namespace {

using formats::Dtype;
using quantity::BadInput;

struct DtypeRequest {
  std::optional<Dtype> dtype;
  std::optional<double> value;
  std::vector<double> list;
  formats::QuantizationScheme scheme = formats::QuantizationScheme::absmax;
};

constexpr std::array<std::string_view, 3> schemes{"absmax", "zero-point", "affine"};  // in the order of the enum

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
  const auto scheme = std::ranges::find(schemes, arguments.choice("scheme", schemes)) - schemes.begin();
  options.scheme = static_cast<formats::QuantizationScheme>(scheme);
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

}  // namespace

formats::Dtype find_dtype(std::string_view name, std::string_view place) {
  if (const auto* word = spec::find_name<formats::Dtype>(name)) return word->value;
  auto hint = quantity::did_you_mean(name, spec::all_names<formats::Dtype>());
  throw quantity::BadInput(std::string(place), "there is no number format '" + std::string(name) + "'",
                           hint.empty() ? "llmcalc dtype shows all of them" : std::move(hint));
}

std::vector<Flag> dtype_flags() {
  return {
      {"value", "number", "what each format makes of this number", "Number"},
      {"quantize", "numbers, as 1.5,-0.2,3", "quantize a list to int8 or int4", "Number"},
      {"scheme", "absmax|zero-point|affine", "of --quantize", "Number"},
  };
}

Reply ask_dtype(const Arguments& arguments, const Surroundings&) {
  const auto asked = dtype_request(arguments);
  if (asked.list.empty()) {
    return {.show = [lines = format_lines(asked)](std::string_view form) {
      const std::span<const render::FormatLine> all(lines);
      return form == "json" ? to_json(all, version()) : to_text(all);
    }};
  }
  auto result = formats::quantize(asked.list, asked.scheme, asked.dtype.value_or(Dtype::int8));
  return {.show = [list = render::QuantizedList{asked.list, std::move(result)}](std::string_view form) {
    return form == "json" ? to_json(list, version()) : to_text(list);
  }};
}

}  // namespace llmcalc::api
