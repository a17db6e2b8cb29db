// Weight files by their headers: some megabytes of what may be hundreds of gigabytes.
#pragma once

#include "llmcalc/read/checkpoint.hpp"
#include "llmcalc/read/launch.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace llmcalc::cli {

/// What a file's first bytes say it is; empty for text.
enum class WeightFile { none, gguf, safetensors };
WeightFile weight_file(const std::filesystem::path& path);

/// A GGUF file with all its splits, or a safetensors file.
read::Checkpoint read_weight_file(const std::filesystem::path& path, WeightFile kind);

/// All weights of a model's folder; empty where it has none.
std::optional<read::Checkpoint> read_weight_folder(const std::filesystem::path& folder);

}  // namespace llmcalc::cli
