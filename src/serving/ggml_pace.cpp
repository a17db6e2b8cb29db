
#include "llmcalc/spec/question.hpp"
#include "quantity/elementary.hpp"
#include "serving/inner/pace.hpp"
#include "serving/inner/step_work.hpp"
#include "timing/network.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::in_seconds;
using quantity::Seconds;
using quantity::seconds;

namespace {

/// Sums over all layers of the model and its head, for a step of `rows` tokens.
struct GgmlWork {
  double bytes = 0;
  double flops = 0;         ///< of a token, attention and routed experts left out
  double expert_bytes = 0;  ///< of those
  double expert_flops = 0;  ///< of the step, of whole tiles
  double cache = 0;         ///< bytes that a token reads, and of states reads and writes
  double scores = 0;        ///< bytes of fp32 scores of one query
  double pairs = 0;         ///< FLOPs of one query with the keys that it sees
  double activations = 0;   ///< bytes of fp32 activations of a token
  double layers = 0;
  double mixtures = 0;     ///< layers with routed experts
  double recurrences = 0;  ///< layers with a recurrence
  double scanned = 0;      ///< FLOPs of a token in recurrences
};

/// How many rows of a step there are, and how far behind it its sequences reach. Of two stacks a prompt passes the
/// encoder, and makes keys and values of it for the decoder, which tokens pass (llama.cpp src/llama-context.cpp,
/// llama_encode and llama_decode).
struct StepShape {
  double rows = 1;
  double positions = 1;
  Passed part = Passed::by_written;
};

/// Whose work is summed: of all layers, or of what lies on the accelerators or in host memory.
enum class Whose { all, card, host };

/// Experts that tokens of a step reach are read once: E (1 - (1 - K/E)^tokens), were each to choose for itself.
double reached(const ExpertWork& experts, double tokens) {
  const double apart = quantity::pow(tokens, ggml_kernels().alike);
  return experts.experts * (1.0 - quantity::pow(1.0 - experts.chosen / experts.experts, apart));
}

/// Rows of all experts' tiles. Tiles are as wide as the fewest need that hold the whole step, 128 columns at most
/// (llama.cpp ggml-cuda/mmq.cuh, mul_mat_q_switch_J), and each expert fills its last one with nothing: where loads lie
/// about their mean as 1 - exp(-load / mean), an expert that was reached has 1 / (1 - exp(-width / mean)). Eight rows
/// and fewer are multiplied one by one (mmvq.cu).
double rows_of_tiles(const ExpertWork& experts, double rows) {
  constexpr double by_row = 8;
  constexpr double widest = 128;
  if (rows <= by_row) return rows * experts.chosen;
  const double width = by_row * std::ceil(rows / std::ceil(rows / widest) / by_row);
  const double read = reached(experts, rows);
  return read * width / (1.0 - quantity::exp(-width * read / (rows * experts.chosen)));
}

void add_attention(const LayerWork& layer, double layers, const Deployment& deployment, double positions,
                   GgmlWork& sums) {
  // A warp walks the tokens with a column of the state: S k, S g + k d, S q (ggml-cuda/gated_delta_net.cu,
  // ssm-scan.cu).
  constexpr double flops_per_byte = 7.0 / 4.0;
  sums.cache += 2 * layers * layer.mixer.state_bytes;
  sums.scanned += layers * layer.mixer.state_bytes * flops_per_byte;
  if (layer.mixer.state_bytes > 0) sums.recurrences += layers;
  const LayerCache& kept = layer.mixer.kept;
  if (kept.reach == Reach::state) return;
  constexpr double wide = 4.0;
  const auto seen = static_cast<double>(positions_read(kept, std::max<std::int64_t>(std::llround(positions), 1)));
  sums.cache +=
      layers * seen * static_cast<double>(quantity::in_bytes(cache_bytes(deployment.setup.cache, kept.elements)));
  sums.pairs += layers * seen * layer.mixer.flops_per_pair;
  const double heads = layer.mixer.flops_per_pair / (4.0 * static_cast<double>(layer.mixer.head_dim));
  sums.scores += layers * wide * heads;
}

void add_layers(const LayerWork& layer, double layers, const Deployment& deployment, const StepShape& step,
                GgmlWork& sums) {
  constexpr double wide = 4.0;
  const bool passes = layer.passed == Passed::by_all || layer.passed == step.part;
  for (const MatrixWork& matrix : layer.matrices) {
    if (matrix.of_memory ? step.part == Passed::by_written : !passes) continue;
    sums.bytes += layers * matrix.bytes;
    sums.flops += layers * 2 * matrix.n * matrix.k;
    sums.activations += layers * wide * (matrix.n + matrix.k);
  }
  if (!passes) return;
  sums.layers += layers;
  add_attention(layer, layers, deployment, step.positions, sums);
}

void add_experts(const ExpertWork& experts, double layers, double rows, GgmlWork& sums) {
  sums.expert_bytes += layers * reached(experts, rows) * experts.bytes;
  sums.bytes += layers * reached(experts, rows) * experts.bytes;
  sums.expert_flops += layers * 2 * rows_of_tiles(experts, rows) * experts.elements;
  sums.mixtures += layers;
}

/// Count of layers from `first` on that are among the leading `host` ones, or of the others.
double count_of(Whose whose, std::int64_t first, std::int64_t layers, std::int64_t host) {
  const std::int64_t leading = std::clamp<std::int64_t>(host - first, 0, layers);
  return static_cast<double>(whose == Whose::all ? layers : whose == Whose::host ? leading : layers - leading);
}

GgmlWork ggml_work(const Deployment& deployment, const StepShape& step, Whose whose) {
  const std::int64_t in_host = deployment.setup.host_layers;
  const std::int64_t experts_in_host = std::max(in_host, deployment.setup.host_experts);
  GgmlWork sums;
  std::int64_t first = 0;
  for (const StageWork& stage : step_work(deployment.question)) {
    for (const LayerWork& layer : stage.layers) {
      add_layers(layer, count_of(whose, first, layer.layers, in_host), deployment, step, sums);
      if (layer.experts)
        add_experts(*layer.experts, count_of(whose, first, layer.layers, experts_in_host), step.rows, sums);
      first += layer.layers;
    }
    if (stage.head) sums.bytes += count_of(whose, first, 1, in_host) * stage.head->bytes;
  }
  return sums;
}

/// Products accumulate in fp16 and codes are multiplied as integers (llama.cpp ggml-cuda/mmq.cuh): half of what a card
/// does in 8 bits, twice what GeForce cards do with sums in fp32, and as much on others.
double peak_of(const spec::Accelerator& gpu) {
  const double half = quantity::in_flops_per_second(spec::half_peak(gpu));
  return gpu.peaks.int8 ? std::max(half, quantity::in_flops_per_second(*gpu.peaks.int8) / 2) : half;
}

/// A build's number or its month. Ollama's releases have other numbers, and are taken for later ones.
bool is_since(const spec::Question& question, std::int64_t build, EngineRelease month) {
  const std::string_view version = question.serving.engine_version;
  const EngineRelease release = parse_release(version);
  if (version.starts_with('b')) return release.major >= build;
  constexpr std::int64_t first_year = 2023;
  return release.major < first_year || release >= month;
}

/// Builds of November 2025 and later add, normalize, gate and multiply in fewer kernels (llama.cpp pulls 15631 and
/// 16715).
bool fuses_kernels(const spec::Question& question) {
  return question.gpu->generation.can(spec::Ability::fused_ggml) && is_since(question, 6900, {2025, 11});
}

/// Before June 2024 codes of a prompt were widened to 16 bits for the vendor's products on parts that multiply integers
/// since (llama.cpp pulls 7676 and 8075), and are still where those are the faster ones (V100).
bool widens_codes(const spec::Question& question) {
  const auto& integers = question.gpu->peaks.int8;
  if (formats::is_plain(question.serving.quant) || !integers) return false;
  return *integers < spec::half_peak(*question.gpu) || !is_since(question, 3219, {2024, 6});
}

/// One card's part of the question, with what its kernels reach.
class GgmlClock {
 public:
  explicit GgmlClock(const Deployment& deployment)
      : deployment_(deployment),
        gpu_(*deployment.question.gpu),
        rates_(gpu_.generation.ggml),
        bandwidth_(quantity::in_bytes_per_second(gpu_.memory_bandwidth)),
        peak_(peak_of(gpu_)),
        quantized_(!formats::is_plain(deployment.question.serving.quant)),
        widens_(widens_codes(deployment.question)),
        cards_(static_cast<double>(cards_of(deployment.question))),
        together_(deployment.question.serving.layout.split == spec::CardSplit::layer ? 1.0 : cards_),
        layer_s_(in_seconds(fuses_kernels(deployment.question) ? rates_.fused : rates_.layer)),
        host_rate_(quantity::in_bytes_per_second(host_bandwidth(deployment.question))) {}

  /// A step of several sequences multiplies as a prompt does, and sorts its rows by their experts. What lies in host
  /// memory the processor reads in its turn.
  double token(double sequences, double positions) const {
    const GgmlKernels& kernels = ggml_kernels();
    const GgmlWork one = ggml_work(deployment_, {sequences, positions}, Whose::card);
    const double cached = deployment_.setup.flash ? kernels.fused_cache : rates_.cache;
    double time = one.bytes / (reading() * together_) + sequences * one.cache / (bandwidth_ * cached * together_) +
                  launching(one) + in_seconds(rates_.token) + in_seconds(rates_.card) * (cards_ - 1);
    if (sequences > 1) time += sequences * one.flops / rate() + tiles(one) + sorting(one);
    time += by_processor(ggml_work(deployment_, {sequences, positions}, Whose::host), sequences);
    return time + (is_served() ? 1e-3 * kernels.sampled_ms : 0.0);
  }

  /// Cards that hold layers work at the same time on the chunks of a prompt, u chunks behind each other through n cards
  /// taking u + n - 1 turns; those that hold rows or tensors work on each together.
  double prompt(double length) const {
    const auto chunk = static_cast<double>(deployment_.setup.batched_tokens);
    const double chunks = std::ceil(length / chunk);
    const double rows = std::min(chunk, length);
    const bool causal = deployment_.question.model.shape.stack != spec::Stack::encoder;
    const GgmlWork all = ggml_work(deployment_, {rows, causal ? length / 2 : length, Passed::by_read}, Whose::all);
    double time =
        length / rows * products(all, rows) + rates_.activations * length * all.activations / bandwidth_ +
        chunks * (all.layers * in_seconds(rates_.chunk) + launching(all) + sorting(all) + all.bytes / streamed()) +
        length * all.scanned / (vector_peak() * ggml_kernels().scanned);
    if (widens_) time += chunks * 2 * all.flops / streamed();  // 16-bit copies, written and read
    if (deployment_.setup.flash) {
      time += length * all.pairs / (quantity::in_flops_per_second(spec::half_peak(gpu_)) * ggml_kernels().fused_prompt);
    } else {
      time += rates_.scores * all.scores * length * length / 2 / bandwidth_;
    }
    if (together_ > 1) {
      time /= together_;
    } else if (cards_ > 1) {
      time *= (chunks + cards_ - 1) / (chunks * cards_) * rates_.cards;
    }
    return time + chunks * from_host(std::min(chunk, length), length / 2);
  }

 private:
  /// Weights in host memory are copied for each chunk of a prompt, of experts those that its rows reach, since products
  /// of 32 rows and more are left to the card (ggml-cuda.cu, ggml_backend_cuda_device_offload_op; ggml-backend.cpp,
  /// ggml_backend_sched_compute_splits).
  double from_host(double rows, double positions) const {
    constexpr double fewest = 32;
    const GgmlWork host = ggml_work(deployment_, {rows, positions, Passed::by_read}, Whose::host);
    if (rows < fewest) return by_processor(host, 1);
    return in_seconds(timing::to_host(gpu_, quantity::bytes(std::llround(host.bytes))));
  }

  /// Weights are read once, keys and values of each sequence.
  double by_processor(const GgmlWork& sums, double sequences) const {
    return (sums.bytes + sequences * sums.cache) / (host_rate_ * ggml_kernels().host_share);
  }

  /// Seconds of all layers' launches.
  double launching(const GgmlWork& sums) const {
    const GgmlKernels& kernels = ggml_kernels();
    return (sums.layers + kernels.expert_layer * sums.mixtures) * layer_s_ +
           micro * kernels.recurrent_us * sums.recurrences;
  }

  /// And of rows by their experts, where there are several.
  static double sorting(const GgmlWork& sums) { return sums.mixtures * ggml_kernels().sorting_us * micro; }

  /// Without a prompt it is llama-bench that generates, which draws nothing.
  bool is_served() const { return deployment_.question.serving.load.prompt > 0; }

  /// Bytes of weights a second, one row at a time: as fast as they come, and as the vector units unpack them.
  double reading() const {
    if (!quantized_) return bandwidth_ * rates_.half;
    const double read = bandwidth_ * rates_.codes;
    return rates_.unpacked > 0 ? std::min(read, rates_.unpacked * vector_peak()) : read;
  }

  /// A part that does not say it is taken to have as much for each of its 16-bit FLOPs as H100.
  double vector_peak() const {
    constexpr double usual_share = 66.9 / 989.4;
    if (gpu_.peaks.fp32) return quantity::in_flops_per_second(*gpu_.peaks.fp32);
    return usual_share * quantity::in_flops_per_second(spec::half_peak(gpu_));
  }

  /// Bytes a second of a chunk that reads all weights: assumed.
  double streamed() const { return 0.9 * bandwidth_; }

  /// Seconds of the products of so many tokens at once, beside reading the weights: tiles of experts with few rows
  /// wait for theirs.
  double products(const GgmlWork& sums, double rows) const {
    return rows * sums.flops / rate() + std::max(tiles(sums) - sums.expert_bytes / streamed(), 0.0);
  }

  /// Operations a second of the products of many tokens.
  double rate() const { return peak_ * (quantized_ && !widens_ ? rates_.prompt : rates_.prompt_half); }

  /// Seconds of the tiles of routed experts.
  double tiles(const GgmlWork& sums) const { return sums.expert_flops / (ggml_kernels().expert_prompt * rate()); }

  const Deployment& deployment_;
  const spec::Accelerator& gpu_;
  const spec::GgmlRates& rates_;
  double bandwidth_;
  double peak_;
  bool quantized_;
  bool widens_;
  double cards_;
  double together_;   ///< cards that work on one layer at the same time
  double layer_s_;    ///< a layer's launches
  double host_rate_;  ///< of the host's memory, bytes a second
};

}  // namespace

/// Two channels of DDR5-5600, what desktop processors of 2023 to 2025 are sold for (Core i9-14900K, Ryzen 9 9950X).
quantity::Bandwidth host_bandwidth(const spec::Question& question) {
  return question.serving.options.host_bandwidth.value_or(quantity::gigabytes_per_second(89.6));
}

/// Cards that hold layers work one after another on a token.
GgmlTimes ggml_times(const Deployment& deployment, double sequences, double positions, double prompt) {
  const GgmlClock clock(deployment);
  return {seconds(clock.token(sequences, positions)), seconds(clock.prompt(prompt))};
}

}  // namespace llmcalc::serving
