// Files that llama.cpp splits a model into, each a GGUF of its own (tools/gguf-split): any of them stands for all.
#include "cli/weight_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace llmcalc::cli {
namespace {

using read::Checkpoint;

constexpr std::string_view first_of_three = "-00001-of-00003.gguf";

/// "model-00001-of-00003.gguf" as the part in front of its number; empty where it is no split.
std::string split_prefix(const std::string& name) {
  if (name.size() <= first_of_three.size() || !name.ends_with(".gguf")) return {};
  const auto at = name.size() - first_of_three.size();
  return name.compare(at + 6, 4, "-of-") == 0 ? name.substr(0, at) : std::string();
}

/// Splits that are missing are taken to be as large as the others, and that is said.
Checkpoint with_missing(Checkpoint all, std::uint64_t found, std::uint64_t expected) {
  all.shards = expected;
  if (found >= expected) return all;
  all.notes.push_back(fmt::format("{} of {} splits are missing: they are taken to be as large as the others",
                                  expected - found, expected));
  const double share = static_cast<double>(expected) / static_cast<double>(found);
  all.bytes = static_cast<std::uint64_t>(static_cast<double>(all.bytes) * share);
  all.counts_all = false;
  return all;
}

}  // namespace

Checkpoint with_splits(Checkpoint first, const std::string& name, const FindSplit& find) {
  const std::string prefix = split_prefix(name);
  if (prefix.empty() || first.shards <= 1) return first;
  const std::uint64_t expected = std::min<std::uint64_t>(first.shards, 99'999);
  std::vector<Checkpoint> splits;
  for (std::uint64_t i = 1; i <= expected; ++i) {
    if (auto split = find(fmt::format("{}-{:05}-of-{:05}.gguf", prefix, i, expected))) {
      splits.push_back(*std::move(split));
    }
  }
  if (splits.empty()) return first;
  const auto found = splits.size();
  return with_missing(join(std::move(splits)), found, expected);
}

}  // namespace llmcalc::cli
