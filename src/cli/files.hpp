// Files that the user names.
#pragma once

#include "llmcalc/llmcalc.hpp"
#include "read/presets.hpp"

#include <filesystem>
#include <span>
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

/// Puts files into a folder, which it makes.
/// \throws quantity::BadInput at `place`, before anything is written, when one is there already and `over` is false
void write_files(const std::filesystem::path& folder, std::span<const LaunchFile> files, bool over,
                 std::string_view place);

/// The *.json files of a folder, by name; none when there is no such folder.
std::vector<read::PresetFile> read_presets(const std::filesystem::path& folder, std::string_view place);

}  // namespace llmcalc::cli
