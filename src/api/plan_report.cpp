#include "answer/figures.hpp"
#include "api/inner/planner.hpp"
#include "dialects/launch.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "render/understood.hpp"

#include <algorithm>

namespace llmcalc::api {

using read::Given;

namespace {

/// Columns of a run's row, in this order, behind what tells the bases apart.
std::span<const std::string_view> row_terms() { return chosen_terms().subspan(1); }  // but for the framework

/// The Hub's id of the run's model, as it was typed or as its preset is published; empty where none is known.
std::string hub_id(const AskedWords& asked, const std::vector<Given>& varied) {
  const auto* own = read::find_word(varied, "model");
  const auto* model = own != nullptr ? own : read::find_word(asked.words, "model");
  if (model == nullptr || model->text.find('/') != std::string::npos) return model == nullptr ? "" : model->text;
  return asked.source.catalogue.model(model->text, model->origin.where).named(model->text).repository;
}

/// Failures do not ask how a run is laid out (answer/figures.hpp, WallClock): what they leave of one layout they leave
/// of all.
std::string why_endless(const spec::Question& question) try {
  return answer::never_finishes(answer::estimate(question));
} catch (const quantity::BadInput&) {  // without a choice this run is none
  return {};
}

class ReportBuilder {
 public:
  ReportBuilder(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space)
      : asked_(asked), plan_(plan), space_(space), terms_(terms()) {}

  render::PlanRow row(const search::PlannedRun& run) const {
    const spec::Question question = space_.question_of(run.choice);
    render::PlanRow row{{}, run};
    for (const auto& term : terms_) row.values.push_back(value_of(term, run.choice, question));
    return row;
  }

  render::PlanReport build(const search::Findings& findings) const {
    render::PlanReport report;
    report.objective = word_of(space_.question().objective);
    report.terms = terms_;
    report.best = rows(findings.best);
    if (plan_.bases.size() > 1) report.each = rows(findings.each);
    report.front = rows(findings.front);
    report.looked_at = findings.looked_at;
    report.fitting = findings.fitting;
    report.counted = plan_.counts_accelerators;
    report.limited = space_.question().limits.stated();
    report.assumptions = plan_.bases.front().resolved.assumptions;
    quantity::append(report.assumptions, plan_.on_all);
    report.warnings = plan_.bases.front().resolved.warnings();
    report.version = version();
    if (findings.unanswered > 0) {
      report.warnings.push_back("left out what could not be answered, " + std::to_string(findings.unanswered) +
                                " times: " + findings.obstacle);
    }
    if (findings.best.empty()) {
      report.never_finishes = why_endless(plan_.bases.front().resolved.question);
      if (!report.never_finishes.empty()) report.warnings.push_back(report.never_finishes);
      return report;
    }
    if (const auto lost = left_out(findings); !lost.empty())
      report.warnings.push_back("left out, since none of its layouts is legal and within the limits: " + lost);
    const search::Choice& choice = findings.best.front().choice;
    const spec::Question question = space_.question_of(choice);
    report.estimate = answer::estimate(question);
    const bool is_tight = report.estimate->verdict.kind == trust::VerdictKind::tight;
    if (is_tight && findings.sure) report.sure = rows({*findings.sure}).front();
    quantity::append(report.warnings, report.estimate->warnings);
    report.fit_command = fit_command(asked_, plan_.bases[choice.base].varied, question);
    const auto model = hub_id(asked_, plan_.bases[choice.base].varied);
    report.launch = model.find('/') == model.npos ? dialects::launches(question) : dialects::launches(question, model);
    return report;
  }

 private:
  std::vector<std::string> terms() const {
    const auto is_of_base = [](const Given& word) { return !quantity::contains(row_terms(), word.term); };
    auto terms = quantity::mapped_if(plan_.bases.front().varied, &Given::term, is_of_base);
    quantity::append(terms, row_terms());
    return terms;
  }

  std::string value_of(const std::string& term, const search::Choice& choice, const spec::Question& question) const {
    const auto& varied = plan_.bases[choice.base].varied;
    const auto* word = read::find_word(varied, term);
    if (word != nullptr && !quantity::contains(row_terms(), term)) return word->text;
    const read::Term* row = read::find_term(term);
    return row == nullptr ? std::string() : row->show(question);
  }

  std::vector<render::PlanRow> rows(const std::vector<search::PlannedRun>& runs) const {
    return quantity::mapped(runs, [&](const search::PlannedRun& run) { return row(run); });
  }

  std::string left_out(const search::Findings& findings) const {
    auto lost = plan_.unable;
    for (std::uint32_t index = 0; index < plan_.bases.size() && plan_.bases.size() > 1; ++index) {
      const auto is_of_it = [&](const search::PlannedRun& run) { return run.choice.base == index; };
      if (std::ranges::none_of(findings.each, is_of_it)) lost.push_back(plan_.bases[index].varied);
    }
    constexpr std::size_t most = 3;
    const auto options = [](const std::vector<Given>& words) { return render::options_of(words); };
    const auto names = quantity::joined(std::span(lost).first(std::min(most, lost.size())), ", ", options);
    return lost.size() > most ? names + " and " + std::to_string(lost.size() - most) + " more" : names;
  }

  const AskedWords& asked_;
  const read::PlanWords& plan_;
  const search::PlanSpace& space_;
  std::vector<std::string> terms_;
};

}  // namespace

render::PlanReport plan_report(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space,
                               const search::Findings& findings) {
  return ReportBuilder(asked, plan, space).build(findings);
}

void add_nearest(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space,
                 const search::PlannedRun& nearest, render::PlanReport& report) {
  report.nearest = ReportBuilder(asked, plan, space).row(nearest);
}

}  // namespace llmcalc::api
