#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/resolve.hpp"
#include "read/words/draft_steps.hpp"
#include "read/words/serving_checks.hpp"
#include "read/words/terms.hpp"
#include "spec/draft_model.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <utility>

namespace llmcalc::read {
namespace {

using quantity::product;

constexpr std::int64_t usual_output = 256;

/// By the type of the weights, or by the name of a repository of such files.
bool asks_for_gguf(const QuestionDraft& draft) {
  if (draft.given("quant")) return formats::is_file_type(draft.question.serving.quant);
  const Given* model = draft.words.find("model");
  return model != nullptr && quantity::to_lower(model->text).find("gguf") != std::string::npos;
}

void take_server(QuestionDraft& draft) {
  for (const Term& term : serving_vocabulary()) {
    if (term.group != TermGroup::model) draft.take(term.name);
  }
  draft.training().method = spec::Method::inference;
  if (draft.given("engine")) return;
  if (asks_for_gguf(draft)) {
    draft.question.serving.engine = spec::usual_ggml;
    return draft.assume("engine", "reads GGUF", "llama.cpp", "which reads GGUF");
  }
  if (!spec::can(draft.question.gpu, spec::Ability::torch_servers)) {
    draft.question.serving.engine = spec::usual_ggml;
    const std::string& make = draft.question.gpu->vendor;
    return draft.assume("engine", "runs on " + make + "'s parts", "llama.cpp",
                        "which most run on " + make + "'s parts");
  }
  draft.assume("engine", "default", "vllm", "each engine has its own memory");
}

/// In which type the engine finds the weights: llama.cpp takes Q4_K_M of a repository where nobody says
/// (common/arg.cpp, --hf-repo), as Ollama's library has models under their names; the others load what is published.
void complete_weights(QuestionDraft& draft) {
  auto& serving = draft.question.serving;
  const auto published = draft.published_quant;
  serving.from_mxfp4 = spec::reads_gguf(serving.engine) && published == formats::Quant::mxfp4;
  const bool as_published = !draft.given("quant") && published && !spec::reads_gguf(serving.engine);
  if (as_published && serving.group_size == 0) serving.group_size = draft.published_group;
  const Given* groups = draft.words.find("group_size");
  const bool groups_by_file = groups != nullptr && groups->origin.source == Source::file;
  if (groups_by_file && formats::facts(serving.quant).group == 0) serving.group_size = 0;
  if (draft.given("quant")) return;
  const auto take = [&](formats::Quant quant, std::string_view why) {
    serving.quant = quant;
    draft.assume("quant", why, std::string(spec::name_of(quant)), std::string(why));
  };
  if (!spec::reads_gguf(serving.engine)) {
    if (published) take(*published, "as its weights are published");
  } else if (published == formats::Quant::mxfp4) {
    take(formats::Quant::mxfp4_moe, "as its weights are published");
  } else if (published && formats::facts(*published).base) {
    take(*published, "as its name says");
  } else {
    take(formats::Quant::q4_k_m, "the file that the engine fetches by a model's name");
  }
}

/// A model that proposes tokens is found by its name as the served one is, and has the weights that are published; of
/// llama.cpp a file of the same type.
void take_draft_model(QuestionDraft& draft) {
  auto& serving = draft.question.serving;
  const spec::Draft& asked = serving.options.draft;
  if (asked.kind != spec::DraftKind::model) return;
  const Given& said = *draft.words.find("draft");
  const std::vector<Given> name{{"model", asked.model, said.origin}};
  const Words words(name);
  const Values none;
  QuestionDraft other(words, draft.catalogue, none);
  take_model(other, std::nullopt);
  build(other);
  const auto published = other.published_quant.value_or(formats::Quant::bf16);
  serving.draft_model = std::make_shared<spec::DraftModel>(
      spec::DraftModel{std::move(other.question.model), spec::reads_gguf(serving.engine) ? serving.quant : published});
}

/// Words of a training run that a server has no use for are refused, not passed over.
void check_words(const std::vector<Given>& given) {
  for (const Given& word : given) {
    const Term* term = find_term(word.term);
    if (term == nullptr) continue;
    const auto same = [&](const Term& row) { return row.name == term->name; };
    if (std::ranges::any_of(serving_vocabulary(), same)) continue;
    throw quantity::BadInput(word.origin.where, "says how a model is trained, not how it is served",
                             "llmcalc fit answers that; llmcalc serve --help lists what a server is told");
  }
}

/// The most parts of `n` alike with which it goes; with one it does.
template <class Goes>
std::int64_t largest_divisor(std::int64_t n, const Goes& goes) {
  std::int64_t parts = n;
  while (parts > 1 && (n % parts != 0 || !goes(parts))) --parts;
  return parts;
}

/// What the cards are for, where only their number was said: tensor parallelism, or layers side by side.
void share_out(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  const auto& serving = draft.question.serving;
  if (!draft.given("gpus") || draft.given("tp")) return;
  const spec::EngineKind kind = spec::kind_of(serving.engine);
  if (kind == spec::EngineKind::library && !draft.given("pp") && serving.layout.attention_dp == 1) {
    const auto layers = draft.question.model.layer_count();  // device_map="auto"
    layout.pp = largest_divisor(layout.gpus, [&](std::int64_t stages) { return stages <= layers; });
    return draft.derive("pp", "layers side by side on all the accelerators");
  }
  if (kind != spec::EngineKind::server) return;
  const std::int64_t copies = product(layout.pp, serving.layout.attention_dp);
  if (layout.gpus % copies != 0 || layout.gpus == copies) return;
  const std::int64_t most = layout.gpus / copies;
  layout.tp = largest_divisor(most, [&](std::int64_t tp) { return !uneven_cut(draft.question.model, tp); });
  draft.assume("tp", "gpus / (attention_dp x pp)", std::to_string(layout.tp),
               layout.tp == most ? "all the accelerators" : "the most that its heads are cut into");
}

void complete_cards(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  const std::int64_t one = product(layout.tp, layout.pp, draft.question.serving.layout.attention_dp);
  if (!draft.given("gpus")) {
    layout.gpus = one;
    draft.derive("gpus", "tp x attention_dp x pp");
  } else if (spec::kind_of(draft.question.serving.engine) != spec::EngineKind::server && one == 1) {
    return;
  } else if (layout.gpus % one != 0) {
    draft.contradiction("gpus", draft.given("tp") ? "tp" : "pp", "gpus = tp x attention_dp x pp, or a multiple of it");
  }
  layout.dp = layout.gpus / one;
}

void complete_machines(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  if (draft.given("nodes")) return;
  const Given* stated = draft.words.find("gpus_per_node");
  const auto usual = spec::accelerators_per_node(draft.question.gpu);
  const auto per_node = stated == nullptr ? usual : Whole<1>::read(stated->text, stated->origin.where);
  layout.nodes = spec::usual_nodes(layout.gpus, per_node);
  draft.derive("nodes", "up to " + std::to_string(per_node) + " accelerators a node");
}

/// expert_tp x ep = tp x attention_dp: the ranks of a layer share its experts, whole or cut.
void complete_experts(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  auto& serving = draft.question.serving.layout;
  const std::int64_t ranks = product(layout.tp, serving.attention_dp);
  if (draft.given("expert_tp") && !draft.given("ep")) {
    if (ranks % *serving.expert_tp != 0) draft.contradiction("expert_tp", "tp", expert_rule);
    layout.ep = ranks / *serving.expert_tp;
    draft.derive("ep", "tp x attention_dp / expert_tp");
  }
  if (ranks % layout.ep != 0) draft.contradiction("ep", "tp", expert_rule);
  if (serving.expert_tp && product(*serving.expert_tp, layout.ep) != ranks) {
    draft.contradiction("expert_tp", "ep", expert_rule);
  }
  layout.etp = ranks / layout.ep;
  serving.expert_tp = layout.etp;
}

/// Prompt and answer fill a context that is said without them; a context that is not said holds both.
void complete_load(QuestionDraft& draft) {
  spec::Load& load = draft.question.serving.load;
  const bool prompt = draft.given("prompt");
  const bool output = draft.given("output");
  if (!draft.given("context")) {
    if (prompt || output) load.context = quantity::checked_add(load.prompt, load.output);
    if (prompt || output) draft.derive("context", "prompt + output");
    return;
  }
  if (!output)
    load.output =
        std::min(usual_output, prompt ? std::max<std::int64_t>(load.context - load.prompt, 0) : load.context / 2);
  if (!prompt) load.prompt = std::max<std::int64_t>(load.context - load.output, 0);
  if (!output) draft.derive("output", "at most what the prompt leaves of the context");
  if (!prompt) draft.derive("prompt", "context - output");
  if (quantity::checked_add(load.prompt, load.output) > load.context) {
    draft.contradiction("context", prompt ? "prompt" : "output", "prompt and answer do not fit into it");
  }
}

}  // namespace

Resolved resolve_serving(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                         const Catalogue& catalogue, const Values& values) {
  const Words words(given);
  QuestionDraft draft(words, catalogue, values);
  check_words(given);
  take_gpu(draft);
  take_model(draft, config);
  take_server(draft);
  complete_weights(draft);
  take_draft_model(draft);
  complete_load(draft);
  complete_images(draft, "prompt", draft.question.serving.load.prompt);
  build(draft);
  share_out(draft);
  complete_cards(draft);
  complete_machines(draft);
  complete_experts(draft);
  check_server(draft);
  auto lines = echo(draft, serving_vocabulary());
  return {std::move(draft.question), std::move(lines), std::move(draft.assumptions), draft.published_quant,
          std::move(draft.unread)};
}

}  // namespace llmcalc::read
