#include "llmcalc/frameworks/optimizer.hpp"

#include "llmcalc/frameworks/release.hpp"
#include "llmcalc/frameworks/table.hpp"

namespace llmcalc::frameworks {

bool widens_embedding_moments(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::trainer &&
         holds(Behaviour::wide_embedding_moments, training.software);
}

bool keeps_random_projector(const spec::Training& training) {
  return row_of(training.framework).states != StateRecipe::textbook;
}

}  // namespace llmcalc::frameworks
