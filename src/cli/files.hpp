// Files that the user names, whole and by their beginnings.
#pragma once

#include "cli/system.hpp"
#include "llmcalc/llmcalc.hpp"
#include "read/checkpoint.hpp"
#include "read/presets.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace llmcalc::cli {

/// The whole of a text file.
/// \throws quantity::BadInput at `place` when it cannot be read or is no file that a person wrote
std::string read_file(const std::filesystem::path& path, std::string_view place);

/// False as well where nobody may look.
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

/// A variable of the environment. An empty one counts as unset: both no-color.org and the XDG base directory
/// specification say so.
std::string variable(const char* name);

/// The folder in which a file lies, "." where its path says none.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Puts files into a folder, which it makes.
/// \throws quantity::BadInput at `place`, before anything is written, when one is there already and `over` is false
void write_files(const std::filesystem::path& folder, std::span<const LaunchFile> files, bool over,
                 std::string_view place);

/// The *.json files of a folder, by name; none when there is no such folder.
std::vector<read::PresetFile> read_presets(const std::filesystem::path& folder, std::string_view place);

/// Has the machine fetch the first octets of a file that is read later, while others are read.
void fetch_ahead(const std::filesystem::path& path, std::uint64_t count);

/// The beginning of a large file, a part at a time.
class FileHead {
 public:
  /// \throws quantity::BadInput for a file that cannot be read
  explicit FileHead(std::filesystem::path path);

  /// The first `count` octets, or all there are.
  read::FileHead first(std::uint64_t count);

  /// The file in parts of so many octets or as many as are asked for, which are read one after the other while the
  /// machine fetches the first `expected`.
  /// \throws quantity::BadInput beyond what any header has
  read::FileHead in_parts(std::uint64_t part, std::uint64_t expected);
  std::string name() const { return path_.filename().string(); }

 private:
  std::string_view read(std::uint64_t from, std::uint64_t count);
  [[noreturn]] void refuse(std::error_code error) const;

  std::filesystem::path path_;
  std::optional<PlacedFile> file_;
  std::uint64_t size_ = 0;
  std::string bytes_;
};

}  // namespace llmcalc::cli
