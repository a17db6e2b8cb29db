#include "api/inner/limits.hpp"
#include "api/inner/many_runs.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/render/report.hpp"
#include "quantity/lists.hpp"
#include "read/words.hpp"
#include "render/understood.hpp"
#include "search/advice.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

namespace llmcalc::api {

namespace {

using read::Given;
using search::Restated;

/// The question of a person, before it was completed.
struct Asked {
  const std::vector<read::Given>& words;
  const std::optional<read::ConfigText>& config;
  const read::Catalogue& catalogue;
  const read::Values& values;
};

/// The changed terms, and those that were said and that the change moves without naming them.
std::vector<spec::Word> terms_to_say(const std::vector<Given>& words, const spec::Question& before,
                                     const spec::Question& changed, std::vector<spec::Word> terms) {
  for (Given& moved : read::differences(changed, before)) {
    if (read::has_word(words, moved.term) && !read::has_word(terms, moved.term)) terms.push_back(std::move(moved));
  }
  return terms;
}

/// Says something of the model beside its name.
bool concerns_shape(std::string_view name) {
  const read::Term* term = read::find_term(name);
  return term != nullptr && term->group == read::TermGroup::model && term->name != "model";
}

/// Whether the shape is what a preset says, as nothing else on the line touches a model: then it need not be read
/// again.
bool is_of_preset(const std::vector<Given>& words, const std::vector<spec::Word>& said) {
  const auto concerns = [](const Given& word) { return concerns_shape(word.term) || word.term == "image_size"; };
  return read::has_word(words, "model") && !read::has_word(said, "model") && std::ranges::none_of(words, concerns) &&
         std::ranges::none_of(said, concerns);
}

/// A layout decides which trainer is asked about where nobody names one, and another one has other sequences and
/// batches. Adapters of a textbook are nobody's, so its run may become a trainer's.
bool keeps_trainer(const std::vector<Given>& words, const spec::Question& question) {
  return question.training.framework != spec::Framework::generic && !read::has_word(words, "framework");
}

/// Batch, length and recomputation as a change left them, where a trainer starts such a run with others: more of the
/// last is welcome.
std::vector<spec::Word> kept_to_say(const spec::Question& changed, const spec::Question& run,
                                    const std::vector<Given>& words) {
  std::vector<spec::Word> terms;
  const auto keep = [&](std::string_view name) {
    const read::Term& term = *read::find_term(name);
    auto left = term.show(changed);
    if (left != term.show(run)) terms.push_back({std::string(name), std::move(left)});
  };
  keep("seq");
  keep("micro_batch");
  if (!read::has_word(words, "global_batch")) keep("grad_accum");
  if (changed.training.recompute.policy != spec::RecomputePolicy::none) {
    keep("recompute");
    keep("recompute_modules");
  }
  return terms;
}

/// Completes the words again with those of a change in their place. Terms that were said and that hold no longer after
/// the change are said anew: adapters leave their base without a master copy, so beside "--master-weights 1" they also
/// ask for "--master-weights 0".
/// \param question  what the words ask
/// \pre both arguments outlive what is returned
search::Restate restating(const Asked& asked, const spec::Question& question) {
  return [&asked, &question](const spec::Question& changed,
                             const std::vector<spec::Word>& terms) -> std::optional<Restated> {
    auto said = terms_to_say(asked.words, question, changed, terms);
    read::Values known = asked.values;
    known.gpu = changed.gpu;  // looked up before
    if (!known.shape && is_of_preset(asked.words, said)) known.shape = question.model.shape;
    const auto completed = [&asked, known](const std::vector<spec::Word>& words) -> std::optional<spec::Question> {
      try {
        return read::resolved_question(read::with_said(asked.words, words), asked.config, asked.catalogue, known);
      } catch (const quantity::BadInput&) {
        return std::nullopt;
      }
    };
    auto aloud = said;
    const auto framework = question.training.framework;
    const bool names = keeps_trainer(asked.words, question);
    if (names) aloud.insert(aloud.begin(), {"framework", std::string(spec::name_of(framework))});
    auto run = completed(aloud);
    if (!run) return std::nullopt;
    const auto kept = kept_to_say(changed, *run, read::with_said(asked.words, said));
    if (!kept.empty()) {
      said = read::with_said(std::move(said), kept);
      aloud = read::with_said(std::move(aloud), kept);
      run = completed(aloud);
    }
    if (!run) return std::nullopt;
    // A trainer that follows from the other words need not be said, which is seen where somebody wants the words.
    auto words = [=] {
      const auto unsaid = names ? completed(said) : std::nullopt;
      return unsaid && unsaid->training.framework == framework ? said : aloud;
    };
    return Restated{*std::move(run), std::move(words)};
  };
}

/// The need of a trainer of one card and of one that shards, for a model that is known by its size alone. Sequence and
/// batch are those of the answer.
std::vector<render::TrainerNeed> trainers(const spec::Question& question, const search::Restate& restate,
                                          const std::vector<spec::Word>& echo) {
  const auto framework = std::ranges::find(echo, "framework", &spec::Word::term);
  const bool is_size_alone = question.stated_parameters && framework->origin.source == read::Source::assumed &&
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

search::Advised advised(const Asked& asked, const spec::Question& question, const answer::Estimate& estimate,
                        search::AdviceWanted wanted) {
  const auto larger = [&] { return larger_than(question.gpu, asked.catalogue); };
  return search::advise(question, larger, restating(asked, question), estimate, wanted);
}

}  // namespace

Answer fit(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values) {
  const auto words = read::in_order(said);
  auto resolved = resolve(words, config, catalogue, values);
  Answer answer;
  answer.question = std::move(resolved.echo);
  add_absent(read::vocabulary(), answer.question);
  const auto& question = resolved.question;
  answer.estimate = answer::estimate(question);
  quantity::append(answer.estimate.warnings, resolved.warnings());
  const Asked asked{words, config, catalogue, values};
  answer.advised = advised(asked, question, answer.estimate, search::AdviceWanted::all);
  answer.trainers = trainers(question, restating(asked, question), answer.question);
  answer.assumptions = std::move(resolved.assumptions);
  answer.completed = std::move(resolved.question);
  answer.version = version();
  return answer;
}

namespace {

/// The cheapest change with which a run fits that does not, as words to type; empty where there is none.
/// \param estimate  of the words
std::string first_advice(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                         const read::Catalogue& catalogue, const answer::Estimate& estimate) {
  const auto words = read::in_order(said);
  const read::Values values;
  const auto question = resolved_question(words, config, catalogue, values);
  const auto found = advised({words, config, catalogue, values}, question, estimate, search::AdviceWanted::first);
  return found.changes.empty() ? std::string() : render::options_of(found.changes.front().terms);
}

/// One of each capacity that people have, the smallest first.
constexpr std::array<std::string_view, 10> usual_names{
    "rtx-4060", "rtx-3060-12", "rtx-4060-ti-16",         "rtx-4090", "rtx-5090",
    "l40s",     "h100-sxm",    "rtx-pro-6000-blackwell", "h200-sxm", "b200-sxm"};

/// The usual ones of AMD's cards.
constexpr std::array<std::string_view, 3> radeon_names{"rx-7900-xtx", "radeon-ai-pro-r9700", "radeon-pro-w7900"};

/// Those that hold about as much stand by their price.
void order_by_price(std::vector<read::Glimpse>& parts) {
  const auto price = [](const read::Glimpse& each) {
    return each.price_per_hour.value_or(quantity::dollars(std::numeric_limits<double>::infinity()));
  };
  for (auto first = parts.begin(); first != parts.end();) {
    const auto is_more = [&](const read::Glimpse& each) { return each.memory / first->memory >= search::alike_memory; };
    const auto last = std::find_if(first, parts.end(), is_more);
    std::ranges::stable_sort(first, last, {}, price);
    first = last;
  }
}

}  // namespace

/// Larger ones of the present one's kind first, the usual cards beside a card, then parts of data centres: those that
/// there is a price for, or all of a kind of which nobody knows one.
std::vector<spec::ProposedAccelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                                   const read::Catalogue& catalogue) {
  if (!present) return {};
  const auto known = catalogue.larger(present->vendor, present->memory_usable);
  const auto is_usual = [](const read::Glimpse& part) {
    return quantity::contains(usual_names, part.id) || quantity::contains(radeon_names, part.id);
  };
  const auto is_rented = [](const read::Glimpse& each) { return each.price_per_hour.has_value(); };
  const auto proposed = [&](const read::Glimpse& each) {
    return spec::ProposedAccelerator(
        each.memory, [&catalogue, id = each.id] { return catalogue.accelerator(id, "--gpu").accelerator; });
  };
  const auto of_kind = [&](bool parts) {
    auto found = known;
    std::erase_if(found, [&](const read::Glimpse& each) {
      return each.stacked != parts || (parts ? !each.multiplies_bf16 : !is_usual(each));
    });
    if (std::ranges::any_of(found, is_rented)) std::erase_if(found, std::not_fn(is_rented));
    order_by_price(found);
    return quantity::mapped(found, proposed);
  };
  const bool is_part = spec::has_stacked_memory(*present);
  std::vector<spec::ProposedAccelerator> larger;
  if (!is_part) larger = of_kind(false);
  quantity::append(larger, of_kind(true));
  return larger;
}

std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue) {
  return quantity::mapped(usual_names, [&](auto name) { return catalogue.accelerator(name, "--gpu").accelerator; });
}

// llmcalc fit: does this run fit, how long does it take, what does it cost?

namespace {

render::TextStyle fit_style(const Arguments& arguments, const Surroundings& around) {
  render::TextStyle style;
  style.colour = wants_colour(arguments, around);
  style.bars = around.terminal;
  style.timeline = arguments.has("timeline");
  style.full = arguments.has("full");
  style.explain = arguments.has("explain");
  if (arguments.has("unit")) style.unit = arguments.choice("unit");
  return style;
}

ExitCode exit_code(trust::VerdictKind verdict, bool strict) {
  if (verdict == trust::VerdictKind::does_not_fit) return ExitCode::does_not_fit;
  return strict && verdict == trust::VerdictKind::tight ? ExitCode::does_not_fit : ExitCode::fits;
}

std::string shown(const render::Report& answer, std::string_view form, const render::TextStyle& style) {
  if (form == "json") return to_json(answer);
  if (form == "html") return to_html(answer, style);
  if (form == "svg") return to_svg(answer);
  if (form == "trace") return to_trace(answer);
  if (form == "snapshot") return to_snapshot(answer);
  return form == "markdown" ? to_markdown(answer, style) : to_text(answer, style);
}

render::RunLine line_of(const NamedRun& run, const AskedQuestion& asked, const Sources& sources,
                        const search::PlanLimits& limits, bool strict) {
  const auto config = run.config(asked, sources.around);
  const auto estimate = answer::estimate(read::resolved_question(run.words, config, sources.catalogue));
  render::RunLine line;
  line.reasons = beyond(limits, estimate, strict);
  line.verdict = estimate.verdict;
  if (estimate.timed) line.step = estimate.compute.step;
  if (estimate.timed) line.total = estimate.compute.total;
  line.cost = estimate.compute.cost;
  if (estimate.verdict.kind == trust::VerdictKind::does_not_fit) {
    line.advice = first_advice(run.words, config, sources.catalogue, estimate);
  }
  return line;
}

Reply fit_each(const Arguments& arguments, const AskedQuestion& asked, const Sources& sources) {
  const auto limits = limits_of(arguments);
  const auto question = [&] { return read::resolved_question(asked.words, asked.config, sources.catalogue); };
  const auto runs = runs_of(arguments, asked.words, sources.around, question);
  return answer_each(arguments, runs, sources.around, [&](const NamedRun& run) {
    return line_of(run, asked, sources, limits, arguments.has("strict"));
  });
}

}  // namespace

Reply ask_fit(const Arguments& arguments, const Surroundings& around) {
  const auto catalogue = around.calibrated(arguments);
  const AskedQuestion asked = asked_run(arguments, around, catalogue);
  if (!arguments.has("show-question") && asks_many(arguments, asked.words, {"csv", "junit"}))
    return fit_each(arguments, asked, {around, catalogue});
  const auto style = fit_style(arguments, around);
  if (arguments.has("show-question")) return show_question(asked, "fit");
  const auto limits = limits_of(arguments);
  auto answer = fit(asked.words, asked.config, catalogue);
  answer.broken_limits = beyond(limits, answer.estimate, arguments.has("strict"));
  answer.estimate.warnings = asked.with_missing(std::move(answer.estimate.warnings));
  const auto& assumed = asked.reading.assumptions;
  answer.assumptions.insert(answer.assumptions.begin(), assumed.begin(), assumed.end());
  const auto verdict = answer.estimate.verdict.kind;
  const bool needs_verdict = arguments.has("strict") || arguments.has("quiet");
  if (verdict == trust::VerdictKind::no_accelerator && needs_verdict) refuse_no_verdict();
  Reply reply;
  reply.code = answer.broken_limits.empty() ? exit_code(verdict, arguments.has("strict")) : ExitCode::does_not_fit;
  reply.notes = asked.notes();
  reply.warnings = answer.estimate.warnings;
  reply.show = [answer = std::move(answer), style](std::string_view form) { return shown(answer, form, style); };
  return reply;
}

Reply ask_from(const Arguments& arguments, const Surroundings& around) {
  const auto catalogue = around.catalogue(arguments);
  AskedQuestion asked = asked_things(arguments, around, catalogue);
  const bool serves = asked.reading.serves || holds_gguf(asked);
  add_usual_engine(asked);
  if (!serves) drop_words_of_servers(asked.words);
  return show_question(asked, serves ? "serve" : "fit");
}

}  // namespace llmcalc::api
