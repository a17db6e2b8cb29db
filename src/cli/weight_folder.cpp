// The safetensors of a folder, all of them or those that are there.
#include "cli/file_head.hpp"
#include "cli/files.hpp"
#include "cli/weight_files.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;
using read::Checkpoint;

constexpr std::string_view index_name = "model.safetensors.index.json";

bool is_weights(const std::string& name) {
  return name.ends_with(".safetensors") && !name.starts_with("consolidated") && !name.starts_with("adapter");
}

struct Shards {
  std::vector<std::string> names;
  std::vector<std::string> missing;
  read::ShardIndex index;
};

/// The files that the index names, or all there are; those beside it that hold the same once more are left out.
Shards shards_of(const fs::path& folder) {
  std::error_code error;
  Shards shards;
  if (fs::is_regular_file(folder / index_name, error)) {
    shards.index = read::read_shard_index(read_file(folder / index_name, "--from"), index_name);
    for (const auto& file : shards.index.files) {
      (fs::is_regular_file(folder / file, error) ? shards.names : shards.missing).push_back(file);
    }
    return shards;
  }
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_weights(entry.path().filename().string())) shards.names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(shards.names);
  return shards;
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  const auto text = quantity::joined(std::span(names).first(std::min(names.size(), shown)), ", ");
  return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

/// Of shards that are not there the index says the tensors and, all together, the bytes.
void add_missing(const Shards& shards, Checkpoint& all) {
  if (shards.missing.empty()) return;
  all.counts_all = false;
  const bool none = shards.names.empty();
  all.notes.push_back(fmt::format("{} of {} shards not there: {}; {}", shards.missing.size(), shards.index.files.size(),
                                  some_of(shards.missing),
                                  none ? "tensors and bytes are those of the index" : "their tensors are not counted"));
  if (!none) return;
  all.tensors = shards.index.tensors;
  all.bytes = shards.index.total_size.value_or(0);
}

}  // namespace

std::optional<std::uint64_t> lfs_size(const fs::path& path) {
  constexpr std::uint64_t longest_pointer = 1024;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size > longest_pointer) return std::nullopt;
  return read::lfs_pointer_size(read_file(path, "--from"));
}

bool is_shard_index(const fs::path& path) { return path.filename() == index_name; }

std::optional<Checkpoint> read_weight_folder(const fs::path& folder) {
  const Shards shards = shards_of(folder);
  if (shards.names.empty() && shards.missing.empty()) return std::nullopt;
  std::vector<Checkpoint> read;
  std::uint64_t pointers = 0;
  for (const auto& name : shards.names) fetch_ahead(folder / name, safetensors_start);
  for (const auto& name : shards.names) {
    const auto size = lfs_size(folder / name);
    pointers += size.value_or(0);
    if (!size) read.push_back(read_weight_file(folder / name, WeightFile::safetensors));
  }
  Checkpoint all = join(std::move(read));
  if (all.kind.empty()) all.kind = "safetensors";
  if (pointers > 0) {
    all.bytes += pointers;
    all.counts_all = false;
    all.notes.push_back(
        fmt::format("pointers of Git LFS stand for {} bytes of weights, whose parameters are not known", pointers));
  }
  add_missing(shards, all);
  return all;
}

}  // namespace llmcalc::cli
