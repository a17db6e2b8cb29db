#include "api/inner/limits.hpp"
#include "api/inner/many_runs.hpp"
#include "api/inner/planner.hpp"
#include "api/verbs.hpp"
#include "dialects/launch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "serving/capacity.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::api {

namespace {

/// The names that were asked for, and the ids under which their presets are published.
dialects::ServedNames served_names(const std::vector<read::Given>& words, const read::Resolved& resolved,
                                   const read::Catalogue& catalogue) {
  const auto& question = resolved.question;
  dialects::ServedNames names{
      .model = "MODEL", .repository = "MODEL", .published = question.serving.quant, .draft = {}};
  if (const auto* named = read::find_word(words, "model")) {
    const auto preset = catalogue.model(named->text, named->origin.where);
    names.model = named->text;
    names.repository = preset.named(named->text).repository;
    names.published = resolved.published.value_or(formats::Quant::bf16);
    if (names.repository == named->text && named->text.find('/') == std::string::npos && !preset.hf_id.empty()) {
      names.repository = preset.repository_within(named->text);  // "qwen3-32b-awq" is no place
      names.published = preset.weights.quant.value_or(formats::Quant::bf16);
    }
  }
  if (const auto* engine = read::find_word(words, "engine")) names.program = read::program_around(engine->text);
  const auto& [kind, _, draft] = question.serving.options.draft;
  const bool as_said = kind == spec::DraftKind::eagle || draft.find('/') != std::string::npos;
  if (!draft.empty()) names.draft = as_said ? draft : catalogue.model(draft, "--draft").named(draft).repository;
  return names;
}

/// "--gpus 12 --tp 4" as words in the place of what was said: of an accelerator and its count, which one word may say,
/// both; a concurrency in that of a rate, another engine's release with it.
std::vector<read::Given> with_change(std::vector<read::Given> words, std::string_view change,
                                     const spec::Question& question) {
  std::vector<read::Given> said;
  while (!change.empty()) {
    const auto option = quantity::take_until(change, " ");
    std::string term(option.substr(option.find_first_not_of('-')));
    std::ranges::replace(term, '-', '_');
    said.push_back({std::move(term), std::string(quantity::take_until(change, " ")), {read::Source::flag, "--find"}});
  }
  if (read::has_word(said, "gpus")) said.push_back({"gpu", question.gpu->id, {read::Source::flag, "--find"}});
  const auto* engine = read::find_word(said, "engine");
  const bool is_other_engine = engine != nullptr && engine->text != spec::name_of(question.serving.engine);
  const auto is_replaced = [&](const read::Given& word) {
    return (word.term == "rate" && read::has_word(said, "concurrency")) ||
           (word.term == "engine_version" && is_other_engine);
  };
  std::erase_if(words, is_replaced);
  return read::with_said(std::move(words), said);
}

/// The question with a change typed behind it; nothing where it is refused so.
template <class Asked>
std::optional<spec::Question> typed_behind(const Asked& asked, std::vector<read::Given> words, std::string_view change,
                                           const spec::Question& question) try {
  auto changed = asked(with_change(std::move(words), change, question)).question;
  serving::check_abilities(changed);
  return changed;
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

/// The best of the servers that were found, as if it had been typed. A context that it has no room for, and nobody
/// asked for, is as long as one request gets.
template <class Asked>
read::Resolved take_best(const search::ServerPlans& plans, const Asked& asked, const spec::Question& question,
                         std::vector<read::Given>& words) {
  words = with_change(std::move(words), search::change_of(plans.best.front()), question);
  auto resolved = asked(words);
  const auto deployment = serving::deploy(resolved.question);
  const bool said = resolved.question.serving.load.context > 0;
  if (said || serving::fits(deployment, deployment.setup.context, 1)) return resolved;
  const spec::Load load = resolved.question.serving.load;
  const std::int64_t longest = serving::capacity_of(deployment).max_context;
  const auto change = fmt::format("--context {}", longest);
  words = with_change(std::move(words), change, resolved.question);
  if (!load.lengths_said && load.prompt + load.output <= longest) {  // which a context that is said would fill
    words = with(std::move(words), "prompt", std::to_string(load.prompt));
    words = with(std::move(words), "output", std::to_string(load.output));
  }
  resolved = asked(words);
  resolved.assumptions.push_back({change + ", the longest that one request gets"});
  return resolved;
}

/// Limits of speed are kept with requests of some length: where nobody said one, as many are counted at once as there
/// is room for of these, not of whole contexts.
template <class Asked>
void take_lengths(const Asked& asked, read::Resolved& resolved, std::vector<read::Given>& words) {
  const spec::Load load = resolved.question.serving.load;
  if (!serving::is_limited(load) || load.lengths_said || load.context > 0) return;
  words = with(std::move(words), "prompt", std::to_string(load.prompt));
  words = with(std::move(words), "output", std::to_string(load.output));
  resolved = asked(words);
  resolved.assumptions.push_back(
      {fmt::format("--prompt {} --output {}, with which the limits are kept: --context counts longer ones", load.prompt,
                   load.output)});
}

/// Findings of --find that do what was asked: the first that carries the load, or all there is to it.
const serving::Candidate* chosen_of(const std::vector<serving::Candidate>& found) {
  if (found.size() == 1 && found.front().starts) return &found.front();
  return quantity::find_or_null(found, true, &serving::Candidate::carries);
}

/// Where nothing does what was asked, the verdict is not that of one of them.
void refuse_all(serving::ServingAnswer& answer) {
  if (answer.verdict != trust::VerdictKind::fits) return;
  answer.broken_limits.clear();
  const auto& load = answer.deployment.question.serving.load;
  answer.verdict = trust::VerdictKind::does_not_fit;
  answer.reason =
      load.rate ? "nothing carries " + quantity::format_counted(*load.rate, "request") + " a second within the limits"
                : "nothing carries the load within the limits";
}

bool fails(const serving::ServingAnswer& answer) {
  return answer.verdict == trust::VerdictKind::does_not_fit || !answer.broken_limits.empty();
}

/// Question of llama.cpp where its one request does not start on a card of a person's own and nobody named an engine:
/// its files are narrower, and what the card has no room for stays with the host.
template <class Asked>
std::optional<spec::Question> of_usual_ggml(const Asked& asked, std::vector<read::Given> words,
                                            const serving::ServingAnswer& answer) {
  const auto& question = answer.deployment.question;
  const auto& load = question.serving.load;
  const bool starts = answer.verdict != trust::VerdictKind::does_not_fit;
  const bool is_card = question.gpu && !spec::has_stacked_memory(*question.gpu);
  if (starts || !is_card || read::has_word(words, "engine")) return std::nullopt;
  if (load.concurrency > 1 || load.rate || serving::is_limited(load)) return std::nullopt;
  return typed_behind(asked, std::move(words), fmt::format("--engine {}", spec::name_of(spec::usual_ggml)), question);
}

/// The command that starts what was answered, or what the first advice makes of it where that does not start or does
/// not carry the load.
template <class Asked>
void add_launch(const Asked& asked, const std::vector<read::Given>& words, const spec::Question& question,
                const dialects::ServedNames& names, render::ServingReport& report) {
  const bool changes = fails(report.answer) && !report.advice.empty();
  if (changes) report.launched_with = report.advice.front().change;
  const auto deployment = changes ? serving::deploy(asked(with_change(words, report.launched_with, question)).question)
                                  : report.answer.deployment;
  auto command = dialects::server_command(deployment, names);
  if (deployment.prefill) {
    auto readers = dialects::server_command(*deployment.prefill, names);
    report.prefill_launch = std::move(readers.text);
    report.prefill_servers = readers.servers;
  }
  report.launch = std::move(command.text);
  report.servers = command.servers;
  report.launch_notes = std::move(command.notes);
}

}  // namespace

render::ServingReport serve(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                            const read::Catalogue& catalogue, const ServeOptions& options) {
  auto words = read::in_order(said);
  const auto asked = [&](const std::vector<read::Given>& of) {
    auto question = resolve_serving(of, config, catalogue);
    question.question.serving.load.trace = options.trace;
    return question;
  };
  render::ServingReport report;
  if (options.layout) report.plans = plan_servers(words, catalogue, [&](const auto& of) { return asked(of).question; });
  auto resolved = asked(words);
  const bool planned = report.plans && !report.plans->best.empty();
  if (planned) resolved = take_best(*report.plans, asked, resolved.question, words);
  if (options.find == serving::Find::concurrency) take_lengths(asked, resolved, words);
  if (options.find) {
    report.found = serving::find(resolved.question, *options.find, [&](const std::string& change) {
      return typed_behind(asked, words, change, resolved.question);
    });
    if (const auto* chosen = chosen_of(report.found)) {
      words = with_change(std::move(words), chosen->change, resolved.question);
      resolved = asked(words);
    }
  }
  report.question = std::move(resolved.echo);
  add_absent(read::serving_vocabulary(), report.question);
  const auto& question = resolved.question;
  report.answer = serving::serve(question);
  if ((report.plans && !planned) || (options.find && chosen_of(report.found) == nullptr)) refuse_all(report.answer);
  report.advice = serving::advise(
      report.answer, [&] { return larger_than(question.gpu, catalogue); }, of_usual_ggml(asked, words, report.answer));
  if (!question.gpu) report.cards = serving::ask_cards(question, usual_cards(catalogue));
  if (options.table) report.table = serving::capacity_cells(question);
  add_launch(asked, words, question, served_names(words, resolved, catalogue), report);
  report.warnings = resolved.warnings();
  report.assumptions = std::move(resolved.assumptions);
  for (const auto& sentence : report.answer.deployment.setup.assumptions) report.assumptions.push_back({sentence});
  report.version = version();
  return report;
}

// llmcalc serve: does this server start, how long a context, how many requests at once?

namespace {

/// Choices in the order of Find, and behind them the plan of a layout.
constexpr std::array<std::string_view, 6> find_words{"concurrency", "context", "gpus", "quant", "engine", "layout"};

bool read_table(const Arguments& arguments) {
  const std::string* text = arguments.find("table");
  const bool known = text == nullptr || *text == "context,concurrency" || *text == "concurrency,context";
  if (!known) throw quantity::BadInput("--table", "is of context,concurrency, not '" + *text + "'");
  return text != nullptr;
}

ServeOptions serve_options(const Arguments& arguments) {
  ServeOptions options;
  if (arguments.has("find")) {
    const auto* word = std::ranges::find(find_words, arguments.choice("find"));
    options.layout = *word == find_words.back();
    if (!options.layout) options.find = static_cast<serving::Find>(word - find_words.begin());
  }
  options.table = read_table(arguments);
  return options;
}

/// Requests that wait are a warning: the server starts all the same.
bool has_waiting(const serving::ServingAnswer& answer) {
  return answer.capacity.queued > 0 && answer.verdict == trust::VerdictKind::fits;
}

std::string waiting_words(const serving::ServingAnswer& answer) {
  return "with whole contexts " + std::to_string(answer.capacity.queued) + " of the requests wait";
}

/// The words that all servers of a call are asked with.
struct Asking {
  const AskedQuestion& question;
  const Sources& sources;
  std::shared_ptr<const std::vector<spec::Request>> trace;
  bool strict;
};

render::RunLine line_of(const NamedRun& run, const Asking& asking) {
  auto resolved =
      read::resolve_serving(run.words, run.config(asking.question, asking.sources.around), asking.sources.catalogue);
  resolved.question.serving.load.trace = asking.trace;
  const auto answer = serving::serve(resolved.question);
  render::RunLine line;
  auto& verdict = line.verdict.emplace();
  verdict.kind = answer.verdict;
  verdict.capacity = answer.memory.capacity;
  verdict.needed = verdict.low = verdict.high = device_total(answer);
  if (!answer.reason.empty()) line.reasons.push_back(answer.reason);
  quantity::append(line.reasons, answer.broken_limits);
  if (asking.strict && has_waiting(answer)) line.reasons.push_back(waiting_words(answer));
  if (fails(answer)) {
    const auto larger = [&] { return larger_than(resolved.question.gpu, asking.sources.catalogue); };
    const auto advice = serving::advise(answer, larger);
    if (!advice.empty()) line.advice = advice.front().change;
  }
  line.at_once = answer.capacity.max_concurrency;
  if (!answer.speed) return line;
  line.first_token = answer.speed->ttft;
  line.token = answer.speed->tpot;
  line.token_cost = answer.speed->cost.all;
  return line;
}

Reply serve_each(const Arguments& arguments, const Asking& asking) {
  const Surroundings& around = asking.sources.around;
  const auto& words = asking.question.words;
  for (const std::string_view of_one : {"find", "table"}) {
    if (arguments.has(of_one))
      throw quantity::BadInput("--" + std::string(of_one), "is about one server, and many are asked for");
  }
  const auto question = [&] {
    return read::resolve_serving(words, asking.question.config, asking.sources.catalogue).question;
  };
  const auto runs = runs_of(arguments, words, around, question);
  return answer_each(arguments, runs, around, [&](const NamedRun& run) { return line_of(run, asking); });
}

}  // namespace

Reply ask_serve(const Arguments& arguments, const Surroundings& around) {
  auto options = serve_options(arguments);
  const render::TextStyle style{
      .colour = wants_colour(arguments, around), .explain = arguments.has("explain"), .full = arguments.has("full")};
  const bool strict = arguments.has("strict");
  const auto catalogue = around.catalogue(arguments);
  auto asked = asked_server(arguments, around, catalogue);
  options.trace = take_trace(arguments, around, asked);
  if (arguments.has("show-question")) return show_question(asked, "serve");
  auto counted = asked.words;  // a search for a layout takes several accelerators as one question
  if (options.layout) std::erase_if(counted, [](const read::Given& word) { return word.term == "gpu"; });
  if (asks_many(arguments, counted, {"markdown", "csv", "junit"}))
    return serve_each(arguments, {asked, {around, catalogue}, options.trace, strict});
  auto report = serve(asked.words, asked.config, catalogue, options);
  report.warnings = asked.with_missing(std::move(report.warnings));
  const auto& assumed = asked.reading.assumptions;
  report.assumptions.insert(report.assumptions.begin(), assumed.begin(), assumed.end());
  const bool is_over = strict && has_waiting(report.answer);
  if (is_over) report.answer.broken_limits.push_back(waiting_words(report.answer));
  const auto& answer = report.answer;
  const bool needs_verdict = strict || arguments.has("quiet");
  if (answer.verdict == trust::VerdictKind::no_accelerator && needs_verdict) refuse_no_verdict();
  Reply reply;
  reply.code = fails(answer) ? ExitCode::does_not_fit : ExitCode::fits;
  reply.notes = asked.notes();
  reply.warnings = report.warnings;
  if (has_waiting(answer) && !is_over) reply.warnings.push_back(waiting_words(answer));
  reply.show = [report = std::move(report), style](std::string_view form) {
    if (form == "json") return to_json(report);
    return form == "html" ? to_html(report, style) : to_text(report, style);
  };
  return reply;
}

}  // namespace llmcalc::api
