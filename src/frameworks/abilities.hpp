// What a framework can do at all. What is missing here is refused, searched by no plan and advised to nobody.
#pragma once

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/training.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::frameworks {

// A set of values of an enumeration, known when the program is compiled.

template <class E>
class Set {
 public:
  constexpr Set() = default;
  /// \pre the enumeration has at most 64 values
  constexpr Set(E value) : bits_(std::uint64_t{1} << static_cast<unsigned>(value)) {}
  constexpr Set(std::initializer_list<Set> parts) {
    for (const Set& part : parts) bits_ |= part.bits_;
  }

  constexpr bool has(E value) const { return (bits_ & Set(value).bits_) != 0; }

 private:
  std::uint64_t bits_ = 0;
};

// How a framework writes a checkpoint: what of it is where at once.

/// The share of a rank's part that is in host memory at once while it is written.
enum class CheckpointWriting {
  by_tensor,  ///< one tensor on its way to the disk (pytorch torch/serialization.py, _save; distributed/checkpoint/
              ///< filesystem.py, _OverlappingCpuLoader)
  by_buffer,  ///< the largest flat buffer of the optimizer's states (DeepSpeed's partitions are one tensor each)
  by_file,    ///< all tensors of a file (safetensors/torch.py, _flatten_as_ptr)
  whole       ///< all of it
};

/// One way to write a checkpoint.
struct Saving {
  spec::SaveCheckpoint way = spec::SaveCheckpoint::none;
  std::string_view source;
  bool (*holds)(const spec::Question& question) = nullptr;  ///< of the framework's own choice; empty: always
  CheckpointWriting writing = CheckpointWriting::by_tensor;
  std::int64_t file_bytes = 0;     ///< of a file, at most
  bool gathers_optimizer = false;  ///< the optimizer's states too come to the first rank, when the weights have gone
  bool leaves_out_frozen = false;  ///< of a run with adapters only these are gathered
  bool spreads_replicas = false;   ///< of what several ranks have alike, each writes a part
};

/// How a run writes its checkpoints, or nullptr where nobody asks.
/// \pre the framework can (unable_to())
const Saving* saving_of(const spec::Question& question);

/// Directions in which ranks share one model.
enum class Parallelism { tensor, sequence, pipeline, virtual_stages, context, experts, expert_tensor };

struct Abilities {
  Set<spec::Method> methods;
  Set<spec::Algorithm> algorithms;
  Set<spec::Sharding> shardings;
  Set<Parallelism> splits;
  Set<spec::ContextExchange> exchanges;  ///< of context parallelism
  Set<spec::Schedule> schedules;
  Set<spec::Offload> offloads;
  Set<spec::RecomputePolicy> recomputes{spec::RecomputePolicy::none, spec::RecomputePolicy::selective,
                                        spec::RecomputePolicy::full};
  Set<spec::Optimizer> optimizers;
  Set<formats::Dtype> quantized;  ///< types of frozen base weights, beside the whole ones
  Set<formats::Dtype> narrow;     ///< types of products with fewer than 16 bits
  Set<spec::Loss> losses;
  bool under_xla = false;             ///< its programs may be compiled whole, as TPUs want them
  std::span<const Saving> savings{};  ///< ways to write a checkpoint; the first that holds is its own choice
};

/// The term of a question that asks for what the framework cannot do; empty where it can do all of it.
std::string_view unable_to(spec::Framework framework, const spec::Question& question);

/// Ways to recompute that a search tries where nobody says, the one that computes least first.
std::vector<spec::Recompute> ways_to_recompute(const spec::Question& question);

/// The words of frameworks that can do what a term of the question asks for: those nearest to its own first, then the
/// best known, a handful at most.
/// \pre unable_to() names such terms
std::vector<std::string_view> able_to(std::string_view term, const spec::Question& question);

}  // namespace llmcalc::frameworks
