#include "llmcalc/api/fit.hpp"

#include "api/retyped_advice.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::api {
namespace {

/// Data-centre parts of the same make with more memory, the smallest first.
std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue) {
  std::vector<spec::Accelerator> larger;
  if (!present) return larger;
  for (auto& preset : catalogue.accelerators()) {
    auto& gpu = preset.accelerator;
    const bool in_data_centres = gpu.memory_type.starts_with("HBM") && gpu.peaks.bf16;
    if (in_data_centres && gpu.vendor == present->vendor && gpu.memory_usable > present->memory_usable) {
      larger.push_back(std::move(gpu));
    }
  }
  std::ranges::stable_sort(larger, {}, &spec::Accelerator::memory_usable);
  return larger;
}

}  // namespace

Answer fit(const std::vector<read::Given>& words, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values) {
  auto resolved = resolve(words, config, catalogue, values);
  Answer answer;
  for (auto& line : resolved.echo) {
    answer.question.push_back({std::move(line.term), std::move(line.value), std::string(word_of(line.origin.source)),
                               std::move(line.origin.where)});
  }
  const auto& question = resolved.question;
  answer.estimate = answer::estimate(question);
  const auto larger = [&] { return larger_than(question.gpu, catalogue); };
  answer.advised = search::advise(question, larger, answer.estimate.verdict);
  for (auto& advice : answer.advised.changes) retype(words, question, advice);
  answer.assumptions = std::move(resolved.assumptions);
  answer.completed = std::move(resolved.question);
  answer.version = version();
  return answer;
}

}  // namespace llmcalc::api
