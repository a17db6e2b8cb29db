#include "timing/kernels.hpp"

#include "quantity/elementary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::timing {

/// One accelerator as its kernels see it: its measured rates under the power that it has, inside a run.
struct Chip {
  const spec::Rates* rates = nullptr;
  double power = 1.0;         ///< clock that it sustains over that of the measured part
  double ceiling = 0.0;       ///< where no shapes were measured: share of the peak that the best product reaches
  bool has_measured = false;  ///< whether that is its own
  double units = 1.0;
};

/// Rates of a fused attention kernel on that part.
spec::AttentionRates attention_rates(const Chip& chip, frameworks::AttentionLibrary library);

namespace {

/// How much of its measured relative's clock a part sustains that has less or more power for each FLOP.
double sustained_clock(const spec::Accelerator& gpu) {
  const spec::PowerRates& relative = gpu.rates.power;
  if (!gpu.tdp_watts || relative.watts <= 0.0) return 1.0;
  const double per_teraflop = relative.watts / quantity::in_teraflops(relative.peak);
  const double teraflops = quantity::in_teraflops(spec::half_peak(gpu));
  return quantity::pow(*gpu.tdp_watts / teraflops / per_teraflop, relative.exponent);
}

/// Whether products of many shapes were measured, or the best one alone.
bool is_measured_by_shape(const spec::Rates& rates) { return rates.products.tile > 0.0; }

/// \pre the accelerator outlives the result
Chip chip_of(const spec::Accelerator& gpu) {
  Chip chip{.rates = &gpu.rates, .units = gpu.units ? static_cast<double>(*gpu.units) : gpu.rates.units};
  if (!is_measured_by_shape(gpu.rates) && gpu.matmul_ceiling) {
    chip.ceiling = *gpu.matmul_ceiling;
    chip.has_measured = true;
    return chip;
  }
  chip.power = sustained_clock(gpu);
  const spec::ProductRates& products = gpu.rates.products;
  if (!is_measured_by_shape(gpu.rates)) chip.ceiling = std::min(products.best_tile, products.ceiling * chip.power);
  return chip;
}

/// Rates of matrix products inside a training run.
spec::ProductRates matrix_rates(const Chip& chip) {
  const spec::ProductRates& alone = chip.rates->products;
  const spec::RunRates& run = chip.rates->run;
  spec::ProductRates rates = alone;
  rates.narrow *= run.narrow / run.products;
  if (!is_measured_by_shape(*chip.rates)) {
    rates.tile = rates.ceiling = run.products * chip.ceiling;
    return rates;
  }
  const double best = std::max(alone.best_tile, alone.tile);
  rates.tile = run.products * std::min(best, alone.tile * std::max(1.0, chip.power));
  rates.ceiling = std::min(rates.tile, run.products * run.large * alone.ceiling * chip.power);
  return rates;
}

/// Time that reading and writing a sum, beyond the 2 bytes of a gradient, adds to the product that makes the gradients,
/// over what it takes by itself; the rest is hidden behind other tiles. SimuMax, layout NT with sums over TN, where the
/// sum takes a tenth of the product: medians 0.47 of fp32 on A100 PCIe (51 shapes) and 0.64 on B200 (89), 0.46 of bf16
/// there (74). Products of experts hide nothing: 36 groups of 20 to 256 experts take 1.07 times product and sum one
/// after the other (SimuMax, b200_bf16_ceperm, group_matmul, bwd_grad_w).
constexpr double shown_of_sum = 0.5;

double bytes_per_second(double share, const spec::Accelerator& gpu) {
  return share * quantity::in_bytes_per_second(gpu.memory_bandwidth);
}

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
/// Batches of them leave the matrix units to the others: an A100's 19.5 of 312 TFLOP/s. BLOOM's candidates took 31 to
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

/// Share of the peak of their type that products in it reach, over that of 16-bit ones.
double narrow_share(const spec::ProductRates& rates, formats::Dtype compute) {
  if (!formats::is_narrow_float(compute)) return 1.0;
  return compute == formats::Dtype::nvfp4 ? rates.narrow * rates.four_bits : rates.narrow;
}

/// PyTorch's kernel for scales by row, of which the forward pass makes use, reaches 0.9 to 1 of the speed of cuBLAS's
/// for one scale with most shapes on H100 (pytorch/pytorch issue 147971); gradients are made by the latter.
double of_row_kernel(const spec::Training& training) {
  constexpr double reached = 0.95;
  return training.fp8_scaling == spec::Fp8Scaling::row ? reached : 1.0;
}

}  // namespace

KernelPrices::KernelPrices(const spec::Accelerator& gpu, const spec::Training& training,
                           const frameworks::Profile& profile)
    : KernelPrices(gpu, training, profile, chip_of(gpu)) {}

KernelPrices::KernelPrices(const spec::Accelerator& gpu, const spec::Training& training,
                           const frameworks::Profile& profile, const Chip& chip)
    : gpu_(&gpu),
      start_(quantity::in_seconds(gpu.rates.kernels.start)),
      further_call_(quantity::in_seconds(gpu.rates.kernels.further_call)),
      compute_(training.precision.compute),
      wide_rate_(quantity::in_flops_per_second(spec::half_peak(gpu))),
      compute_rate_(quantity::in_flops_per_second(spec::matrix_peak(gpu, compute_))),
      row_kernel_(of_row_kernel(training)),
      bandwidth_(bytes_per_second(gpu.rates.memory.kernels, gpu)),
      eager_(bytes_per_second(gpu.rates.memory.eager, gpu)),
      cached_(bytes_per_second(gpu.rates.memory.cached, gpu)),
      permuting_(gpu.rates.memory.permuting),
      cache_(gpu.cache.value_or(quantity::Bytes())),
      units_(chip.units),
      sum_width_(width_of_sum(training, profile)),
      matrix_(matrix_rates(chip)),
      attention_(attention_rates(chip, profile.attention.library)),
      attention_type_(training.fp8_attention ? peak(formats::Dtype::fp8_e4m3) / wide_rate_ : 1.0),
      host_(gpu.rates.host, training, profile) {}

double KernelPrices::peak(formats::Dtype compute) const {
  return compute == compute_ ? compute_rate_ : quantity::in_flops_per_second(spec::matrix_peak(*gpu_, compute));
}

double KernelPrices::waves(std::int64_t count) const {
  const double even = static_cast<double>(count) / units_;
  const auto full = static_cast<double>(static_cast<std::int64_t>(even));
  const double whole = full < even ? full + 1.0 : full;
  return matrix_.whole_waves * whole + (1.0 - matrix_.whole_waves) * std::max(1.0, even);
}

KernelPrices KernelPrices::without_edges() const {
  KernelPrices even = *this;
  even.matrix_.whole_waves = 0.0;
  even.cache_ = quantity::bytes(std::numeric_limits<std::int64_t>::max());
  return even;
}

/// The library takes the tile that is done first: as many waves of tiles as there are units for, each at the rate of
/// one unit. Large products are held back by power, thin ones by memory.
quantity::Seconds KernelPrices::product(const layers::Product& product, formats::Dtype compute, Pass pass) const {
  const layers::Product shape = of_pass(product, pass);
  double area = std::numeric_limits<double>::infinity();
  for (const Tile& tile : tiles) {
    const std::int64_t count = tiles_along(shape.m, tile.rows) * tiles_along(shape.n, tile.columns) * shape.count;
    area = std::min(area, waves(count) * tile.cost());
  }
  const double by_row = pass == Pass::forward && formats::is_narrow_float(compute) ? row_kernel_ : 1.0;
  const double rate = peak(compute) * narrow_share(matrix_, compute) * alignment_factor(product) * by_row;
  const double tiled =
      2.0 * area * units_ / matrix_.tile * (static_cast<double>(shape.k) / rate + matrix_.fill / wide_rate_);

  const Volume total = volume(shape);
  const double operand_width = width_of(compute);
  const double operands = total.operands * operand_width / bandwidth_;
  const double work = std::max({tiled, total.flops / (matrix_.ceiling * rate), operands});
  if (sum_width_ > 0.0 && pass == Pass::backward_weight) {
    const double sum = total.results * 2.0 * sum_width_ / bandwidth_;
    const double shown = product.count > 1 ? sum : shown_of_sum * (sum - total.results * 2.0 / bandwidth_);
    return quantity::seconds(start_ + std::max(work + shown, operands + sum));
  }
  const double results = total.results * std::max(2.0, operand_width) / bandwidth_;
  return quantity::seconds(start_ + std::max(work, operands + results));
}

quantity::Seconds KernelPrices::wide_product(quantity::Flops flops) const {
  return quantity::seconds(start_ + quantity::in_flops(flops) / (matrix_.tile * peak(formats::Dtype::fp32)));
}

quantity::Seconds KernelPrices::further_calls(std::int64_t calls) const {
  return quantity::seconds(further_call_ * static_cast<double>(calls));
}

quantity::Seconds KernelPrices::further_starts(std::int64_t kernels) const {
  return quantity::seconds(start_ * static_cast<double>(kernels));
}

quantity::Seconds KernelPrices::stream(quantity::Bytes moved) const {
  return quantity::seconds(start_ + static_cast<double>(quantity::in_bytes(moved)) / bandwidth_);
}

quantity::Seconds KernelPrices::eager_stream(quantity::Bytes moved) const {
  return quantity::seconds(start_ + static_cast<double>(quantity::in_bytes(moved)) / eager_);
}

quantity::Seconds KernelPrices::cached_stream(quantity::Bytes moved) const {
  return quantity::seconds(start_ + static_cast<double>(quantity::in_bytes(moved)) / cached_);
}

quantity::Seconds KernelPrices::computed(std::int64_t elements, double each) const {
  return quantity::seconds(static_cast<double>(elements) * each / units_ / 1e9);  // nanoseconds
}

quantity::Seconds KernelPrices::permutation(quantity::Bytes moved) const {
  return stream(
      quantity::bytes(static_cast<std::int64_t>(static_cast<double>(quantity::in_bytes(moved)) / permuting_)));
}

std::string stand_in_source(const spec::Accelerator& gpu) {
  if (gpu.generation.is_nearest) {
    return fmt::format(
        "nothing was measured on {}: rates as on {}, the nearest generation, by its own peaks and bandwidth; "
        "error bars are wider",
        gpu.arch.empty() ? gpu.id : gpu.arch, gpu.generation.arch);
  }
  if (!gpu.rates.stands_in || gpu.matmul_ceiling) return {};
  return fmt::format("nothing was measured on {}: its peaks and bandwidth are used as by the median part", gpu.arch);
}

std::string matrix_source(const spec::Accelerator& gpu) {
  constexpr double as_measured = 0.02;
  const Chip chip = chip_of(gpu);
  if (chip.has_measured) {
    return fmt::format("matrix products: best measured {:.1f} % of peak ({})", 100.0 * chip.ceiling,
                       gpu.matmul_ceiling_source);
  }
  const bool scaled = std::abs(chip.power - 1.0) >= as_measured;
  return fmt::format("matrix products: {} {}{}", is_measured_by_shape(gpu.rates) ? "measured on" : "as the best of",
                     gpu.rates.measured, scaled ? ", clock scaled by power for each FLOP" : "");
}

namespace {

/// FlashAttention-2 beats Triton's FlashAttention by 1.3 to 2.5 times (Dao 2023 §4.1).
constexpr double triton_rate = 0.6;

/// FlashAttention-2 beats FlashAttention twice (Dao 2023 §4.1: 1.7 to 3 times).
constexpr double flash_1_rate = 0.5;

/// Share of FlashAttention-2's rate, or of the native kernel's, that a kernel reaches.
double rate_of(frameworks::AttentionLibrary library) {
  switch (library) {
    case frameworks::AttentionLibrary::triton: return triton_rate;
    case frameworks::AttentionLibrary::flash_1: return flash_1_rate;
    case frameworks::AttentionLibrary::native:
    case frameworks::AttentionLibrary::flash_2: break;
  }
  return 1.0;
}

/// The first kernels are too slow to wait for exponentials: with heads of 64 they are as fast as with 128, which
/// FlashAttention-2 is not by a tenth (Dao 2023 figure 4). Of 6 runs of llm-foundry's 125M with 16k tokens and more on
/// A100 the median error is -1 % so, and 13 % otherwise; with heads of 128 it is 0.
bool hides_exponentials(frameworks::AttentionLibrary library) {
  return library == frameworks::AttentionLibrary::triton || library == frameworks::AttentionLibrary::flash_1;
}

/// Five products in 2.5 times the FLOPs of the forward kernel, at 0.82 of its rate: SimuMax sdp_bwd over sdp_fwd with
/// 64 heads or more: A100 0.85, B200 0.79 to 0.84.
constexpr double backward_rate = 0.82;

/// SimuMax, sdp_fwd at s = 4096 with 4 to 128 heads: A100 0.43, 0.65, 0.83, 0.95 of the rate with 64 heads at 4, 8, 16,
/// 32; B200 0.17 to 0.87 of that with 128.
constexpr double last_blocks = 1.5;

/// Larger heads than 128 need more registers than a block has: SimuMax, heads of 192 and 128: A100 0.90.
constexpr double wide_head = 0.9;

constexpr double measured_head = 128.0;

/// Scores take 2 d FLOPs and one exponential, so small heads wait for the exponentials (Shah et al. 2024 §3.1), and so
/// do products that are `faster` than 16-bit ones: FlashAttention-3 in 8 bit 1.5 to 1.7 times as fast as in 16 (the
/// same, figure 7).
double head_factor(double dim, double exponential, double faster) {
  const double wide = dim > measured_head ? wide_head : 1.0;
  const double d = std::min(dim, measured_head);
  return wide * d / (d / faster + exponential) * (measured_head + exponential) / measured_head;
}

}  // namespace

spec::AttentionRates attention_rates(const Chip& chip, frameworks::AttentionLibrary library) {
  const spec::AttentionKernels& kernels = chip.rates->attention;
  spec::AttentionRates rates = library == frameworks::AttentionLibrary::native ? kernels.native : kernels.flash_2;
  if (!is_measured_by_shape(*chip.rates)) {
    rates.share = kernels.of_products * chip.ceiling * rate_of(library);
    return rates;
  }
  if (rates.share <= 0.0) rates.share = kernels.of_products * chip.rates->products.ceiling;
  rates.share *= std::min(1.0, chip.power);
  rates.share *= rate_of(library);
  if (hides_exponentials(library)) rates.exponential = 0.0;
  return rates;
}

/// A block of queries needs its keys and a fixed part; backward kernels take half as many queries at a time (64 instead
/// of 128 with heads of 128: flash-attention csrc/flash_attn/src/flash_bwd_launch_template.h). Beside full waves of
/// blocks the kernel takes `last_blocks` more, in which the units run out of work.
quantity::Seconds KernelPrices::attention(const layers::Op& op, bool backward) const {
  const layers::Product& heads = op.product;
  const double forward = quantity::in_flops(op.forward);
  const double unmasked = forward / (forward + quantity::in_flops(op.masked));
  const double computed = op.computes_masked ? 1.0 : unmasked;  // of the square of scores
  const double keys = static_cast<double>(heads.n) * computed;
  const double queries = backward ? 0.5 * attention_.queries : attention_.queries;
  const double blocks = std::ceil(static_cast<double>(heads.m) / queries) * static_cast<double>(heads.count) / units_;
  const double occupied = blocks / (std::max(1.0, blocks) + last_blocks);
  const double of_type = op.wide ? peak(formats::Dtype::fp32) : compute_rate_;
  const double rate = std::min(wide_rate_, of_type) * attention_.share * occupied * keys /
                      (keys + attention_.fixed_keys) *
                      head_factor(static_cast<double>(heads.k), attention_.exponential, attention_type_);
  const double executed = rate * unmasked / computed * (backward ? backward_rate : 1.0);
  const double work = backward ? quantity::in_flops(op.backward_input + op.kernel_recompute) : forward;
  return quantity::seconds(work / executed);
}

}  // namespace llmcalc::timing
