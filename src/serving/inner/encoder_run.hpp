// The encoder's part of a profile run: images as many as a step takes.
#pragma once

#include "serving/engine.hpp"

namespace llmcalc::serving {

struct EncoderRun {
  std::int64_t items = 0;   ///< images that are encoded together
  quantity::Bytes outputs;  ///< what they become for the text model, kept in the encoder's cache
  quantity::Bytes peak;     ///< of the pass, with its outputs
};

/// Nothing where the model has no towers, or the text part alone is served.
/// \param tokens  of a step
EncoderRun encoder_run(const Deployment& deployment, std::int64_t tokens);

}  // namespace llmcalc::serving
