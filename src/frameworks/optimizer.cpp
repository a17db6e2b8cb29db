#include "frameworks/optimizer.hpp"

#include "frameworks/release.hpp"
#include "frameworks/table.hpp"

namespace llmcalc::frameworks {

bool widens_embedding_moments(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::trainer &&
         holds(Behaviour::wide_embedding_moments, training.software);
}

bool keeps_random_projector(const spec::Training& training) {
  return row_of(training.framework).states != StateRecipe::textbook;
}

formats::Dtype adapters_rest_in(const spec::Training& training) {
  const spec::Precision& precision = training.precision;
  const bool quantized = training.method == spec::Method::qlora || formats::is_quantized(precision.weights);
  if (quantized && row_of(training.framework).narrows_adapters) return formats::Dtype::bf16;
  return row_of(training.framework).adapters_rest_as_model && !precision.autocast ? precision.compute
                                                                                  : formats::Dtype::fp32;
}

}  // namespace llmcalc::frameworks
