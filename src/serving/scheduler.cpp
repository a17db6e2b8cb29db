#include "serving/inner/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <queue>
#include <utility>

namespace llmcalc::serving {

namespace {

/// A request that holds room in the cache.
struct Live {
  std::size_t index = 0;
  double unread = 0;  ///< of its prompt, and of its own tokens where it is read again
  double length = 0;  ///< of what is read again or for the first time
  double held = 0;    ///< positions in the cache
};

class Scheduler {
 public:
  Scheduler(const SteppedEngine& engine, std::span<const spec::Request> requests, std::int64_t clients)
      : engine_(engine), requests_(requests), made_(requests.size()) {
    done_.requests.resize(requests.size());
    const auto first = clients > 0 ? std::min<std::size_t>(static_cast<std::size_t>(clients), requests.size()) : 0;
    closed_ = clients > 0;
    while (sent_ < (closed_ ? first : requests.size())) send(requests[sent_].arrival);
  }

  Stepped run() {
    while (answered_ < requests_.size()) {
      take_arrived();
      if (running_.empty() && waiting_.empty()) {
        now_ = coming_.top().first;
        continue;
      }
      make_room();
      step();
    }
    return std::move(done_);
  }

 private:
  /// Prompts are tokenized one after another, by one thread of the server.
  void send(double at) {
    const std::size_t index = sent_++;
    done_.requests[index].sent = at;
    tokenized_ = std::max(tokenized_, at) + engine_.token_s * static_cast<double>(requests_[index].prompt);
    coming_.push({tokenized_ + engine_.request_s, index});
  }

  void take_arrived() {
    for (; !coming_.empty() && coming_.top().first <= now_; coming_.pop()) waiting_.push_back(coming_.top().second);
  }

  double used() const {
    double share = 0;
    for (const Live& each : running_) share += engine_.seat_share + engine_.position_share * each.held;
    return share;
  }

  double to_come(std::size_t index) const { return static_cast<double>(requests_[index].output) - made_[index]; }

  /// The last that was let in gives its room up, and is read again before others (vLLM v1/core/sched/scheduler.py,
  /// schedule: preemption of self.running.pop(); SGLang managers/schedule_batch.py, retract_decode: those with the
  /// fewest tokens).
  void make_room() {
    const double grown = engine_.position_share * engine_.tokens;
    while (running_.size() > 1 && used() + grown * static_cast<double>(running_.size()) > 1.0) {
      waiting_.push_front(running_.back().index);
      running_.pop_back();
      ++done_.preempted;
      preempts_ = true;
    }
  }

  bool has_room(std::size_t index, double length) const {
    double ahead = to_come(index);
    for (const Live& each : running_) ahead += to_come(each.index) + each.unread;
    const double positions = length + engine_.kept_ahead * ahead;
    return running_.empty() || used() + engine_.seat_share + engine_.position_share * positions <= 1.0;
  }

  /// Reads as much of a prompt as the step has room for.
  void read(Live& live, double& room) {
    const double tokens = std::min(live.unread, room);
    live.unread -= tokens;
    live.held += tokens;
    room -= tokens;
    read_ += tokens;
    lengths_ += tokens * live.length;
  }

  void admit(double& room) {
    while (!preempts_ && !waiting_.empty() && room > 0 && static_cast<double>(running_.size()) < engine_.sequences) {
      const std::size_t index = waiting_.front();
      const double all = static_cast<double>(requests_[index].prompt) + made_[index];
      const double length = std::max(all - engine_.shared_prefix, 1.0);
      const bool cut = length > room && length <= engine_.step_tokens;
      if ((cut && engine_.whole_prompts) || !has_room(index, length)) return;
      waiting_.pop_front();
      const bool is_read = engine_.comes_read && made_[index] == 0;
      running_.push_back({index, is_read ? 0 : length, length, is_read ? length : 0});
      read(running_.back(), room);
    }
  }

  /// What is decoded takes its tokens of the step first, then prompts that were begun, then those that wait.
  void step() {
    read_ = lengths_ = 0;
    double handed = engine_.step_tokens;
    if (engine_.comes_read) admit(handed);
    const auto is_read = [](const Live& each) { return each.unread <= 0; };
    const auto decoding = std::stable_partition(running_.begin(), running_.end(), is_read) - running_.begin();
    auto count = static_cast<std::size_t>(decoding);
    double room = engine_.step_tokens - (engine_.prompts_alone ? 0.0 : engine_.judged * static_cast<double>(count));
    for (std::size_t i = count; i < running_.size() && room > 0; ++i) read(running_[i], room);
    admit(room);
    preempts_ = false;
    if (read_ > 0 && engine_.prompts_alone) count = 0;
    const double step = count > 0 ? engine_.decode(static_cast<double>(count), mean_held(count)) : 0.0;
    const double steps = read_ > 0 || count == 0 ? 1.0 : alike(count, step);
    if (read_ > 0) now_ += engine_.prompt(read_, lengths_ / read_);
    now_ += steps * step;
    for (std::size_t i = 0; i < count; ++i) grow(running_[i], steps * engine_.tokens);
    for (auto i = static_cast<std::size_t>(decoding); i < running_.size(); ++i) {
      if (running_[i].unread <= 0) grow(running_[i], 1.0);
    }
    leave();
  }

  double mean_held(std::size_t count) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += running_[i].held;
    return sum / static_cast<double>(count);
  }

  /// Steps of the same sequences: until one ends, one comes, or the cache is full.
  double alike(std::size_t count, double step) const {
    double steps = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i) steps = std::min(steps, to_come(running_[i].index) / engine_.tokens);
    if (!coming_.empty()) steps = std::min(steps, (coming_.top().first - now_) / step);
    const double grown = engine_.position_share * engine_.tokens * static_cast<double>(count);
    if (grown > 0) steps = std::min(steps, std::floor((1.0 - used()) / grown));
    constexpr double most = 64;  // for which the positions that they begin with stand
    return std::clamp(std::ceil(steps), 1.0, most);
  }

  /// When a token of this step is with its client.
  double handed_on() const { return now_ + engine_.seat_s * static_cast<double>(running_.size()); }

  void grow(Live& live, double tokens) {
    if (made_[live.index] == 0) done_.requests[live.index].first = handed_on();
    made_[live.index] += tokens;
    live.held += tokens;
  }

  void leave() {
    const auto ends = [&](const Live& each) { return each.unread <= 0 && to_come(each.index) <= 0; };
    for (const Live& each : running_) {
      if (!ends(each)) continue;
      done_.requests[each.index].last = handed_on();
      ++answered_;
      if (closed_ && sent_ < requests_.size()) send(now_);
    }
    std::erase_if(running_, ends);
  }

  using Coming = std::pair<double, std::size_t>;

  const SteppedEngine& engine_;
  std::span<const spec::Request> requests_;
  bool closed_ = false;
  double now_ = 0;
  double tokenized_ = 0;  ///< when the server is done with the prompts that it has
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;  ///< on their way to the scheduler
  std::deque<std::size_t> waiting_;
  std::vector<Live> running_;  ///< those that decode in front, in the order in which they were let in
  std::vector<double> made_;
  bool preempts_ = false;
  double read_ = 0;     ///< tokens of prompts in this step
  double lengths_ = 0;  ///< times the length of each one's prompt
  Stepped done_;
};

}  // namespace

Stepped step_through(const SteppedEngine& engine, std::span<const spec::Request> requests, std::int64_t clients) {
  return Scheduler(engine, requests, clients).run();
}

}  // namespace llmcalc::serving
