// vLLM: everything that is left of a share of the accelerator after a profile run is cache, in blocks.
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/vllm.hpp"
#include "spec/load.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::Bytes;

namespace {

/// vLLM fused_moe/oracle/mxfp4.py: the widths of hidden state and expert come out in whole tiles of the kernel.
constexpr std::int64_t hidden_tile = 256;
constexpr std::int64_t expert_tile = 128;

/// gpt-oss-20b took 12.88 GiB, no tile more than it has, in the first release that served it (vllm issue 22331).
constexpr EngineRelease first_padded{0, 11};

/// The draft of the last stage was refused or desynchronized before (docs/features/speculative_decoding: "not
/// composable as of vllm<=0.15.0"; issues 49355 of 0.25, 52069 of 0.26 and 57755 of 0.29); pull requests 50514 and
/// 46994.
constexpr EngineRelease drafts_in_stages_of_vllm{0, 30};

/// Marlin, which runs where Triton's and FlashInfer's kernels do not, pads in every release (0.10.2
/// quantization/mxfp4.py, create_weights: gpt-oss-120b on four A100 took 17.22 GiB a rank, 15.25 without).
bool runs_marlin(const spec::Question& question) { return !spec::can(question.gpu, spec::Ability::mixtures_in_mxfp4); }

bool is_padding(const spec::Question& question) {
  const std::string& version = question.serving.engine_version;
  return version.empty() || parse_release(version) >= first_padded || runs_marlin(question);
}

Padded pads_experts(const spec::Question& question, const layers::Weight& weight, formats::Quant scheme) {
  if (scheme != formats::Quant::mxfp4 || !is_expert(weight) || !is_padding(question)) {
    return {weight.rows, weight.columns};
  }
  const bool down = spec::use_of(weight.role) == Use::down;
  const std::int64_t rows = quantity::ceil_to(weight.rows, down ? expert_tile : hidden_tile);
  return {rows, quantity::ceil_to(weight.columns, down ? hidden_tile : expert_tile)};
}

/// Builds of a day are no older than the release before it.
struct Build {
  EngineRelease day;
  EngineRelease release;
};

/// github.com/vllm-project/vllm/releases, those at which something changed that is accounted for.
constexpr Build builds[] = {{{2026, 10}, of_vllm::newest}, {{2026, 9, 9}, {0, 29}},  {{2026, 8, 26}, {0, 28}},
                            {{2026, 8, 10}, {0, 27}},      {{2026, 7, 27}, {0, 26}}, {{2026, 7, 11}, {0, 25}},
                            {{2026, 6, 29}, {0, 24}},      {{2026, 6, 15}, {0, 23}}, {{2026, 4, 3}, {0, 19}},
                            {{2025, 12}, {0, 12}},         {{2025, 4}, {0, 11}}};

EngineRelease release_of(const spec::Question& question) {
  const EngineRelease stated = parse_release(question.serving.engine_version);
  constexpr std::int64_t first_year = 2000;
  if (stated.major < first_year) return stated == EngineRelease{} || stated.major > 0 ? of_vllm::newest : stated;
  const auto* built = std::ranges::find_if(builds, [&](const Build& each) { return stated >= each.day; });
  return built == std::end(builds) ? EngineRelease{0, 6} : built->release;
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
  const bool largest = memory >= quantity::gib(largest_gib) && release >= of_vllm::wider_steps;
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
std::int64_t largest_graph(const spec::Question& question, const Setup& setup) {
  const auto& draft = question.serving.options.draft;
  const std::int64_t judged = 1 + (draft.kind == spec::DraftKind::none ? 0 : draft.tokens);
  const bool by_part = question.gpu && setup.release >= of_vllm::wider_steps;
  const std::int64_t usual = by_part ? question.gpu->generation.largest_graph : 512;
  const std::int64_t largest = std::min(quantity::product(2, judged, setup.max_sequences), usual);
  return std::min(question.serving.options.largest_graph.value_or(largest), setup.batched_tokens);
}

/// 1, 2, 4, then every 8th below 256 and every 16th from there.
std::int64_t graph_count(std::int64_t largest) {
  const std::int64_t small = std::min<std::int64_t>(largest, 248) / 8;
  const std::int64_t large = largest >= 256 ? (largest - 256) / 16 + 1 : 0;
  return 3 + small + large;
}

/// The second runner found nothing before it ran every model (v1/worker/gpu/model_runner.py of 0.22 to 0.28,
/// profile_cudagraph_memory).
bool estimates(const Deployment& deployment) {
  const bool first = !takes_second_runner(deployment);
  return deployment.setup.release >= (first ? of_vllm::estimates_graphs : of_vllm::second_runner);
}

/// Graphs of both modes: what logs of 8B to 70B models show, 0.17 to 1.03 GiB. The estimate is uncertain by half a GiB.
Bytes graph_bytes(const Deployment& deployment) {
  if (deployment.setup.graph_batch == 0) return quantity::bytes(0);
  const std::int64_t count = graph_count(deployment.setup.graph_batch);
  return quantity::mib(358) + quantity::mib(4) * (count / deployment.question.layout.tp);
}

/// Windows hold what is scheduled beyond them: one batch (v1/kv_cache_interface.py, max_admission_blocks_per_request),
/// and from 0.26 on as many as may be at work at once: one a stage, and one more where steps are scheduled ahead, which
/// the first runner does with one stage alone (config/vllm.py, max_concurrent_batches).
std::int64_t in_flight(const Deployment& deployment, std::int64_t tokens) {
  if (deployment.setup.release < of_vllm::settles_tokens) return tokens;
  const std::int64_t stages = deployment.question.layout.pp;
  const bool ahead = deployment.setup.ahead && (stages == 1 || takes_second_runner(deployment));
  return (stages + (ahead ? 1 : 0)) * tokens;
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

/// Steps of vLLM 0.8 take 1.1 to 1.3 ms longer than those of later releases (vllm pulls 16035 and 16937: 7.5 and 7.8 ms
/// of Llama 8B on H100 with one request), and its EAGLE ran without graphs (v1/spec_decode/eagle.py). Graphs are of
/// decoding, but those of the first engine V1 and later also of mixed steps up to the largest captured size
/// (config/compilation.py, CUDAGraphMode.FULL_AND_PIECEWISE); TensorRT-LLM and SGLang launch the kernels of a prompt.
void set_launching(Setup& setup) {
  const bool early = setup.release < of_vllm::leaner_steps;
  setup.late_us = early ? 1200.0 : 0.0;
  setup.ahead = setup.release >= of_vllm::schedules_ahead;
  setup.drafts_in_graphs = !early;
  setup.graph_prompts = setup.release >= of_vllm::first_engine_v1 ? setup.graph_batch : 0;
}

/// One process cuts texts into tokens and answers (entrypoints/openai/api_server.py): 415 requests a second of 512
/// tokens each, and 63 of 16 such texts (vllm pull 23000, 0.10), which are 1.5 ms a request and 1.75 us a token.
void set_front(Setup& setup) {
  setup.front_us = setup.release < of_vllm::leaner_front ? 1500.0 : 860.0;
  setup.front_token_us = 1.75;
}

/// Nothing that is pooled is scheduled ahead (config/vllm.py, async_scheduling). Inputs that attend both ways are read
/// in one step, which holds the longest of them (engine/arg_utils.py,
/// _set_default_max_num_seqs_and_batched_tokens_args).
void set_pooling(const spec::Question& question, Setup& setup) {
  setup.ahead = false;
  if (question.model.shape.stack != spec::Stack::encoder) return;
  setup.reads_whole = true;
  if (question.serving.options.batched_tokens) return;
  const std::int64_t all = quantity::product(setup.max_sequences, setup.context);
  setup.batched_tokens = std::min(all, std::max(setup.batched_tokens, setup.context));
}

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
  setup.graph_batch = options.graphs.value_or(true) ? largest_graph(question, setup) : 0;
  set_launching(setup);
  set_front(setup);
  setup.flash_states = setup.release >= of_vllm::flash_states && question.gpu &&
                       question.gpu->generation.can(spec::Ability::states_in_prompts);
  if (spec::reads_only(question.serving.load)) set_pooling(question, setup);
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
  // Without a cache nothing is profiled, and the share bounds nothing (v1/engine/core.py, has_kv_cache).
  if (stage.cache.empty()) memory.limit = memory.capacity;
  memory.pool = deployment.question.serving.options.cache_bytes.value_or(memory.limit - memory.held());
  memory.beside = context_outside(deployment.setup.release);
  if (!estimates(deployment)) memory.beside += graph_bytes(deployment);
  const Holds holds{in_flight(deployment, tokens), states_held(deployment)};
  if (compresses_keys(deployment.question.model)) {
    share_compressed(deployment, stage, demand, holds.in_flight, memory);
  } else {
    share_pool(deployment, stage, demand, holds, memory);
  }
  return memory;
}

}  // namespace

#include "engines/vllm_row.inc"

}  // namespace llmcalc::serving
