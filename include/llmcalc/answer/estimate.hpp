// The answer to one question, as a value: renderers print it, nobody computes after it.
#pragma once

#include "llmcalc/answer/operation.hpp"
#include "llmcalc/answer/verdict.hpp"
#include "llmcalc/memory/phase.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::answer {

/// One line of the ledger: what is alive at the peak. The lines sum to the need.
struct LedgerLine {
  memory::Holding holding;
  std::string label;  ///< "weights (bf16)"
  quantity::Bytes size;
  Explanation why;
  bool empirical = false;  ///< a labelled constant of the runtime, replaceable by a flag
};

struct PhasePeak {
  memory::Phase phase = memory::Phase::forward;
  quantity::Bytes allocated;  ///< highest live bytes in this phase, steady state
};

struct HeldBytes {
  memory::Holding holding;
  quantity::Bytes size;
};

/// The highest moment of one block on its way through the step.
struct TimelinePoint {
  memory::Phase phase = memory::Phase::forward;
  std::string place;  ///< "embedding", "layer 31", "head"; "all weights" in the optimizer step
  quantity::Bytes allocated;
  std::vector<HeldBytes> held = {};  ///< what it is allocated for, as far as anything is
  /// Time that the block's operations take there in one micro-batch, the update in a step. Empty without an
  /// accelerator, where the utilization is given, and where models beside the trained one pass.
  std::optional<quantity::Seconds> time = {};
};

struct MemoryAnswer {
  std::vector<LedgerLine> ledger;
  std::vector<LedgerLine> host_ledger;  ///< of this rank in its machine's memory
  std::vector<PhasePeak> phases;
  std::vector<TimelinePoint> timeline;  ///< a steady step in time order; empty where activations are no program
  memory::Phase peak_phase = memory::Phase::backward;
  std::string peak_place;                 ///< "the backward pass of layer 31 of 32"
  Explanation peak_why;                   ///< what is alive there and nowhere else
  std::int64_t stage = 0;                 ///< pipeline stage that the answer is about
  std::vector<memory::StagePeak> stages;  ///< all of them; empty where activations are no program
  quantity::Bytes persistent;             ///< allocated between steps
  quantity::Bytes peak_first_step;        ///< allocated; optimizer states do not exist yet
  quantity::Bytes peak_allocated;         ///< allocated, steady state
  quantity::Bytes peak_reserved;          ///< what the caching allocator holds, as long as there is room for it
  quantity::Bytes peak_device;            ///< what nvidia-smi shows: reserved + communicators + context
  quantity::Bytes peak_needed;            ///< what must fit: the same without the blocks that the allocator gives back
  quantity::Bytes host;                   ///< of this rank's host, for what is offloaded
  quantity::Bytes nvme;                   ///< of its drives
  quantity::Bytes paged;                  ///< optimizer states that the driver may move to the host; not in the need
};

struct SizeAnswer {
  quantity::Parameters total;
  quantity::Parameters active;  ///< a token passes through
  quantity::Parameters trainable;
  quantity::Parameters embedding;  ///< token, position and type tables and an untied head
};

/// One FLOP figure under a named convention.
struct FlopFigure {
  std::string id;  ///< "six_pd", "model", "hardware", "full_square"
  std::string label;
  quantity::Flops per_token;
  quantity::Flops total;  ///< over all tokens of the run
  Explanation why;
  double utilization = 0.0;  ///< of the accelerators' peak at the predicted speed; 0 without an accelerator
};

/// Where the time of a step goes.
struct StepPart {
  std::string id;  ///< "products", "bubble"
  std::string label;
  quantity::Seconds time;
  Explanation why;
};

struct TimeAnswer {
  quantity::Tokens tokens;
  std::string tokens_source;
  std::vector<FlopFigure> flops;  ///< always the four conventions, in the order above
  double mfu = 0.0;               ///< of the model-FLOP convention
  std::string mfu_source;
  quantity::FlopRate peak;           ///< of one accelerator in the compute type
  quantity::Seconds step;            ///< one optimizer step
  double tokens_per_gpu = 0.0;       ///< a second and accelerator
  std::vector<StepPart> step_parts;  ///< where the step goes, longest first; empty when an MFU was given instead
  trust::Spread error;               ///< of the step; wide above where a slow host would pace it, 0: none is claimed
  std::string error_source;
  quantity::Seconds useful;              ///< all steps of the run, as if nothing failed
  std::optional<Goodput> goodput;        ///< empty where nothing is trained, so that nothing is saved
  quantity::Seconds total;               ///< wall time; infinite where failures come faster than the run can restart
  double gpu_hours = 0.0;                ///< of wall time
  double pflop_days = 0.0;               ///< of the 6PD figure
  std::optional<quantity::Money> price;  ///< of one accelerator for one hour
  std::optional<quantity::Money> cost;
  std::string price_source;
  std::optional<Footprint> footprint;  ///< empty where the accelerator's power is not known
};

struct Estimate {
  SizeAnswer size;
  MemoryAnswer memory;
  Verdict verdict;
  TimeAnswer compute;              ///< flops and tokens always; time fields only when `timed`
  bool timed = false;              ///< an accelerator was named
  std::vector<std::string> notes;  ///< what was not modelled
  std::vector<std::string> warnings;
};

/// \throws quantity::BadInput when the question is none (frameworks/check_question.hpp); one that was read always is
Estimate estimate(const spec::Question& question);

}  // namespace llmcalc::answer
