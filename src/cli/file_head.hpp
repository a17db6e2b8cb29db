// The beginning of a large file, a part at a time.
#pragma once

#include "read/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace llmcalc::cli {

/// Has the machine fetch the first octets of a file that is read later, while others are read.
void fetch_ahead(const std::filesystem::path& path, std::uint64_t count);

class FileHead {
 public:
  /// \throws quantity::BadInput for a file that cannot be read
  explicit FileHead(std::filesystem::path path);
  ~FileHead();
  FileHead(const FileHead&) = delete;
  FileHead& operator=(const FileHead&) = delete;

  /// The first `count` octets, or all there are.
  read::FileHead first(std::uint64_t count);

  /// The file in parts of so many octets or as many as are asked for, which are read one after the other while the
  /// machine fetches the first `expected`.
  /// \throws quantity::BadInput beyond what any header has
  read::FileHead in_parts(std::uint64_t part, std::uint64_t expected);
  std::string name() const { return path_.filename().string(); }

 private:
  std::string_view read(std::uint64_t from, std::uint64_t count);
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;
  int file_;
  std::uint64_t size_ = 0;
  std::string bytes_;
};

}  // namespace llmcalc::cli
