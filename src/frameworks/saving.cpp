#include "frameworks/saving.hpp"

#include "frameworks/table.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::frameworks {

/// A way that was asked for by name is taken where the framework would do otherwise.
const Saving* saving_of(const spec::Question& question) {
  const auto way = question.training.save_checkpoint;
  if (way == spec::SaveCheckpoint::none) return nullptr;
  const auto savings = row_of(question.training.framework).abilities.savings;
  const auto is_asked = [&](const Saving& saving) {
    return way == spec::SaveCheckpoint::framework || saving.way == way;
  };
  const auto holds = [&](const Saving& saving) {
    return is_asked(saving) && (saving.holds == nullptr || saving.holds(question));
  };
  auto found = std::ranges::find_if(savings, holds);
  if (found == savings.end()) found = std::ranges::find_if(savings, is_asked);
  return found == savings.end() ? nullptr : &*found;
}

}  // namespace llmcalc::frameworks
