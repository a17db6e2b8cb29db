// vLLM: everything that is left of a share of the accelerator after a profile run is cache, in blocks.
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/paged_cache.hpp"
#include "serving/inner/vllm_profile.hpp"
#include "serving/inner/vllm_releases.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::Bytes;

namespace {

/// Builds that are known by their month; releases are about one a month.
EngineRelease release_of(const spec::Question& question) {
  const EngineRelease stated = parse_release(question.serving.engine_version);
  constexpr std::int64_t first_year = 2000;
  if (stated.major < first_year) return stated == EngineRelease{} || stated.major > 0 ? of_vllm::newest : stated;
  if (stated < EngineRelease{2025, 4}) return {0, 6};
  if (stated < EngineRelease{2025, 12}) return {0, 11};
  return of_vllm::newest;
}

constexpr std::int64_t large_gib = 70;
constexpr std::int64_t largest_gib = 160;

/// engine/arg_utils.py, EngineArgs.get_batch_defaults, of the API server. Before chunked prefill a step held the whole
/// of the longest prompt.
void set_batches(const spec::Question& question, const EngineRelease& release, Setup& setup) {
  const Bytes memory = total_memory(question);
  const auto is = [&](spec::Ability kind) { return question.gpu && question.gpu->generation.can(kind); };
  const bool small = is(spec::Ability::small_steps) || (is(spec::Ability::superchip) && release >= of_vllm::newest);
  const bool large = memory >= quantity::gib(large_gib) && !small;
  const bool largest = memory >= quantity::gib(largest_gib) && release >= of_vllm::larger_share;
  setup.batched_tokens = largest ? 16384 : large ? 8192 : 2048;
  setup.max_sequences = large && release >= of_vllm::first_engine_v1 ? 1024 : 256;
}

/// Before the scheduler chunked every prefill, a step held the whole of the longest prompt, unless that was beyond 32k.
std::int64_t step_tokens(const Deployment& deployment, const Demand& demand) {
  const bool stated = deployment.question.serving.options.batched_tokens.has_value();
  if (stated || deployment.setup.release >= of_vllm::first_engine_v1) return deployment.setup.batched_tokens;
  constexpr std::int64_t chunks_above = 32768;
  if (demand.length <= chunks_above) return std::max<std::int64_t>(demand.length, 2048);
  return deployment.setup.release < of_vllm::larger_chunks ? 512 : 2048;
}

/// config/vllm.py, _set_cudagraph_sizes.
std::int64_t largest_graph(const spec::Question& question, std::int64_t max_sequences) {
  constexpr std::int64_t usual = 512;
  return std::min<std::int64_t>(2 * max_sequences, question.gpu ? question.gpu->generation.largest_graph : usual);
}

/// 1, 2, 4, then every 8th below 256 and every 16th from there.
std::int64_t graph_count(std::int64_t largest) {
  const std::int64_t small = std::min<std::int64_t>(largest, 248) / 8;
  const std::int64_t large = largest >= 256 ? (largest - 256) / 16 + 1 : 0;
  return 3 + small + large;
}

bool estimates(const Deployment& deployment) { return deployment.setup.release >= of_vllm::estimates_graphs; }

/// Graphs of both modes: what logs of 8B to 70B models show, 0.17 to 1.03 GiB. The estimate is uncertain by half a GiB.
Bytes graph_bytes(const Deployment& deployment) {
  if (deployment.setup.graph_batch == 0) return quantity::bytes(0);
  const std::int64_t count = graph_count(deployment.setup.graph_batch);
  return quantity::mib(358) + quantity::mib(4) * (count / deployment.question.layout.tp);
}

/// Windows hold what is scheduled beyond them: one batch, or two where steps are scheduled ahead, or one a stage.
std::int64_t in_flight(const Deployment& deployment, std::int64_t tokens) {
  const std::int64_t ahead = deployment.setup.release >= of_vllm::larger_share ? 2 : 1;
  return std::max(ahead, deployment.question.layout.pp) * tokens;
}

bool keeps_any_positions(const Deployment& deployment) {
  return std::ranges::any_of(deployment.layers_kept, [](const LayerCache& layer) { return keeps_positions(layer); });
}

/// Kernels of Mamba-2 hand out the state at a block's end from inside a prompt, and FlashInfer's of gated delta nets on
/// some generations (model_executor/layers/mamba/mamba_mixer2.py, gdn/qwen_gdn_linear_attn.py, get_kv_cache_spec).
bool hands_out_states(const spec::Question& question) {
  const spec::Shape& shape = question.model.shape;
  if (shape.state.width > 0) return shape.state.form == spec::StateForm::duality;
  return question.gpu && question.gpu->generation.can(spec::Ability::states_in_prompts);
}

/// States of a sequence in one layer: one, and one for each drafted token; where prefixes are cached, one more at the
/// last block's end, and one that a prompt leaves on its way (v1/kv_cache_interface.py, MambaSpec). Models without any
/// keys and values cache no prefixes (config/model.py, is_prefix_caching_supported).
std::int64_t states_held(const Deployment& deployment) {
  const auto& draft = deployment.question.serving.options.draft;
  const std::int64_t states = 1 + (draft.kind == spec::DraftKind::none ? 0 : draft.tokens);
  const bool caches = deployment.question.serving.options.prefix_cache.value_or(true);
  if (!caches || deployment.setup.release < of_vllm::caches_states || !keeps_any_positions(deployment)) return states;
  const bool exports = deployment.setup.release >= of_vllm::exports_states && hands_out_states(deployment.question);
  return states + (exports ? 2 : 1);
}

void hold_all(const Deployment& deployment, const Stage& stage, std::int64_t tokens, RankMemory& memory) {
  hold_weights(deployment, stage.weights.whole, memory);
  memory.holdings.push_back({"rotary", "rotary table", rotary_cache(deployment.question), false,
                             "max_position x rotary width x 2", "vLLM rotary_embedding/base.py"});
  hold_profile(deployment, stage, tokens, memory);
  if (estimates(deployment) && deployment.setup.graph_batch > 0) {
    memory.holdings.push_back({"cuda_graphs", "CUDA graphs", graph_bytes(deployment), true,
                               "350 MiB + 4 MiB a captured size / tp", "vLLM logs of 8B to 70B models, +-0.5 GiB"});
  }
  hold_beside_torch(deployment, memory);
  if (stage.adapters > quantity::bytes(0)) {
    memory.holdings.push_back({"adapters", "LoRA adapters", stage.adapters, false,
                               "max_loras x rank x (inputs + outputs) x 2", "vLLM lora/layers"});
  }
  if (stage.draft > quantity::bytes(0)) {
    memory.holdings.push_back(
        {"draft", "draft layers", stage.draft, false, "one layer and its projection", "vLLM v1/spec_decode"});
  }
}

}  // namespace

Setup vllm_setup(const spec::Question& question) {
  const auto& options = question.serving.options;
  Setup setup;
  setup.release = release_of(question);
  setup.cache = usual_cache(question, setup.assumptions);
  setup.context = model_limit(question);
  setup.memory_fraction = options.memory_fraction.value_or(setup.release >= of_vllm::larger_share ? 0.92 : 0.90);
  set_batches(question, setup.release, setup);
  setup.batched_tokens = options.batched_tokens.value_or(setup.batched_tokens);
  setup.max_sequences = options.max_sequences.value_or(setup.max_sequences);
  setup.block = options.block.value_or(16);
  setup.graph_batch = options.graphs.value_or(true) ? largest_graph(question, setup.max_sequences) : 0;
  return setup;
}

RankMemory vllm_memory(const Deployment& deployment, std::size_t rank, const Demand& demand) {
  const Stage& stage = deployment.stages[rank];
  RankMemory memory;
  memory.capacity = visible_memory(deployment.question);
  const auto total = static_cast<double>(quantity::in_bytes(total_memory(deployment.question)));
  memory.limit = quantity::bytes(std::llround(std::ceil(total * deployment.setup.memory_fraction)));
  const std::int64_t tokens = step_tokens(deployment, demand);
  hold_all(deployment, stage, tokens, memory);
  memory.pool = deployment.question.serving.options.cache_bytes.value_or(memory.limit - memory.held());
  memory.beside = context_outside(deployment.setup.release);
  if (!estimates(deployment)) memory.beside += graph_bytes(deployment);
  share_pool(deployment, stage, demand, {in_flight(deployment, tokens), states_held(deployment)}, memory);
  return memory;
}

}  // namespace llmcalc::serving
