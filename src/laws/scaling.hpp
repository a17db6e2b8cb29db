// How large a model, how much data, how much compute, how long: any of them from the others.
//
//   params 7B given; tokens 140B = 20 x 7B; compute 5.88e+21 FLOP = 6 x 7B x 140B; loss 2.166; ...
//
// Training:   C = 6 P D                         Kaplan et al. 2020, arXiv:2001.08361, section 2.1
//             D = 20 P for a P or a D alone     Hoffmann et al. 2022, arXiv:2203.15556, table 3
//             the P and D of least loss for C   a law of scaling_law.hpp
//             C = GPUs x time x peak x MFU      Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, appendix B
// Inference:  P x bits / 8 <= memory, and every weight is read once a token: tokens/s <= bandwidth / (P x bits / 8)
#pragma once

#include "laws/scaling_law.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::laws {

/// Which neighbours of the answer are listed with it.
enum class Frontier {
  sizes,    ///< smaller and larger models of the same compute
  budgets,  ///< the best models of smaller and larger computes
};

/// Follow-ups that may be asked about the run once it is known.
struct ScaleFollowUps {
  std::optional<double> smaller;  ///< the same loss from a model so many times smaller than the best
  /// Tokens that will be served: the least compute for both at the run's loss, or of a budget the least loss.
  std::optional<quantity::Tokens> served;
  std::optional<double> serving_mfu;      ///< with `served`: MFU while serving, where it is not that of training
  bool hyperparameters = false;           ///< batch size and learning rate
  std::optional<quantity::Tokens> batch;  ///< what a batch of so many tokens costs in data and steps
  std::optional<Frontier> frontier;
};

/// A value for what the question leaves open.
struct Usual {
  double value = 0.0;
  std::string source;
};

/// Facts that are known. Everything left empty is derived if it can be.
struct ScaleQuestion {
  std::optional<quantity::Parameters> params;
  std::optional<quantity::Tokens> tokens;
  std::optional<double> tokens_per_parameter;
  std::optional<quantity::Flops> compute;
  std::optional<ScalingLaw> law;  ///< chinchilla where empty, data_constrained when unique tokens or epochs are given
  std::optional<double> loss;     ///< to be reached
  std::optional<quantity::Tokens> unique_tokens;  ///< that there are; the run may repeat them
  std::optional<double> epochs;

  std::optional<quantity::Seconds> gpu_time;  ///< summed over the accelerators
  std::optional<std::int64_t> gpus;
  std::optional<quantity::Seconds> time;
  std::optional<double> mfu;               ///< model FLOP/s of one accelerator as a share of `peak`
  std::optional<quantity::FlopRate> peak;  ///< of one accelerator
  std::optional<Usual> usual_mfu;
  std::optional<quantity::Money> cost;
  std::optional<quantity::Money> price;  ///< of one accelerator for one hour
  std::optional<Usual> usual_price;      ///< dollars

  std::optional<quantity::BitsPerElement> weight;  ///< bits of a weight at inference, formats::average_bits(dtype)
  std::optional<quantity::Bytes> memory;           ///< for the weights at inference
  std::optional<double> decode_rate;               ///< tokens per second of one sequence
  std::optional<quantity::Bandwidth> bandwidth;    ///< of the memory that holds the weights

  ScaleFollowUps follow_ups;
};

enum class Standing { given, derived, assumed };

/// Subject of a line: the run itself, or an answer to a follow-up.
enum class ScaleSection { run, optimum, smaller, serving, serving_budget, batch };

struct ScaleLine {
  std::string_view id;     ///< "compute_flops": the unit is in the name
  std::string_view label;  ///< "compute"
  double value = 0.0;      ///< in the unit of the id
  std::string text;        ///< "5.88e+21 FLOP"
  Standing origin = Standing::given;
  answer::Explanation why;  ///< of what was derived or assumed; empty for what was given
  ScaleSection section = ScaleSection::run;
};

/// One neighbour of the best model.
struct FrontierPoint {
  Allocation split;
  std::optional<double> loss;
  bool best = false;  ///< the optimum of the run's compute
  /// Compute with which this size reaches the loss of the best, as a multiple of the best's; empty when it cannot.
  std::optional<double> same_loss_compute;
};

struct FrontierTable {
  Frontier kind = Frontier::sizes;
  std::vector<FrontierPoint> points;  ///< in ascending order
  bool asked = false;                 ///< for it, and not for a budget
};

/// Assumption of an answer, and whence it is.
struct Assumed {
  std::string words;
  std::string source;  ///< empty where there is nothing to look up
};

/// Assumption with its source in brackets.
std::string in_full(const Assumed& assumed);

struct ScaleAnswer {
  std::vector<ScaleLine> lines;
  std::optional<FrontierTable> frontier;  ///< where it was asked for; the nearest sizes where a budget was stated
  ScalingLaw law = ScalingLaw::chinchilla;
  std::vector<Assumed> assumptions;
  std::vector<std::string> warnings;  ///< where the law is stretched beyond the runs it was fitted on

  void assume(std::string words, std::string source = {});
};

/// Derives all that follows. A compute alone goes to the optimum of the law; parameters or tokens alone are taken to
/// be compute-optimal at 20 tokens a parameter unless a law is named. When none of the three can be known, a loss is
/// reached at least compute; without one, the largest model that inference allows is taken.
/// \throws quantity::BadInput when a value is out of range, when what is given contradicts itself by more than the
///         5 % that rounded figures may be apart, or when something is missing (which is then named)
ScaleAnswer scale(const ScaleQuestion& question);

/// The line of that id, or nullptr.
const ScaleLine* find_line(const ScaleAnswer& answer, std::string_view id);

/// How much of an accelerator's peak training reaches, for questions that have no layout whose time could be walked:
/// half of what the best measured matrix product of that part reaches. Runs that published their MFU lie between 0.47
/// (Llama 3 405B on 16,384 H100, 38 %: Grattafiori et al. 2024, table 4) and 0.65 of it (1T parameters on A100, 56.3 %:
/// Korthikanti et al. 2022, table 5). Parts without a measured product take the median of those that have one.
Usual usual_mfu(const spec::Accelerator& gpu);

}  // namespace llmcalc::laws
