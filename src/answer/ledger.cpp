#include "answer/optimizer_source.hpp"
#include "answer/parts.hpp"
#include "llmcalc/frameworks/saving.hpp"
#include "llmcalc/frameworks/table.hpp"
#include "llmcalc/layers/widths.hpp"
#include "llmcalc/memory/communicators.hpp"
#include "llmcalc/quantity/format.hpp"
#include "llmcalc/spec/names.hpp"
#include "llmcalc/spec/question.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::answer {

using memory::Holding;
using quantity::Bytes;
using quantity::in_bytes;
using spec::name_of;

namespace {

std::string exact(Bytes size) { return quantity::format_count(in_bytes(size)) + " B"; }

/// "8,030,261,248 x 2 B" where the product is whole, "2,270,756,864 on this rank x 2 B" of a share of elements of
/// `width` bytes, else the bytes alone.
std::string per_parameter(Bytes size, std::int64_t parameters, std::int64_t width = 0) {
  if (parameters > 0 && in_bytes(size) % parameters == 0) {
    return fmt::format("{} x {} B", quantity::format_count(parameters), in_bytes(size) / parameters);
  }
  if (width > 0 && in_bytes(size) % width == 0 && in_bytes(size) / width < parameters) {
    return fmt::format("{} on this rank x {} B", quantity::format_count(in_bytes(size) / width), width);
  }
  return exact(size);
}

/// Bytes of an element, of types that have no scales.
std::int64_t width_of(formats::Dtype dtype) {
  const auto& facts = formats::facts(dtype);
  return facts.scale.block == 0 && facts.bits >= 8 ? facts.bits / 8 : 0;
}

/// "bf16", or "bf16, with fp8-e4m3 copies" where narrow products keep some beside what rests.
std::string types_of_weights(const spec::Precision& precision, const program::Program& program) {
  std::string types(name_of(precision.weights));
  for (const auto& block : program.blocks) {
    const auto copied = std::ranges::find_if(block.weights, [](const auto& w) { return w.copies > 0; });
    if (copied != block.weights.end()) return fmt::format("{}, with {} copies", types, name_of(copied->copy_type));
  }
  return types;
}

class Ledger {
 public:
  Ledger(const spec::Question& question, const Walks& walks) : question_(question), walks_(walks) {}

  std::vector<LedgerLine> lines(const MemoryAnswer& memory);

 private:
  void states(const memory::Moment& alive);
  void companions(const memory::Moment& alive);
  void step(const memory::Moment& alive);
  void textbook(const MemoryAnswer& memory);
  void runtime(const MemoryAnswer& memory);
  std::string what_engine_holds(Bytes engine) const;
  Bytes needed_without_bias(const MemoryAnswer& memory) const;
  void add(LedgerLine line) {
    if (in_bytes(line.size) != 0) lines_.push_back(std::move(line));
  }

  const spec::Question& question_;
  const Walks& walks_;
  std::vector<LedgerLine> lines_;
};

void Ledger::states(const memory::Moment& alive) {
  const auto& training = question_.training;
  const auto& precision = training.precision;
  const std::int64_t total = walks_.size.total;
  const std::int64_t trained = walks_.size.trainable;
  add({Holding::weights,
       fmt::format("weights ({})", types_of_weights(precision, walks_.program)),
       alive.weights,
       {"parameters x bytes of the resting type", per_parameter(alive.weights, total, width_of(precision.weights)),
        "Rajbhandari et al. 2020, arXiv:1910.02054 section 3.1"}});
  add({Holding::adapters,
       fmt::format("adapters ({})", name_of(precision.grads)),
       alive.adapters,
       {"trained parameters beside the model x bytes of their type", per_parameter(alive.adapters, trained),
        "Hu et al. 2021, arXiv:2106.09685 section 4.1; peft, autocast_adapter_dtype"}});
  add({Holding::master_weights,
       fmt::format("master weights ({})", name_of(precision.master_type)),
       alive.master,
       {fmt::format("trained parameters x {} B", width_of(precision.master_type)),
        per_parameter(alive.master, trained, width_of(precision.master_type)),
        "Micikevicius et al. 2018, arXiv:1710.03740 section 3.1"}});
  add({Holding::gradients,
       fmt::format("gradients ({})", name_of(precision.grads)),
       alive.gradients,
       {"trained parameters x bytes of the gradient type",
        per_parameter(alive.gradients, trained, width_of(precision.grads)),
        "Rajbhandari et al. 2020, arXiv:1910.02054 section 3.1"}});
  add({Holding::optimizer_states,
       fmt::format("optimizer states ({}, {})", name_of(training.optimizer), name_of(precision.moments)),
       alive.optimizer,
       {"states of each tensor, to the byte", per_parameter(alive.optimizer, trained),
        std::string(source_of(training.optimizer))}});
}

void Ledger::companions(const memory::Moment& alive) {
  const std::int64_t total = walks_.size.total;
  const auto weights = name_of(question_.training.precision.weights);
  add({Holding::reference_model,
       fmt::format("reference model ({})", weights),
       alive.reference,
       {"parameters x bytes of the resting type; frozen", per_parameter(alive.reference, total),
        "Rafailov et al. 2023, arXiv:2305.18290 eq. 7; Ouyang et al. 2022, arXiv:2203.02155 appendix C"}});
  add({Holding::reward_model,
       fmt::format("reward model ({})", weights),
       alive.reward,
       {"the model with one output a sample instead of its head; frozen", exact(alive.reward),
        "Ouyang et al. 2022, arXiv:2203.02155 section 3.5"}});
  add({Holding::value_model,
       fmt::format("value model ({}, trained)", weights),
       alive.value,
       {"weights, gradients and optimizer states of a model with one output a position", exact(alive.value),
        "Ouyang et al. 2022, arXiv:2203.02155 section 3.5 and appendix C"}});
}

void Ledger::step(const memory::Moment& alive) {
  const auto& training = question_.training;
  const std::string tokens =
      fmt::format("{} sequences x {} tokens", training.sequences(), quantity::format_count(training.seq));
  add({Holding::activations,
       "activations saved for backward",
       alive.activations,
       {"sum over layers of the tensors that autograd keeps", fmt::format("{} = {}", tokens, exact(alive.activations)),
        "Korthikanti et al. 2022, arXiv:2205.05198 section 4, operation by operation"}});
  add({Holding::logits,
       "logits and loss",
       alive.logits,
       {"tokens x vocabulary, in each copy that the loss makes",
        fmt::format("{} x {} vocabulary", tokens, quantity::format_count(question_.model.shape.vocab)),
        fmt::format("loss '{}' of framework {}", name_of(training.loss), name_of(training.framework))}});
  if (walks_.memory.peak().phase == memory::Phase::checkpoint) {
    add({Holding::checkpoint,
         "gathered for a checkpoint",
         alive.temporaries,
         {"whole weights, or the unit of them that is on its way", exact(alive.temporaries),
          std::string(frameworks::saving_of(question_)->source)}});
    return;
  }
  add({Holding::temporaries,
       "temporaries of the running operation",
       alive.temporaries,
       {"widest moment of the block that runs at the peak", exact(alive.temporaries), "walk over the step program"}});
  add({Holding::workspace,
       "workspaces",
       alive.workspace,
       {"matrix-product workspaces, scratch gradients, blocks beyond their tensors", exact(alive.workspace),
        question_.runtime.workspace
            ? "as given"
            : "pytorch CublasHandlePool.cpp, CUDACachingAllocator.cpp; TransformerEngine gemm.py, module/base.py"},
       !question_.runtime.workspace});
}

void Ledger::textbook(const MemoryAnswer& memory) {
  const Bytes rest = memory.peak_allocated - walks_.memory.persistent.states();
  add({Holding::activations,
       "activations and temporaries (rule of thumb)",
       rest,
       {"parameters x 8 B, whatever the batch", per_parameter(rest, walks_.size.total),
        "Hugging Face, Anatomy of model's memory: 4 + 4 + 8 + 8 B per fp32 parameter"},
       true});
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

/// A constant of the runtime: measured unless the person gave another.
void Ledger::runtime(const MemoryAnswer& memory) {
  const auto& given = question_.runtime;
  const Bytes buffers = memory::communicator_buffers(question_);
  const Bytes context = walks_.profile.measured.context;
  const Bytes engine = memory::colocated_engine(question_);
  const Bytes predicted = needed_without_bias(memory);
  const Bytes slack = predicted - memory.peak_allocated - buffers - engine - context;
  add({Holding::allocator,
       "allocator slack",
       slack,
       {"(reserved / allocated - 1) x allocated",
        fmt::format("{:.3f} x {}", walks_.profile.measured.reserved_over_allocated - 1.0, exact(memory.peak_allocated)),
        given.reserved_ratio ? "as given" : "measured: median of 43 Megatron runs on B200 (SimuMax v1.2)"},
       !given.reserved_ratio});
  add({Holding::communicators,
       "NCCL communicators",
       buffers,
       {"channels to peers, of every group that communicates, x 12 MiB",
        given.nccl ? exact(buffers) : fmt::format("{} x 12 MiB", memory::open_channels(question_)),
        given.nccl ? "as given" : "nccl src/init.cc, computeBuffSizes, and issues 892, 1450, 1685"},
       !given.nccl});
  add({Holding::engine,
       "colocated engine",
       engine,
       {"--colocate-fraction x the accelerator's memory", what_engine_holds(engine),
        "vllm config/cache.py, gpu_memory_utilization; trl trainer/grpo_config.py, vllm_mode"}});
  add({Holding::context,
       "CUDA context and kernels",
       context,
       {"constant of the accelerator's generation", exact(context),
        given.context ? "as given" : "measured: pytorch issues 86509, 109888, 107667"},
       !given.context});
  const auto& bias = question_.calibration.memory;
  add({Holding::calibration,
       "calibration",
       memory.peak_needed - predicted,
       {"(factor - 1) x all of the above", fmt::format("{:.3f} x {}", bias.factor - 1.0, exact(predicted)),
        fmt::format("the median of {} runs of your own", bias.runs)},
       true});
}

std::vector<LedgerLine> Ledger::lines(const MemoryAnswer& memory) {
  if (question_.training.activations != spec::ActivationModel::program) {
    states(walks_.memory.persistent);
    companions(walks_.memory.persistent);
    textbook(memory);
    return lines_;
  }
  const auto& alive = walks_.memory.peak().alive;
  states(alive);
  companions(alive);
  step(alive);
  runtime(memory);
  return lines_;
}

}  // namespace

quantity::Bytes engine_weights(std::int64_t parameters) {
  return quantity::bytes(quantity::product(parameters, layers::half_width));
}

std::vector<LedgerLine> ledger(const spec::Question& question, const Walks& walks, const MemoryAnswer& memory) {
  return Ledger(question, walks).lines(memory);
}

}  // namespace llmcalc::answer
