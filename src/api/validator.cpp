#include "api/inner/validator.hpp"

#include "answer/measured_figure.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "serving/measured.hpp"
#include "spec/names.hpp"
#include "trust/error_bar.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace llmcalc::api {
namespace {

/// "FILE:LINE:COLUMN: problem" without file and line, which a contradiction names again, so that equal reasons are
/// counted together.
std::string reason_of(const quantity::BadInput& error) {
  const std::string& place = error.place();
  const std::string row = place.substr(0, place.rfind(':') + 1);
  std::string problem = error.problem();
  constexpr auto nowhere = std::string::npos;
  for (std::size_t at = row.empty() ? nowhere : problem.find(row); at != nowhere; at = problem.find(row, at)) {
    problem.erase(at, row.size());
  }
  return place.substr(row.size()) + ": " + problem;
}

/// A model that is no preset may be known by the id of its checkpoint.
/// \throws quantity::BadInput for a GGUF file whose type is not said: no other word says how large it is
std::vector<read::Given> server_words(const read::MeasuredRun& run) {
  auto words = run.question;
  const std::string id(read::cell(run, "hf_id"));
  if (id.ends_with("-GGUF") && read::cell(run, "quant").empty()) {
    throw quantity::BadInput(run.place + ":quant", "is missing for a GGUF file");
  }
  const auto is_model = [](const read::Given& word) { return word.term == "model" || word.term == "layers"; };
  if (std::ranges::any_of(words, is_model) || id.empty()) return words;
  words.push_back({"model", id, {read::Source::row, run.place + ":hf_id"}});
  return words;
}

/// Numbers of several cards are of one of them where their notes say so, and of all otherwise.
serving::Scope scope_of(const read::MeasuredRun& run) {
  constexpr std::string_view of_one[] = {"one rank", "one card", "per card"};
  const auto is_said = [notes = read::cell(run, "notes")](auto words) { return notes.find(words) != notes.npos; };
  return std::ranges::any_of(of_one, is_said) ? serving::Scope::one_card : serving::Scope::all_cards;
}

}  // namespace

Validator::Validator(const read::Catalogue& catalogue, std::vector<std::string> by)
    : catalogue_(catalogue), by_(std::move(by)) {}

void Validator::take(const read::MeasuredRun& run) {
  try {
    if (!read::cell(run, "engine").empty()) return compare_server(run);
    compare(run, answer::estimate(read::resolve(run.question, std::nullopt, catalogue_).question));
  } catch (const quantity::BadInput& error) {
    skipped_.add(reason_of(error), run.place);
  } catch (const quantity::Overflow&) {
    skipped_.add("the answer has no room in 64 bits", run.place);
  } catch (const std::exception& error) {
    skipped_.add(std::string("internal error: ") + error.what(), run.place);
  }
}

void Validator::leave_out(const read::MeasuredRun& run) { skipped_.add("interrupted before it", run.place); }

trust::Validation Validator::finish() && {
  validation_.summary = trust::summarize(validation_.rows);
  validation_.configurations = trust::summarize(trust::by_configuration(validation_.rows));
  validation_.groups = trust::group(validation_.rows, by_);
  validation_.skipped = skipped_.most_frequent_first();
  return std::move(validation_);
}

void Validator::compare(const read::MeasuredRun& run, const answer::Estimate& estimate) {
  if (is_verdict(run.measure)) return judge(run, estimate.verdict.kind);
  const auto predicted = answer::predicted(estimate, run.measure, run.step);
  if (!predicted) return skipped_.add("a time needs an accelerator", run.place);
  validation_.rows.push_back({.id = run.id,
                              .place = run.place,
                              .measure = run.measure,
                              .measured = run.value,
                              .predicted = *predicted,
                              .bar = error_bar(estimate, run.measure),
                              .configuration = read::configuration(run),
                              .groups = groups_of(run)});
}

void Validator::compare_server(const read::MeasuredRun& run) {
  const auto server = serving::serve(read::resolve_serving(server_words(run), std::nullopt, catalogue_).question);
  if (is_verdict(run.measure)) return judge_server(run, server);
  if (!(run.value > 0.0)) return skipped_.add("no percentage of what is not more than nothing", run.place);
  const auto predicted = serving::predicted(server, run.measure, scope_of(run));
  if (!predicted) return skipped_.add(std::string(spec::name_of(run.measure)) + " is not predicted", run.place);
  validation_.rows.push_back({.id = run.id,
                              .place = run.place,
                              .measure = run.measure,
                              .measured = run.value,
                              .predicted = *predicted,
                              .bar = trust::server_error_bar(server.deployment.question.serving.engine, run.measure),
                              .configuration = read::configuration(run),
                              .groups = groups_of(run)});
}

void Validator::judge_server(const read::MeasuredRun& run, const serving::ServingAnswer& server) {
  using serving::ServingVerdict;
  if (server.verdict == ServingVerdict::no_accelerator) return judge(run, trust::VerdictKind::no_accelerator);
  judge(run, server.verdict == ServingVerdict::fits ? trust::VerdictKind::fits : trust::VerdictKind::does_not_fit);
}

void Validator::judge(const read::MeasuredRun& run, trust::VerdictKind verdict) {
  using trust::VerdictKind;
  if (verdict == VerdictKind::no_accelerator) return skipped_.add("a verdict needs an accelerator", run.place);
  validation_.judged.push_back({run.id, run.place, trust::judgement_on(run.measure == spec::Measure::fits, verdict)});
}

std::vector<std::string> Validator::groups_of(const read::MeasuredRun& run) const {
  std::vector<std::string> groups;
  for (const auto& column : by_) groups.emplace_back(read::cell(run, column));
  return groups;
}

}  // namespace llmcalc::api
