// Which engines, layouts and models do not go together.
#pragma once

#include "read/words/draft.hpp"

namespace llmcalc::read {

inline constexpr std::string_view expert_rule = "expert_tp x ep = tp x attention_dp";

/// \throws quantity::BadInput naming the words that contradict each other
void check_server(const QuestionDraft& draft);

}  // namespace llmcalc::read
