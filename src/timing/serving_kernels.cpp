#include "timing/serving_kernels.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/elementary.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "timing/inner/fabric_curves.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace llmcalc::timing {

namespace {

/// Columns as in presets/operations/README.md; times in microseconds, the rest shares of the data sheet.
struct ProductCurve {
  std::string_view gpu;
  std::string_view format;
  std::string_view engine;
  double floor, tile, tile_per_row, bandwidth, peak, half_rows, passes;
  double measured, error_percent;
};

struct AttentionCurve {
  std::string_view gpu;
  std::string_view format;  ///< of the cache
  std::string_view engine;
  double decode_floor, decode_doubling, decode_bandwidth, decode_peak;
  double prefill_floor, prefill_peak, prefill_passes, heads_of_64, heads_of_256;
  double decode_measured, decode_error_percent, prefill_measured, prefill_error_percent;
};

struct LatentCurve {
  std::string_view gpu;
  std::string_view cache;
  double decode_floor, decode_doubling, decode_bandwidth, decode_peak;
  double prefill_floor, prefill_peak, prefill_passes;
  double decode_measured, decode_error_percent, prefill_measured, prefill_error_percent;
};

struct MixtureCurve {
  std::string_view gpu;
  std::string_view format;
  std::string_view engine;
  double floor, experts, bandwidth, peak, half_rows, passes;
  double measured, error_percent;
};

/// Messages of 2^12 bytes to 2^28.
inline constexpr int smallest_message = 12;
inline constexpr std::size_t message_sizes = 17;

struct AllReduceCurve {
  std::string_view gpu;
  std::int64_t ranks = 2;
  std::array<double, message_sizes> times{};
};

/// A measured part, the one that stands in for what was not measured of it, its links in GB/s one way, whose
/// generation of PCIe they are, 0 of a link of its own, and its peak in 16 bits.
struct Board {
  std::string_view gpu;
  std::string_view rest;
  double link;
  double pcie;
  double tflops;
  int peers;  ///< whether one card reaches the memory of another
};

constexpr ProductCurve products[] = {
#include "operations/products.inc"
};
constexpr AttentionCurve attention[] = {
#include "operations/attention.inc"
};
constexpr LatentCurve latent[] = {
#include "operations/latent.inc"
};
constexpr MixtureCurve mixtures[] = {
#include "operations/mixtures.inc"
};
constexpr AllReduceCurve all_reduce[] = {
#include "operations/all_reduce.inc"
};

constexpr Board boards[] = {
#include "operations/boards.inc"
};

std::span<const ProductCurve> product_curves() { return products; }
std::span<const AttentionCurve> attention_curves() { return attention; }
std::span<const LatentCurve> latent_curves() { return latent; }
std::span<const MixtureCurve> mixture_curves() { return mixtures; }
std::span<const AllReduceCurve> all_reduce_curves() { return all_reduce; }

/// The measured part that is nearest to another, as its rates name it.
/// \throws quantity::BadInput where they name one of which nothing was measured
std::string_view measured_relative(const spec::Accelerator& gpu) {
  const auto* itself = std::ranges::find(products, gpu.id, &ProductCurve::gpu);
  if (itself != std::end(products)) return itself->gpu;
  const auto* relative = std::ranges::find(products, gpu.rates.operations, &ProductCurve::gpu);
  if (relative != std::end(products)) return relative->gpu;
  std::vector<std::string_view> known;
  for (const Board& each : boards) known.push_back(each.gpu);
  throw quantity::BadInput("gpu",
                           "the rates " + quantity::quoted(gpu.rates.id) + " name operations of " +
                               quantity::quoted(gpu.rates.operations) + ", of which none were measured",
                           quantity::did_you_mean(gpu.rates.operations, known));
}

constexpr std::string_view fastest = "fastest";  ///< of all engines' kernels at each shape

const Board& board_of(std::string_view measured) { return *std::ranges::find(boards, measured, &Board::gpu); }

constexpr double micro = 1e-6;

quantity::Seconds microseconds(double n) { return quantity::seconds(micro * n); }

/// Nearly the larger of two: presets/operations/README.md.
double smooth_max(double a, double b) { return quantity::cbrt(a * a * a + b * b * b); }

constexpr std::array<std::string_view, 8> names{"half",  "fp8",          "fp8-block",     "int8",
                                                "nvfp4", "half-by-int4", "half-by-mxfp4", "fp8-by-mxfp4"};

/// Empty where a part has no products of these types.
std::optional<quantity::FlopRate> rate_of(const spec::Accelerator& gpu, Operands operands) {
  const auto& peaks = gpu.peaks;
  switch (operands) {
    case Operands::fp8:
    case Operands::fp8_block:
    case Operands::fp8_by_mxfp4: return peaks.fp8;
    case Operands::int8: return peaks.int8;
    case Operands::nvfp4: return peaks.fp4;
    default: return spec::half_peak(gpu);
  }
}

/// FLOP in a microsecond where multiplied in these types; as in 16 bits on parts without them.
double peak_of(const spec::Accelerator& gpu, Operands operands) {
  return micro * quantity::in_flops_per_second(rate_of(gpu, operands).value_or(spec::half_peak(gpu)));
}

/// The row of a part and a second word, or null.
template <class Row>
const Row* row_of(std::span<const Row> rows, std::string_view gpu, std::string_view Row::*word,
                  std::string_view value) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) { return row.gpu == gpu && row.*word == value; });
  return found == rows.end() ? nullptr : &*found;
}

template <class Row>
const Row* nearest_row(std::span<const Row> rows, std::string_view gpu, std::string_view Row::*word,
                       std::string_view value) {
  const Row* row = row_of(rows, gpu, word, value);
  return row != nullptr ? row : row_of(rows, board_of(gpu).rest, word, value);
}

/// Row of an engine's own kernels where they were measured apart, or of whichever is fastest.
template <class Row>
const Row* row_of_engine(std::span<const Row> rows, std::string_view gpu, std::string_view format,
                         std::string_view engine) {
  for (const std::string_view part : {gpu, board_of(gpu).rest}) {
    for (const std::string_view whose : {engine, fastest}) {
      const auto found = std::ranges::find_if(
          rows, [&](const Row& row) { return row.gpu == part && row.format == format && row.engine == whose; });
      if (found != rows.end()) return &*found;
    }
  }
  return nullptr;
}

/// Times among two ranks, four, eight: of the part itself, else of the one that stands in for it.
const std::array<double, message_sizes>& all_reduce_of(const Board& board, std::size_t group) {
  const std::array<double, message_sizes>* times = nullptr;
  for (const AllReduceCurve& row : all_reduce_curves()) {
    if (row.ranks != std::int64_t{2} << group) continue;
    if (row.gpu == board.gpu) return row.times;
    if (row.gpu == board.rest) times = &row.times;
  }
  return *times;
}

/// The slowest of measured parts that reach their peers by a link of their own, or without.
/// \param sign  -1 for the fastest
const Board& slowest(bool linked, double sign = 1) {
  return *std::ranges::min_element(boards, {}, [&](const Board& board) {
    return (board.pcie == 0) == linked && board.peers != 0 ? sign * board.link
                                                           : std::numeric_limits<double>::infinity();
  });
}

/// Rows that an expert's product of few takes as long as. Those beyond the least tile's stand for what its walk waits
/// for, which is no longer on a part that multiplies more slowly: 32 tokens of Qwen3-Next's 512 experts on four H20
/// (SGLang pull request 10467).
double half_rows_of(double measured, const spec::Accelerator& gpu, std::string_view measured_on) {
  constexpr double least_tile = 16;
  const double slower = peak_of(gpu, Operands::half) * micro / board_of(measured_on).tflops;
  return std::min(measured, std::max(least_tile, slower * measured));
}

}  // namespace

ServingKernels::ServingKernels(const spec::Accelerator& gpu, std::string_view engine)
    : measured_on_(measured_relative(gpu)),
      is_measured_(row_of(product_curves(), gpu.id, &ProductCurve::format, names[0]) != nullptr),
      bytes_(micro * quantity::in_bytes_per_second(gpu.memory_bandwidth)),
      stream_share_(gpu.rates.memory.kernels) {
  take_products(gpu, engine);
  take_mixtures(gpu, engine);
  take_attention(gpu, engine);
  take_links(gpu);
}

/// Types that a part does not have, or that no engine has a kernel for, are widened: a product in 16 bits that reads
/// the codes, by tiles of 16 rows (vLLM csrc/quantization/marlin/marlin.cu, thread_m_blocks).
void ServingKernels::take_products(const spec::Accelerator& gpu, std::string_view engine) {
  constexpr double marlin_rows = 16;
  for (std::size_t i = 0; i < kinds; ++i) {
    const bool has = rate_of(gpu, static_cast<Operands>(i)).has_value();
    const ProductCurve* own = has ? row_of_engine(product_curves(), measured_on_, names[i], engine) : nullptr;
    const auto operands = own == nullptr ? Operands::half : static_cast<Operands>(i);
    const ProductCurve& row = own != nullptr ? *own : *row_of_engine(product_curves(), measured_on_, names[0], engine);
    const double half_rows = own != nullptr ? row.half_rows : std::min(row.half_rows, marlin_rows);
    products_[i] = {row.floor, row.tile,   bytes_ * row.bandwidth, peak_of(gpu, operands) * row.peak,
                    half_rows, row.passes, row.tile_per_row};
  }
}

/// Where none of a type was measured: codes of four bits, which every part has, read by kernels that multiply in 16.
void ServingKernels::take_mixtures(const spec::Accelerator& gpu, std::string_view engine) {
  for (std::size_t i = 0; i < kinds; ++i) {
    auto operands = static_cast<Operands>(i);
    const bool has = rate_of(gpu, operands).has_value();
    const MixtureCurve* row = has ? row_of_engine(mixture_curves(), measured_on_, names[i], engine) : nullptr;
    if (row == nullptr) {
      operands = Operands::half_by_int4;
      row = row_of_engine(mixture_curves(), measured_on_, "half-by-int4", engine);
    }
    mixtures_[i] = {row->floor,
                    row->experts,
                    bytes_ * row->bandwidth,
                    peak_of(gpu, operands) * row->peak,
                    half_rows_of(row->half_rows, gpu, measured_on_),
                    row->passes,
                    0.0};
  }
}

void ServingKernels::take_attention(const spec::Accelerator& gpu, std::string_view engine) {
  const double flops = peak_of(gpu, Operands::half);
  constexpr std::array<std::string_view, 2> caches{"half", "fp8"};
  for (std::size_t i = 0; i < caches.size(); ++i) {
    // What was not measured with 8-bit keys, the A100, converts them as it reads.
    const AttentionCurve* read = row_of_engine(attention_curves(), measured_on_, caches[i], engine);
    const AttentionCurve& a =
        read != nullptr ? *read : *row_of_engine(attention_curves(), measured_on_, caches[0], engine);
    decode_[i] = {a.decode_floor, a.decode_doubling, bytes_ * a.decode_bandwidth, flops * a.decode_peak};
    prompt_[i] = {a.prefill_floor, flops * a.prefill_peak, a.prefill_passes, a.heads_of_64, a.heads_of_256};
    const LatentCurve& l = *nearest_row(latent_curves(), measured_on_, &LatentCurve::cache, caches[i]);
    decode_latent_[i] = {l.decode_floor, l.decode_doubling, bytes_ * l.decode_bandwidth, flops * l.decode_peak};
    prompt_latent_[i] = {l.prefill_floor, flops * l.prefill_peak, l.prefill_passes, 1.0, 1.0};
  }
}

/// Ranks that no link joins exchange over PCIe, as parts with no link of their own do: a bridge joins a pair.
void ServingKernels::take_links(const spec::Accelerator& gpu) {
  const double pcie = quantity::in_gigabytes_per_second(board_bandwidth(gpu));
  gpu.peers ? take_pcie(pcie) : take_host(pcie);
  if (!has_fabric(gpu)) return;
  const Board* board = &board_of(measured_on_);
  if (board->pcie > 0) board = &slowest(true);
  const double slowdown = board->link / quantity::in_gigabytes_per_second(*gpu.link);
  for (std::size_t i = 0; i < groups; ++i) {
    if (gpu.joined == 0 || std::int64_t{2} << i <= gpu.joined) all_reduce_[i] = {all_reduce_of(*board, i), slowdown};
  }
}

/// Between the two measured rates times lie on a line in the time of a byte, beyond them only what moves takes longer
/// or shorter. A faster link delays nothing: where the newer card was measured slower than the older (eight of them,
/// below a mebibyte, by up to 15 %, as repeats differ), both take the older one's time.
void ServingKernels::take_pcie(double own) {
  const Board& older = slowest(false);
  const Board& newer = slowest(false, -1);
  const double between = std::clamp(own, older.link, newer.link);
  const double share = (1.0 / older.link - 1.0 / between) / (1.0 / older.link - 1.0 / newer.link);
  for (std::size_t i = 0; i < groups; ++i) {
    const auto& slow = all_reduce_of(older, i);
    const auto& fast = all_reduce_of(newer, i);
    all_reduce_[i].slowdown = between / own;
    for (std::size_t size = 0; size < sizes; ++size)
      all_reduce_[i].times[size] = std::lerp(slow[size], std::min(slow[size], fast[size]), share);
  }
}

/// Cards that do not reach each other's memory write to the host's and read there (NCCL src/transport/shm.cc): a pair
/// was measured. A ring of more passes on as much more, and takes the latency of a pair for each doubling: 35 us for
/// eight, where eight RTX 4090 take 42 (NVIDIA/nccl issue 1530).
void ServingKernels::take_host(double own) {
  const Board& board = *std::ranges::find(boards, 0, &Board::peers);
  const auto& pair = all_reduce_of(board, 0);
  for (std::size_t i = 0; i < groups; ++i) {
    const double moves = ring_share(static_cast<double>(std::int64_t{2} << i)) / ring_share(2);
    all_reduce_[i].slowdown = board.link / own;
    for (std::size_t size = 0; size < sizes; ++size)
      all_reduce_[i].times[size] = static_cast<double>(i + 1) * pair[0] + moves * (pair[size] - pair[0]);
  }
}

quantity::Seconds ServingKernels::product(const ServingProduct& p, Operands operands) const {
  const Product& curve = products_[static_cast<std::size_t>(operands)];
  const double multiply = 2.0 * p.rows * p.n * p.k / curve.flops * (1.0 + curve.half_rows / p.rows);
  const double busy = smooth_max(multiply, p.weight_bytes / curve.bytes);
  constexpr double tallest_tile = 256;  // rows, as of the largest macro tiles of hipBLASLt and cuBLAS
  const double walk = curve.tile * p.k / 1000 * (1.0 + curve.tile_per_row * std::min(p.rows, tallest_tile));
  const double activations = 2.0 * p.rows * (p.n + p.k);
  return microseconds(curve.floor + smooth_max(busy, walk) + curve.passes * activations / bytes_);
}

double ServingKernels::Decode::operator()(const CacheRead& read) const {
  constexpr double smallest = 128;
  const double doublings = read.positions > smallest ? quantity::log2(read.positions / smallest) : 0.0;
  return floor + doubling * doublings + smooth_max(read.bytes / bytes, read.flops / flops);
}

quantity::Seconds ServingKernels::decode_attention(const CacheRead& read, bool narrow) const {
  return microseconds(decode_[narrow ? 1 : 0](read));
}

quantity::Seconds ServingKernels::decode_latent(const CacheRead& read, bool narrow) const {
  return microseconds(decode_latent_[narrow ? 1 : 0](read));
}

quantity::Seconds ServingKernels::prompt_attention(const PromptAttention& work, bool narrow) const {
  const Prompt& curve = prompt_[narrow ? 1 : 0];
  const double share = work.head_dim <= 64 ? curve.heads_of_64 : work.head_dim >= 256 ? curve.heads_of_256 : 1.0;
  return microseconds(curve.floor + work.flops / (curve.flops * share) + curve.passes * work.moved / bytes_);
}

quantity::Seconds ServingKernels::prompt_latent(const PromptAttention& work, bool narrow) const {
  const Prompt& curve = prompt_latent_[narrow ? 1 : 0];
  constexpr double overhead = 128;  // keys: a tile's
  const double flops = work.flops * (1.0 + overhead / work.positions);
  return microseconds(curve.floor + flops / curve.flops + curve.passes * work.moved / bytes_);
}

quantity::Seconds ServingKernels::mixture(const MixtureWork& work, Operands operands) const {
  const quantity::Seconds own = mixture_by(mixtures_[static_cast<std::size_t>(operands)], work);
  if (operands != Operands::half_by_mxfp4) return own;
  // Marlin takes codes of MXFP4 as it takes integers, which is faster for few tokens (vLLM pull request 27523: of
  // gpt-oss-120b on H100 by a third); measured of MXFP4 it is within a fifth of that curve.
  return std::min(own, mixture_by(mixtures_[static_cast<std::size_t>(Operands::half_by_int4)], work));
}

quantity::Seconds ServingKernels::mixture_by(const Product& curve, const MixtureWork& work) const {
  const double multiply = work.flops / curve.flops * (1.0 + curve.half_rows * work.active / work.sent);
  const double busy = smooth_max(multiply, work.weight_bytes / curve.bytes);
  return microseconds(curve.floor + curve.tile * work.active / 100 + busy + curve.passes * work.hidden_bytes / bytes_);
}

/// Between measured sizes time grows in a straight line, which is exact for latency plus bytes over bandwidth; beyond
/// the largest it goes on with its bandwidth. More ranks than were measured take as many more rounds' latency.
quantity::Seconds ServingKernels::all_reduce(double bytes, std::int64_t ranks) const {
  if (ranks <= 1) return microseconds(0);
  const std::size_t group = ranks <= 2 ? 0 : ranks <= 4 ? 1 : 2;
  const auto& [curve, slowdown] = all_reduce_[group];
  const double least = curve.front();
  double time = least;
  int exponent = 0;
  const double mantissa = std::frexp(std::max(bytes, 1.0), &exponent);  // bytes = mantissa 2^exponent, from 1/2 to 1
  const int step = exponent - 1 - smallest_message;
  if (step >= 0) {
    const auto i = static_cast<std::size_t>(std::min(step, static_cast<int>(sizes) - 2));
    const double from = std::ldexp(1.0, smallest_message + static_cast<int>(i));
    const double position = std::ldexp(mantissa, exponent) / from - 1.0;
    time = curve[i] + (curve[i + 1] - curve[i]) * position;
  }
  constexpr double most = 8;
  const double rounds = std::max(1.0, quantity::log2(static_cast<double>(ranks)) / quantity::log2(most));
  return microseconds(least * rounds + (time - least) * slowdown);
}

quantity::Seconds ServingKernels::stream(double bytes) const { return microseconds(bytes / (stream_share_ * bytes_)); }

}  // namespace llmcalc::timing
