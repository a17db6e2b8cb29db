#include "layers/widths.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/vllm.hpp"
#include "spec/load.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::serving {

using quantity::Bytes;
using quantity::product;

namespace {

/// CUDA's context with kernels loaded (RTX 6000 Ada, pytorch issue 86509).
constexpr Bytes cuda_context = quantity::mib(426);

/// A family whose models run in the second runner before most others do.
struct SecondRunner {
  std::string_view family;
  EngineRelease since;
};

constexpr SecondRunner second_runners[] = {
#include "releases/second_runners.inc"
};

/// A part of the profile run that may be its peak.
struct Peak {
  std::string_view label;
  Bytes size;
  std::string_view formula;
  std::string_view source;
};

/// Peak of T tokens: three tensors as wide as the hidden state and three as the MLP, in 16 bits: 20,000 tokens of
/// Llama-3.1-8B 2.06 GiB (2.07 logged), 29,000 2.99 (2.99), 512 0.05 (0.06) (vllm issue 10517). Of routed experts gate
/// and up share a buffer with what comes out of them (model_executor/layers/fused_moe/fused_moe.py,
/// intermediate_cache13 and intermediate_cache2).
Peak forward_peak(const Deployment& deployment, std::int64_t tokens) {
  const spec::Shape& shape = deployment.question.model.shape;
  const auto hidden = static_cast<double>(shape.hidden);
  double width = 3.0 * hidden + 3.0 * mlp_width(deployment.question);
  if (shape.moe.experts > 0) {
    const double ffn = static_cast<double>(shape.moe.expert_ffn) / static_cast<double>(deployment.question.layout.etp);
    width += static_cast<double>(shape.moe.top_k) * std::max(hidden - 2.0 * ffn, 0.0);
  }
  return {"profile run: forward pass", quantity::bytes(std::llround(2.0 * static_cast<double>(tokens) * width)),
          "batched_tokens x 2 x (3 hidden + 3 ffn / tp)", "vLLM v1/worker/gpu_worker.py, determine_available_memory"};
}

/// Bytes of a logit where the sampler is warmed up with every sequence. Sorted: 38.5 (llm-d-planner
/// docs/empirical-vllm-memory-results.md: gpt-oss, Qwen3 and Llama, at one and two ranks). By a kernel that sorts
/// nothing: 17 (Mistral-Small-3.2, the same table). The second runner draws from 16-bit logits as they are
/// (v1/worker/gpu/sample/sampler.py); with every parameter set it copies them to 32 bits, masks them and makes them
/// probabilities.
double bytes_of_logit(const Deployment& deployment) {
  const EngineRelease& release = deployment.setup.release;
  if (release >= of_vllm::warms_up_sampling) return 2.0 + 4.0 + 4.0 + 4.0;
  if (takes_second_runner(deployment)) return 2.0;
  return release >= of_vllm::fused_sampler ? 17.0 : 38.5;
}

/// Pooled requests are not sampled (v1/worker/gpu/model_runner.py, pooling_runner).
bool draws(const Deployment& deployment) { return !spec::reads_only(deployment.question.serving.load); }

/// Whole on each rank. Before 0.8 as well: 256 sequences of Llama-3-8B peak at 1.26 GiB on one and on two ranks (vllm
/// pull 10511), but in chunks of 512 tokens none is sampled: 0.06 GiB (vllm issue 10517).
Peak sampler_peak(const Deployment& deployment, std::int64_t tokens) {
  const EngineRelease& release = deployment.setup.release;
  const bool samples = draws(deployment) && (release >= of_vllm::larger_chunks || tokens > 512);
  const std::int64_t rows = samples ? std::min(deployment.setup.max_sequences, tokens) : 0;
  const auto logits = static_cast<double>(product(rows, deployment.question.model.shape.vocab));
  return {"profile run: sampler", quantity::bytes(std::llround(bytes_of_logit(deployment) * logits)),
          "max_seqs x vocab x bytes of the sampler a logit",
          "vLLM v1/worker/gpu_worker.py, determine_available_memory"};
}

/// The profile run compiles the model, and Inductor tries joined kernels on copies of what they read: the first one
/// reads the embedding. L40S, GiB beyond weights and 0.13: Qwen3-14B 1.48 (1.49 here) and of 8,192 tokens 1.60 (1.61),
/// samilazrak/vllm-optimization-lab results/raw; Qwen3.5-9B 1.89 (2.02); Qwen2.5-7B 1.06 (1.04). A graph loaded from
/// the cache of a former start is not tried again.
Peak compile_peak(const Deployment& deployment, const Stage& stage, std::int64_t tokens) {
  const bool compiles = deployment.setup.release >= of_vllm::joins_kernels && deployment.setup.graph_batch > 0;
  const std::int64_t hidden = deployment.question.model.shape.hidden;
  const Bytes around = quantity::bytes(product(2, layers::half_width, hidden, tokens));
  return {"profile run: compiling", compiles ? stage.weights.whole.table + around : quantity::bytes(0),
          "embedding on the rank + batched_tokens x 2 x 2 hidden",
          "vLLM config/compilation.py, benchmark_combo_kernel"};
}

/// Counts of the tokens that were drawn, and bits for those of the prompt, for penalties (v1/worker/gpu/sample/
/// penalties.py, output_bin_counts and prompt_bin_mask): Qwen3-14B holds 0.27 GiB beside its weights with 256
/// sequences and 0.51 with 512 (samilazrak/vllm-optimization-lab results/raw).
void hold_sampler(const Deployment& deployment, RankMemory& memory) {
  if (!takes_second_runner(deployment) || !draws(deployment)) return;
  const std::int64_t words = quantity::ceil_divide(deployment.question.model.shape.vocab, 32);
  const std::int64_t row = product(layers::fp32_width, deployment.question.model.shape.vocab + words);
  memory.holdings.push_back({"sampler", "sampling: counts of tokens",
                             quantity::bytes(product(deployment.setup.max_sequences, row)), false,
                             "max_seqs x (vocab + vocab / 32) x 4", "vLLM v1/worker/gpu/sample/penalties.py"});
}

/// More than two ranks over NVLink hold 0.95 (four GB200) and 1.84 GiB (four H100, vLLM 0.10.2) outside PyTorch where
/// one has 0.13: 1.27 in the mean.
Bytes exchange_buffers(const spec::Question& question) {
  const std::int64_t ranks = product(question.layout.tp, question.layout.pp);
  const bool many = question.gpu && joins_widely(question) && question.layout.tp > 2 &&
                    question.gpu->generation.can(spec::Ability::multicast);
  return many ? quantity::mib(1300)
              : exchange_of_pair(question) + quantity::mib(joins_widely(question) ? 31 : 0) * (ranks - 2);
}

/// Tensors of an MLP: what flows through the layers, its norm, what the activation reads and makes, cut over the ranks
/// (vLLM config/multimodal.py, mm_encoder_tp_mode "weights"); beside them the pixels as the processor made them, in 32
/// bits, and as the tower reads them. Two starts of Qwen3.5-9B on one L40S, whose cache they leave, hold 1.88 GiB
/// beside the weights with steps of 4,096 and of 6,144 tokens: 1.90 here.
Bytes encoder_peak(const spec::Tower& tower, std::int64_t positions, std::int64_t tp) {
  const std::int64_t activated = spec::is_gated(tower.layers.mlp) ? 3 : 2;
  const std::int64_t layer =
      quantity::checked_add(2 * tower.layers.hidden, quantity::ceil_divide(activated * tower.layers.ffn, tp));
  const std::int64_t pixels = (layers::fp32_width + layers::half_width) * tower.patch_inputs;
  return quantity::bytes(product(positions, quantity::checked_add(layers::half_width * layer, pixels)));
}

bool is_named_second(const spec::Shape& shape, const EngineRelease& release) {
  return std::ranges::any_of(
      second_runners, [&](const SecondRunner& row) { return row.family == shape.family && release >= row.since; });
}

}  // namespace

/// Before 0.24 nothing quantized was run by it, and before 0.25 nothing that sees or hears was named
/// (vllm config/vllm.py, _is_default_v2_model_runner_model).
bool takes_second_runner(const Deployment& deployment) {
  const EngineRelease& release = deployment.setup.release;
  const spec::Question& question = deployment.question;
  const spec::Shape& shape = question.model.shape;
  if (release >= of_vllm::second_runner) return true;
  if (!draws(deployment)) return false;
  const bool named = is_named_second(shape, release);
  if (release >= of_vllm::dense_in_second) {
    const bool keeps = std::ranges::any_of(deployment.layers_kept, keeps_state);
    return named || (shape.moe.experts == 0 && !keeps);
  }
  const bool whole = release >= of_vllm::second_quantized || formats::is_plain(question.serving.quant);
  return named && shape.towers.empty() && whole;
}

/// A step encodes images of as many tokens as its own, and one at least (vLLM v1/core/encoder_cache_manager.py,
/// compute_mm_encoder_budget); the profile run takes that many of the largest that the processor makes
/// (v1/worker/gpu_model_runner.py, profile_run; multimodal/encoder_budget.py).
EncoderRun encoder_run(const Deployment& deployment, std::int64_t tokens) {
  const auto& question = deployment.question;
  EncoderRun run;
  if (question.training.towers == spec::TowerUse::absent) return run;
  if (deployment.setup.release < of_vllm::second_encodes && takes_second_runner(deployment)) return run;
  const auto take = [&](const spec::Tower& tower) {
    const bool is_known = tower.most_tokens > 0;
    const std::int64_t of_item =
        is_known ? tower.most_tokens : tower.positions / std::max<std::int64_t>(tower.merged, 1);
    if (of_item <= 0) return;
    const std::int64_t items = std::max<std::int64_t>(tokens / of_item, 1);
    const Bytes outputs = quantity::bytes(product(items, of_item, question.model.shape.hidden, layers::half_width));
    const std::int64_t positions = product(items, is_known ? tower.most_positions : tower.positions);
    const Bytes peak = std::max(outputs, encoder_peak(tower, positions, question.layout.tp));
    if (peak > run.peak) run = {items, outputs, peak};
  };
  std::ranges::for_each(question.model.shape.towers, take);
  if (question.serving.beside_text != nullptr) take(*question.serving.beside_text);
  return run;
}

void hold_profile(const Deployment& deployment, const Stage& stage, std::int64_t tokens, RankMemory& memory) {
  hold_sampler(deployment, memory);
  const std::array passes{forward_peak(deployment, tokens), sampler_peak(deployment, tokens),
                          compile_peak(deployment, stage, tokens)};
  Peak peak = *std::ranges::max_element(passes, {}, &Peak::size);
  // What an encoder made of its images lies beside the other passes.
  const EncoderRun encoder = encoder_run(deployment, tokens);
  peak.size += encoder.outputs;
  if (encoder.peak > peak.size) {
    peak = {"profile run: encoder", encoder.peak,
            "positions of as many images as a step takes x (2 x (2 width + 2 or 3 ffn / tp) + 6 x pixels)",
            "vLLM v1/worker/gpu_model_runner.py, profile_run"};
  }
  memory.holdings.push_back({"profile_run", peak.label, peak.size, false, peak.formula, peak.source});
}

/// Memory outside PyTorch's allocator on one rank: 0.13 GiB on H100 (llm-d-planner
/// docs/empirical-vllm-memory-results.md), 0.12 on L40S (samilazrak/vllm-optimization-lab), and 0.35 before 0.7 (vllm
/// issue 10517).
void hold_beside_torch(const Deployment& deployment, RankMemory& memory) {
  const auto& runtime = deployment.question.runtime;
  const EngineRelease& release = deployment.setup.release;
  const Bytes inside = cuda_context - context_outside(release);
  const Bytes alone = quantity::mib(release < of_vllm::larger_chunks ? 358 : 133) + inside;
  memory.holdings.push_back({"non_torch", "kernels' workspaces", runtime.context.value_or(alone), true,
                             "0.13 GiB, and before 0.9 the CUDA context",
                             "llm-d-planner docs/empirical-vllm-memory-results.md"});
  if (product(deployment.question.layout.tp, deployment.question.layout.pp) == 1) return;
  memory.holdings.push_back(
      {"nccl", "NCCL and custom all-reduce", runtime.nccl.value_or(exchange_buffers(deployment.question)), true,
       "0.12 GiB over PCIe, 0.42 over NVLink, 1.27 of more than two", "logs of vLLM on L40S, RTX 4090 and H100"});
}

/// The first scheduler of 0.8 took all that was in use on the card for its own (v1/worker/gpu_worker.py of 0.8.5,
/// determine_available_memory), and so did none before and after.
Bytes context_outside(const EngineRelease& release) {
  const bool counts = release >= of_vllm::first_engine_v1 && release < of_vllm::snapshots;
  return counts ? quantity::bytes(0) : cuda_context;
}

}  // namespace llmcalc::serving
