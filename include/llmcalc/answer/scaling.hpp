// How large a model, how much data, how much compute, how long: any of them from the others.
//
//   params 7B given; tokens 140B = 20 x 7B; compute 5.88e+21 FLOP = 6 x 7B x 140B; ...
//
// Training:   C = 6 P D                         Kaplan et al. 2020, arXiv:2001.08361, section 2.1
//             D = 20 P unless told otherwise    Hoffmann et al. 2022, arXiv:2203.15556, table 3
//             C = GPUs x time x peak x MFU      Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, appendix B
// Inference:  P x bits / 8 <= memory, and every weight is read once a token: tokens/s <= bandwidth / (P x bits / 8)
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::answer {

/// What is known. Everything left empty is derived if it can be.
struct ScaleQuestion {
  std::optional<quantity::Parameters> params;
  std::optional<quantity::Tokens> tokens;
  std::optional<double> tokens_per_parameter;
  std::optional<quantity::Flops> compute;

  std::optional<quantity::Seconds> gpu_time;  ///< summed over the accelerators
  std::optional<std::int64_t> gpus;
  std::optional<quantity::Seconds> time;
  std::optional<double> mfu;               ///< model FLOP/s of one accelerator as a share of `peak`
  std::optional<quantity::FlopRate> peak;  ///< of one accelerator

  std::optional<quantity::BitsPerElement> weight;  ///< bits of a weight at inference, spec::average_bits(dtype)
  std::optional<quantity::Bytes> memory;           ///< for the weights at inference
  std::optional<double> decode_rate;               ///< tokens per second of one sequence
  std::optional<quantity::Bandwidth> bandwidth;    ///< of the memory that holds the weights
};

enum class Origin { given, derived, assumed };

struct ScaleLine {
  std::string_view id;     ///< "compute_flops": the unit is in the name
  std::string_view label;  ///< "compute"
  double value = 0.0;      ///< in the unit of the id
  std::string text;        ///< "5.88e+21 FLOP"
  Origin origin = Origin::given;
  Explanation why;  ///< of what was derived or assumed; empty for what was given
};

struct ScaleAnswer {
  std::vector<ScaleLine> lines;
  std::vector<std::string> assumptions;
};

/// Derives all that follows. When only one of params, tokens and compute can be known, the model is taken to be
/// compute-optimal at 20 tokens a parameter; when none can, the largest model that inference allows is taken.
/// \throws quantity::BadInput when a value is out of range, when what is given contradicts itself by more than the
///         5 % that rounded figures may be apart, or when something is missing (which is then named)
ScaleAnswer scale(const ScaleQuestion& question);

/// The line of that id, or nullptr.
const ScaleLine* find_line(const ScaleAnswer& answer, std::string_view id);

}  // namespace llmcalc::answer
