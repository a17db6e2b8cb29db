// The ledger's lines of what a step makes, and of what the runtime takes beside it.
#include "answer/inner/ledger.hpp"
#include "frameworks/abilities.hpp"
#include "memory/communicators.hpp"
#include "quantity/format.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::answer {

using memory::Holding;
using quantity::Bytes;
using spec::name_of;

void Ledger::step(const memory::Moment& alive) {
  const auto& training = question_.training;
  const std::string tokens =
      fmt::format("{} sequences x {} tokens", training.sequences(), quantity::format_count(training.seq));
  add({Holding::activations,
       "activations saved for backward",
       alive.activations,
       {"sum over layers of the tensors that autograd keeps",
        fmt::format("{} = {}", tokens, exact_bytes(alive.activations)),
        "Korthikanti et al. 2022, arXiv:2205.05198 section 4, operation by operation"}});
  add({Holding::logits,
       "logits and loss",
       alive.logits,
       {"tokens x vocabulary, in each copy that the loss makes",
        fmt::format("{} x {} vocabulary", tokens, quantity::format_count(question_.model.shape.vocab)),
        fmt::format("loss '{}' of framework {}", name_of(training.loss), name_of(training.framework))}});
  if (walks_.memory.peak().phase == memory::Phase::checkpoint) return checkpoint(alive);
  scratch(alive);
}

void Ledger::checkpoint(const memory::Moment& alive) {
  add({Holding::checkpoint,
       "gathered for a checkpoint",
       alive.temporaries,
       {"whole weights, or the unit of them that is on its way", exact_bytes(alive.temporaries),
        std::string(frameworks::saving_of(question_)->source)}});
}

void Ledger::scratch(const memory::Moment& alive) {
  add({Holding::temporaries,
       "temporaries of the running operation",
       alive.temporaries,
       {"widest moment of the block that runs at the peak", exact_bytes(alive.temporaries),
        "walk over the step program"}});
  add({Holding::workspace,
       "workspaces",
       alive.workspace,
       {"matrix-product workspaces, scratch gradients, blocks beyond their tensors", exact_bytes(alive.workspace),
        question_.runtime.workspace
            ? "as given"
            : "pytorch CublasHandlePool.cpp, CUDACachingAllocator.cpp; TransformerEngine gemm.py, module/base.py"},
       !question_.runtime.workspace});
}

/// An engine of its own has the model's weights in 16 bits, and its cache in what is left.
std::string Ledger::what_engine_holds(Bytes engine) const {
  const auto weights = engine_weights(walks_.size.total);
  const Bytes cache = std::max(quantity::bytes(0), engine - weights);
  return fmt::format("{:.2f} x the memory: weights {}, cache {}", question_.training.colocate_fraction,
                     quantity::format_gib(weights), quantity::format_gib(cache));
}

Bytes Ledger::needed_without_bias(const MemoryAnswer& memory) const {
  frameworks::Profile profile = walks_.profile;
  profile.measured.needed_bias = 1.0;
  return question_.calibration.memory.is_known()
             ? needed_level(profile, memory.peak_allocated, memory::beside_trainer(question_))
             : memory.peak_needed;
}

LedgerLine Ledger::allocator_line(Bytes slack, const MemoryAnswer& memory) const {
  const double ratio = walks_.profile.measured.reserved_over_allocated;
  const bool given = question_.runtime.reserved_ratio.has_value();
  return {Holding::allocator,
          "allocator slack",
          slack,
          {"(reserved / allocated - 1) x allocated",
           fmt::format("{:.3f} x {}", ratio - 1.0, exact_bytes(memory.peak_allocated)),
           given ? "as given" : "measured: median of 43 Megatron runs on B200 (SimuMax v1.2)"},
          !given};
}

LedgerLine Ledger::communicator_line(Bytes buffers) const {
  const bool given = question_.runtime.nccl.has_value();
  return {Holding::communicators,
          "NCCL communicators",
          buffers,
          {"channels to peers, of every group that communicates, x 12 MiB",
           given ? exact_bytes(buffers) : fmt::format("{} x 12 MiB", memory::open_channels(question_)),
           given ? "as given" : "nccl src/init.cc, computeBuffSizes, and issues 892, 1450, 1685"},
          !given};
}

LedgerLine Ledger::engine_line(Bytes engine) const {
  return {Holding::engine,
          "colocated engine",
          engine,
          {"--colocate-fraction x the accelerator's memory", what_engine_holds(engine),
           "vllm config/cache.py, gpu_memory_utilization; trl trainer/grpo_config.py, vllm_mode"}};
}

LedgerLine Ledger::context_line(Bytes context) const {
  const bool given = question_.runtime.context.has_value();
  return {Holding::context,
          "CUDA context and kernels",
          context,
          {"constant of the accelerator's generation", exact_bytes(context),
           given ? "as given" : "measured: pytorch issues 86509, 109888, 107667"},
          !given};
}

LedgerLine Ledger::calibration_line(Bytes predicted, const MemoryAnswer& memory) const {
  const auto& bias = question_.calibration.memory;
  return {Holding::calibration,
          "calibration",
          memory.peak_needed - predicted,
          {"(factor - 1) x all of the above", fmt::format("{:.3f} x {}", bias.factor - 1.0, exact_bytes(predicted)),
           fmt::format("the median of {} runs of your own", bias.runs)},
          true};
}

/// Constants of the runtime: measured unless the person gave others. What is left of the need is the allocator's.
void Ledger::runtime(const MemoryAnswer& memory) {
  const Bytes buffers = memory::communicator_buffers(question_);
  const Bytes context = walks_.profile.measured.context;
  const Bytes engine = memory::colocated_engine(question_);
  const Bytes predicted = needed_without_bias(memory);
  add(allocator_line(predicted - memory.peak_allocated - buffers - engine - context, memory));
  add(communicator_line(buffers));
  add(engine_line(engine));
  add(context_line(context));
  add(calibration_line(predicted, memory));
}

}  // namespace llmcalc::answer
