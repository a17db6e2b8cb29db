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

/// The ids under which the models are published, where they are presets.
dialects::ServedNames served_names(const std::vector<read::Given>& words, const spec::Question& question,
                                   const read::Catalogue& catalogue) {
  dialects::ServedNames names{.model = "MODEL", .published = question.serving.quant, .draft = {}};
  const auto id_of = [](const auto& preset) { return preset.hf_id.empty() ? preset.id : preset.hf_id; };
  if (const auto* named = read::find_word(words, "model")) {
    const auto preset = catalogue.model(named->text, named->origin.where);
    names.model = id_of(preset);
    names.published = preset.quant.value_or(formats::Quant::bf16);
  }
  const std::string& draft = question.serving.options.draft.model;
  if (!draft.empty()) names.draft = id_of(catalogue.model(draft, "--draft"));
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
  std::optional<LargerParts> larger;
  report.advice = serving::advise(question, capacity, [&] {
    if (!larger) larger.emplace(question.gpu, catalogue);
    return larger->next();
  });
  if (!question.gpu) report.cards = serving::ask_cards(question, usual_cards(catalogue));
  if (options.find) report.found = serving::find(question, *options.find);
  if (options.layout) report.plans = plans_for(words, question);
  if (options.table) report.table = serving::capacity_cells(question);
  const auto names = served_names(words, question, catalogue);
  const bool found = report.plans && !report.plans->best.empty();
  report.launch = found ? dialects::server_command(serving::deploy(report.plans->best.front().question), names)
                        : dialects::server_command(report.answer.deployment, names);
  report.assumptions = std::move(resolved.assumptions);
  const auto& defaults = report.answer.deployment.setup.assumptions;
  quantity::append(report.assumptions, defaults);
  report.version = version();
  return report;
}

}  // namespace llmcalc::api
