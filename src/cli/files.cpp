#include "cli/files.hpp"

#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

/// A config.json has some kilobytes, the largest preset file some hundred. More is the wrong file, or an endless one.
constexpr std::size_t largest_file = 64U << 20;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void throw_unreadable(const std::filesystem::path& path, std::string_view place, int reason) {
  throw BadInput(std::string(place), "cannot read '" + path.string() + "': " + std::strerror(reason));
}

}  // namespace

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string read_file(const std::filesystem::path& path, std::string_view place) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw_unreadable(path, place, errno);
  std::string text;
  std::array<char, 1 << 16> block{};
  while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), count);
    if (text.size() > largest_file) throw BadInput(std::string(place), "'" + path.string() + "' is larger than 64 MiB");
  }
  if (std::ferror(file.get()) != 0) throw_unreadable(path, place, errno);
  return text;
}

std::vector<read::PresetFile> read_presets(const std::filesystem::path& folder, std::string_view place) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<read::PresetFile> files;
  for (const auto& path : paths) files.push_back({path.string(), read_file(path, place)});
  return files;
}

}  // namespace llmcalc::cli
