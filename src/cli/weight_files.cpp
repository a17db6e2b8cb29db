#include "cli/files.hpp"
#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

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

/// The size that a pointer of Git LFS stands for, which a clone without it holds in the place of the weights.
std::optional<std::uint64_t> lfs_size(const fs::path& path) {
  constexpr std::uint64_t longest_pointer = 1024;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size > longest_pointer) return std::nullopt;
  return read::lfs_pointer_size(read_file(path, "--from"));
}

}  // namespace

WeightFile weight_file(const fs::path& path) {
  if (!is_file(path)) return WeightFile::none;
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
  if (kind != WeightFile::gguf) return read_one(path, kind);
  const auto find = [&](const std::string& name) -> std::optional<Checkpoint> {
    std::error_code error;
    const auto split = path.parent_path() / name;
    return fs::is_regular_file(split, error) ? std::optional(read_one(split, kind)) : std::nullopt;
  };
  return with_splits(read_one(path, kind), path.filename().string(), find);
}

// Files that llama.cpp splits a model into, each a GGUF of its own (tools/gguf-split): any of them stands for all.

namespace {

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

// The safetensors of a folder, all of them or those that are there.

namespace {

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

/// Shards that are not there: the index says their tensors and, all together, their bytes.
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

namespace {

fs::path models_folder() {
  if (const auto said = variable("OLLAMA_MODELS"); !said.empty()) return said;
  const auto home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".ollama" / "models";
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.find("..") == std::string_view::npos && text.front() != '/' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
             std::string_view::npos;
}

/// "sha256:abc" of the layer that is the model.
std::string model_digest(const std::string& manifest) {
  const auto json = nlohmann::json::parse(manifest, nullptr, false);
  if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array()) return {};
  for (const auto& layer : json["layers"]) {
    if (!layer.is_object()) continue;
    const auto type = layer.value("mediaType", nlohmann::json());
    const auto digest = layer.value("digest", nlohmann::json());
    if (type == "application/vnd.ollama.image.model" && digest.is_string()) return digest;
  }
  return {};
}

}  // namespace

std::optional<fs::path> ollama_model(const std::string& name) {
  const auto colon = name.find(':');
  const std::string path = name.substr(0, colon);
  const std::string tag = colon == std::string::npos ? "latest" : name.substr(colon + 1);
  const auto folder = models_folder();
  if (folder.empty() || !is_plain_name(path) || !is_plain_name(tag)) return std::nullopt;
  const auto owner = path.find('/') == std::string::npos ? fs::path("library") / path : fs::path(path);
  const auto manifest = folder / "manifests" / "registry.ollama.ai" / owner / tag;
  std::error_code error;
  if (!fs::is_regular_file(manifest, error)) return std::nullopt;
  std::string digest = model_digest(read_file(manifest, "--from"));
  constexpr std::string_view prefix = "sha256:";
  if (!digest.starts_with(prefix) || !is_plain_name(digest.substr(prefix.size()))) return std::nullopt;
  digest[prefix.size() - 1] = '-';
  const auto blob = folder / "blobs" / digest;
  return fs::is_regular_file(blob, error) ? std::optional(blob) : std::nullopt;
}

}  // namespace llmcalc::cli
