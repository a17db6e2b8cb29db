#include "quantity/format.hpp"
#include "read/calibration.hpp"
#include "read/presets.hpp"
#include "read/words/draft_steps.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::read {
namespace {

/// "memory x 1.040 within 5 % (12 runs)"
void add_words(std::string_view figure, const spec::Bias& bias, std::string& words) {
  if (!bias.is_known()) return;
  words += (words.empty() ? "" : ", ") + std::string(figure) + " x " + quantity::format_number(bias.factor, 3) +
           " within " + quantity::format_percent(bias.bar) + " (" + std::to_string(bias.runs) + " runs)";
}

}  // namespace

void Catalogue::calibrate(std::vector<OwnRuns> runs) {
  own_runs_ = std::make_shared<const std::vector<OwnRuns>>(std::move(runs));
}

const OwnRuns* Catalogue::own_runs(spec::Framework framework) const {
  if (own_runs_ == nullptr) return nullptr;
  const auto found = std::ranges::find(*own_runs_, framework, &OwnRuns::framework);
  return found == own_runs_->end() ? nullptr : &*found;
}

void take_calibration(QuestionDraft& draft) {
  const OwnRuns* own = draft.catalogue.own_runs(draft.training().framework);
  if (own == nullptr || draft.training().activations != spec::ActivationModel::program) return;
  draft.question.calibration = own->calibration;
  std::string words;
  add_words("memory", own->calibration.memory, words);
  add_words("a step", own->calibration.time, words);
  if (!words.empty()) draft.assume("calibrated by runs of your own: " + words);
}

}  // namespace llmcalc::read
