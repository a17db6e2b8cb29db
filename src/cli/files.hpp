// Files that the user names.
#pragma once

#include "llmcalc/read/presets.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

/// The whole of a text file.
/// \throws quantity::BadInput at `place` when it cannot be read or is no file that a person wrote
std::string read_file(const std::filesystem::path& path, std::string_view place);

/// The *.json files of a folder, by name; none when there is no such folder.
std::vector<read::PresetFile> read_presets(const std::filesystem::path& folder, std::string_view place);

}  // namespace llmcalc::cli
