// The effective question in the words of renderers.
#pragma once

#include "llmcalc/render/report.hpp"
#include "read/given.hpp"
#include "read/vocabulary.hpp"

#include <span>
#include <vector>

namespace llmcalc::api {

/// \param terms  of the vocabulary that the question is in: those of them that do not apply are there too, without a
///               value, so that programs find the same keys in every answer
std::vector<render::EchoLine> echo_lines(std::vector<read::Echo> echo, std::span<const read::Term> terms);

}  // namespace llmcalc::api
