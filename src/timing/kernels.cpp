#include "llmcalc/timing/kernels.hpp"

#include "timing/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::timing {

namespace {

/// What a kernel takes beside its work: start, and the first loads (fitted with the table of generations: 2.3 to 2.9 us
/// on H100, H200 and B200; AIConfigurator adds 3 us to kernels bound by memory).
constexpr double kernel_start = 2.6e-6;

/// Share of the memory bandwidth that large kernels reach (AIConfigurator: 0.8; Calculon a100_80g.json: 0.9 from 100 MB
/// on, 0.75 from 10 MB on, which the start above accounts for).
constexpr double bandwidth_share = 0.8;

/// PyTorch's own ones do no better where they were not measured.
double eager_share(const Chip& chip) {
  return chip.generation == nullptr ? bandwidth_share : std::min(bandwidth_share, chip.generation->eager);
}

/// What a kernel has written the next one finds in a cache of up to 96 MiB, which Ada's dies have; A100 and H100 gain
/// nothing on tensors that fit theirs (Liger-Kernel, rms_norm, 2048 x 1024). LoRA on the three matrices of an MLP takes
/// 35.7 ms a step longer than prefix tuning on L40S, in which its kernels move 35.4 GB and start 1090 times: 1.24 of
/// 864 GB/s, with tensors of 5 to 30 MB (huggingface/peft method_comparison/MetaMathQA,
/// lora--llama-3.2-3B-rank10-target-mlp and prefixtuning--llama-3.2-3B-lr_0.001), two of the rows of time/peft.csv.
constexpr double cached_share = 1.24;

/// The same of kernels that gather and scatter rows, over that of others: B200 0.50 and 0.51 of the bandwidth forward
/// and backward where others reach 0.67 (SimuMax, b200_bf16_ceperm, permute_fwd, permute_bwd, default).
constexpr double permutation_rate = 0.75;

/// What reading and writing a sum, beyond the 2 bytes of a gradient, adds to the product that makes the gradients, over
/// what it takes by itself; the rest is hidden behind other tiles. SimuMax, layout NT with sums over TN, where the sum
/// takes a tenth of the product: medians 0.47 of fp32 on A100 PCIe (51 shapes) and 0.64 on B200 (89), 0.46 of bf16
/// there (74). Products of experts hide nothing: 36 groups of 20 to 256 experts take 1.07 times product and sum one
/// after the other (SimuMax, b200_bf16_ceperm, group_matmul, bwd_grad_w).
constexpr double shown_of_sum = 0.5;

/// What an expert's product takes beyond its share of all experts' work, which run on four streams: median of 40 groups
/// of 20 to 64 experts with 512 and more rows, whatever their size (SimuMax, b200_bf16_ceperm, group_matmul, fwd and
/// bwd_grad_act).
constexpr double further_call = 4.6e-6;

/// An eager operation that is one kernel, with its node of the autograd graph, on an A100 host of 2022.
constexpr double host_kernel = 17e-6;
/// A module around a product: 1.22 ms for the 8 products and 14 other operations of a Llama layer (gpt-fast without
/// compilation: 25.5 tokens/s with 7B on A100).
constexpr double host_module = 110e-6;
/// Megatron-LM's modules do more: 1.0 ms for the 6 products and 6 other operations of a GPT layer (vTrain, 1440
/// single-node runs).
constexpr double host_megatron_module = 150e-6;
/// 1.2 ms for the same layer backward.
constexpr double host_backward = 1.2;
/// Hosts that came with Hopper (Sapphire Rapids, Genoa) run one thread 1.4 times as fast as those of the A100 (Rome).
constexpr double newer_host = 0.7;
constexpr std::int64_t newer_host_year = 2022;
/// torch.compile took gpt-fast from 25.5 to 107 tokens/s.
constexpr double compiled_host = 0.25;

/// Experts are multiplied one by one: 8.6 us each, however small (SimuMax, group_matmul on B200: 80 and 160 experts of
/// 308 and 154 rows, forward and backward).
constexpr double host_launch = 8.6e-6 / newer_host;

/// Launches from C++ take the time in which a kernel starts.
double host_share(const spec::Training& training, const frameworks::Profile& profile) {
  if (profile.host.compiled) return 0.0;
  return training.compile ? compiled_host : 1.0;
}

double host_speed(const spec::Accelerator& gpu) { return gpu.year >= newer_host_year ? newer_host : 1.0; }

double width_of(formats::Dtype dtype) { return formats::facts(dtype).bits / 8.0; }

/// Bytes of an element of the main gradient where weight gradients are added to it within the product; 0 elsewhere.
double width_of_sum(const spec::Training& training, const frameworks::Profile& profile) {
  return profile.gradients.accumulation == frameworks::Accumulation::in_product ? width_of(training.precision.grads)
                                                                                : 0.0;
}

/// Rows that do not begin at multiples of 16 bytes are loaded piecemeal (NVIDIA, Matrix Multiplication Background,
/// tensor core requirements). Padding the vocabulary of nanoGPT's 124M from 50257 to 50304 made a step 25 % faster
/// (karpathy/nanoGPT); the three products of its head take about a fifth of the faster step.
constexpr double unaligned = 0.4;
constexpr std::int64_t aligned_elements = 8;
/// In batches they leave the matrix units to the others: an A100's 19.5 of 312 TFLOP/s. BLOOM's candidates took 31 to
/// 38 % longer with heads of 108 elements than with 144 (bigscience, tr11-176B-ml/chronicles-prequel.md).
constexpr double unaligned_batch = 1.0 / 16.0;

double alignment_factor(const layers::Product& p) {
  if ((p.n | p.k) % aligned_elements == 0) return 1.0;
  return p.count > 1 ? unaligned_batch : unaligned;
}

/// A tile of 2^rows by 2^columns elements. Small ones load more bytes for each FLOP and reach less of the peak: one set
/// of shares fitted to all measured parts.
struct Tile {
  int rows;
  int columns;
  double share;

  constexpr double cost() const { return static_cast<double>(1 << (rows + columns)) / share; }
};
constexpr Tile tiles[] = {{8, 7, 1.0}, {7, 8, 1.0}, {7, 7, 0.93}, {7, 6, 0.85}, {6, 7, 0.85}, {6, 6, 0.78}};

constexpr std::int64_t tiles_along(std::int64_t length, int log_of_tile) {
  return (length + (std::int64_t{1} << log_of_tile) - 1) >> log_of_tile;
}

/// The product of a gradient: dX (m x k) sums over n, dW (k x n) over m.
layers::Product of_pass(const layers::Product& p, Pass pass) {
  if (pass == Pass::backward_input) return {p.m, p.k, p.n, p.count};
  if (pass != Pass::forward) return {p.k, p.n, p.m, p.count};
  return p;
}

struct Volume {
  double operands;  ///< elements read
  double results;   ///< elements written
  double flops;
};

Volume volume(const layers::Product& p) {
  const auto [m, n, k, count] = p;
  const auto dm = static_cast<double>(m);
  const auto dn = static_cast<double>(n);
  const auto dk = static_cast<double>(k);
  const auto times = static_cast<double>(count);
  return {times * dk * (dm + dn), times * dm * dn, 2.0 * times * dm * dn * dk};
}

}  // namespace

Kernels::Kernels(const spec::Accelerator& gpu, const spec::Training& training, const frameworks::Profile& profile)
    : Kernels(gpu, training, profile, chip_of(gpu)) {}

Kernels::Kernels(const spec::Accelerator& gpu, const spec::Training& training, const frameworks::Profile& profile,
                 const Chip& chip)
    : gpu_(&gpu),
      compute_(training.precision.compute),
      wide_rate_(quantity::in_flops_per_second(spec::half_peak(gpu))),
      compute_rate_(quantity::in_flops_per_second(spec::matrix_peak(gpu, compute_))),
      bandwidth_(bandwidth_share * quantity::in_bytes_per_second(gpu.memory_bandwidth)),
      eager_(eager_share(chip) * quantity::in_bytes_per_second(gpu.memory_bandwidth)),
      cached_(cached_share * quantity::in_bytes_per_second(gpu.memory_bandwidth)),
      cache_(gpu.cache.value_or(quantity::Bytes())),
      units_(chip.units),
      sum_width_(width_of_sum(training, profile)),
      matrix_(matrix_rates(chip)),
      attention_(attention_rates(chip, profile.attention.library)),
      host_factor_(host_speed(gpu) * host_share(training, profile)),
      host_module_(host_factor_ * (profile.host.heavy_modules ? host_megatron_module : host_module)),
      host_launch_(host_speed(gpu) * host_launch),
      attention_type_(training.fp8_attention ? peak(formats::Dtype::fp8_e4m3) / wide_rate_ : 1.0),
      hands_over_ahead_(!profile.host.waits_for_kernels),
      graphs_(training.cuda_graph) {}

double Kernels::peak(formats::Dtype compute) const {
  return compute == compute_ ? compute_rate_ : quantity::in_flops_per_second(spec::matrix_peak(*gpu_, compute));
}

double Kernels::waves(std::int64_t count) const {
  const double even = static_cast<double>(count) / units_;
  const auto full = static_cast<double>(static_cast<std::int64_t>(even));
  const double whole = full < even ? full + 1.0 : full;
  return matrix_.whole_waves * whole + (1.0 - matrix_.whole_waves) * std::max(1.0, even);
}

/// The library takes the tile that is done first: as many waves of tiles as there are units for, each at the rate of
/// one unit. Large products are held back by power, thin ones by memory.
quantity::Seconds Kernels::product(const layers::Product& product, formats::Dtype compute, Pass pass) const {
  const layers::Product shape = of_pass(product, pass);
  double area = std::numeric_limits<double>::infinity();
  for (const Tile& tile : tiles) {
    const std::int64_t count = tiles_along(shape.m, tile.rows) * tiles_along(shape.n, tile.columns) * shape.count;
    area = std::min(area, waves(count) * tile.cost());
  }
  const bool narrow = formats::is_narrow_float(compute);
  const double rate = peak(compute) * (narrow ? matrix_.narrow : 1.0) * alignment_factor(product);
  const double tiled =
      2.0 * area * units_ / matrix_.share * (static_cast<double>(shape.k) / rate + matrix_.fill / wide_rate_);

  const Volume total = volume(shape);
  const double operand_width = width_of(compute);
  const double operands = total.operands * operand_width / bandwidth_;
  const double work = std::max({tiled, total.flops / (matrix_.ceiling * rate), operands});
  if (sum_width_ > 0.0 && pass == Pass::backward_weight) {
    const double sum = total.results * 2.0 * sum_width_ / bandwidth_;
    const double shown = product.count > 1 ? sum : shown_of_sum * (sum - total.results * 2.0 / bandwidth_);
    return quantity::seconds(kernel_start + std::max(work + shown, operands + sum));
  }
  const double results = total.results * std::max(2.0, operand_width) / bandwidth_;
  return quantity::seconds(kernel_start + std::max(work, operands + results));
}

quantity::Seconds Kernels::wide_product(quantity::Flops flops) const {
  return quantity::seconds(kernel_start + quantity::in_flops(flops) / (matrix_.share * peak(formats::Dtype::fp32)));
}

quantity::Seconds Kernels::further_calls(std::int64_t calls) {
  return quantity::seconds(further_call * static_cast<double>(calls));
}

quantity::Seconds Kernels::further_starts(std::int64_t kernels) {
  return quantity::seconds(kernel_start * static_cast<double>(kernels));
}

quantity::Seconds Kernels::stream(quantity::Bytes moved) const {
  return quantity::seconds(kernel_start + static_cast<double>(quantity::in_bytes(moved)) / bandwidth_);
}

quantity::Seconds Kernels::eager_stream(quantity::Bytes moved) const {
  return quantity::seconds(kernel_start + static_cast<double>(quantity::in_bytes(moved)) / eager_);
}

quantity::Seconds Kernels::cached_stream(quantity::Bytes moved) const {
  return quantity::seconds(kernel_start + static_cast<double>(quantity::in_bytes(moved)) / cached_);
}

quantity::Seconds Kernels::permutation(quantity::Bytes moved) const {
  return stream(
      quantity::bytes(static_cast<std::int64_t>(static_cast<double>(quantity::in_bytes(moved)) / permutation_rate)));
}

/// What is part of a graph needs no host; a partial one leaves out what depends on how many rows each expert gets.
/// Loops of the library launch further kernels from C++, those of a framework one operation after another.
quantity::Seconds Kernels::dispatch(const layers::Op& op, bool backward) const {
  if (graphs_ == spec::CudaGraph::full || (graphs_ == spec::CudaGraph::scoped && !op.routed)) return {};
  const bool is_product = op.product.m > 0;
  const double call = is_product ? host_module_ : host_factor_ * host_kernel;
  const double further = op.eager ? call : host_launch_;
  if (!backward) return quantity::seconds(call + further * static_cast<double>(op.kernels - 1));
  const double gradients = is_product ? 2.0 : 1.0;
  return quantity::seconds(host_backward * call + gradients * further * static_cast<double>(op.kernels_backward - 1));
}

/// A host that is ahead of the accelerator is waited for only where it needs longer.
quantity::Seconds Kernels::waiting(quantity::Seconds dispatch, quantity::Seconds busy) const {
  return hands_over_ahead_ ? std::max(quantity::seconds(0), dispatch - busy) : dispatch;
}

std::string matrix_source(const spec::Accelerator& gpu) {
  constexpr double as_measured = 0.02;
  const Chip chip = chip_of(gpu);
  if (chip.generation == nullptr && chip.relative.empty()) {
    return fmt::format("matrix products: best measured {:.1f} % of peak ({})", 100.0 * chip.ceiling,
                       gpu.matmul_ceiling_source);
  }
  const bool scaled = std::abs(chip.power - 1.0) >= as_measured;
  const auto relative = chip.generation == nullptr ? chip.relative : chip.generation->measured;
  return fmt::format("matrix products: {} {}{}", chip.generation == nullptr ? "as the best of" : "measured on",
                     relative, scaled ? ", clock scaled by power for each FLOP" : "");
}

}  // namespace llmcalc::timing
