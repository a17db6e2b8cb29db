// The parts of a model that are spread over ranks and have to go into as many pieces.
#pragma once

#include "llmcalc/spec/question.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmcalc::spec {

/// A term that does not go into as many parts as there are ranks, and why it must.
struct Uneven {
  std::string_view term;
  std::string_view why;
};

/// Heads are cut whole; of keys and values each rank keeps a copy where there are fewer of them than ranks.
std::optional<Uneven> uneven_cut(const Model& model, std::int64_t tp);

/// Two terms of a server's question that no engine takes together, and why.
struct ServerConflict {
  std::string_view term;
  std::string_view other;
  std::string_view why;
  std::string_view hint = {};
};

/// The first conflict of a server's ranks with its model, or with each other.
std::optional<ServerConflict> server_conflict(const Question& question);

/// Gives the ranks of a server their part of its experts: of each a part, or some of them whole where such parts would
/// not start.
/// \return  why they stay whole
std::optional<ServerConflict> share_experts(Question& question);

/// Takes copies of the attention for copies of all, where the model has no experts that their ranks would share and its
/// engine cuts no MLP among them.
void copy_whole(Question& question);

}  // namespace llmcalc::spec
