// The models and passes that an algorithm needs beside the trained model's own.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

#include <span>

namespace llmcalc::program {

bool has_companions(const spec::Training& training);

/// Appends the companions' blocks and says which run in whose place.
/// \param plain  the sequence with layers of a kind on one block, whatever the run makes again of them: 0 is the
///               embedding, 1 to `kinds` are the layers, and behind them stand head and bridge
void add_companions(const spec::Question& question, const frameworks::Profile& profile,
                    std::span<const std::uint16_t> plain, Program& program);

}  // namespace llmcalc::program
