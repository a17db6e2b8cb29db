#include "cli/system.hpp"

#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <array>
#include <sys/sysctl.h>
#endif

namespace llmcalc::cli {

SharedLibrary::SharedLibrary(std::span<const char* const> names) {
  for (const char* name : names) {
    if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
  }
}

void* SharedLibrary::address(const char* name) const { return dlsym(library_, name); }

namespace {

[[noreturn]] void throw_error(int error) { throw std::system_error(error, std::generic_category()); }

}  // namespace

/// Nothing behind the header is looked at, so nothing is read ahead: of 200 shards that would be 25 MiB.
PlacedFile::PlacedFile(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) throw_error(errno);
#ifdef POSIX_FADV_RANDOM  // which macOS has not
  posix_fadvise(static_cast<int>(file_), 0, 0, POSIX_FADV_RANDOM);
#endif
}

PlacedFile::~PlacedFile() { close(static_cast<int>(file_)); }

std::uint64_t PlacedFile::size() const {
  struct stat facts {};
  return fstat(static_cast<int>(file_), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

std::size_t PlacedFile::read(std::uint64_t from, std::span<char> room) const {
  std::size_t present = 0;
  while (present < room.size()) {
    const auto rest = room.subspan(present);
    const auto got = pread(static_cast<int>(file_), rest.data(), rest.size(), static_cast<off_t>(from + present));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_error(errno);
    if (got == 0) break;
    present += static_cast<std::size_t>(got);
  }
  return present;
}

void PlacedFile::fetch_ahead([[maybe_unused]] std::uint64_t count) const {
#ifdef POSIX_FADV_WILLNEED
  posix_fadvise(static_cast<int>(file_), 0, static_cast<off_t>(count), POSIX_FADV_WILLNEED);
#endif
}

std::vector<std::string> words_of(int argc, char** argv) { return {argv + (argc > 0 ? 1 : 0), argv + argc}; }

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

void prepare_streams() { std::signal(SIGPIPE, SIG_IGN); }

void on_enough_stack(std::size_t enough, const std::function<void()>& work) {
  rlimit limit{};
  pthread_t thread;
  pthread_attr_t attributes;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= enough) return work();
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, enough);
  const auto run = [](void* given) -> void* {
    (**static_cast<const std::function<void()>**>(given))();
    return nullptr;
  };
  const auto* given = &work;
  const bool begun = pthread_create(&thread, &attributes, run, &given) == 0;
  pthread_attr_destroy(&attributes);
  if (begun) {
    pthread_join(thread, nullptr);
  } else {
    work();
  }
}

/// Apple's processors by sysctl(3), whose names `sysctl -a` lists: "Apple M3 Max", and the memory they share.
std::optional<ProcessorGraphics> processor_graphics() {
#ifdef __APPLE__
  std::array<char, 128> name{};
  std::size_t length = name.size() - 1;
  std::uint64_t memory = 0;
  std::size_t width = sizeof memory;
  if (sysctlbyname("machdep.cpu.brand_string", name.data(), &length, nullptr, 0) == 0 &&
      sysctlbyname("hw.memsize", &memory, &width, nullptr, 0) == 0) {
    return ProcessorGraphics{name.data(), memory};
  }
#endif
  return std::nullopt;
}

}  // namespace llmcalc::cli
