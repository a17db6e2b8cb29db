// executed_table FILE: the table of docs/accuracy.md of what scripts/execute-families measured.
#include "program/executed_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

using namespace llmcalc::test;

namespace {

constexpr std::array<std::string_view, 4> columns = {"full", "lora", "lora_qv", "checkpointed"};

std::string cell(const ExecutedFamily& family, std::string_view name) {
  if (family.refused) return " not read |";
  const auto found = std::ranges::find(family.methods, name, &ExecutedMethod::name);
  if (found == family.methods.end()) return " |";
  return fmt::format(" {:+.2f}{} |", 100.0 * found->kept_error(), found->same_flops() ? "" : " ≠");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  fmt::print("| type | attention | full | LoRA, all | LoRA, q v | checkpointed |\n");
  fmt::print("| --- | --- | ---: | ---: | ---: | ---: |\n");
  for (const auto& family : executed_families(arguments[1])) {
    fmt::print("| {} | {} |", family.type, family.attention);
    for (const auto column : columns) fmt::print("{}", cell(family, column));
    fmt::print("\n");
  }
}
