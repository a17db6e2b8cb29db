#include "cli/files.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

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

/// Headers end long before: the largest vocabularies take some ten megabytes.
constexpr std::uint64_t most_read = std::uint64_t{256} << 20U;

}  // namespace

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string read_file(const std::filesystem::path& path, std::string_view place) {
  const File file(std::fopen(path.string().c_str(), "rb"));
  if (!file) throw_unreadable(path, place, errno);
  std::string text;
  std::array<char, 1 << 16> block{};
  while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), count);
    if (text.size() > largest_file) throw BadInput(std::string(place), "'" + path.string() + "' is larger than 64 MiB");
  }
  if (std::ferror(file.get()) != 0) throw_unreadable(path, place, errno);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))  // as PowerShell's ">" writes it
    throw BadInput(std::string(place), "'" + path.string() + "' is written in UTF-16", "save it as UTF-8");
  return text;
}

void write_files(const std::filesystem::path& folder, std::span<const LaunchFile> files, bool over,
                 std::string_view place) {
  std::error_code error;
  for (const LaunchFile& file : files) {
    const auto path = folder / file.name;
    if (over || !std::filesystem::exists(path, error)) continue;
    throw BadInput(std::string(place), "'" + path.string() + "' is there already", "--force writes over it");
  }
  std::filesystem::create_directories(folder, error);
  for (const LaunchFile& file : files) {
    const auto path = folder / file.name;
    const File opened(std::fopen(path.string().c_str(), "wb"));
    const bool written = opened && std::fwrite(file.text.data(), 1, file.text.size(), opened.get()) == file.text.size();
    if (!written || std::fflush(opened.get()) != 0) {
      throw BadInput(std::string(place), "cannot write '" + path.string() + "': " + std::strerror(errno));
    }
    if (file.name.ends_with(".sh")) {
      using std::filesystem::perms;
      std::filesystem::permissions(path, perms::owner_exec, std::filesystem::perm_options::add, error);
    }
  }
}

std::vector<read::PresetFile> read_presets(const std::filesystem::path& folder, std::string_view place) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return quantity::mapped(paths, [&](const auto& path) {
    return read::PresetFile{path.string(), read_file(path, place)};
  });
}

void fetch_ahead(const std::filesystem::path& path, std::uint64_t count) {
  try {
    PlacedFile(path).fetch_ahead(count);
  } catch (const std::system_error&) {
    // Whoever reads it says why it cannot be read.
  }
}

FileHead::FileHead(std::filesystem::path path) : path_(std::move(path)) {
  try {
    size_ = file_.emplace(path_).size();
  } catch (const std::system_error& error) {
    refuse(error.code());
  }
}

read::FileHead FileHead::first(std::uint64_t count) { return {read(0, std::min(count, size_)), size_}; }

read::FileHead FileHead::in_parts(std::uint64_t part, std::uint64_t expected) {
  if (expected > part) file_->fetch_ahead(expected);
  const auto further = [this, part](std::uint64_t from, std::uint64_t count) {
    if (from + count > most_read) throw BadInput(name(), "has a header of more than 256 MiB, which none has");
    return read(from, std::clamp(part, count, size_ - from));
  };
  return {{}, size_, further};
}

std::string_view FileHead::read(std::uint64_t from, std::uint64_t count) {
  if (bytes_.size() < count) bytes_.resize(count);
  try {
    if (file_->read(from, std::span(bytes_.data(), count)) < count) refuse(std::make_error_code(std::errc::io_error));
  } catch (const std::system_error& error) {
    refuse(error.code());
  }
  return std::string_view(bytes_).substr(0, count);
}

void FileHead::refuse(std::error_code error) const {
  throw BadInput("--from", "cannot read '" + path_.string() + "': " + error.message());
}

}  // namespace llmcalc::cli
