#include "api/fit.hpp"

#include "api/inner/accelerators.hpp"
#include "api/inner/echo.hpp"
#include "api/inner/restated.hpp"
#include "quantity/lists.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"
#include "search/probe.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::api {
namespace {

/// What a trainer of one card and one that shards need for a model that is known by its size alone. Sequence and batch
/// are those of the answer.
std::vector<render::TrainerNeed> trainers(const spec::Question& question, const search::Restate& restate,
                                          const std::vector<render::EchoLine>& echo) {
  const auto framework = std::ranges::find(echo, "framework", &render::EchoLine::term);
  const bool is_size_alone = question.stated_parameters && framework->origin == word_of(read::Source::assumed) &&
                             question.training.framework == spec::Framework::generic &&
                             question.training.activations == spec::ActivationModel::program;
  std::vector<render::TrainerNeed> needs;
  if (!is_size_alone) return needs;
  search::Probe probe;
  for (const std::string name : {"hf", "deepspeed"}) {
    const auto& training = question.training;
    const auto run = restate(question, {{"framework", name},
                                        {"seq", std::to_string(training.seq)},
                                        {"micro_batch", std::to_string(training.micro_batch)}});
    const auto need = run ? probe.need(run->question) : std::nullopt;
    if (need) needs.push_back({name, need->accelerator});
  }
  return needs;
}

search::Advised advised(const Asked& asked, const spec::Question& question, const answer::Verdict& verdict,
                        search::AdviceWanted wanted) {
  const auto larger = [&] { return larger_than(question.gpu, asked.catalogue); };
  return search::advise(question, larger, restating(asked, question), verdict, wanted);
}

}  // namespace

Answer fit(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values) {
  const auto words = read::in_order(said);
  auto resolved = resolve(words, config, catalogue, values);
  Answer answer;
  answer.question = echo_lines(std::move(resolved.echo), read::vocabulary());
  const auto& question = resolved.question;
  answer.estimate = answer::estimate(question);
  const Asked asked{words, config, catalogue, values};
  answer.advised = advised(asked, question, answer.estimate.verdict, search::AdviceWanted::all);
  answer.trainers = trainers(question, restating(asked, question), answer.question);
  answer.assumptions = std::move(resolved.assumptions);
  answer.completed = std::move(resolved.question);
  answer.version = version();
  return answer;
}

std::string first_advice(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                         const read::Catalogue& catalogue, const answer::Estimate& estimate) {
  const auto words = read::in_order(said);
  const read::Values values;
  const auto question = resolve(words, config, catalogue, values).question;
  const auto found =
      advised({words, config, catalogue, values}, question, estimate.verdict, search::AdviceWanted::first);
  if (found.changes.empty()) return {};
  const auto option = [](const search::ChangedTerm& term) {
    return "--" + read::option_name(term.term) + " " + term.value;
  };
  return quantity::joined(quantity::mapped(found.changes.front().terms, option), " ");
}

}  // namespace llmcalc::api
