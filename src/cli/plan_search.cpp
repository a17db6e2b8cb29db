#include "cli/plan_search.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

namespace llmcalc::cli {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a signal handler reaches nothing else
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "what a signal handler may write");

extern "C" void note_interrupt(int) { interrupted = true; }

/// Notes Ctrl-C instead of dying of it; a second one is deadly as ever.
class InterruptGuard {
 public:
  InterruptGuard() {
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_ {};
};

/// Short searches show nothing.
class Bar {
 public:
  Bar() = default;
  ~Bar() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void draw(double share) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + 100ms;
    drawn_ = true;
    constexpr std::size_t width = 30;
    const auto filled = static_cast<std::size_t>(share * width);
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    constexpr double percent = 100.0;
    std::fputs(fmt::format("\r[{}] {:3.0f} %", bar, percent * share).c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
};

}  // namespace

api::Searched search(const search::PlanSpace& space, const api::SearchOptions& options, bool draws) {
  interrupted = false;
  const InterruptGuard guard;
  Bar bar;
  return api::search_while(space, options, [&](double share) {
    if (draws) bar.draw(share);
    return !interrupted.load();
  });
}

}  // namespace llmcalc::cli
