#include "cli/plan_pool.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace llmcalc::cli {

using api::PoolOptions;
using api::Searched;

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

class Pool {
 public:
  Pool(const search::PlanSpace& space, const PoolOptions& options, bool draws);
  Searched run();

 private:
  void work(search::PlanSearch& search);
  bool is_over() const { return interrupted || over_.load(std::memory_order_relaxed); }
  void draw() const;
  void watch() const;

  const search::PlanSpace& space_;
  const PoolOptions& options_;
  bool draws_;
  std::size_t units_;  ///< of this shard
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> over_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
};

Pool::Pool(const search::PlanSpace& space, const PoolOptions& options, bool draws)
    : space_(space), options_(options), draws_(draws), units_(options.units_of(space.units().size())) {}

void Pool::work(search::PlanSearch& search) try {
  while (!is_over()) {
    const std::size_t n = next_++;
    if (n >= units_) return;
    search.search(space_.units()[options_.unit(n)]);
    ++done_;
    if (options_.stops_at_first && search.fitting() > 0) over_ = true;
  }
} catch (...) {
  if (!failed_.exchange(true)) failure_ = std::current_exception();
  over_ = true;
}

void Pool::draw() const {
  constexpr std::size_t width = 30;
  const std::size_t filled = units_ == 0 ? width : width * done_ / units_;
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  std::fputs(fmt::format("\r[{}] {:3} %", bar, units_ == 0 ? 100 : 100 * done_ / units_).c_str(), stderr);
  std::fflush(stderr);
}

/// Short searches show nothing.
void Pool::watch() const {
  using namespace std::chrono_literals;
  for (int ticks = 0; done_ < units_ && !is_over(); ++ticks) {
    std::this_thread::sleep_for(20ms);
    if (ticks >= 25 && ticks % 5 == 0) draw();
  }
  std::fputs("\r\033[K", stderr);
}

Searched Pool::run() {
  interrupted = false;
  const InterruptGuard guard;
  std::vector<search::PlanSearch> searches;
  for (unsigned i = 0; i < options_.threads; ++i) searches.emplace_back(space_);
  std::vector<std::thread> threads;
  for (std::size_t i = draws_ ? 0 : 1; i < searches.size(); ++i) {
    threads.emplace_back([this, &searches, i] { work(searches[i]); });
  }
  if (draws_) {
    watch();
  } else {
    work(searches.front());
  }
  for (auto& thread : threads) thread.join();
  if (failure_) std::rethrow_exception(failure_);
  Searched result;
  for (const auto& search : searches) {
    result.findings = search::merge(space_, result.findings, search.findings());
  }
  result.share = units_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(units_);
  if (options_.stops_at_first) result.share = interrupted ? result.share : 1.0;
  return result;
}

}  // namespace

Searched search(const search::PlanSpace& space, const PoolOptions& options, bool draws) {
  return Pool(space, options, draws).run();
}

unsigned default_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace llmcalc::cli
