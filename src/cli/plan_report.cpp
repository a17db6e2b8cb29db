#include "cli/plan_report.hpp"

#include "cli/flags.hpp"
#include "cli/plan_options.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/read/vocabulary.hpp"
#include "llmcalc/spec/names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace llmcalc::cli {
namespace {

using read::Given;

/// What a row tells of a run, in this order, behind what tells the bases apart.
constexpr std::array<std::string_view, 16> row_terms{"gpu",      "gpus",        "dp",        "tp",          "sp", "pp",
                                                     "vpp",      "schedule",    "cp",        "cp_exchange", "ep", "etp",
                                                     "sharding", "micro_batch", "recompute", "offload"};

class ReportBuilder {
 public:
  ReportBuilder(const std::vector<Given>& words, const read::PlanWords& plan, const search::PlanSpace& space)
      : words_(words), plan_(plan), space_(space), terms_(terms()) {}

  render::PlanReport build(const search::Findings& findings) const;

 private:
  std::vector<std::string> terms() const;
  std::string value_of(const std::string& term, const search::Choice& choice, const spec::Question& question) const;
  std::vector<render::PlanRow> rows(const std::vector<search::PlannedRun>& runs) const;
  std::string fit_command(const search::Choice& choice) const;

  const std::vector<Given>& words_;
  const read::PlanWords& plan_;
  const search::PlanSpace& space_;
  std::vector<std::string> terms_;
};

std::vector<std::string> ReportBuilder::terms() const {
  std::vector<std::string> terms;
  for (const Given& word : plan_.bases.front().varied) {
    if (std::ranges::find(row_terms, word.term) == row_terms.end()) terms.push_back(word.term);
  }
  terms.insert(terms.end(), row_terms.begin(), row_terms.end());
  return terms;
}

std::string ReportBuilder::value_of(const std::string& term, const search::Choice& choice,
                                    const spec::Question& question) const {
  const auto& varied = plan_.bases[choice.base].varied;
  const bool by_row = std::ranges::find(row_terms, term) != row_terms.end();
  const auto word = std::ranges::find(varied, term, &Given::term);
  if (!by_row && word != varied.end()) return word->text;
  const read::Term* row = read::find_term(term);
  return row == nullptr ? std::string() : row->show(question);
}

std::vector<render::PlanRow> ReportBuilder::rows(const std::vector<search::PlannedRun>& runs) const {
  std::vector<render::PlanRow> rows;
  for (const search::PlannedRun& run : runs) {
    const spec::Question question = space_.question_of(run.choice);
    render::PlanRow row{{}, run};
    for (const auto& term : terms_) row.values.push_back(value_of(term, run.choice, question));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A word as a shell reads it back.
std::string quoted(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_=./:,+%@").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

std::string ReportBuilder::fit_command(const search::Choice& choice) const {
  const spec::Question question = space_.question_of(choice);
  const auto& varied = plan_.bases[choice.base].varied;
  std::string command = "llmcalc fit";
  const auto add = [&](std::string_view term, const std::string& text) {
    command += " --" + read::option_name(term) + " " + quoted(text);
  };
  for (const Given& word : words_) {
    if (read::is_choice(word.term) || word.term == "zero" || word.term == "recompute_modules") continue;
    if (word.term == "gpu" || word.term == "gpus") continue;
    const auto own = std::ranges::find(varied, word.term, &Given::term);
    add(word.term, own == varied.end() ? word.text : own->text);
  }
  for (const auto term : row_terms) {
    const std::string value = read::find_term(term)->show(question);
    constexpr std::array<std::string_view, 3> unused{"1", "0", "ring"};
    const bool needed = term == "micro_batch" || std::ranges::find(unused, value) == unused.end();
    if (!value.empty() && needed) add(term, value);
  }
  const std::string modules = read::find_term("recompute_modules")->show(question);
  if (!modules.empty()) add("recompute_modules", modules);
  return command;
}

render::PlanReport ReportBuilder::build(const search::Findings& findings) const {
  render::PlanReport report;
  report.objective = word_of(space_.question().objective);
  report.terms = terms_;
  report.best = rows(findings.best);
  if (plan_.bases.size() > 1) report.each = rows(findings.each);
  report.front = rows(findings.front);
  report.looked_at = findings.looked_at;
  report.fitting = findings.fitting;
  report.assumptions = plan_.bases.front().resolved.assumptions;
  report.version = LLMCALC_VERSION;
  if (findings.best.empty()) return report;
  const search::Choice& choice = findings.best.front().choice;
  const spec::Question question = space_.question_of(choice);
  report.estimate = answer::estimate(question);
  report.warnings = report.estimate->warnings;
  report.fit_command = fit_command(choice);
  report.launch = launch::launches(question);
  return report;
}

}  // namespace

render::PlanReport plan_report(const std::vector<Given>& words, const read::PlanWords& plan,
                               const search::PlanSpace& space, const search::Findings& findings) {
  return ReportBuilder(words, plan, space).build(findings);
}

}  // namespace llmcalc::cli
