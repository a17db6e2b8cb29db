// Several copies of the hidden state, of which a layer runs on the first, and predicts and corrects the others (AltUp).
#pragma once

#include "layers/inner/builder.hpp"

namespace llmcalc::layers {

/// The streams before the layer runs, all of them mixed by what the first says.
Value predicted_streams(BlockBuilder& b, const Value& all);

/// The first of them, on which the layer runs.
Value first_stream(BlockBuilder& b, const Value& all);

/// The same after it ran: each takes over a part of what that changed. \param activated  what the layer made of the
/// first
Value corrected_streams(BlockBuilder& b, const Value& predicted, const Value& activated);

/// A residual of low rank beside attention (LAuReL).
Value low_rank_residual(BlockBuilder& b, const Value& normed);

}  // namespace llmcalc::layers
