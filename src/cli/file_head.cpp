#include "cli/file_head.hpp"

#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace llmcalc::cli {

using quantity::BadInput;

namespace {

/// Headers end long before: the largest vocabularies take some ten megabytes.
constexpr std::uint64_t most_read = std::uint64_t{256} << 20U;

}  // namespace

void fetch_ahead(const std::filesystem::path& path, std::uint64_t count) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  posix_fadvise(file, 0, static_cast<off_t>(count), POSIX_FADV_WILLNEED);
  close(file);
}

/// Nothing behind the header is looked at, so nothing is read ahead: of 200 shards that would be 25 MiB.
FileHead::FileHead(std::filesystem::path path)
    : path_(std::move(path)), file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) refuse(errno);
  struct stat facts {};
  if (fstat(file_, &facts) == 0) size_ = static_cast<std::uint64_t>(facts.st_size);
  posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM);
}

FileHead::~FileHead() { close(file_); }

read::FileHead FileHead::first(std::uint64_t count) { return {read(0, std::min(count, size_)), size_}; }

read::FileHead FileHead::in_parts(std::uint64_t part, std::uint64_t expected) {
  if (expected > part) posix_fadvise(file_, 0, static_cast<off_t>(expected), POSIX_FADV_WILLNEED);
  const auto further = [this, part](std::uint64_t from, std::uint64_t count) {
    if (from + count > most_read) throw BadInput(name(), "has a header of more than 256 MiB, which none has");
    return read(from, std::clamp(part, count, size_ - from));
  };
  return {{}, size_, further};
}

std::string_view FileHead::read(std::uint64_t from, std::uint64_t count) {
  if (bytes_.size() < count) bytes_.resize(count);
  std::uint64_t present = 0;
  while (present < count) {
    const auto got = pread(file_, bytes_.data() + present, count - present, static_cast<off_t>(from + present));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse(got < 0 ? errno : EIO);
    present += static_cast<std::size_t>(got);
  }
  return std::string_view(bytes_).substr(0, count);
}

void FileHead::refuse(int error) const {
  throw BadInput("--from", "cannot read '" + path_.string() + "': " + std::generic_category().message(error));
}

}  // namespace llmcalc::cli
