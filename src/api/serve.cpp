#include "api/serve.hpp"

#include "api/inner/accelerators.hpp"
#include "api/inner/echo.hpp"
#include "dialects/server.hpp"
#include "llmcalc/llmcalc.hpp"
#include "quantity/lists.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::api {
namespace {

/// The names that were asked for, and the ids under which their presets are published.
dialects::ServedNames served_names(const std::vector<read::Given>& words, const read::Resolved& resolved,
                                   const read::Catalogue& catalogue) {
  const auto& question = resolved.question;
  dialects::ServedNames names{
      .model = "MODEL", .repository = "MODEL", .published = question.serving.quant, .draft = {}};
  const auto id_of = [](const auto& preset) { return preset.hf_id.empty() ? preset.id : preset.hf_id; };
  if (const auto* named = read::find_word(words, "model")) {
    names.model = named->text;
    const auto preset = catalogue.model(named->text, named->origin.where);
    const bool is_checkpoint = !preset.is_called(named->text) && named->text.find(':') == std::string::npos;
    names.repository = is_checkpoint ? named->text : id_of(preset);  // "Llama-3.1-8B-AWQ" is one of its own
    names.published = resolved.published.value_or(formats::Quant::bf16);
  }
  const std::string& draft = question.serving.options.draft.model;
  if (!draft.empty())
    names.draft = draft.find('/') != std::string::npos ? draft : id_of(catalogue.model(draft, "--draft"));
  return names;
}

/// What a person said is kept, what nobody said is searched.
search::ServerPlans plans_for(const std::vector<read::Given>& words, const spec::Question& question) {
  const auto open = [&](std::string_view term) { return !read::has_word(words, term); };
  constexpr std::size_t shown = 5;
  return search::plan_server(question, {.engines = open("engine"), .quants = open("quant")}, shown);
}

}  // namespace

render::ServingReport serve(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                            const read::Catalogue& catalogue, const ServeOptions& options) {
  const auto words = read::in_order(said);
  auto resolved = resolve_serving(words, config, catalogue);
  const auto& question = resolved.question;
  render::ServingReport report;
  report.question = echo_lines(std::move(resolved.echo), read::serving_vocabulary());
  report.answer = serving::serve(question);
  const auto& capacity = report.answer.capacity;
  report.advice = serving::advise(question, capacity, [&] { return larger_than(question.gpu, catalogue); });
  if (!question.gpu) report.cards = serving::ask_cards(question, usual_cards(catalogue));
  if (options.find) report.found = serving::find(question, *options.find);
  if (options.layout) report.plans = plans_for(words, question);
  if (options.table) report.table = serving::capacity_cells(question);
  const auto names = served_names(words, resolved, catalogue);
  const bool found = report.plans && !report.plans->best.empty();
  const auto deployment = found ? serving::deploy(report.plans->best.front().question) : report.answer.deployment;
  auto command = dialects::server_command(deployment, names);
  report.launch = std::move(command.text);
  report.assumptions = std::move(resolved.assumptions);
  const auto& defaults = report.answer.deployment.setup.assumptions;
  quantity::append(report.assumptions, defaults);
  quantity::append(report.assumptions, command.notes);
  report.version = version();
  return report;
}

}  // namespace llmcalc::api
