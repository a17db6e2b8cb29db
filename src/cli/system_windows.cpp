#include "cli/system.hpp"

#include <algorithm>
#include <fcntl.h>
#include <io.h>
#include <limits>
#include <memory>
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// Needs windows.h before it.
#include <shellapi.h>

namespace llmcalc::cli {

SharedLibrary::SharedLibrary(std::span<const char* const> names) {
  for (const char* name : names) {
    if (library_ == nullptr) library_ = LoadLibraryA(name);
  }
}

void* SharedLibrary::address(const char* name) const {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library_), name));
}

namespace {

[[noreturn]] void throw_last_error() {
  throw std::system_error(static_cast<int>(GetLastError()), std::system_category());
}

HANDLE handle_of(std::intptr_t file) { return reinterpret_cast<HANDLE>(file); }

std::string utf8_of(const wchar_t* text) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  std::string bytes(static_cast<std::size_t>(std::max(size, 1)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes.data(), size, nullptr, nullptr);
  bytes.pop_back();  // the zero at the end
  return bytes;
}

}  // namespace

PlacedFile::PlacedFile(const std::filesystem::path& path)
    : file_(reinterpret_cast<std::intptr_t>(CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr,
                                                        OPEN_EXISTING, FILE_FLAG_RANDOM_ACCESS, nullptr))) {
  if (handle_of(file_) == INVALID_HANDLE_VALUE) throw_last_error();
}

PlacedFile::~PlacedFile() { CloseHandle(handle_of(file_)); }

std::uint64_t PlacedFile::size() const {
  LARGE_INTEGER size{};
  return GetFileSizeEx(handle_of(file_), &size) != 0 ? static_cast<std::uint64_t>(size.QuadPart) : 0;
}

std::size_t PlacedFile::read(std::uint64_t from, std::span<char> room) const {
  std::size_t present = 0;
  while (present < room.size()) {
    const auto rest = std::min<std::size_t>(room.size() - present, std::numeric_limits<DWORD>::max());
    const std::uint64_t place = from + present;
    OVERLAPPED where{};
    where.Offset = static_cast<DWORD>(place);
    where.OffsetHigh = static_cast<DWORD>(place >> 32U);
    DWORD got = 0;
    const bool done = ReadFile(handle_of(file_), room.data() + present, static_cast<DWORD>(rest), &got, &where) != 0;
    if (!done && GetLastError() != ERROR_HANDLE_EOF) throw_last_error();
    if (got == 0) break;
    present += got;
  }
  return present;
}

void PlacedFile::fetch_ahead(std::uint64_t) const {}

/// Arguments of main() have lost the letters that the machine's code page lacks.
std::vector<std::string> words_of(int, char**) {
  int count = 0;
  const std::unique_ptr<LPWSTR[], decltype(&LocalFree)> all(CommandLineToArgvW(GetCommandLineW(), &count), LocalFree);
  std::vector<std::string> words;
  for (int at = 1; at < count; ++at) words.push_back(utf8_of(all[static_cast<std::size_t>(at)]));
  return words;
}

bool is_terminal(std::FILE* stream) { return _isatty(_fileno(stream)) != 0; }

/// Line ends stay as they are, and a console takes UTF-8 and colours (Microsoft, "Console Virtual Terminal Sequences").
void prepare_streams() {
  for (std::FILE* stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
  for (const DWORD id : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
    DWORD mode = 0;
    const HANDLE console = GetStdHandle(id);
    if (GetConsoleMode(console, &mode) != 0) SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

/// The stack's size stands in the program itself.
void on_enough_stack(std::size_t, const std::function<void()>& work) { work(); }

std::optional<ProcessorGraphics> processor_graphics() { return std::nullopt; }

}  // namespace llmcalc::cli
