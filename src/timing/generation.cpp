#include "timing/generation.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::timing {

namespace {

/// A100, sequences of 1k to 16k, heads of 128: 145 to 182 causal TFLOP/s (NVIDIA AIConfigurator, silicon database), 185
/// (SimuMax, a100_pcie_bf16); heads of 64 reach 0.85 of it (Dao 2023, arXiv:2307.08691 figure 5).
constexpr AttentionRates flash_2{0.63, 130, 27, 128};
/// It uses none of Hopper's asynchronous instructions: 35 % of peak (Shah et al. 2024, arXiv:2407.08608 §1).
constexpr AttentionRates flash_2_on_hopper{0.36, 130, 27, 128};
/// A third of cuDNN's speed on B200 (sgl-project/sglang pull request 33655: 547 against 191 ms).
constexpr AttentionRates flash_2_on_blackwell{0.22, 130, 27, 128};
/// FlashAttention-3 and cuDNN on H100: 398 to 672 causal TFLOP/s from 1k to 16k (AIConfigurator); heads of 64 reach 0.8
/// of it (Shah et al. 2024 figure 5).
constexpr AttentionRates flash_3{0.75, 375, 43, 128};
/// cuDNN 9 on B200: 1120 causal TFLOP/s at 4k with 128 heads, 1350 at 32k with 8 (SimuMax, b200_bf16_ceperm, sdp_fwd).
constexpr AttentionRates cudnn_on_blackwell{0.58, 350, 43, 256};
/// Blackwell Ultra does 10.7 instead of 5 trillion exponentials a second (NVIDIA, "Inside NVIDIA Blackwell Ultra", SFU
/// EX2): each costs less than half as many elements of a head.
constexpr double ultra_exponential = 43 * 5.0 / 10.7;
constexpr AttentionRates cudnn_on_ultra{0.58 * (128 + 43) / (128 + ultra_exponential), 350, ultra_exponential, 256};

/// Fitted to one half of the shapes with m, n, k >= 512 that were measured of each part (NVIDIA AIConfigurator, silicon
/// database, vllm gemm_perf); tests/timing holds rows of the other half. `narrow`: share of the fp8 peak over share of
/// the bf16 peak in the MAMF finder (stas00/ml-engineering, compute/accelerator/README.md), medians of H100, H200,
/// GH200 and of B200, B300, GB200.
constexpr MatrixRates on_a100{0.97, 0.936, 250, 0.95, 1.0};
constexpr MatrixRates on_hopper{0.94, 0.81, 250, 0.0, 0.91};
constexpr MatrixRates on_blackwell{0.727, 0.727, 50, 0.0, 0.98};
constexpr MatrixRates on_l40s{0.745, 0.64, 250, 0.4, 0.91};
/// Squares of 1024 to 10240, bf16 in torch.mm (zzc0721/torch-performance-test-data issues 185, 97): 115 and 111 TFLOP/s
/// of 150 at 4096 and 8192 on A40, 60 and 56 of 77 on RTX A4000.
constexpr MatrixRates on_a40{0.90, 0.745, 250, 0.0, 1.0};
/// cuBLASLt at its best size, in TFLOP/s (xzwgit/gpu-flops-bench README.md): 457.6 of 503.8, 905.3 of 1007.6 in 8 bit.
/// Waves and fill as on the L40S.
constexpr MatrixRates on_rtx_pro_6000{0.908, 0.908, 250, 0.4, 0.99};
/// GeForce cards run beyond the clock they are rated at: 179.2 of 165.2, 354.3 of 330.3 in 8 bit (the same).
constexpr MatrixRates on_rtx_4090{1.085, 1.085, 250, 0.4, 0.99};
/// 254.0 of 209.5, 773.5 of 419 in 8 bit, whose sums are not held to half the rate (the same).
constexpr MatrixRates on_rtx_5090{1.213, 1.213, 250, 0.4, 1.52};
/// Servers' parts keep to theirs: A10G 66.6 of 70, L20 114 of 119.5 at 8192 (zzc0721/torch-performance-test-data issues
/// 126, 107).
constexpr MatrixRates on_a10g{0.98, 0.96, 250, 0.0, 0.99};
/// 138.6 of 148 at 8192, 120.3 at 2048 (the same, issue 77): a quarter of its die's matrix rate was left.
constexpr MatrixRates on_h20{0.97, 0.96, 150, 0.4, 0.91};
/// In fp16, SXM2: 95.7, 97.4, 89.4 of 125 at 4096, 8192, 10240 (the same, issue 140).
constexpr MatrixRates on_v100{0.88, 0.77, 250, 0.95, 1.0};
constexpr AttentionRates attention_on_v100 = unmeasured_attention(on_v100.ceiling);
/// In fp16: 50.9, 49.6, 48.0 of 56.9 (the same, issue 181).
constexpr MatrixRates on_rtx_2080_ti{1.0, 0.875, 250, 0.0, 1.0};
constexpr AttentionRates attention_on_turing = unmeasured_attention(on_rtx_2080_ti.ceiling);
/// 120.6, 124.2, 130.8 of 181 (the same, issue 195).
constexpr MatrixRates on_mi210{0.82, 0.69, 400, 0.95, 1.0};
constexpr AttentionRates attention_on_mi210 = unmeasured_attention(on_mi210.ceiling);

/// Inside a run, products are slower than back to back in isolation, where the operands of the database cost less power
/// than trained ones. Measured over the model above: A100 PCIe 0.89 (SimuMax, 61 training shapes in each of three
/// layouts), H100 0.91 (720 TFLOP/s on the shapes of Llama 70B, SemiAnalysis, over 791), MI300X 0.93 (620,
/// SemiAnalysis, over 668); a time model of 109 multi-node A100 runs (vTrain) found 0.95.
constexpr double usual_in_run = 0.90;
/// B200: 0.68, held back by power (SimuMax, b200_bf16_ceperm, median of the training shapes above 200 GFLOP).
constexpr double blackwell_in_run = 0.68;
/// Narrow products take less power for each FLOP: half way between that and the others. Llama 405B in fp8 and mxfp8 on
/// B200, GB200 and GB300 (Megatron-Bridge) errs by 4 % with it, the mixtures of experts by 5 % (medians).
constexpr double blackwell_narrow_in_run = 0.80;

/// Of what a large product reaches alone, when a whole step is made of such products: the clock follows the power that
/// was drawn over the last milliseconds. Small products are not held back (vTrain's single-node runs). Chosen on the
/// runs of every second width among those measured on A100 and H100 with hidden sizes of 2560 and more; what counted
/// was the mean over widths and sources of their median errors: 6 % on that half, 7 % on the other, flat from 0.90 to
/// 0.94.
constexpr double sustained = 0.92;

/// The same of B200, chosen on Llama 405B's runs (SimuMax, three batches of four layouts: they take 5 to 9 % longer
/// than their shapes one by one): median errors 4 % on them, 4 % on DeepSeek-V3's.
constexpr double blackwell_sustained = 0.93;

/// Where units have a share of the A100's matrix rate, 2048 FLOP a clock, what attention does beside its products costs
/// that share. Half on the full dies of graphics cards: RTX A5000, 32 heads of 64 with 2048 keys and more 81.3 to 81.9
/// TFLOP/s of 111 (gpu-mode/ring-attention issue 10).
constexpr AttentionRates attention_on_a5000{0.84, 65, 13.5, 128};

/// And a quarter where their matrix rate was cut. Of the rate of products, so that 4 x 8 heads, 4096 queries and 8192
/// keys take what they took on RTX 5090: 190.6 TFLOP/s in flash-attn, 204.0 in cuDNN (gau-nernst/learn-cuda,
/// 07_attention/README.md).
constexpr AttentionRates attention_on_cut(double of_products, const MatrixRates& products) {
  return {.share = of_products * products.share, .fixed_keys = 130, .exponential = 7, .queries = 128};
}
constexpr double flash_2_of_products = 0.95;
constexpr double cudnn_of_products = 1.02;
/// H20: 65.9 to 83.7 TFLOP/s where cuDNN has 107.8 to 129.1 (Dao-AILab/flash-attention issue 1310).
constexpr double flash_2_of_products_on_hopper = 0.68;

constexpr double l40s_watts = 350 / 362.0;
constexpr double a40_watts = 300 / 149.7;
constexpr double rtx_4090_watts = 450 / 165.2;
constexpr double rtx_5090_watts = 575 / 209.5;

/// Trained operands cost a clock that power does not hold back nothing.
constexpr double not_held_back = 1.0;

/// A100 PCIe with 300 W reaches 0.933 of the SXM module with 400 W, GH200 with 900 W 1.044 of H100 with 700 W (MAMF
/// finder): exponents 0.24 and 0.17. torchtitan's runs on H100 with 500 W follow it (median error 4 %), though alone
/// H800 PCIe with 350 W is a tenth slower still (zzc0721/torch-performance-test-data issue 112).
constexpr double usual_exponent = 0.25;
/// L4 with 72 W reaches 55, 59 and 57 TFLOP/s of 121 at 4096, 8192 and 10240 (zzc0721/torch-performance-test-data issue
/// 120), where L40S with 350 W reaches 0.64 of its peak.
constexpr double ada_exponent = 0.64;
/// Where power holds a run far below its clock, voltage has no further to fall. GB300 with 1400 W trains Llama 405B in
/// fp8 1.23 times as fast as GB200 with 1200 W and the same peak (Megatron-Bridge 26.04, docs/performance-summary.md).
/// RTX PRO 6000 with 300 W reaches 229 of 438 TFLOP/s (waynehacking8/blackwell-tensorcore-kernels README.md, cuBLAS,
/// 8192^3), with 600 W 458 of 504: exponent 1.0.
constexpr double blackwell_exponent = 1.0;

/// ATen's kernels have too few bytes on their way for the memory of newer parts (pytorch pull request 141959 gained 4
/// to 10 % with wider loads). Measured: the 36 bytes that transformers' RMSNorm moves an element of 16384 x 2048 and
/// more, of 1935 GB/s on A100 PCIe 0.63 and 0.65, of 3938 GB/s on H100 NVL 0.50 (Liger-Kernel benchmark/data/
/// a100_all_benchmark_data.csv and h100_all_benchmark_data.csv, rms_norm, huggingface, forward); native layer norm on
/// H100 NVL 0.46 to 0.54 (the same, layer_norm); of the 5 passes of a layer norm's backward on GB300 0.49
/// (meta-pytorch/ KernelAgent pull request 133).
constexpr double eager_on_a100 = 0.64;
constexpr double eager_on_hopper = 0.50;
constexpr double eager_on_blackwell = 0.49;
constexpr double eager_unmeasured = 1.0;

constexpr Generation generations[] = {
    {"Ampere GA100", "", "A100 SXM", on_a100, usual_in_run, usual_in_run, sustained, 400 / 312.0, usual_exponent, 108,
     eager_on_a100, flash_2, flash_2},
    {"Ampere", "", "A40", on_a40, usual_in_run, usual_in_run, 1.0, a40_watts, usual_exponent, 84, eager_unmeasured,
     attention_on_a5000, attention_on_a5000},
    {"Ada", "", "L40S", on_l40s, usual_in_run, usual_in_run, 1.0, l40s_watts, ada_exponent, 142, eager_unmeasured,
     flash_2, flash_2},
    {"Hopper", "", "H100 SXM and H200", on_hopper, usual_in_run, usual_in_run, sustained, 700 / 989.4, usual_exponent,
     132, eager_on_hopper, flash_3, flash_2_on_hopper},
    {"Blackwell GB", "", "RTX PRO 6000", on_rtx_pro_6000, usual_in_run, usual_in_run, 1.0, 600 / 503.8,
     blackwell_exponent, 188, eager_unmeasured, flash_2, flash_2},
    {"Blackwell Ultra", "", "B200", on_blackwell, blackwell_in_run, blackwell_narrow_in_run, blackwell_sustained,
     1000 / 2250.0, blackwell_exponent, 148, eager_on_blackwell, cudnn_on_ultra, flash_2_on_blackwell},
    {"Blackwell", "", "B200", on_blackwell, blackwell_in_run, blackwell_narrow_in_run, blackwell_sustained,
     1000 / 2250.0, blackwell_exponent, 148, eager_on_blackwell, cudnn_on_blackwell, flash_2_on_blackwell},
    {"Volta", "", "V100 SXM2", on_v100, usual_in_run, usual_in_run, 1.0, 300 / 125.0, usual_exponent, 80,
     eager_unmeasured, attention_on_v100, attention_on_v100},
    {"Turing", "", "RTX 2080 Ti", on_rtx_2080_ti, usual_in_run, usual_in_run, 1.0, 260 / 56.9, usual_exponent, 68,
     eager_unmeasured, attention_on_turing, attention_on_turing},
    {"CDNA2", "", "MI210", on_mi210, usual_in_run, usual_in_run, 1.0, 300 / 181.0, usual_exponent, 104,
     eager_unmeasured, attention_on_mi210, attention_on_mi210},
};

/// Those whose matrix units were cut to half the rate of their die's other parts or less, as in GeForce cards, which
/// add up in fp32 at half rate, in A10G, L40 and H20: so little work draws less than the card may.
constexpr Generation cut_generations[] = {
    {"Blackwell GB", "", "RTX 5090", on_rtx_5090, not_held_back, usual_in_run, 1.0, rtx_5090_watts, usual_exponent, 170,
     eager_unmeasured, attention_on_cut(cudnn_of_products, on_rtx_5090),
     attention_on_cut(flash_2_of_products, on_rtx_5090)},
    {"A" /* Ampere and Ada */, "GeForce", "RTX 4090", on_rtx_4090, not_held_back, not_held_back, 1.0, rtx_4090_watts,
     usual_exponent, 128, eager_unmeasured, attention_on_cut(cudnn_of_products, on_rtx_4090),
     attention_on_cut(flash_2_of_products, on_rtx_4090)},
    {"A", "", "A10G", on_a10g, not_held_back, not_held_back, 1.0, 300 / 70.0, usual_exponent, 80, eager_unmeasured,
     attention_on_cut(cudnn_of_products, on_a10g), attention_on_cut(flash_2_of_products, on_a10g)},
    {"Hopper", "", "H20", on_h20, not_held_back, not_held_back, 1.0, 400 / 148.0, usual_exponent, 78, eager_on_hopper,
     attention_on_cut(cudnn_of_products, on_h20), attention_on_cut(flash_2_of_products_on_hopper, on_h20)},
};

/// What matrix units do for each FLOP of the vector units: 4 times as much on the full dies of graphics cards, 15 times
/// on GH100.
bool has_cut_matrix_units(const spec::Accelerator& gpu) {
  if (gpu.vendor != "NVIDIA" || !gpu.peaks.bf16 || !gpu.peaks.fp32) return false;
  return *gpu.peaks.bf16 / *gpu.peaks.fp32 < (gpu.arch.starts_with("Hopper") ? 8.0 : 3.0);
}

/// Parts of which only the best product is known, or what it must at least be. AMD: 668 TFLOP/s on MI300X and 1565 on
/// MI355X, of the peak that the data sheet states (MAMF finder, which takes 2300 for MI355X's). Google:
/// MaxText trains 32B on v5e with recomputation at an MFU of 0.669 (MaxText/configs/v5e/README.md), four thirds of
/// which are 0.89 of the peak, other work included. Last, all others: median of the twelve parts that the MAMF finder
/// measured.
struct Ceiling {
  std::string_view arch;
  std::string_view measured;
  double share;
  double watts_per_teraflop;  ///< 0: not known to be limited by power
};
constexpr Ceiling ceilings[] = {{"CDNA4", "MI355X", 0.622, 1400 / 2516.6},
                                {"CDNA", "MI300X", 0.511, 750 / 1307.4},
                                {"TPU", "TPU v5e", 0.95, 0.0},
                                {"", "the median part", 0.78, 0.0}};

/// No tile does better than those of the A100, which power hardly limits, and whose clock is the rated one.
constexpr double best_share = on_a100.share;

/// The first row of a table that describes the part.
template <std::size_t size>
const Generation* generation_of(const Generation (&table)[size], const spec::Accelerator& gpu) {
  const auto* found = std::ranges::find_if(
      table, [&](const Generation& row) { return gpu.arch.starts_with(row.arch) && gpu.name.starts_with(row.name); });
  return found == std::end(table) ? nullptr : found;
}

/// How much of its measured relative's clock a part sustains that has less or more power for each FLOP.
double sustained_clock(const spec::Accelerator& gpu, double watts_per_teraflop, double exponent) {
  if (!gpu.tdp_watts || watts_per_teraflop <= 0.0) return 1.0;
  const double teraflops = quantity::in_teraflops(spec::half_peak(gpu));
  return std::pow(*gpu.tdp_watts / teraflops / watts_per_teraflop, exponent);
}

Chip unmeasured(const spec::Accelerator& gpu) {
  if (gpu.matmul_ceiling) return {.ceiling = *gpu.matmul_ceiling};
  const Ceiling& relative =
      *std::ranges::find_if(ceilings, [&](const Ceiling& row) { return gpu.arch.starts_with(row.arch); });
  const double power = sustained_clock(gpu, relative.watts_per_teraflop, usual_exponent);
  return {.power = power, .ceiling = std::min(best_share, relative.share * power), .relative = relative.measured};
}

}  // namespace

Chip chip_of(const spec::Accelerator& gpu) {
  const Generation* generation =
      has_cut_matrix_units(gpu) ? generation_of(cut_generations, gpu) : generation_of(generations, gpu);
  Chip chip = generation == nullptr ? unmeasured(gpu) : Chip{.generation = generation, .units = generation->units};
  if (generation != nullptr)
    chip.power = sustained_clock(gpu, generation->watts_per_teraflop, generation->power_exponent);
  if (gpu.units) chip.units = static_cast<double>(*gpu.units);
  return chip;
}

MatrixRates matrix_rates(const Chip& chip) {
  if (chip.generation == nullptr) {
    const double ceiling = usual_in_run * chip.ceiling;
    return {.share = ceiling, .ceiling = ceiling, .fill = on_a100.fill};
  }
  MatrixRates rates = chip.generation->matrix;
  const double best = std::max(best_share, rates.share);
  rates.share = chip.generation->inside_a_run * std::min(best, rates.share * std::max(1.0, chip.power));
  rates.narrow *= chip.generation->narrow_in_a_run / chip.generation->inside_a_run;
  rates.ceiling =
      std::min(rates.share, chip.generation->inside_a_run * chip.generation->sustained * rates.ceiling * chip.power);
  return rates;
}

}  // namespace llmcalc::timing
