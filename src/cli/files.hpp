// Files that the user names.
#pragma once

#include "read/presets.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

/// The whole of a text file.
/// \throws quantity::BadInput at `place` when it cannot be read or is no file that a person wrote
std::string read_file(const std::filesystem::path& path, std::string_view place);

/// False as well where nobody may look.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

/// In which a file lies, "." where its path says none.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// The *.json files of a folder, by name; none when there is no such folder.
std::vector<read::PresetFile> read_presets(const std::filesystem::path& folder, std::string_view place);

}  // namespace llmcalc::cli
