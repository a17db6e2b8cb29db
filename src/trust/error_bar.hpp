// How far estimates of a class of runs were off.
#pragma once

#include "llmcalc/spec/serving.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "spec/measurement.hpp"

#include <string_view>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::trust {

/// Bar of the runs of one framework, or of the engine under it where it was not measured.
struct ErrorBar {
  std::string_view name;  ///< "hf"
  Spread allocated;       ///< at the level that must fit
  int allocated_runs = 0;
  Spread reserved;  ///< of what max_memory_reserved showed
  Spread device;    ///< of what nvidia-smi showed
  std::string_view source;
  double cached = 0.0;  ///< what the allocator holds over what is allocated, with room to spare; 0: as under pressure
};

ErrorBar error_bar(const spec::Question& question);

struct TimeErrorBar {
  Spread spread;
  int runs = 0;           ///< measured ones of this framework and kind; none: the bar of the engine under it
  std::string_view kind;  ///< "mixtures of experts"
};

/// How much further off predictions are of a generation that is told by the one before. Of steps that were measured on
/// Blackwell, told by Hopper's rates, the 90th percentile is 1.26 times as wide, and on Hopper, told by Ampere's, 1.36
/// times (tests/measured/time); time to each token of servers 1.42 and 1.39 times (tests/measured/serving).
inline constexpr double wider_by_generation = 1.5;

/// Widening of llama.cpp's bar: Hopper told by Ampere's 2.07 times, Blackwell by Hopper's no wider.
inline constexpr double ggml_wider_by_generation = 2.1;

/// Hosts hand work over in 0.9 to 1.1 times the time that is reckoned with (most of Qwen's runs on A100, others in 3),
/// in 1.2 times it in the median on a rented machine with H100s, up to 2.5 there (tests/measured/time/qwen.csv,
/// h100-trainers.csv, whose runs wait for them), and nothing that is asked tells one from the other.
inline constexpr double slow_host = 2.5;

/// \param growth  of the step on a slow host, as a share of it: the bar reaches up by so much more
TimeErrorBar time_error_bar(const spec::Question& question, double growth);

/// Bar of tokens a second that a bar of the time amounts to.
Spread inverse(const Spread& of_time);

/// Nine of ten measured values lie inside.
Spread server_error_bar(const spec::Question& question, spec::Measure measure);

}  // namespace llmcalc::trust
