// The ledger, line by line: what rests between steps, what a step makes, and what the runtime takes beside it.

#include "answer/inner/parts.hpp"
#include "frameworks/abilities.hpp"
#include "layers/widths.hpp"
#include "llmcalc/spec/training.hpp"
#include "memory/communicators.hpp"
#include "quantity/format.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace llmcalc::answer {

using memory::Holding;
using quantity::Bytes;
using quantity::in_bytes;
using spec::name_of;
using spec::Optimizer;

namespace {

/// "1,048,576 B".
std::string exact_bytes(Bytes size) { return quantity::format_count(in_bytes(size)) + " B"; }

/// "8,030,261,248 x 2 B" where the product is whole, "2,270,756,864 on this rank x 2 B" of a share of elements of
/// `width` bytes, else the bytes alone.
std::string per_parameter(Bytes size, std::int64_t parameters, std::int64_t width = 0) {
  if (parameters > 0 && in_bytes(size) % parameters == 0) {
    return fmt::format("{} x {} B", quantity::format_count(parameters), in_bytes(size) / parameters);
  }
  if (width > 0 && in_bytes(size) % width == 0 && in_bytes(size) / width < parameters) {
    return fmt::format("{} on this rank x {} B", quantity::format_count(in_bytes(size) / width), width);
  }
  return exact_bytes(size);
}

struct Source {
  Optimizer optimizer;
  std::string_view text;
};

constexpr Source optimizer_sources[] = {
#include "ledger/optimizers.inc"
};

/// States that an optimizer keeps for a parameter, and the paper or file that says so.
std::string_view source_of(Optimizer optimizer) {
  const auto found = std::ranges::find(optimizer_sources, optimizer, &Source::optimizer);
  return found == std::end(optimizer_sources) ? "no optimizer, no states" : found->text;
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

  std::vector<LedgerLine> lines(const MemoryAnswer& memory) {
    if (question_.training.activations != spec::ActivationModel::program) {
      states(walks_.memory.persistent);
      textbook(memory);
      return lines_;
    }
    const auto& alive = walks_.memory.peak().alive;
    states(alive);
    step(alive);
    runtime(memory);
    return lines_;
  }

 private:
  void states(const memory::Moment& alive) {
    weights(alive);
    update(alive);
    companions(alive);
  }

  void weights(const memory::Moment& alive) {
    const auto& precision = question_.training.precision;
    const std::int64_t trained = walks_.size.trainable;
    add({Holding::weights,
         fmt::format("weights ({})", types_of_weights(precision, walks_.program)),
         alive.weights,
         {"parameters x bytes of the resting type",
          per_parameter(alive.weights, walks_.size.total, width_of(precision.weights)),
          "Rajbhandari et al. 2020, arXiv:1910.02054 section 3.1"}});
    add({Holding::adapters,
         fmt::format("adapters ({})", name_of(precision.grads)),
         alive.adapters,
         {"trained parameters beside the model x bytes of their type", per_parameter(alive.adapters, trained),
          "Hu et al. 2021, arXiv:2106.09685 section 4.1; peft, autocast_adapter_dtype"}});
  }

  void update(const memory::Moment& alive) {
    const auto& training = question_.training;
    const auto& precision = training.precision;
    const std::int64_t trained = walks_.size.trainable;
    const std::int64_t wide = width_of(precision.master_type);
    add({Holding::master_weights,
         fmt::format("master weights ({})", name_of(precision.master_type)),
         alive.master,
         {fmt::format("trained parameters x {} B", wide), per_parameter(alive.master, trained, wide),
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

  void companions(const memory::Moment& alive) {
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
         {"the model with one output a sample instead of its head; frozen", exact_bytes(alive.reward),
          "Ouyang et al. 2022, arXiv:2203.02155 section 3.5"}});
    add({Holding::value_model,
         fmt::format("value model ({}, trained)", weights),
         alive.value,
         {"weights, gradients and optimizer states of a model with one output a position", exact_bytes(alive.value),
          "Ouyang et al. 2022, arXiv:2203.02155 section 3.5 and appendix C"}});
  }

  void step(const memory::Moment& alive) {
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

  void checkpoint(const memory::Moment& alive) {
    add({Holding::checkpoint,
         "gathered for a checkpoint",
         alive.temporaries,
         {"whole weights, or the unit of them that is on its way", exact_bytes(alive.temporaries),
          std::string(frameworks::saving_of(question_)->source)}});
  }

  void scratch(const memory::Moment& alive) {
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

  void textbook(const MemoryAnswer& memory) {
    const Bytes rest = memory.peak_allocated - walks_.memory.persistent.states();
    add({Holding::activations,
         "activations and temporaries (rule of thumb)",
         rest,
         {"parameters x 8 B, whatever the batch", per_parameter(rest, walks_.size.total),
          "Hugging Face, Anatomy of model's memory: 4 + 4 + 8 + 8 B per fp32 parameter"},
         true});
  }

  /// Constants of the runtime: measured unless the person gave others. What is left of the need is the allocator's.
  void runtime(const MemoryAnswer& memory) {
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

  LedgerLine allocator_line(Bytes slack, const MemoryAnswer& memory) const {
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

  LedgerLine communicator_line(Bytes buffers) const {
    const bool given = question_.runtime.nccl.has_value();
    return {Holding::communicators,
            "NCCL communicators",
            buffers,
            {"channels to peers, of every group that communicates, x 12 MiB",
             given ? exact_bytes(buffers) : fmt::format("{} x 12 MiB", memory::open_channels(question_)),
             given ? "as given" : "nccl src/init.cc, computeBuffSizes, and issues 892, 1450, 1685"},
            !given};
  }

  LedgerLine engine_line(Bytes engine) const {
    return {Holding::engine,
            "colocated engine",
            engine,
            {"--colocate-fraction x the accelerator's memory", what_engine_holds(engine),
             "vllm config/cache.py, gpu_memory_utilization; trl trainer/grpo_config.py, vllm_mode"}};
  }

  LedgerLine context_line(Bytes context) const {
    const bool given = question_.runtime.context.has_value();
    return {Holding::context,
            "CUDA context and kernels",
            context,
            {"constant of the accelerator's generation", exact_bytes(context),
             given ? "as given" : "measured: pytorch issues 86509, 109888, 107667"},
            !given};
  }

  LedgerLine calibration_line(Bytes predicted, const MemoryAnswer& memory) const {
    const auto& bias = question_.calibration.memory;
    return {Holding::calibration,
            "calibration",
            memory.peak_needed - predicted,
            {"(factor - 1) x all of the above", fmt::format("{:.3f} x {}", bias.factor - 1.0, exact_bytes(predicted)),
             fmt::format("the median of {} runs of your own", bias.runs)},
            true};
  }

  /// An engine of its own has the model's weights in 16 bits, and its cache in what is left.
  std::string what_engine_holds(Bytes engine) const {
    const auto weights = engine_weights(walks_.size.total);
    const Bytes cache = std::max(quantity::bytes(0), engine - weights);
    return fmt::format("{:.2f} x the memory: weights {}, cache {}", question_.training.colocate_fraction,
                       quantity::format_gib(weights), quantity::format_gib(cache));
  }

  Bytes needed_without_bias(const MemoryAnswer& memory) const {
    frameworks::Profile profile = walks_.profile;
    profile.measured.needed_bias = 1.0;
    return question_.calibration.memory.is_known()
               ? needed_level(profile, memory.peak_allocated, memory::beside_trainer(question_))
               : memory.peak_needed;
  }

  void add(LedgerLine line) {
    if (quantity::in_bytes(line.size) != 0) lines_.push_back(std::move(line));
  }

  const spec::Question& question_;
  const Walks& walks_;
  std::vector<LedgerLine> lines_;
};

}  // namespace

quantity::Bytes engine_weights(std::int64_t parameters) {
  return quantity::bytes(quantity::product(parameters, layers::half_width));
}

std::vector<LedgerLine> ledger(const spec::Question& question, const Walks& walks, const MemoryAnswer& memory) {
  return Ledger(question, walks).lines(memory);
}

}  // namespace llmcalc::answer
