// What --from names: a file, a folder, a command, a model of the Hub, an address of the web. Bytes are read here; what
// they mean is read's.
#pragma once

#include "dialects/reading.hpp"
#include "read/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::cli {

struct HubEnvironment;

/// Whether a word can only be such a thing, and no preset's name.
bool is_thing(const std::string& word);

/// A file or folder that is there.
dialects::Reading read_path(const std::filesystem::path& path);

/// Whether a folder holds a configuration or weights.
bool holds_model(const std::filesystem::path& folder);

/// \throws quantity::BadInput when it is nothing that is known
dialects::Reading read_thing(const std::string& thing);

/// "https://…", "http://…", and a repository as git writes it.
bool is_address(std::string_view thing);

/// A launch file at an address, of GitHub and the Hub also by the page that shows it, or a model of the Hub by its
/// page. Files that it names are elsewhere and not asked for. \throws quantity::BadInput where it is neither, or cannot
/// be read
dialects::Reading read_address(const std::string& address, const HubEnvironment& hub);

/// A launch file or a configuration from elsewhere: what it names is there and not asked for.
dialects::Reading read_alone(std::string_view text, std::string_view name);

/// Files that a thing names, where they lie in its folder or below, or in one between that and the working directory.
dialects::FindFile files_below(const std::string& folder);

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
