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

/// How a file is read.
struct Reach {
  std::uint64_t part;      ///< at once
  std::uint64_t expected;  ///< fetched meanwhile
};

/// A GGUF of 128k tokens has some 9 MiB in front of its tensors; safetensors say the length in their first octets.
constexpr Reach gguf_reach{std::uint64_t{128} << 10U, std::uint64_t{10} << 20U};
constexpr Reach safetensors_reach{safetensors_start, 0};

Checkpoint read_one(const fs::path& path, WeightFile kind) {
  FileHead file(path);
  const bool is_gguf = kind == WeightFile::gguf;
  const auto [part, expected] = is_gguf ? gguf_reach : safetensors_reach;
  const auto head = file.in_parts(part, expected);
  return *(is_gguf ? read_gguf(head, file.name()) : read_safetensors(head, file.name())).checkpoint;
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
  const auto start = head.first(enough);
  if (read::is_gguf(start.bytes) || path.extension() == ".gguf") return WeightFile::gguf;
  const bool named = path.extension() == ".safetensors";
  return named || read::is_safetensors(start) ? WeightFile::safetensors : WeightFile::none;
}

Checkpoint read_weight_file(const fs::path& path, WeightFile kind) {
  return kind == WeightFile::gguf ? read_splits(path) : read_one(path, kind);
}

}  // namespace llmcalc::cli
