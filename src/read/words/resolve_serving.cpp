#include "frameworks/release.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets/names.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"
#include "spec/cut.hpp"
#include "spec/load.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <array>

namespace llmcalc::read {
namespace {

constexpr std::string_view expert_rule = "expert_tp x ep = tp x attention_dp";

bool is_on_ggml(const QuestionDraft& draft) { return spec::reads_gguf(draft.serving().engine); }

bool has_ranks(const QuestionDraft& draft) { return spec::kind_of(draft.serving().engine) == spec::EngineKind::server; }

constexpr std::string_view proposing_families[] = {
#include "vocabulary/proposing_families.inc"
};

constexpr Contradiction served[] = {
#include "vocabulary/contradictions_served.inc"
};

constexpr Contradiction loaded[] = {
#include "vocabulary/contradictions_loaded.inc"
};

/// Ranks that nobody said follow from those of tensor parallelism.
void check_ranks(const QuestionDraft& draft) {
  const auto conflict = spec::server_conflict(draft.question);
  if (!conflict) return;
  const std::string_view term = draft.given(conflict->term) ? conflict->term : "tp";
  draft.contradiction(term, conflict->other, conflict->why, std::string(conflict->hint));
}

void check_role(const QuestionDraft& draft) {
  if (!spec::reads_only(draft.serving().load) || draft.serving().role == spec::ServerRole::both) return;
  draft.contradiction(draft.given("role") ? "role" : "prefill_servers", draft.given("output") ? "output" : "model",
                      "nothing is written behind what is read");
}

void check_server(const QuestionDraft& draft) {
  refuse(draft, served);
  check_ranks(draft);
  refuse(draft, loaded);
  check_role(draft);
}

using quantity::product;

/// By the type of the weights, or by the name of a file or a repository of such.
bool asks_for_gguf(const QuestionDraft& draft) {
  if (draft.given("quant")) return formats::is_file_type(draft.question.serving.quant);
  if (draft.published_quant && formats::is_file_type(*draft.published_quant)) return true;
  const Given* model = draft.words.find("model");
  return model != nullptr && quantity::to_lower(model->text).find("gguf") != std::string::npos;
}

/// "llama3.1:8b" is a name of Ollama's library, unless what is said beside it is another engine's. Its caches: Ollama
/// docs/faq.mdx, OLLAMA_KV_CACHE_TYPE.
bool is_of_library(const QuestionDraft& draft) {
  using spec::CacheType;
  constexpr std::array<std::string_view, 5> of_others{"tp", "pp", "ep", "dp", "memory_fraction"};
  constexpr std::array caches{CacheType::automatic, CacheType::f16, CacheType::q8_0, CacheType::q4_0};
  if (!quantity::contains(caches, draft.question.serving.cache)) return false;
  const Given* model = draft.words.find("model");
  const bool is_tag = model != nullptr && model->text.find(':') < model->text.size() && !is_repository(model->text);
  const bool in_file = !draft.given("quant") || formats::is_file_type(draft.question.serving.quant);
  return is_tag && in_file && std::ranges::none_of(of_others, [&](auto term) { return draft.given(term); });
}

/// The first of these that serves the model's family.
void take_usual_server(QuestionDraft& draft) {
  const auto& family = draft.shape().family;
  constexpr std::array servers{spec::usual_server, spec::Engine::sglang, spec::Engine::hf};
  const auto serves = [&](spec::Engine engine) { return frameworks::find_unserved(engine, family) == nullptr; };
  const spec::Engine engine = *std::ranges::find_if(servers, serves);
  draft.question.serving.engine = engine;
  const bool usual = engine == spec::usual_server;
  const std::string why = usual ? "each engine has its own memory"
                                : fmt::format("{} serves no {}", spec::name_of(spec::usual_server), family);
  draft.assume("engine", "default", std::string(spec::name_of(engine)), why);
}

void take_server(QuestionDraft& draft) {
  for (const Term& term : serving_vocabulary()) {
    if (term.group != TermGroup::model) draft.take(term.name);
  }
  auto& load = draft.question.serving.load;
  if (load.prompts && !draft.given("concurrency")) {
    load.concurrency = *load.prompts;
    draft.derive("concurrency", "num_prompts");
  }
  draft.training().method = spec::Method::inference;
  if (draft.given("engine")) return;
  if (is_of_library(draft)) {
    draft.question.serving.engine = spec::usual_library;
    return draft.assume("engine", "a name of its library", std::string(spec::name_of(spec::usual_library)),
                        "whose library has names with tags");
  }
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
  take_usual_server(draft);
}

/// The type in which the engine finds the weights: llama.cpp takes Q4_K_M of a repository where nobody says
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
  const Given* model = draft.words.find("model");
  if (model != nullptr && says_bits_alone(model->text)) {
    throw quantity::BadInput(model->origin.where,
                             quantity::quoted(model->text) + " says how many bits, not of which kind",
                             "add --quant; what MLX packs is read by MLX alone");
  }
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

/// Whether so many tensor-parallel ranks go with the model and what was said.
bool goes(const QuestionDraft& draft, std::int64_t tp) {
  spec::Question question = draft.question;
  spec::Layout& layout = question.layout;
  layout.tp = tp;
  const bool said = draft.given("ep") || draft.given("expert_tp");
  if (said) return !spec::uneven_cut(question.model, tp);
  spec::share_experts(question);
  return !spec::server_conflict(question);
}

/// The use of the cards, where only their number was said: layers side by side, or tensor parallelism within a machine
/// and stages between them (vLLM docs, parallelism and scaling), but where something is drafted, which stages do not
/// start with (vllm issues 49355 and 52069).
void share_out(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  const auto& serving = draft.question.serving;
  const spec::EngineKind kind = spec::kind_of(serving.engine);
  const bool cuts = draft.given("tp") && (kind != spec::EngineKind::library || layout.tp > 1);
  if (!draft.given("gpus") || cuts) return;
  if (kind == spec::EngineKind::library && !draft.given("pp") && serving.layout.attention_dp == 1) {
    const auto layers = draft.question.model.layer_count();  // device_map="auto"
    layout.pp = largest_divisor(layout.gpus, [&](std::int64_t stages) { return stages <= layers; });
    return draft.derive("pp", "layers side by side on all the accelerators");
  }
  if (kind != spec::EngineKind::server) return;
  const std::int64_t servers = 1 + (serving.layout.prefill_tp ? 0 : serving.layout.prefill_servers);
  const std::int64_t copies = product(layout.pp, layout.dp, serving.layout.attention_dp, servers);
  if (layout.gpus % copies != 0 || layout.gpus == copies) return;
  const std::int64_t most = layout.gpus / copies;
  const bool may_stage = copies == 1 && !draft.given("pp") && serving.options.draft.kind == spec::DraftKind::none;
  const auto within = may_stage ? spec::most_tensor_ranks(draft.question.gpu) : most;
  layout.tp = largest_divisor(most, [&](std::int64_t tp) { return tp <= within && goes(draft, tp); });
  const auto* why = layout.tp == most     ? "all the accelerators"
                    : layout.tp == within ? "ranks within a machine"
                                          : "the most that it is cut into";
  draft.assume("tp", "gpus / (attention_dp x pp)", std::to_string(layout.tp), why);
  if (layout.tp == most || layout.tp != within || most / within > draft.question.model.layer_count()) return;
  layout.pp = most / within;
  draft.assume("pp", "gpus / tp", std::to_string(layout.pp), "stages between machines");
}

/// Servers that read prompts for others: as many accelerators as they take beside those.
std::int64_t prefill_gpus(QuestionDraft& draft) {
  const spec::Layout& layout = draft.layout();
  const auto& serving = draft.question.serving.layout;
  if (serving.prefill_servers == 0) {
    if (serving.prefill_tp) draft.contradiction("prefill_tp", "prefill_servers", "it is the ranks of each of these");
    return 0;
  }
  if (draft.given("role"))
    draft.contradiction("prefill_servers", "role", "a role is that of one server, these stand beside others");
  draft.question.serving.role = spec::ServerRole::decode;
  draft.derive("role", "prompts are read by --prefill-servers");
  return product(serving.prefill_servers, serving.prefill_tp.value_or(layout.tp), layout.pp, serving.attention_dp);
}

void complete_cards(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  const std::int64_t one = product(layout.tp, layout.pp, draft.question.serving.layout.attention_dp);
  const std::int64_t readers = prefill_gpus(draft);
  if (!draft.given("gpus")) {
    layout.gpus = product(layout.dp, one) + readers;
    draft.derive("gpus", "tp x attention_dp x pp");
  } else if (spec::kind_of(draft.question.serving.engine) != spec::EngineKind::server && one == 1) {
    return;
  } else if (layout.gpus <= readers) {
    draft.contradiction("gpus", "prefill_servers", "servers that write answers need accelerators beside theirs");
  } else if ((layout.gpus - readers) % product(one, layout.dp) != 0) {
    draft.contradiction("gpus", draft.given("tp") ? "tp" : "pp", "gpus = tp x attention_dp x pp, or a multiple of it");
  }
  layout.dp = (layout.gpus - readers) / one;
}

void complete_machines(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  const Given* stated = draft.words.find("gpus_per_node");
  const auto usual = spec::accelerators_per_node(draft.question.gpu);
  const auto per_node = stated == nullptr ? usual : Whole<1>::read(stated->text, stated->origin.where);
  if (stated != nullptr) draft.set_origin("gpus_per_node", stated->origin);
  if (draft.given("nodes")) {
    const bool have_room = product(layout.nodes, per_node) >= layout.gpus;
    if (stated != nullptr && !have_room) draft.contradiction("gpus_per_node", "gpus", "so many nodes hold fewer");
    return;
  }
  layout.nodes = spec::usual_nodes(layout.gpus, per_node);
  draft.derive("nodes", "up to " + std::to_string(per_node) + " accelerators a node");
}

/// Ranks of a launch start as they stand there or do not: what would have to stand beside them is not added to it.
bool is_launch(const Given* ranks) { return ranks != nullptr && ranks->origin.source == Source::file; }

/// expert_tp x ep = tp x attention_dp: the ranks of a layer share its experts, whole or cut.
void complete_experts(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  auto& serving = draft.question.serving.layout;
  const std::int64_t ranks = product(layout.tp, serving.attention_dp);
  const bool said = draft.given("ep") || draft.given("expert_tp");
  const bool launched = is_launch(draft.words.find("tp")) || is_launch(draft.words.find("attention_dp"));
  if (!said && !launched) {
    const auto whole = spec::share_experts(draft.question);
    if (whole)
      draft.assume("ep", "whole experts", std::to_string(layout.ep), "whole experts: " + std::string(whole->why));
  }
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
  complete_price(draft);
  complete_images(draft, "prompt", draft.question.serving.load.prompt);
  build(draft);
  if (has_ranks(draft)) spec::copy_whole(draft.question);
  share_out(draft);
  complete_cards(draft);
  complete_machines(draft);
  complete_experts(draft);
  check_server(draft);
  auto lines = echo(draft, serving_vocabulary());
  const spec::Load& load = draft.question.serving.load;
  std::erase_if(lines, [&](const Given& line) {  // an example is no default, nor what follows from a rate
    const bool is_length = line.term == "prompt" || (line.term == "output" && !spec::reads_only(load));
    return (is_length && spec::is_example(load)) || (line.term == "concurrency" && load.rate);
  });
  return {std::move(draft.question), std::move(lines), std::move(draft.assumptions), draft.published_quant,
          std::move(draft.unread)};
}

}  // namespace llmcalc::read
