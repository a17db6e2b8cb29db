#include "llmcalc/api/fit.hpp"

#include "api/accelerators.hpp"
#include "api/echo.hpp"
#include "api/restated.hpp"

#include <utility>

namespace llmcalc::api {

Answer fit(const std::vector<read::Given>& words, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values) {
  auto resolved = resolve(words, config, catalogue, values);
  Answer answer;
  answer.question = echo_lines(std::move(resolved.echo));
  const auto& question = resolved.question;
  answer.estimate = answer::estimate(question);
  const auto larger = [&] { return larger_than(question.gpu, catalogue); };
  const Asked asked{words, config, catalogue, values};
  answer.advised = search::advise(question, larger, restating(asked, question), answer.estimate.verdict);
  answer.assumptions = std::move(resolved.assumptions);
  answer.completed = std::move(resolved.question);
  answer.version = version();
  return answer;
}

}  // namespace llmcalc::api
