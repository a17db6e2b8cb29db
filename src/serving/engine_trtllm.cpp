// TensorRT-LLM: a share of what a profile run leaves free is cache.
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::serving {

using quantity::Bytes;

namespace {

/// Tensors of 16 bits and of the hidden state's width that a step has at its peak, at 1, 2, 4 and 8 ranks
/// (aiconfigurator ACTIVATION_COEFFICIENTS, measured); 70 MiB at least (the same).
constexpr std::array<double, 4> dense_tensors{11.0, 6.5, 5.0, 5.0};
constexpr std::array<double, 4> mixture_tensors{22.0, 13.0, 10.0, 10.0};

std::size_t column_of(std::int64_t tp) { return tp >= 8 ? 3 : tp >= 4 ? 2 : tp >= 2 ? 1 : 0; }

Bytes activation_peak(const Deployment& deployment) {
  const auto& shape = deployment.question.model.shape;
  const auto& tensors = shape.moe.experts > 0 ? mixture_tensors : dense_tensors;
  const double bytes = 2.0 * static_cast<double>(deployment.setup.batched_tokens) * static_cast<double>(shape.hidden) *
                       tensors.at(column_of(deployment.question.layout.tp));
  return std::max(quantity::bytes(std::llround(bytes)), quantity::mib(70));
}

/// Release from which servers run PyTorch unless told otherwise. Those before it ran what TensorRT had built, whose
/// kernels one call launches (cpp/tensorrt_llm/runtime/tllmRuntime.cpp, executeContext).
constexpr EngineRelease of_pytorch{1, 0};

/// Buffers by that table: none, 342, 392 and 392 MB at 1, 2, 4 and 8 ranks.
Bytes trtllm_exchange_buffers(const spec::Question& question) {
  if (question.runtime.nccl) return *question.runtime.nccl;
  constexpr std::array<std::int64_t, 4> megabytes{0, 342, 392, 392};
  return quantity::bytes(megabytes.at(column_of(question.layout.tp)) * 1'000'000);
}

Setup trtllm_setup(const spec::Question& question) {
  const auto& options = question.serving.options;
  Setup setup;
  setup.release = parse_release(question.serving.engine_version);
  setup.cache = usual_cache(question, setup.assumptions);
  setup.context = model_limit(question);
  setup.memory_fraction = options.memory_fraction.value_or(0.9);
  setup.batched_tokens = options.batched_tokens.value_or(8192);
  // Stages have as many at work each (_torch/pyexecutor/_util.py, max_num_sequences).
  setup.max_sequences = quantity::product(options.max_sequences.value_or(2048), question.layout.pp);
  setup.block = options.block.value_or(32);
  setup.graph_batch = options.graphs.value_or(true) ? 128 : 0;
  const bool is_built = setup.release > EngineRelease() && setup.release < of_pytorch;
  setup.graph_prompts = is_built ? setup.batched_tokens : 0;
  setup.admits_whole = true;  // llmapi/llm_args.py, SchedulerConfig: GUARANTEED_NO_EVICT
  setup.reads_whole = true;   // and enable_chunked_prefill, which is off
  setup.ahead = true;         // and disable_overlap_scheduler, which is off
  return setup;
}

RankMemory trtllm_memory(const Deployment& deployment, std::size_t rank, const Demand& demand) {
  const Stage& stage = deployment.stages[rank];
  const auto& question = deployment.question;
  RankMemory memory;
  memory.capacity = memory.limit = visible_memory(question);
  hold_weights(deployment, stage.weights.whole, memory);
  memory.holdings.push_back({"profile_run", "profile run", activation_peak(deployment), true,
                             "batched_tokens x hidden x 2 x tensors of the peak", "aiconfigurator base_backend.py"});
  memory.holdings.push_back({"context", "CUDA context", question.runtime.context.value_or(quantity::mib(526)), true,
                             "551 MB", "aiconfigurator trtllm_backend.py"});
  const Bytes nccl = trtllm_exchange_buffers(question);
  if (nccl > quantity::bytes(0)) {
    memory.holdings.push_back({"nccl", "NCCL", nccl, true, "by ranks", "aiconfigurator base_backend.py"});
  }
  if (stage.adapters + stage.draft > quantity::bytes(0)) {
    memory.holdings.push_back({"draft", "adapters and draft layers", stage.adapters + stage.draft, false,
                               "as of their tensors", "TensorRT-LLM _torch/speculative"});
  }
  // _torch/pyexecutor/_util.py, _cal_max_memory: (total - peak) x fraction.
  const auto free = static_cast<double>(quantity::in_bytes(memory.limit - memory.held()));
  const auto left = quantity::bytes(std::llround(std::floor(free * deployment.setup.memory_fraction)));
  memory.pool = question.serving.options.cache_bytes.value_or(left);
  share_by_group(deployment, stage, demand, 0.0, memory);
  return memory;
}

}  // namespace

#include "engines/trtllm_row.inc"

}  // namespace llmcalc::serving
