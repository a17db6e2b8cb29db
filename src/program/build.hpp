// Question -> step program.
#pragma once

#include "frameworks/profile.hpp"
#include "program/program.hpp"

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::program {

/// Describes one rank's step. `program` is overwritten; its storage is reused.
/// \pre the question was resolved: dimensions are positive, layout divides what it splits
/// \throws quantity::Overflow when a tensor would exceed 2^63 bytes
void build_program(const spec::Question& question, const frameworks::Profile& profile, Program& program);

Program build_program(const spec::Question& question, const frameworks::Profile& profile);

}  // namespace llmcalc::program
