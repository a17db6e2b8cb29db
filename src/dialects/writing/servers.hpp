// One function a server, in the words of its own command line.
#pragma once

#include "dialects/server.hpp"
#include "dialects/writing/command_text.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>

namespace llmcalc::dialects {

std::string vllm_command(const serving::Deployment& d, const ServedNames& names);
std::string sglang_command(const serving::Deployment& d, const ServedNames& names);
std::string trtllm_command(const serving::Deployment& d, const ServedNames& names);
std::string llama_command(const serving::Deployment& d, const ServedNames& names);
std::string ollama_command(const serving::Deployment& d, const ServedNames& names);

struct WholeOption {
  std::string_view name;
  std::optional<std::int64_t> value;
};

inline void add(std::initializer_list<WholeOption> options, CommandText& command) {
  for (const auto& [name, value] : options) {
    if (value) command.option(name, *value);
  }
}

inline std::optional<std::int64_t> above_one(std::int64_t degree) {
  return degree > 1 ? std::optional(degree) : std::nullopt;
}

inline void add_word(std::string_view name, std::string_view value, CommandText& command) {
  if (!value.empty()) command.word(name, value);
}

inline void add_share(std::string_view name, std::optional<double> share, CommandText& command) {
  if (share) command.word(name, fmt::format("{:.4g}", *share));
}

}  // namespace llmcalc::dialects
