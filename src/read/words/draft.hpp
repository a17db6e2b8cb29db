// The question while it is being put together: every step from words to the effective question adds to it and says
// where a value is from. They stand in the order in which a training run takes them; a server takes those that it
// shares.
#pragma once

#include "frameworks/table.hpp"
#include "llmcalc/spec/question.hpp"
#include "read/presets.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"
#include "spec/image.hpp"
#include "spec/traits.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// The words that were given, at most one a term, with the shorthands of hardware and sharding spelled out.
class Words {
 public:
  /// \throws quantity::BadInput for an unknown term, and for two words that set one term to different values
  explicit Words(const std::vector<Given>& given);

  /// The word of a term, or nullptr.
  const Given* find(std::string_view term) const;
  bool has(std::string_view term) const { return find(term) != nullptr; }
  const std::vector<Given>& all() const { return words_; }

  /// The text that stood there for a term: "2" for zero2 where somebody typed --zero 2.
  std::string_view typed(const Given& word) const;

 private:
  void put(Given word, std::string_view typed = {});
  void put_gpu(const Given& word);
  bool put_instance(const Given& word);
  void put_engine(const Given& word);

  /// Cards of the machine that a cloud rents, where it was named and nobody counted others.
  struct Rented {
    std::int64_t cards;
    Origin origin;
  };

  std::vector<Given> words_;
  std::optional<Rented> rented_;
  std::optional<Given> wrapped_;                           ///< context of a program around an engine
  std::map<std::string, std::string, std::less<>> typed_;  ///< of the terms that were said in other words
};

class QuestionDraft {
 public:
  QuestionDraft(const Words& given, const Catalogue& known, const Values& typed)
      : words(given), catalogue(known), values(typed) {}

  const Words& words;
  const Catalogue& catalogue;
  const Values& values;
  spec::Question question;
  std::optional<formats::Quant> published_quant;  ///< of the weights of the model that was named, where not in 16 bits
  std::int64_t published_group = 0;               ///< inputs that share a scale of those; 0: as usual
  std::string family;                             ///< of the preset that was named; else empty
  bool embeds = false;                            ///< the model that was named is a decoder that writes nothing
  std::vector<spec::Assumption> assumptions;
  std::vector<std::string> unread;           ///< of the model's file
  std::vector<spec::ImageRule> image_rules;  ///< of each tower of a model that a file describes

  spec::Shape& shape() { return question.model.shape; }
  spec::Training& training() { return question.training; }
  spec::Layout& layout() { return question.layout; }
  const spec::Shape& shape() const { return question.model.shape; }
  const spec::Training& training() const { return question.training; }
  const spec::Layout& layout() const { return question.layout; }
  const spec::Serving& serving() const { return question.serving; }

  bool given(std::string_view term) const { return words.has(term); }

  /// Applies the word of a term if there is one.
  void take(std::string_view term);

  /// Records where the value of a term comes from.
  void set_origin(std::string_view term, Origin origin);
  void derive(std::string_view term, std::string_view how);  ///< a default with its rule
  /// A default that moves the answer; what was assumed of the term before gives way.
  /// \param text  the value as one types it; empty where `why` says it
  void assume(std::string_view term, std::string_view how, std::string text, std::string why = {});
  /// Assumptions about no single term.
  void assume(std::string sentence) { assumptions.push_back({.words = std::move(sentence)}); }

  Origin origin(std::string_view term) const;

  /// Where to look for a term: the place of its word, or else its flag.
  std::string place(std::string_view term) const;

  /// A term with its value, for messages: "--tp 2", or "tp 1 (default)".
  std::string said(std::string_view term) const;

  /// Throws BadInput at the place of `term`, whose word is said to contradict that of `other`.
  [[noreturn]] void contradiction(std::string_view term, std::string_view other, std::string_view why,
                                  std::string hint = {}) const;

 private:
  std::map<std::string, Origin, std::less<>> origins_;
};

inline frameworks::StateRecipe states_of(const spec::Training& training) {
  return frameworks::row_of(training.framework).states;
}

constexpr bool is_half(formats::Dtype dtype) { return dtype == formats::Dtype::bf16 || dtype == formats::Dtype::fp16; }

/// Prompt and prefix tuning learn positions in front of the sample's.
constexpr bool has_virtual_tokens(spec::Method method) {
  return method == spec::Method::prompt || method == spec::Method::prefix;
}

inline bool has_bottleneck(const spec::Training& training) {
  return training.method == spec::Method::adapter && !frameworks::row_of(training.framework).adapters_are_prompts;
}

constexpr bool trains_adapters(spec::Method method) {
  using spec::Method;
  return spec::has_low_rank(method) || method == Method::ia3 || method == Method::prompt || method == Method::prefix ||
         method == Method::adapter;
}

/// The rank of an optimizer that keeps the moments of projected gradients; 0 for the others. GaLore, and APOLLO where
/// transformers' Trainer makes it: trainer.py, optim_args rank; APOLLO elsewhere: its README; APOLLO-Mini by its
/// definition (arXiv:2412.05270 section 4.2).
inline std::int64_t default_projection_rank(const spec::Training& training) {
  using spec::Optimizer;
  constexpr std::int64_t of_trainer = 128;
  switch (training.optimizer) {
    case Optimizer::galore_adamw_8bit: return of_trainer;
    case Optimizer::apollo:
      return frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::trainer ? of_trainer : 256;
    case Optimizer::apollo_mini: return 1;
    default: return 0;
  }
}

/// The type in which an optimizer of few bits keeps its moments; empty for the others.
constexpr std::optional<formats::Dtype> quantized_moments(spec::Optimizer optimizer) {
  using spec::Optimizer;
  switch (optimizer) {
    case Optimizer::adamw_8bit:
    case Optimizer::adamw_8bit_torchao:
    case Optimizer::paged_adamw_8bit:
    case Optimizer::galore_adamw_8bit: return formats::Dtype::int8;
    case Optimizer::adamw_4bit: return formats::Dtype::int4;
    default: return std::nullopt;
  }
}

void take_gpu(QuestionDraft& draft);

/// Takes the shape from the one source that was named, a preset, a config.json, a size or the words themselves, then
/// the words that override it, then what follows from those.
/// \throws quantity::BadInput when there is no source, more than one, or a dimension is missing
void take_model(QuestionDraft& draft, const std::optional<ConfigText>& config);

/// Who may run what a search finds, where nobody names a framework, most common first. \pre the question has been
/// completed with the layout that was said; the textbook stays with what is a question for it
/// \param on_several  whether several accelerators were asked for
std::span<const spec::Framework> frameworks_of_search(const spec::Question& question, bool on_several);

/// Applies the framework's default of a term that nobody said, as if it had been said. \return whether there is one
/// \pre what its condition asks for is complete
bool take_default(QuestionDraft& draft, std::string_view term);

void complete_layout(QuestionDraft& draft);     ///< gpus = dp x tp x pp x cp, nodes, sharding
void complete_optimizer(QuestionDraft& draft);  ///< the optimizer and rank that a method or an optimizer implies

/// Sets the six precision knobs: the recipe of --dtype, or of --weights where only that was given, as the framework
/// keeps it; then what adapters and 8-bit optimizers change; then the explicit words.
/// \pre framework, method and optimizer have been taken
void take_precision(QuestionDraft& draft);

void complete_method(QuestionDraft& draft);     ///< adapter rank and targets, optimizer of runs that do not train
void complete_algorithm(QuestionDraft& draft);  ///< the reference that an algorithm implies; \pre the method is known
void complete_kernels(QuestionDraft& draft);   ///< recomputation, attention, loss and the like; \pre layout is complete
void complete_host(QuestionDraft& draft);      ///< how much memory a machine has; \pre what is offloaded is known
void complete_sequence(QuestionDraft& draft);  ///< seq, and max_position where a raw shape left it out
void complete_dropout(QuestionDraft& draft);   ///< of a shape that does not say
void complete_pipeline(QuestionDraft& draft);  ///< says where the embedding and the loss count as layers

/// Prompt and answer fill a context that is said without them; a context that is not said holds both.
void complete_load(QuestionDraft& draft);

/// Says what becomes of images of the size that the run names, and checks that its sequences have room for them.
/// \param term  whose value the images must fit into, with that value; 0: nobody said it
/// \throws quantity::BadInput at the size when the model takes no images, or none of that size
void complete_images(QuestionDraft& draft, std::string_view term, std::int64_t room);

/// Sequences of a step that a search spreads where nobody says how many: of pre-training a usual batch, of tuning what
/// the trainer does on these accelerators.
std::int64_t usual_batch(const spec::Question& question);
void complete_batch(QuestionDraft& draft);  ///< global_batch = micro_batch x grad_accum x dp; \pre layout is complete
void complete_price(QuestionDraft& draft);  ///< of an accelerator that is bought
void complete_data(QuestionDraft& draft);   ///< how much a run sees of which nobody says it

/// Which words of a contradiction must have been said, so that it is one.
enum class Said { either_way, itself, both, not_the_other };

/// One of presets/vocabulary/contradictions*.rows.
struct Contradiction {
  std::string_view term;
  std::string_view other;
  std::string_view why;
  std::string_view hint;
  bool (*holds)(const QuestionDraft& draft);
  Said said = Said::either_way;
};

/// A condition that is always met.
inline bool is_so(const QuestionDraft& /*draft*/) { return true; }

/// \throws quantity::BadInput that names both words of the first that holds
void refuse(const QuestionDraft& draft, std::span<const Contradiction> contradictions);

/// Refuses combinations of words that no run can have. \pre the draft is complete
/// \throws quantity::BadInput that names both words of the first contradiction
void check_combinations(const QuestionDraft& draft);

/// Expands the shape; a mistake in a dimension is reported where that dimension was said.
void build(QuestionDraft& draft);

/// Every term that applies with its value and where that is from, behind the shorthands that were given.
std::vector<Given> echo(const QuestionDraft& draft, std::span<const Term> terms);

}  // namespace llmcalc::read
