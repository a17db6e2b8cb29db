// Encoders of images and sound in front of the text model.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

namespace llmcalc::program {

/// Puts the blocks of every tower behind the embedding, on the first stage. Companions run them without gradients.
/// \pre the program is complete but for its towers
void add_towers(const spec::Question& question, const frameworks::Profile& profile, Program& program);

}  // namespace llmcalc::program
