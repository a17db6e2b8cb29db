#include "api/inner/plan_report.hpp"

#include "api/inner/plan_options.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "quantity/lists.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace llmcalc::api {
namespace {

using read::Given;

/// What a row tells of a run, in this order, behind what tells the bases apart.
constexpr auto row_terms = std::span(chosen_terms).subspan<1>();  // but for the framework

class ReportBuilder {
 public:
  ReportBuilder(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space)
      : asked_(asked), plan_(plan), space_(space), terms_(terms()) {}

  render::PlanReport build(const search::Findings& findings) const;

 private:
  std::vector<std::string> terms() const;
  std::string value_of(const std::string& term, const search::Choice& choice, const spec::Question& question) const;
  std::vector<render::PlanRow> rows(const std::vector<search::PlannedRun>& runs) const;

  const AskedWords& asked_;
  const read::PlanWords& plan_;
  const search::PlanSpace& space_;
  std::vector<std::string> terms_;
};

std::vector<std::string> ReportBuilder::terms() const {
  const auto is_of_base = [](const Given& word) { return !quantity::contains(row_terms, word.term); };
  auto terms = quantity::mapped_if(plan_.bases.front().varied, &Given::term, is_of_base);
  quantity::append(terms, row_terms);
  return terms;
}

std::string ReportBuilder::value_of(const std::string& term, const search::Choice& choice,
                                    const spec::Question& question) const {
  const auto& varied = plan_.bases[choice.base].varied;
  const auto* word = read::find_word(varied, term);
  if (word != nullptr && !quantity::contains(row_terms, term)) return word->text;
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
  report.version = version();
  if (findings.unanswered > 0) {
    report.warnings.push_back("left out what could not be answered, " + std::to_string(findings.unanswered) +
                              " times: " + findings.obstacle);
  }
  if (findings.best.empty()) return report;
  const search::Choice& choice = findings.best.front().choice;
  const spec::Question question = space_.question_of(choice);
  report.estimate = answer::estimate(question);
  quantity::append(report.warnings, report.estimate->warnings);
  report.fit_command = fit_command(asked_, plan_.bases[choice.base].varied, question);
  report.launch = dialects::launches(question);
  return report;
}

}  // namespace

render::PlanReport plan_report(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space,
                               const search::Findings& findings) {
  return ReportBuilder(asked, plan, space).build(findings);
}

}  // namespace llmcalc::api
