#include "serving/ggml_rates.hpp"

namespace llmcalc::serving {

namespace {

/// Fitted to tests/measured/serving (scripts/fit-servers): tokens to llama-bench of Llama 3 8B and 70B without flash
/// attention, to ten models of 2026 on eleven cards and to five models on a DGX Spark with it; prompts to Llama 3 alone
/// but on the Spark. What was not measured of a kind is its nearest relative's: 16-bit weights of LPDDR, Pascal, Volta
/// and Blackwell, prompts of Pascal, Volta and Blackwell, cards in a row but of GDDR.
constexpr GgmlPace gddr{0.84, 0.825, 0, 0.33, 58, 0.13, 0.25, 0.626, 0.368, 10.8, 1.20, 0, 0};
constexpr GgmlPace ada{0.92, 0.96, 0, 0.30, 58, 0.115, 0.25, 0.626, 0.368, 10.8, 1.20, 0, 0};
constexpr GgmlPace lpddr{0.86, 0.86, 0, 0.30, 23, 1.25, 0.25, 0.30, 0.25, 10.8, 1.20, 0, 0};
constexpr GgmlPace pascal{0.60, 0.275, 0, 0.30, 151, 0.05, 0.25, 0.626, 0.368, 10.8, 1.20, 0, 0};
constexpr GgmlPace volta{0.89, 0.89, 0, 0.24, 156, 0.03, 0.25, 0.626, 0.368, 10.8, 1.20, 0, 0};
constexpr GgmlPace ampere{0.533, 0.67, 0, 0.365, 125, 0.03, 0.25, 1.29, 0.429, 10.9, 1.09, 3.0, 694};
constexpr GgmlPace hopper{0.616, 0.593, 2.05, 0.197, 84, 0.03, 0.25, 1.29, 0.429, 10.9, 1.09, 3.0, 694};
constexpr GgmlPace blackwell{0.616, 0.593, 2.4, 0.197, 81, 0.06, 0.25, 1.29, 0.429, 10.9, 1.09, 3.0, 694};
constexpr GgmlPace apple{0.852, 0.77, 0, 0.119, 144, 0, 0, 0.768, 0.584, 8.4, 1.0, 2.0, 508};

constexpr GgmlKernels kernels{0.70, 0.55, 0.25, 200, 0.61, 0.5};

}  // namespace

const GgmlPace& ggml_pace_of(GgmlCard card) {
  static constexpr const GgmlPace* paces[] = {&gddr,   &ada,    &lpddr,     &pascal, &volta,
                                              &ampere, &hopper, &blackwell, &apple};
  return *paces[static_cast<int>(card)];
}

const GgmlKernels& ggml_kernels() { return kernels; }

}  // namespace llmcalc::serving
