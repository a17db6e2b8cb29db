#include "trust/error_bar.hpp"

#include "llmcalc/spec/question.hpp"
#include "spec/names.hpp"
#include "trust/inner/measured_bars.hpp"

#include <algorithm>
#include <iterator>

namespace llmcalc::trust {

using frameworks::MemoryRuns;
using spec::Engine;
using spec::Framework;
using spec::Measure;

namespace {

constexpr MeasuredBar of_frameworks[] = {
#include "bars/frameworks.inc"
};
constexpr EngineBar of_engines[] = {
#include "bars/engines.inc"
};

// Cached: while there is room the allocator keeps blocks that fit nothing. The medians over 45 and 64 runs of Mistral
// 7B are 1.145 and, where layers are gathered from their shards, 1.266; those over 20 and 38 of Llama 3 8B, set
// apart, 1.100 and 1.297.
constexpr double cached_alone = 1.145;
constexpr double cached_gathering = 1.266;

double cached_of(MemoryRuns runs, bool several) {
  const bool by_torch = runs == MemoryRuns::huggingface || runs == MemoryRuns::other_torch;
  return !by_torch ? 0.0 : several ? cached_gathering : cached_alone;
}

// A verdict goes by the allocated level: before the allocator fails it gives back what it only caches (pytorch
// c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks), so nvidia-smi may show far more than a run needs. Of 61
// runs of Hugging Face that were measured to run out of memory the estimate of four lies up to 5 % below the capacity;
// the allocator is the same, whoever trains.
constexpr double reaches_out_of_memory = 0.06;

/// The textbook leaves out what frameworks add: nearly all of its runs were measured above the estimate, so that the
/// arm above is the 90th percentile and the arm below the furthest of the few. \param several  accelerators
ErrorBar textbook(bool several) {
  constexpr std::string_view source = "90th percentile over measured runs of Hugging Face and Megatron";
  if (several) return {"the textbook on several accelerators", {0.14, 0.49}, 465, {0.02, 1.11}, {0.02, 1.11}, source};
  return {"the textbook on one accelerator", {0.13, 0.85}, 73, {0.11, 0.70}, {0.11, 0.70}, source};
}

struct Known {
  double share;
  int runs;
};

/// As the framework was measured at that level, else as the engine under it.
Known known(spec::Framework framework, Level level) {
  const auto measured = measured_bars();
  const auto own = std::ranges::find_if(
      measured, [&](const MeasuredBar& row) { return row.framework == framework && row.level == level; });
  if (own != measured.end()) return {own->share, own->runs};
  const MemoryRuns runs = frameworks::row_of(framework).memory_runs;
  const auto under =
      std::ranges::find_if(engine_bars(), [&](const EngineBar& row) { return row.runs == runs && row.level == level; });
  return {under->share, 0};
}

constexpr std::string_view from_runs = "nine in ten measured runs lie inside, of frameworks like it too";
constexpr std::string_view from_engine = "not measured at this level: as the engine under it";

/// A person's own runs judge better than anybody's.
ErrorBar calibrated(ErrorBar bar, const spec::Bias& bias) {
  if (!bias.is_known()) return bar;
  bar.allocated = even(bias.bar);
  bar.allocated_runs = static_cast<int>(bias.runs);
  bar.source = "runs of your own, of which it covers nine in ten";
  return bar;
}

/// Whose runs stand for it: what DeepSpeed runs was measured of no trainer.
spec::Framework measured_as(const spec::Question& question) {
  const bool handed_on = frameworks::hands_to_deepspeed(question.training, question.layout.sharding);
  return handed_on ? spec::Framework::deepspeed : question.training.framework;
}

}  // namespace

std::span<const MeasuredBar> measured_bars() { return of_frameworks; }
std::span<const EngineBar> engine_bars() { return of_engines; }

ErrorBar error_bar(const spec::Question& question) {
  if (question.training.activations != spec::ActivationModel::program) {
    return {"textbook totals", {}, 0, {}, {}, "no error is claimed"};
  }
  const auto framework = measured_as(question);
  const MemoryRuns runs = frameworks::row_of(framework).memory_runs;
  const bool several = question.layout.gpus > 1;
  if (runs == MemoryRuns::textbook) return calibrated(textbook(several), question.calibration.memory);
  const auto at = [&](Level level) { return known(framework, level); };
  const Known allocated = at(Level::allocated);
  ErrorBar bar{.name = spec::name_of(framework),
               .allocated = {allocated.share, std::max(reaches_out_of_memory, allocated.share)},
               .allocated_runs = allocated.runs,
               .reserved = even(at(Level::reserved).share),
               .device = even(at(Level::device).share),
               .source = allocated.runs > 0 ? from_runs : from_engine,
               .cached = cached_of(runs, several)};
  return calibrated(bar, question.calibration.memory);
}

namespace {

struct Timed {
  Level level;
  std::string_view kind;
};

Timed timed(const spec::Question& question) {
  if (question.model.shape.moe.experts > 0) return {Level::mixture, "mixtures of experts"};
  if (question.layout.nodes > 1) return {Level::dense_spread, "dense models on several machines"};
  return {Level::dense, "dense models on one machine"};
}

}  // namespace

TimeErrorBar time_error_bar(const spec::Question& question, double growth) {
  const Timed of = timed(question);
  const spec::Bias& own = question.calibration.time;
  if (own.is_known()) return {even(own.bar), static_cast<int>(own.runs), "runs of your own"};
  const Known bar = known(question.training.framework, of.level);
  const bool nearest = question.gpu && question.gpu->generation.is_nearest;
  const double share = nearest ? wider_by_generation * bar.share : bar.share;
  return {{share, share + growth * (1.0 + share)}, bar.runs, of.kind};
}

/// Nine in ten rates of measured runs lie as far above as times do below: the arm above keeps its width.
Spread inverse(const Spread& of_time) {
  const double growth = (1.0 + of_time.above) / (1.0 + of_time.below);
  return {of_time.below + (1.0 - of_time.below) * (1.0 - 1.0 / growth), of_time.below};
}

namespace {

/// Share of what is predicted of a server's times that nine in ten measured ones lie within.
struct ServerBars {
  Engine engine;
  double first_token = 0.0;
  double dense = 0.0;    ///< of each further token
  double mixture = 0.0;  ///< and of models with routed experts
};

constexpr ServerBars of_servers[] = {
#include "bars/servers.inc"
};

/// An engine without measured runs is as far off as the furthest of those that read the same files.
ServerBars bars_of(Engine engine) {
  const auto* const own = std::ranges::find(of_servers, engine, &ServerBars::engine);
  if (own != std::end(of_servers)) return *own;
  ServerBars widest{engine};
  for (const ServerBars& row : of_servers) {
    if (spec::reads_gguf(row.engine) != spec::reads_gguf(engine)) continue;
    widest.first_token = std::max(widest.first_token, row.first_token);
    widest.dense = std::max(widest.dense, row.dense);
    widest.mixture = std::max(widest.mixture, row.mixture);
  }
  return widest;
}

/// The furthest of llama.cpp's are runs that do not say which context or cache they started with.
Spread of_device(bool reads_gguf) {
  return reads_gguf ? Spread{.below = 0.27, .above = 0.15} : Spread{.below = 0.05, .above = 0.10};
}

}  // namespace

/// Sizes: 90th percentiles of the rows of tests/measured/serving, the furthest where they are few. CUDA graphs were
/// seen from 0.17 to 1.03 GiB.
Spread server_error_bar(const spec::Question& question, Measure measure) {
  const bool reads_gguf = spec::reads_gguf(question.serving.engine);
  const ServerBars own = bars_of(question.serving.engine);
  const double token = question.model.shape.moe.experts > 0 ? own.mixture : own.dense;
  switch (measure) {
    case Measure::weights: return even(reads_gguf ? 0.013 : 0.026);
    case Measure::host_weights:
    case Measure::bits_per_weight: return even(0.013);
    case Measure::file_size: return even(0.007);
    case Measure::kv_bytes_per_token:
    case Measure::recurrent_state: return even(0.001);
    case Measure::kv_cache: return even(reads_gguf ? 0.001 : 0.18);
    case Measure::kv_tokens: return even(0.21);
    case Measure::device_total: return of_device(reads_gguf);
    case Measure::activation_peak:
    case Measure::compute_buffer: return even(0.16);
    case Measure::cuda_graphs: return {0.7, 2.0};
    case Measure::non_torch: return even(0.25);
    case Measure::ttft:
    case Measure::prefill_tok_s: return even(own.first_token);
    case Measure::tpot:
    case Measure::throughput_tok_s: return even(token);
    case Measure::decode_tok_s: return even(reads_gguf ? token : 0.37);
    default: return even(0.05);
  }
}

}  // namespace llmcalc::trust
