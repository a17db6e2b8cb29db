#include "cli/weight_files.hpp"

#include "cli/file_head.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;
using quantity::BadInput;
using read::Checkpoint;

/// A GGUF of 128k tokens has some 9 MiB in front of its tensors; safetensors say the length in their first octets.
constexpr std::uint64_t first_of_gguf = std::uint64_t{12} << 20U;
constexpr std::uint64_t first_of_safetensors = std::uint64_t{16} << 10U;

Checkpoint read_one(const fs::path& path, WeightFile kind) {
  FileHead head(path);
  std::uint64_t count = kind == WeightFile::gguf ? first_of_gguf : first_of_safetensors;
  for (;;) {
    const auto file = head.upto(count);
    auto result = kind == WeightFile::gguf ? read_gguf(file, head.name()) : read_safetensors(file, head.name());
    if (result.checkpoint) return *std::move(result.checkpoint);
    count = std::max(result.needs, 2 * count);
  }
}

/// "model-00001-of-00003.gguf" as the part in front of its number; empty where it is no split.
std::string split_prefix(const std::string& name) {
  constexpr std::string_view like = "-00001-of-00003.gguf";
  if (name.size() <= like.size() || !name.ends_with(".gguf")) return {};
  const auto at = name.size() - like.size();
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

Checkpoint read_splits(const fs::path& path) {
  const std::string prefix = split_prefix(path.filename().string());
  Checkpoint first = read_one(path, WeightFile::gguf);
  if (prefix.empty() || first.shards <= 1) return first;
  const std::uint64_t expected = std::min<std::uint64_t>(first.shards, 99'999);
  std::vector<Checkpoint> splits;
  for (std::uint64_t i = 1; i <= expected; ++i) {
    const auto split = path.parent_path() / fmt::format("{}-{:05}-of-{:05}.gguf", prefix, i, expected);
    std::error_code error;
    if (fs::is_regular_file(split, error)) splits.push_back(read_one(split, WeightFile::gguf));
  }
  if (splits.empty()) return first;
  const auto found = splits.size();
  return with_missing(join(std::move(splits)), found, expected);
}

}  // namespace

WeightFile weight_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return WeightFile::none;
  if (lfs_size(path)) {
    throw BadInput(path.filename().string(), "is a pointer of Git LFS and not the file itself",
                   "git lfs pull --include " + path.filename().string());
  }
  FileHead head(path);
  constexpr std::uint64_t enough = 16;
  const auto start = head.upto(enough);
  if (read::is_gguf(start.bytes)) return WeightFile::gguf;
  return read::is_safetensors(start) ? WeightFile::safetensors : WeightFile::none;
}

Checkpoint read_weight_file(const fs::path& path, WeightFile kind) {
  return kind == WeightFile::gguf ? read_splits(path) : read_one(path, kind);
}

}  // namespace llmcalc::cli
