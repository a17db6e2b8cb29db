#include "llmcalc/spec/accelerator.hpp"

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/quantity/error.hpp"
#include "spec/names.hpp"

#include <array>

namespace llmcalc::spec {
namespace {

using Peaks = Accelerator::Peaks;
using Peak = std::optional<quantity::FlopRate> Peaks::*;
/// The peaks that can carry a type, best first; what follows the last one is nullptr.
using Order = std::array<Peak, 6>;

constexpr Order double_precision{&Peaks::fp64_matrix, &Peaks::fp64};
/// Frameworks multiply fp32 matrices in fp32 unless they are told to round to TF32 (torch.backends.cuda.matmul). Matrix
/// units that take no fp32 round it: XLA's in one pass of bf16 unless it is asked for three or six
/// (jax.lax.Precision.DEFAULT on TPUs; torch_xla/backends.py, set_mat_mul_precision).
constexpr Order single_precision{&Peaks::fp32_matrix, &Peaks::fp32, &Peaks::tf32, &Peaks::bf16};
constexpr Order tensor_float{&Peaks::tf32, &Peaks::fp32_matrix, &Peaks::fp32, &Peaks::bf16};
/// Its range does not fit into fp16: libraries multiply in fp32 where matrix units do not take it (torch.mm in bf16:
/// 10.6 TFLOP/s on V100, 7 on RTX 2080 Ti, github.com/zzc0721/torch-performance-test-data).
constexpr Order brain_float{&Peaks::bf16, &Peaks::fp32_matrix, &Peaks::fp32};
constexpr Order either_half{&Peaks::bf16, &Peaks::fp16, &Peaks::fp32_matrix, &Peaks::fp32};
constexpr Order half_precision{&Peaks::fp16, &Peaks::bf16, &Peaks::fp32_matrix, &Peaks::fp32};
constexpr Order eight_bit_float{&Peaks::fp8, &Peaks::bf16, &Peaks::fp16, &Peaks::fp32_matrix, &Peaks::fp32};
constexpr Order four_bit_float{&Peaks::fp4, &Peaks::fp8, &Peaks::bf16, &Peaks::fp16, &Peaks::fp32_matrix, &Peaks::fp32};
constexpr Order integer{&Peaks::int8, &Peaks::bf16, &Peaks::fp16, &Peaks::fp32_matrix, &Peaks::fp32};

const Order& order_of(formats::Dtype compute) {
  switch (compute) {
    case formats::Dtype::fp64: return double_precision;
    case formats::Dtype::fp32: return single_precision;
    case formats::Dtype::tf32: return tensor_float;
    case formats::Dtype::fp16: return half_precision;
    case formats::Dtype::fp8_e4m3:
    case formats::Dtype::fp8_e5m2:
    case formats::Dtype::mxfp8: return eight_bit_float;
    case formats::Dtype::mxfp4:
    case formats::Dtype::nvfp4: return four_bit_float;
    case formats::Dtype::int8: return integer;
    case formats::Dtype::bf16: return brain_float;
    // Weight-only formats are widened to 16 bits before the product (QLoRA, arXiv:2305.14314 §3; GPTQ,
    // arXiv:2210.17323).
    case formats::Dtype::int4:
    case formats::Dtype::nf4:
    case formats::Dtype::nf4_dq:
    case formats::Dtype::fp4:
    case formats::Dtype::fp4_dq:
    case formats::Dtype::int4_gptq:
    case formats::Dtype::int8_gptq: break;
  }
  return either_half;
}

quantity::FlopRate first_of(const Order& order, const Accelerator& gpu, std::string_view name) {
  for (const Peak peak : order) {
    if (peak != nullptr && (gpu.peaks.*peak).has_value()) return *(gpu.peaks.*peak);
  }
  throw quantity::BadInput("--compute", gpu.id + " has no matrix products in " + std::string(name),
                           "`llmcalc gpu show " + gpu.id + "` lists its peaks");
}

}  // namespace

quantity::Bytes MemoryLimits::margin_of(quantity::Bytes capacity) const {
  const double share = margin_share.value_or(0.0) * static_cast<double>(in_bytes(capacity));
  return margin.value_or(quantity::bytes(static_cast<std::int64_t>(share)));
}

quantity::FlopRate matrix_peak(const Accelerator& gpu, formats::Dtype compute) {
  return first_of(order_of(compute), gpu, name_of(compute));
}

quantity::FlopRate half_peak(const Accelerator& gpu) { return first_of(either_half, gpu, "16 bits"); }

}  // namespace llmcalc::spec
