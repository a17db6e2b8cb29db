// Weight files by their headers: some megabytes of what may be hundreds of gigabytes.
#pragma once

#include "read/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace llmcalc::cli {

/// The kind that a file's first bytes say it is, or else its name, so that one that is broken is called so; none for
/// text.
enum class WeightFile { none, gguf, safetensors };
WeightFile weight_file(const std::filesystem::path& path);

/// Holds the header of most shards.
inline constexpr std::uint64_t safetensors_start = std::uint64_t{16} << 10U;

/// A GGUF file with all its splits, or a safetensors file.
read::Checkpoint read_weight_file(const std::filesystem::path& path, WeightFile kind);

/// One of the files that a GGUF is split into, by its name; empty where it is not there.
using FindSplit = std::function<std::optional<read::Checkpoint>(const std::string& name)>;
/// A GGUF of that name with all its splits.
read::Checkpoint with_splits(read::Checkpoint first, const std::string& name, const FindSplit& find);

/// model.safetensors.index.json, which stands for the folder that it lies in.
bool is_shard_index(const std::filesystem::path& path);

/// All weights of a model's folder; empty where it has none.
std::optional<read::Checkpoint> read_weight_folder(const std::filesystem::path& folder);

/// The GGUF behind "name:tag" (docs: registry manifests, an OCI index whose layer of the model's type is the file), in
/// OLLAMA_MODELS or ~/.ollama/models; empty where it is not there.
std::optional<std::filesystem::path> ollama_model(const std::string& name);

}  // namespace llmcalc::cli
