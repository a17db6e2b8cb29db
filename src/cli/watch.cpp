#include "cli/watch.hpp"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

namespace llmcalc::cli {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a signal handler reaches nothing else
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "what a signal handler may write");

/// A second one is deadly as ever.
extern "C" void note_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

/// Notes Ctrl-C instead of dying of it.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, note_interrupt)) {}
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*before_)(int);
};

std::string bar_of(double share) {
  constexpr std::size_t width = 30;
  constexpr double percent = 100.0;
  const auto filled = static_cast<std::size_t>(share * width);
  return fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(width - filled, '.'), percent * share);
}

}  // namespace

Notice::~Notice() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Notice::show(std::string_view text) {
  next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  shown_ = true;
  std::fputs(fmt::format("\r\033[K{}", text).c_str(), stderr);
  std::fflush(stderr);
}

void watch(const std::function<void(const api::GoesOn&)>& work, bool draws) {
  interrupted = false;
  const InterruptGuard guard;
  Notice notice;
  work([&](double share) {
    if (draws && notice.is_due()) notice.show(bar_of(share));
    return !interrupted.load();
  });
}

}  // namespace llmcalc::cli
