#include "api/inner/many_runs.hpp"

#include "api/fit.hpp"
#include "api/inner/limits.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/resolve.hpp"
#include "read/run_rows.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"
#include "render/runs.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;
using read::Given;

/// One question, and what tells it from the others.
struct NamedRun {
  std::string name;
  std::vector<Given> words;
};

constexpr std::array<std::string_view, 5> run_forms{"text", "json", "markdown", "csv", "junit"};
constexpr std::size_t forms_of_one = 3;  ///< of these, in which a single run has an answer of its own

constexpr std::array<std::string_view, 3> model_sources{"model", "config", "params"};

bool is_model_source(const std::string& term) { return quantity::contains(model_sources, term); }

/// Takes the place of what was said of the same; one model that of another.
void put(std::vector<Given>& words, Given word) {
  const bool is_source = is_model_source(word.term);
  const auto replaces = [&](const Given& other) { return is_source && is_model_source(other.term); };
  std::erase_if(words, [&](const Given& other) { return other.term == word.term || replaces(other); });
  words.push_back(std::move(word));
}

/// A question for each accelerator of "a100,h100:8,4090".
std::vector<NamedRun> for_each_gpu(const std::vector<Given>& words) {
  const auto* list = read::find_word(words, "gpu");
  if (list == nullptr) return {{"run", words}};
  std::vector<NamedRun> asked;
  std::string_view rest = list->text;
  while (true) {
    const auto end = std::min(rest.find(','), rest.size());
    const std::string name(quantity::trim(rest.substr(0, end)));
    if (name.empty()) throw BadInput("--gpu", "has nothing between two commas");
    asked.push_back({name, words});
    put(asked.back().words, {"gpu", name, list->origin});
    if (end == rest.size()) return asked;
    rest.remove_prefix(end + 1);
  }
}

/// A question for each row; what the command line says holds for all rows that do not say otherwise.
std::vector<NamedRun> for_each_row(const std::string& path, const std::vector<Given>& words,
                                   const Surroundings& around) {
  std::vector<NamedRun> asked;
  for (auto& row : read::read_run_rows(around.text(path, "--rows"), path)) {
    asked.push_back({std::move(row.name), words});
    for (auto& word : row.words) put(asked.back().words, std::move(word));
  }
  return asked;
}

/// The cheapest change with which a run fits, as words to type; empty where there is none.
std::string first_advice(const Answer& answer) {
  if (answer.advised.changes.empty()) return {};
  std::string words;
  for (const auto& term : answer.advised.changes.front().terms) {
    words.append(words.empty() ? "" : " ").append("--" + read::option_name(term.term) + " " + term.value);
  }
  return words;
}

/// A question without an answer is a line too; the others are answered.
render::RunLine line_of(const NamedRun& asked, const std::optional<read::ConfigText>& config, const Sources& sources,
                        const RunLimits& limits) {
  render::RunLine line;
  line.name = asked.name;
  try {
    const auto* named = read::find_word(asked.words, "config");
    const bool is_same = named != nullptr && named->origin.source != read::Source::row;
    const auto own = is_same ? config : config_of(asked.words, sources.around);
    const auto resolved = read::resolve(asked.words, own, sources.catalogue);
    const auto estimate = answer::estimate(resolved.question);
    line.reasons = beyond(limits, estimate);
    line.verdict = estimate.verdict;
    if (estimate.timed) line.step = estimate.compute.step;
    if (estimate.timed) line.total = estimate.compute.total;
    line.cost = estimate.compute.cost;
    if (estimate.verdict.kind == trust::VerdictKind::does_not_fit) {
      line.advice = first_advice(fit(asked.words, own, sources.catalogue));
    }
  } catch (const BadInput& error) {
    line.error = error.what();
  } catch (const quantity::Overflow& error) {
    line.error = error.what();
  }
  return line;
}

render::RunLine interrupted(const std::string& name) {
  render::RunLine line;
  line.name = name;
  line.error = "interrupted";
  return line;
}

std::string show(const render::Runs& runs, std::string_view format) {
  if (format == "json") return to_json(runs);
  if (format == "csv") return to_csv(runs);
  if (format == "markdown") return to_markdown(runs);
  return format == "junit" ? to_junit(runs) : to_text(runs);
}

/// Without an accelerator there is no verdict, and a script that wants one has no answer.
bool has_no_answer(const render::RunLine& line, bool needs_verdict) {
  return !line.verdict || (needs_verdict && line.verdict->kind == trust::VerdictKind::no_accelerator);
}

}  // namespace

bool asks_many(const Arguments& arguments, const std::vector<Given>& words) {
  const auto* gpu = read::find_word(words, "gpu");
  const bool several = gpu != nullptr && gpu->text.find(',') != std::string::npos;
  const auto* form = arguments.find("format");
  const bool has_line_each = form != nullptr && quantity::contains(std::span(run_forms).subspan(forms_of_one), *form);
  return several || arguments.has("rows") || has_line_each;
}

Reply fit_many(const Arguments& arguments, const AskedQuestion& question, const Sources& sources) {
  arguments.choice("format", run_forms);
  render::Runs runs;
  runs.strict = arguments.has("strict");
  runs.version = version();
  const auto limits = run_limits_of(arguments);
  const auto* rows = arguments.find("rows");
  const auto asked =
      rows == nullptr ? for_each_gpu(question.words) : for_each_row(*rows, question.words, sources.around);
  const auto answer_all = [&](const GoesOn& goes_on) {
    for (std::size_t n = 0; n < asked.size(); ++n) {
      const bool goes = goes_on(static_cast<double>(n) / static_cast<double>(asked.size()));
      runs.lines.push_back(goes ? line_of(asked[n], question.config, sources, limits) : interrupted(asked[n].name));
    }
  };
  sources.around.watch(answer_all, arguments.has("quiet"));
  Reply reply;
  const bool needs_verdict = runs.strict || arguments.has("quiet");
  if (std::ranges::any_of(runs.lines, [&](const auto& line) { return fails(line, runs.strict); })) {
    reply.code = ExitCode::does_not_fit;
  }
  if (std::ranges::any_of(runs.lines, [&](const auto& line) { return has_no_answer(line, needs_verdict); })) {
    reply.code = ExitCode::bad_question;
  }
  reply.show = [runs = std::move(runs)](std::string_view form) { return show(runs, form); };
  return reply;
}

}  // namespace llmcalc::api
