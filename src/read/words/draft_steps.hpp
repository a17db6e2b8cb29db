// The steps from words to the effective question, in the order in which a training run takes them; a server takes those
// that it shares.
#pragma once

#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "read/words/draft.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::read {

void take_gpu(QuestionDraft& draft);

/// Takes the shape from the one source that was named, a preset, a config.json, a size or the words themselves, then
/// the words that override it, then what follows from those.
/// \throws quantity::BadInput when there is no source, more than one, or a dimension is missing
void take_model(QuestionDraft& draft, const std::optional<ConfigText>& config);

/// Sets the framework, with its origin, where nobody said one: the layout decides (docs/frameworks.md has the table).
/// \pre the words of the run are taken
void choose_framework(QuestionDraft& draft);

/// Who may run what a search finds, where nobody names a framework, most common first. \pre the question has been
/// completed with the layout that was said; the textbook stays with what is a question for it
/// \param on_several  whether several accelerators were asked for
std::span<const spec::Framework> frameworks_of_search(const spec::Question& question, bool on_several);

/// Says what of --framework-version was not understood.
/// \throws quantity::BadInput where a person typed it and nothing was
void take_software(QuestionDraft& draft);

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

/// Says what becomes of images of the size that the run names, and checks that its sequences have room for them.
/// \param term  whose value the images must fit into, with that value; 0: nobody said it
/// \throws quantity::BadInput at the size when the model takes no images, or none of that size
void complete_images(QuestionDraft& draft, std::string_view term, std::int64_t room);

/// Micro-batches of a step where neither the person nor the framework says how many: enough for a batch of
/// pre-training. \pre layout, sequence and micro_batch are complete
void complete_accumulation(QuestionDraft& draft);
/// Sequences of a step that a search spreads where nobody says how many: of pre-training as above, of tuning what the
/// trainer does on these accelerators.
std::int64_t usual_batch(const spec::Question& question);
void complete_batch(QuestionDraft& draft);  ///< global_batch = micro_batch x grad_accum x dp; \pre layout is complete
void complete_data(QuestionDraft& draft);   ///< how much a run sees of which nobody says it

/// Refuses references that the algorithm has no use for, and algorithms that their reference cannot serve.
void check_algorithm(const QuestionDraft& draft);
/// Refuses combinations of words that no run can have. \pre the draft is complete
/// \throws quantity::BadInput that names both words of the first contradiction
void check_combinations(const QuestionDraft& draft);

/// Expands the shape; a mistake in a dimension is reported where that dimension was said.
void build(QuestionDraft& draft);

/// What the catalogue knows of a person's own runs of the framework becomes a part of the question.
void take_calibration(QuestionDraft& draft);

/// Every term that applies with its value and where that is from, behind the shorthands that were given.
std::vector<Given> echo(const QuestionDraft& draft, std::span<const Term> terms);

}  // namespace llmcalc::read
