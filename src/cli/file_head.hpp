// The beginning of a large file, read once more where a header turns out to be longer.
#pragma once

#include "llmcalc/read/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace llmcalc::cli {

class FileHead {
 public:
  /// \throws quantity::BadInput for a file that cannot be read
  explicit FileHead(std::filesystem::path path);
  ~FileHead();
  FileHead(const FileHead&) = delete;
  FileHead& operator=(const FileHead&) = delete;

  /// The first `count` octets at least, or all there are.
  /// \throws quantity::BadInput beyond what any header has
  read::FileHead upto(std::uint64_t count);
  std::string name() const { return path_.filename().string(); }

 private:
  void read(std::uint64_t count);
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path path_;
  int file_;
  std::uint64_t size_ = 0;
  std::string bytes_;
};

}  // namespace llmcalc::cli
