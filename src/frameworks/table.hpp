// The one table of frameworks (a file each under presets/frameworks): what people call each, whose states it keeps,
// what it allocates, what it does unasked, what it can do at all, and which measured runs stand behind its estimates.
// Everybody who asks what kind of framework one is asks here.
#pragma once

#include "frameworks/abilities.hpp"
#include "frameworks/profile.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/training.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

namespace llmcalc::frameworks {

// A list of fixed room in a row of a table, known when the program is compiled.

template <class T, std::size_t room = 8>
class List {
 public:
  constexpr List() = default;
  /// More items than there is room for do not compile in a constant expression.
  constexpr List(std::initializer_list<T> items) {
    for (const T& item : items) items_.at(size_++) = item;
  }

  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }
  constexpr std::size_t size() const { return size_; }
  constexpr const T& front() const { return items_.front(); }
  constexpr std::span<const T> span() const { return {items_.data(), size_}; }
  constexpr bool has(const T& item) const {
    return std::any_of(begin(), end(), [&](const T& mine) { return mine == item; });
  }

 private:
  std::array<T, room> items_{};
  std::size_t size_ = 0;
};

// What a trainer does when its user says nothing, as the words that its user would have said.

struct Default {
  std::string_view term;   ///< of the vocabulary, or "dtype"
  std::string_view value;  ///< "full"
  std::string_view source;
  bool (*holds)(const spec::Question& question) = nullptr;  ///< of what is known when it is asked; empty: always
};

/// The first default of a term that holds, or nullptr.
const Default* default_of(const spec::Question& question, std::string_view term);

/// The meaning of `--dtype bf16` to a trainer whose weights may rest in fp32.
enum class HalfPrecision {
  pure,                 ///< weights, gradients and moments in bf16, or the 16-bit recipe of its states
  autocast,             ///< fp32 weights, cast at each use
  autocast_of_trained,  ///< the same, but a frozen base keeps its 16 bits
  loaded,               ///< the type in which weights are loaded, under an autocast that is on unasked
};

struct Run;

/// Who keeps which copies of weights, gradients and moments.
enum class StateRecipe {
  textbook,
  torch,      ///< states follow the parameter's type: torch/optim/adamw.py, zeros_like(p); mixed is torch.autocast
  megatron,   ///< 16-bit weights, fp32 master and fp32 main gradients: Megatron-LM, dist_optimizer.md
  deepspeed,  ///< 2 + 2 + 4 + 8: ZeRO, arXiv:1910.02054 section 3.1; llm.c has the same (train_gpt2.cu)
};

/// Whose loop takes the steps, where others share it.
enum class TrainingEngine {
  own,
  trainer,        ///< transformers' Trainer, or one that is derived from it
  deepspeed,      ///< DeepSpeed's engine, which shards the states
  megatron_core,  ///< Megatron-LM's training loop and optimizer
};

/// The measured runs from which an error bar of memory is taken.
enum class MemoryRuns { huggingface, megatron, other_torch, textbook };

/// Values that a search tries where nobody says.
struct Space {
  List<spec::Sharding> shardings;  ///< weakest first
  List<spec::Schedule> schedules;
  List<spec::Offload> offloads;
  List<spec::RecomputeModule> modules;  ///< of selective recompute, cheapest first, each with those before it
  bool splits_models = true;            ///< by tensor, pipeline, context or expert parallelism
};

/// The contents of a file of presets/frameworks.
struct FrameworkRow : Abilities {
  spec::Framework framework{};
  List<std::string_view, 4> words;  ///< the first is the canonical one
  std::string_view title;           ///< for sentences: "Megatron-LM"
  StateRecipe states = StateRecipe::torch;
  TrainingEngine engine = TrainingEngine::own;
  Profile (*profile)(const Run& run) = nullptr;
  Space space;
  std::span<const Default> defaults;   ///< of two for one term the first that holds counts
  std::span<const Default> otherwise;  ///< behind them, another framework's
  HalfPrecision half = HalfPrecision::pure;
  bool cuts_experts_as_layers = false;  ///< experts are tensor-parallel as all else is where nobody says
  bool adapters_are_prompts = false;    ///< the adapters of its users are learned prompts, not bottlenecks
  bool adapters_rest_as_model = false;  ///< in its type; elsewhere in fp32
  bool narrows_adapters = false;        ///< ... and beside quantized weights in bf16
  bool reenters_checkpoints = false;    ///< its gradient checkpoints are those with reentrance, whatever others have
  bool tunes_checkpoints = false;       ///< who names a model there starts from its published weights
  bool widens_gradients = false;        ///< bf16 gradients add up in fp32 up to stage 1 of ZeRO
  bool asks_for_batch = false;          ///< its user has to say how many sequences a step has
  bool quantizes_on_one = false;        ///< a quantized model is trained on one accelerator alone
  bool offloads_inputs_alone = false;   ///< of activations what recomputed layers begin with leaves the accelerator
  bool splits_by_accelerate = false;    ///< sequences are cut by accelerate, and not by the trainer
  MemoryRuns memory_runs = MemoryRuns::other_torch;
};

const FrameworkRow& row_of(spec::Framework framework);

/// Whether a run makes a model from scratch, as opposed to tuning one that is published.
bool pretrains(const spec::Question& question);

/// The type in which gradients accumulate where nobody says.
formats::Dtype gradients_of(const spec::Training& training, spec::Sharding sharding);

/// Whether the run is DeepSpeed's: transformers' trainers have no ZeRO of their own.
bool hands_to_deepspeed(const spec::Training& training, spec::Sharding sharding);

/// The types of a run in 16 bits where DeepSpeed runs it; those of the training otherwise.
spec::Precision precision_under(const spec::Training& training, spec::Sharding sharding);

/// All rows, in the order of the enumeration.
std::span<const FrameworkRow* const> rows();

}  // namespace llmcalc::frameworks

namespace llmcalc::spec {

template <>
std::span<const Named<Framework>> vocabulary<Framework>();

}  // namespace llmcalc::spec

namespace llmcalc::frameworks {

// What a framework makes of an optimizer beside its published algorithm.

/// transformers' Trainer asks bitsandbytes to keep the moments of every nn.Embedding in fp32; until release 4.52 it
/// asked for Adam8bit alone, which its options never make (trainer.py, create_optimizer).
bool widens_embedding_moments(const spec::Training& training);

/// The paper's APOLLO makes its random projector again from the seed (Zhu et al. 2024, arXiv:2412.05270 table 1); its
/// package, which every framework uses, keeps it (apollo_torch/random_projector.py).
bool keeps_random_projector(const spec::Training& training);

/// The type of adapters where nobody says: fp32 whatever the base weights are (peft, autocast_adapter_dtype), or that
/// of the whole model.
formats::Dtype adapters_rest_in(const spec::Training& training);

}  // namespace llmcalc::frameworks
