// What nobody said: layout, batch, sequence and data, completed from what was said.
#pragma once

#include "read/words/draft.hpp"

namespace llmcalc::read {

void complete_sequence(Draft& draft);  ///< seq, and max_position where a raw shape left it out
void complete_layout(Draft& draft);    ///< gpus = dp x tp x pp x cp, nodes, sharding
/// Micro-batches of a step where neither the person nor the framework says how many: enough for a batch of
/// pre-training. \pre layout, sequence and micro_batch are complete
void complete_accumulation(Draft& draft);
/// Sequences of a step that a search spreads where nobody says how many: of pre-training as above, of tuning what the
/// trainer does on these accelerators.
std::int64_t usual_batch(const spec::Question& question);
void complete_batch(Draft& draft);      ///< global_batch = micro_batch x grad_accum x dp; \pre layout is complete
void complete_pipeline(Draft& draft);   ///< says where the embedding and the loss count as layers
void complete_dropout(Draft& draft);    ///< of a shape that does not say
void complete_data(Draft& draft);       ///< how much a run sees of which nobody says it
void complete_kernels(Draft& draft);    ///< recomputation, attention, loss and the like; \pre layout is complete
void complete_optimizer(Draft& draft);  ///< the optimizer and rank that a method or an optimizer implies
void complete_method(Draft& draft);     ///< adapter rank and targets, optimizer of runs that do not train

}  // namespace llmcalc::read
