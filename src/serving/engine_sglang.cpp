// SGLang: what it reserves for activations and graphs follows from the accelerator's memory, the rest is cache.
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::serving {

using quantity::Bytes;

namespace {

constexpr std::string_view newest = "0.5.23";

/// server_args.py and arg_groups/memory_hook.py, tiers by the accelerator's memory.
struct Tier {
  std::int64_t below_gib;
  std::int64_t chunk;        ///< tokens of a prefill step
  std::int64_t graphs;       ///< largest captured batch
  std::int64_t graphs_wide;  ///< of four tensor-parallel ranks and more
};

constexpr Tier tiers[] = {{20, 2048, 8, 8},     {35, 4096, 48, 160},   {60, 4096, 32, 160},
                          {90, 8192, 256, 512}, {160, 8192, 256, 512}, {1 << 20, 16384, 512, 512}};

Bytes nominal_memory(const spec::Question& question) {
  return question.pricing.memory.value_or(question.gpu ? question.gpu->memory_usable : quantity::bytes(0));
}

const Tier& tier_of(const spec::Question& question) {
  const Bytes memory = nominal_memory(question);
  return *std::ranges::find_if(tiers, [&](const Tier& tier) { return memory < quantity::gib(tier.below_gib); });
}

/// Sizes of prefill graphs: one for each power of two up to a chunk, as far as the list has been read.
constexpr std::int64_t prefill_graphs = 12;

/// arg_groups/memory_hook.py: 512 MiB, 1.5 a token of a prefill step, ranks, graphs; 10 GiB at least on large parts.
std::int64_t reserved_mib(const spec::Question& question, const Setup& setup) {
  const auto& layout = question.layout;
  const std::int64_t dp = question.serving.layout.attention_dp;
  const std::int64_t graphs = setup.graph_batch;
  std::int64_t reserved = 512 + std::max<std::int64_t>(setup.batched_tokens, 2048) * 3 / 2 +
                          quantity::product(layout.tp, layout.pp, 1024) / 8 + 2 * graphs;
  if (dp > 1) reserved += 3 * graphs * dp + (graphs > 300 ? graphs * dp * 3 / 2 : 0);
  if (graphs > 0) reserved += question.model.shape.latent.kv_rank > 0 ? 1536 : 8 * prefill_graphs;
  const bool large = nominal_memory(question) > quantity::gib(60);
  return large ? std::max<std::int64_t>(reserved, 10240) : reserved;
}

double usual_fraction(const spec::Question& question, const Setup& setup) {
  const auto memory =
      static_cast<double>(quantity::in_bytes(nominal_memory(question))) / static_cast<double>(quantity::mebi);
  if (memory <= 0.0) return 1.0;
  const double share = (memory - static_cast<double>(reserved_mib(question, setup))) / memory;
  return std::max(std::round(share * 1000.0) / 1000.0, 0.0);
}

/// Over NVLink a quarter of a GiB a rank: 1.77 to 2.01 on eight H200 before weights are loaded (sglang pull 11716).
Bytes sglang_exchange_buffers(const spec::Question& question) {
  const std::int64_t ranks = quantity::product(question.layout.tp, question.layout.pp);
  return joins_widely(question) && ranks > 2 ? quantity::mib(256) * ranks : exchange_of_pair(question);
}

/// Before the weights are loaded: the CUDA context, and NCCL's communicators.
Bytes before_weights(const spec::Question& question) {
  const Bytes context = question.runtime.context.value_or(usual_context);
  const Bytes nccl = question.runtime.nccl.value_or(sglang_exchange_buffers(question));
  return question.layout.tp * question.layout.pp > 1 ? context + nccl : context;
}

/// mem_cache/kv_cache_configurator.py: windowed layers get this share of the positions (swa_full_tokens_ratio).
constexpr double window_share = 0.8;

/// States of one sequence in all recurrent layers of a stage.
Bytes states_of(const Deployment& deployment, const Stage& stage) {
  Bytes sum = quantity::bytes(0);
  for (const CacheGroup& group : stage.cache) {
    if (group.layer.reach == Reach::state) sum += state_bytes(deployment.question, group.layer) * group.layers;
  }
  return sum;
}

/// Releases from this one on let models whose kernels track states schedule the next step meanwhile (main of 24 June
/// 2026, pull request 29158; not that of 4 June, 27220).
constexpr EngineRelease tracks_states{0, 5, 14};

bool keeps_prefixes(const spec::Question& question) { return question.serving.options.prefix_cache.value_or(true); }

/// Models whose kernels do (arg_groups/overrides.py, _MAMBA_EXTRA_BUFFER_ARCHS).
bool tracks(const spec::Question& question, const EngineRelease& release) {
  const spec::StateShape& state = question.model.shape.state;
  return release >= tracks_states && (state.width == 0 || state.form == spec::StateForm::duality);
}

/// States for which a running request needs places: one where no prefixes are kept (--disable-radix-cache), three, and
/// two more where the next step is scheduled meanwhile (mem_cache/kv_cache_configurator.py, _calculate_mamba_ratio).
std::int64_t places_a_request(const Deployment& deployment) {
  if (!keeps_prefixes(deployment.question)) return 1;
  return tracks(deployment.question, deployment.setup.release) ? 5 : 3;
}

/// mem_cache/kv_cache_configurator.py: of what is left for caches, states get 0.9 parts beside one part of keys and
/// values (mamba_full_memory_ratio), and one place more stands for none.
void hold_states(const Deployment& deployment, const Stage& stage, RankMemory& memory) {
  const Bytes one = states_of(deployment, stage);
  if (one == quantity::bytes(0)) return;
  constexpr double share = 0.9 / 1.9;
  const auto places = static_cast<std::int64_t>(std::floor(share * std::max(memory.pool / one, 0.0) - 1.0));
  if (places <= 0) return;
  const Bytes states = one * (places + 1);
  memory.holdings.push_back({"states", "states of recurrent layers", states, false,
                             "places that 0.9 / 1.9 of the rest have room for, and one",
                             "SGLang mem_cache/kv_cache_configurator.py"});
  memory.pool -= states;
  memory.seats = places / places_a_request(deployment);
}

constexpr EngineRelease prompts_in_graphs{0, 5, 10};

/// None does but behind SGLANG_ENABLE_PP_SPEC, an experiment of one kind of draft, and where a server only reads
/// prompts (server_args.py, "PP + speculative decoding is only supported in disaggregated prefill mode"; pull request
/// 30775).
constexpr EngineRelease drafts_in_stages_of_sglang{std::numeric_limits<std::int64_t>::max()};

/// Prompts replay graphs that are cut at attention, up to a chunk and with latent attention to 2,048 tokens: not beside
/// drafts, adapters, towers, copies of the attention or stages, on servers that only read or write, or on other
/// vendors' parts (docs/advanced_features/piecewise_cuda_graph.md, "enabled by default" since 0.5.10). A checkpoint
/// with a tower is multimodal also where text alone is asked for (server_args.py, _handle_piecewise_cuda_graph).
std::int64_t replayed_prompts(const spec::Question& question, const Setup& setup) {
  const auto& serving = question.serving;
  const bool is_whole = serving.layout.attention_dp == 1 && question.layout.pp == 1 &&
                        serving.role == spec::ServerRole::both && serving.layout.prefill_servers == 0;
  const bool is_plain =
      serving.options.draft.kind == spec::DraftKind::none && serving.options.max_loras == 0 && !spec::sees(question);
  const bool has_graphs = question.gpu && question.gpu->generation.can(spec::Ability::prompt_graphs);
  if (setup.release < prompts_in_graphs || setup.graph_batch == 0 || !is_whole || !is_plain || !has_graphs) return 0;
  return question.model.shape.latent.kv_rank > 0 ? std::min<std::int64_t>(setup.batched_tokens, 2048)
                                                 : setup.batched_tokens;
}

/// Inputs that attend both ways are read whole (arg_groups/model_hook.py, chunked_prefill_size -1), as many in a step
/// as come to 16,384 tokens (server_args.py, max_prefill_tokens).
void set_encoding(const spec::Question& question, Setup& setup) {
  setup.reads_whole = true;
  setup.graph_prompts = 0;
  setup.batched_tokens = question.serving.options.batched_tokens.value_or(std::max<std::int64_t>(16384, setup.context));
}

/// The host prepares a step while the one before it runs (srt/managers/scheduler.py, event_loop_overlap), but with
/// prefixes of states that are not tracked (mamba_radix_cache_strategy no_buffer). What that hides: 0.74 ms of LFM2's
/// step on an RTX 5090 (pull request 38131), 0.61 of 16 sequences of Llama 3.1 8B on four cards (5608).
void set_overlap(const spec::Question& question, Setup& setup) {
  const spec::Shape& shape = question.model.shape;
  const bool has_states = shape.state.width > 0 || shape.linear.key_heads > 0;
  setup.ahead = !has_states || !keeps_prefixes(question) || tracks(question, setup.release);
  setup.late_us = setup.ahead ? 0.0 : 675.0;
}

Setup sglang_setup(const spec::Question& question) {
  const auto& options = question.serving.options;
  const Tier& tier = tier_of(question);
  Setup setup;
  const EngineRelease stated = parse_release(question.serving.engine_version);
  setup.release = stated == EngineRelease() ? parse_release(newest) : stated;
  setup.cache = usual_cache(question, setup.assumptions);
  setup.context = model_limit(question);
  setup.batched_tokens = options.batched_tokens.value_or(tier.chunk);
  const std::int64_t graphs = question.layout.tp >= 4 ? tier.graphs_wide : tier.graphs;
  setup.graph_batch = options.graphs.value_or(true) ? options.largest_graph.value_or(graphs) : 0;
  setup.max_sequences = options.max_sequences.value_or(4096);
  setup.graph_prompts = replayed_prompts(question, setup);
  set_overlap(question, setup);
  setup.block = options.block.value_or(1);
  setup.memory_fraction = options.memory_fraction.value_or(usual_fraction(question, setup));
  if (question.model.shape.stack == spec::Stack::encoder) set_encoding(question, setup);
  return setup;
}

/// Keys and values of an encoder are given a pool like any others, unless --prefill-only-disable-kv-cache is said
/// (arg_groups/kv_cache_hook.py, validate_prefill_only_disable_kv_cache_args).
void hold_unread(RankMemory& memory) {
  if (memory.pool <= quantity::bytes(0)) return;
  memory.holdings.push_back({"unread", "cache that nothing reads", memory.pool, false, "what is left of the share",
                             "SGLang arg_groups/kv_cache_hook.py"});
  memory.pool = quantity::bytes(0);
}

RankMemory sglang_memory(const Deployment& deployment, std::size_t rank, const Demand& demand) {
  const Stage& stage = deployment.stages[rank];
  const Bytes before = before_weights(deployment.question);
  RankMemory memory;
  memory.capacity = visible_memory(deployment.question);
  const Bytes left = std::max(memory.capacity - before, quantity::bytes(0));
  const auto free = static_cast<double>(quantity::in_bytes(left));
  const auto reserve = quantity::bytes(std::llround(free * (1.0 - deployment.setup.memory_fraction)));
  memory.limit = memory.capacity;
  memory.holdings.push_back({"context", "CUDA context and NCCL", before, true,
                             "500 MiB, and by ranks where they exchange: 123 MiB over PCIe, 256 a rank over NVLink",
                             "as of the training kernels; NCCL as of vLLM"});
  hold_weights(deployment, stage.weights.whole, memory);
  memory.holdings.push_back({"rotary", "rotary table", rotary_cache(deployment.question), false,
                             "max_position x rotary width x 2", "SGLang layers/rotary_embedding.py"});
  memory.holdings.push_back({"reserved", "activations and graphs", reserve, false, "free x (1 - mem_fraction_static)",
                             "SGLang model_executor/model_runner.py, profile_max_num_token"});
  if (stage.adapters > quantity::bytes(0)) {
    memory.holdings.push_back({"adapters", "LoRA adapters", stage.adapters, false,
                               "max_loras x rank x (inputs + outputs) x 2", "SGLang lora/mem_pool.py"});
  }
  if (stage.draft > quantity::bytes(0)) {
    memory.holdings.push_back({"draft", "draft layers", stage.draft, false, "one layer and its projection",
                               "SGLang speculative/eagle_worker.py"});
  }
  memory.pool = deployment.question.serving.options.cache_bytes.value_or(memory.limit - memory.held());
  hold_states(deployment, stage, memory);
  if (stage.cache.empty()) hold_unread(memory);
  share_by_group(deployment, stage, demand, window_share, memory);
  return memory;
}

}  // namespace

#include "engines/sglang_row.inc"

}  // namespace llmcalc::serving
