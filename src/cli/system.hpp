// The system calls that C++ has no words for; a source for each kind of operating system.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace llmcalc::cli {

/// A library that is loaded when something is first asked of it, and stays loaded.
class SharedLibrary {
 public:
  /// The first of those names that is here.
  explicit SharedLibrary(std::span<const char* const> names);
  bool is_here() const { return library_ != nullptr; }

  /// Null where the library has no function of that name.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const char* name) const;

  void* library_ = nullptr;
};

/// A file that is read at any place of it.
class PlacedFile {
 public:
  /// \throws std::system_error for a file that cannot be read
  explicit PlacedFile(const std::filesystem::path& path);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  std::uint64_t size() const;

  /// Fills the room, or as much of it as the file has from that place on.
  /// \throws std::system_error where the machine cannot read it
  std::size_t read(std::uint64_t from, std::span<char> room) const;

  /// Has the machine fetch the first octets while others are read; it fetches nothing else ahead.
  void fetch_ahead(std::uint64_t count) const;

 private:
  std::intptr_t file_;
};

/// The words after the program's name, in UTF-8.
std::vector<std::string> words_of(int argc, char** argv);

bool is_terminal(std::FILE* stream);

/// Has the streams take text as it is written. A reader that went away ends the writing, not the program:
/// `llmcalc model list | head` is no error.
void prepare_streams();

/// Does something on a stack of that many octets where the shell's (ulimit -s) is smaller.
void on_enough_stack(std::size_t enough, const std::function<void()>& work);

/// Graphics that are part of the processor and tell of themselves by no driver of their own.
struct ProcessorGraphics {
  std::string name;  ///< the processor's
  std::uint64_t memory = 0;
};
std::optional<ProcessorGraphics> processor_graphics();

}  // namespace llmcalc::cli
