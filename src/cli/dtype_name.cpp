#include "cli/dtype_name.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "spec/names.hpp"

namespace llmcalc::cli {

formats::Dtype find_dtype(std::string_view name, std::string_view place) {
  if (const auto* word = spec::find_name<formats::Dtype>(name)) return word->value;
  throw quantity::BadInput(std::string(place), "there is no number format '" + std::string(name) + "'",
                           quantity::did_you_mean(name, spec::all_names<formats::Dtype>()));
}

}  // namespace llmcalc::cli
