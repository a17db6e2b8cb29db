// Which engines, layouts and models do not go together.
#pragma once

#include "read/words/draft.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmcalc::read {

inline constexpr std::string_view expert_rule = "expert_tp x ep = tp x attention_dp";

/// What does not go into as many parts as there are ranks, and why it must.
struct Uneven {
  std::string_view term;
  std::string_view why;
};

/// Heads are cut whole; of keys and values each rank keeps a copy where there are fewer of them than ranks.
std::optional<Uneven> uneven_cut(const spec::Model& model, std::int64_t tp);

/// \throws quantity::BadInput naming the words that contradict each other
void check_server(const QuestionDraft& draft);

}  // namespace llmcalc::read
