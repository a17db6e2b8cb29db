#include "serving/inner/load_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <queue>
#include <utility>

namespace llmcalc::serving {

namespace {

/// A request as the scheduler sees it. Those that decode all make as many tokens a step, so that each is told by what
/// all have made since the beginning, and a step costs no more with many of them.
struct Live {
  double made = 0;    ///< of its answer, while it does not decode
  double unread = 0;  ///< of its prompt, and of its own tokens where it is read again
  double length = 0;  ///< of what is read again or for the first time
  double held = 0;    ///< positions in the cache, less what all have made where it decodes
  double ends = 0;    ///< what all will have made when it has its last token
  double behind = 0;  ///< seconds that its prompt passes the other stages after it has left the first
  bool decodes = false;
  bool runs = false;
};

/// Copies of the attention whose tokens meet at experts take each step together.
struct Clock {
  double now = 0;
  double decided = 0;   ///< when the last step began
  double launched = 0;  ///< when the host had handed over the last one that it launched
  double unpolled = 0;  ///< steps that decoded since those that came were looked at
  bool looks = true;    ///< at those that came, in this step
};

/// Work of a copy in a step: seconds of its own, tokens of prompts, and steps in which nothing changes.
struct Due {
  double own = 0;
  double read = 0;
  double length = 0;  ///< tokens times the length of each one's prompt
  double steps = 1;
  bool launches = false;
};

/// Sequences of one kind: what they hold and have before them.
struct Held {
  double sequences = 0;
  double positions = 0;
  double to_come = 0;  ///< tokens still to be written, and to be read
};

class Scheduler {
 public:
  Scheduler(const SteppedEngine& engine, Clock& clock, std::vector<spec::Request> requests, std::int64_t clients)
      : engine_(engine), clock_(clock), requests_(std::move(requests)), lives_(requests_.size()) {
    done_.requests.resize(requests_.size());
    const auto first = clients > 0 ? std::min<std::size_t>(static_cast<std::size_t>(clients), requests_.size()) : 0;
    closed_ = clients > 0;
    if (engine.wait_steps > 0 && !requests_.empty()) step_ = engine.decode(1, static_cast<double>(requests_[0].prompt));
    while (sent_ < (closed_ ? first : requests_.size())) send(requests_[sent_].arrival);
  }

  bool is_done() const { return answered_ == requests_.size(); }
  bool is_idle() const { return running() < 1 && waiting_.empty(); }
  double next() const { return coming_.empty() ? std::numeric_limits<double>::infinity() : coming_.top().first; }
  Stepped done() { return std::move(done_); }

  /// Requests of a step are decided when it begins, or with the step before it.
  bool has_come() const { return next() <= (engine_.ahead ? clock_.decided : clock_.now); }
  void take_arrived() {
    if (!clock_.looks && !engine_.gathers) return;
    for (; has_come(); coming_.pop()) waiting_.push_back(coming_.top().second);
  }
  bool waits() const { return !waiting_.empty(); }
  double running() const { return decoding_.sequences + reading_.sequences; }

  /// Sequences that are decoded take their tokens of the step first, then prompts that were begun, then those that
  /// wait.
  Due due() {
    make_room();
    read_ = lengths_ = 0;
    double handed = engine_.step_tokens;
    if (engine_.comes_read) admit(handed);
    if (engine_.comes_read) join(false);
    decodes_ = decoding_.sequences;
    const bool counts_tokens = !engine_.prompts_alone && !engine_.whole_prompts;
    double room = engine_.step_tokens - (counts_tokens ? engine_.judged * decodes_ : 0.0);
    for (std::size_t i = 0; i < prompts_.size() && room > 0; ++i) read(prompts_[i], room);
    admit(room);
    preempts_ = false;
    if (read_ > 0 && engine_.prompts_alone) decodes_ = 0;
    const double step = decodes_ > 0 ? engine_.decode(decodes_, decoding_.positions / decodes_) : 0.0;
    if (decodes_ > 0) step_ = step;
    const double prompt = read_ > 0 ? engine_.prompt(read_, lengths_ / read_) / engine_.stages : 0.0;
    const bool launches = read_ > 0 && read_ + engine_.judged * decodes_ > engine_.replayed;
    behind_ = (engine_.stages - 1) * (launches ? std::max(prompt, engine_.launch_s) : prompt);
    return {.own = prompt + step,
            .read = read_,
            .length = lengths_,
            .steps = read_ > 0 ? 1.0 : alike(step),
            .launches = launches};
  }

  /// So many steps, which have ended now.
  void end(double began, double steps) {
    done_.waited += (clock_.now - began) * static_cast<double>(waiting_.size() - interrupted_);
    if (decodes_ > 0) decode(steps * engine_.tokens);
    join(true);
    leave();
  }

 private:
  void send(double at) {
    const std::size_t index = sent_++;
    done_.requests[index].sent = at;
    const auto prompt = static_cast<double>(requests_[index].prompt);
    const double way = engine_.request_s + engine_.token_s * prompt;
    const double front = engine_.front_s + engine_.front_token_s * prompt;
    front_ = std::max(front_, at) + front;
    coming_.push({std::max(front_, at + way) + engine_.wait_steps * step_, index});
  }

  double used() const {
    return engine_.seat_share * running() + engine_.position_share * (decoding_.positions + reading_.positions);
  }
  double output_of(std::size_t index) const {
    return engine_.reads_only ? 1.0 : static_cast<double>(requests_[index].output);
  }

  void add(Held& held, const Live& live, std::size_t index, double sign) const {
    held.sequences += sign;
    held.positions += sign * (live.held + (live.decodes ? progress_ : 0.0));
    held.to_come += sign * (live.decodes ? live.ends - progress_ : output_of(index) - live.made + live.unread);
  }

  /// The last that was let in gives its room up, and is read again before others (vLLM v1/core/sched/scheduler.py,
  /// schedule: preemption of self.running.pop(); SGLang managers/schedule_batch.py, retract_decode: those with the
  /// fewest tokens).
  void make_room() {
    const double grown = engine_.position_share * engine_.tokens;
    while (running() > 1 && used() + grown * running() > 1.0) {
      while (!lives_[order_.back()].runs) order_.pop_back();
      const std::size_t index = order_.back();
      order_.pop_back();
      Live& last = lives_[index];
      add(last.decodes ? decoding_ : reading_, last, index, -1);
      if (last.decodes) last.made = output_of(index) - (last.ends - progress_);
      last.decodes = last.runs = false;
      std::erase(prompts_, index);
      waiting_.push_front(index);
      if (last.made > 0) ++interrupted_;
      ++done_.preempted;
      preempts_ = true;
    }
  }

  bool has_room(std::size_t index, double length) const {
    const double ahead =
        output_of(index) - lives_[index].made + reading_.to_come + decoding_.to_come;  // of all, once it runs
    const double positions = length + engine_.kept_ahead * ahead;
    return running() < 1 || used() + engine_.seat_share + engine_.position_share * positions <= 1.0;
  }

  /// Reads as much of a prompt as the step has room for.
  void read(std::size_t index, double& room) {
    Live& live = lives_[index];
    const double tokens = std::min(live.unread, room);
    live.unread -= tokens;
    live.held += tokens;
    reading_.positions += tokens;
    reading_.to_come -= tokens;
    room -= tokens;
    read_ += tokens;
    lengths_ += tokens * live.length;
  }

  void admit(double& room) {
    if (engine_.gathers && !clock_.looks) return;
    while (!preempts_ && !waiting_.empty() && room > 0 && running() < engine_.sequences) {
      const std::size_t index = waiting_.front();
      Live& live = lives_[index];
      const double length =
          std::max(static_cast<double>(requests_[index].prompt) + live.made - engine_.shared_prefix, 1.0);
      if (length > room && length <= engine_.step_tokens && engine_.whole_prompts) return;
      if (!has_room(index, length)) return;
      waiting_.pop_front();
      if (live.made > 0) --interrupted_;
      order_.push_back(index);
      const bool is_read = engine_.comes_read && live.made == 0;
      live = {.made = live.made, .unread = is_read ? 0 : length, .length = length, .held = is_read ? length : 0};
      live.runs = true;
      add(reading_, live, index, 1);
      prompts_.push_back(index);
      read(index, room);
    }
  }

  /// Steps of the same sequences: until one ends, one comes, or the cache is full.
  double alike(double step) const {
    constexpr double most = 64;  // for which the positions that they begin with stand
    if (decodes_ < 1) return is_idle() && coming_.empty() ? most : 1.0;
    double steps = ends_.empty() ? 1.0 : (ends_.top().first - progress_) / engine_.tokens;
    if (!coming_.empty()) steps = std::min(steps, until_known(step));
    if (engine_.gathers) steps = std::min(steps, engine_.poll_steps - clock_.unpolled);
    const double grown = engine_.position_share * engine_.tokens * decoding_.sequences;
    if (grown > 0) steps = std::min(steps, std::floor((1.0 - used()) / grown));
    return std::clamp(std::ceil(steps), 1.0, most);
  }

  double until_known(double step) const {
    const double coming = (coming_.top().first - clock_.now) / step;
    return coming > 0 ? coming : engine_.poll_steps - clock_.unpolled;
  }

  /// When a token of this step is with its client.
  double handed_on() const { return clock_.now + engine_.seat_s * running(); }

  void decode(double tokens) {
    progress_ += tokens;
    decoding_.positions += tokens * decoding_.sequences;
    decoding_.to_come -= tokens * decoding_.sequences;
    for (const std::size_t index : fresh_) done_.requests[index].first = handed_on();
    fresh_.clear();
  }

  /// Those whose prompts are read go on to decode, most with a first token.
  void join(bool with_first) {
    while (!prompts_.empty() && lives_[prompts_.front()].unread <= 0) {
      const std::size_t index = prompts_.front();
      prompts_.pop_front();
      Live& live = lives_[index];
      add(reading_, live, index, -1);
      live.behind = behind_;
      if (live.made == 0) {
        if (with_first) done_.requests[index].first = handed_on() + behind_;
        if (!with_first) fresh_.push_back(index);
      }
      const double first = with_first ? 1.0 : 0.0;
      live.decodes = true;
      live.ends = progress_ + output_of(index) - live.made - first;
      live.held += first - progress_;
      add(decoding_, live, index, 1);
      ends_.push({live.ends, index});
    }
  }

  void leave() {
    const double last = handed_on();
    constexpr double whole = 1e-6;  // of a token
    for (; !ends_.empty() && ends_.top().first <= progress_ + whole; ends_.pop()) {
      const auto [ends, index] = ends_.top();
      Live& live = lives_[index];
      if (!live.decodes || live.ends != ends) continue;  // It was preempted since.
      add(decoding_, live, index, -1);
      live.decodes = live.runs = false;
      done_.requests[index].last = last + live.behind;
      ++answered_;
      if (closed_ && sent_ < requests_.size()) send(clock_.now + live.behind);
    }
  }

  using Timed = std::pair<double, std::size_t>;
  using Queue = std::priority_queue<Timed, std::vector<Timed>, std::greater<>>;

  const SteppedEngine& engine_;
  Clock& clock_;
  std::vector<spec::Request> requests_;
  std::vector<Live> lives_;
  bool closed_ = false;
  double front_ = 0;     ///< when the server's process has taken up the last request
  double step_ = 0;      ///< seconds of the last one that decoded
  double progress_ = 0;  ///< tokens that a sequence would have made that has decoded since the beginning
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  Queue coming_;  ///< on their way to the scheduler
  std::deque<std::size_t> waiting_;
  std::size_t interrupted_ = 0;      ///< of these, within their answer
  std::deque<std::size_t> prompts_;  ///< that are being read, in the order in which they were let in
  std::vector<std::size_t> order_;   ///< of all that were let in, also of some that have left
  std::vector<std::size_t> fresh_;   ///< that decode and have no token yet
  Queue ends_;                       ///< of those that decode
  Held reading_;
  Held decoding_;
  bool preempts_ = false;
  double decodes_ = 0;  ///< sequences of this step that make tokens
  double behind_ = 0;   ///< seconds of this step's prompts in the other stages
  double read_ = 0;     ///< tokens of prompts in this step
  double lengths_ = 0;  ///< times the length of each one's prompt
  Stepped done_;
};

/// Another copy is sent as many requests as long, in another order.
std::vector<spec::Request> turned(std::span<const spec::Request> requests, std::size_t by) {
  std::vector<spec::Request> all(requests.begin(), requests.end());
  for (std::size_t i = 0; by > 0 && i < all.size(); ++i) {
    const auto& other = requests[(i + by) % all.size()];
    all[i] = {requests[i].arrival, other.prompt, other.output};
  }
  return all;
}

/// A step of all copies, which wait for the one that has most to do before their tokens meet at the experts; those read
/// as much as all copies together. The host launches the kernels of prompts and of tokens once. It begins when it knows
/// what the step holds, and has launched the step before.
void step(const SteppedEngine& engine, std::span<Scheduler> copies, Clock& clock) {
  Due all{.steps = std::numeric_limits<double>::infinity()};
  for (Scheduler& each : copies) {
    const Due due = each.due();
    const double met = due.read > 0 && copies.size() > 1 ? engine.met(due.read, due.length / due.read) : 0.0;
    all.own = std::max(all.own, due.own - met);
    all.read += due.read;
    all.length += due.length;
    all.steps = std::min(all.steps, due.steps);
    all.launches = all.launches || due.launches;
  }
  const double mean = all.read / static_cast<double>(copies.size());
  double lasts = all.own;
  if (copies.size() > 1 && mean > 0) lasts += engine.met(std::max(mean, 1.0), all.length / all.read);
  const double began = clock.now;
  if (all.launches) {
    clock.launched = (engine.ahead ? std::max(clock.decided, clock.launched) : began) + engine.launch_s;
    lasts = std::max(lasts, clock.launched - began);
  }
  clock.now += all.steps * lasts;
  clock.decided = all.steps > 1 ? clock.now - lasts : began;
  if (engine.gathers && clock.looks) clock.unpolled = 0;
  const bool again = all.read > 0 && !engine.gathers;
  clock.unpolled = again ? 0.0 : std::fmod(clock.unpolled + all.steps, engine.poll_steps);
  for (Scheduler& each : copies) each.end(began, all.steps);
}

/// Requests that came are looked at every so many steps: SGLang does so when it has decoded them or read a prompt
/// (srt/managers/scheduler_recv_skipper.py, weights 1 and 1,000), TensorRT-LLM, where copies shall read together, when
/// they are over, all have one, or one has nothing to do (_torch/pyexecutor/py_executor.py, _balance_adp_requests).
bool looks(const SteppedEngine& engine, std::span<const Scheduler> copies, const Clock& clock) {
  const auto rests = [](const Scheduler& each) { return each.running() < 1; };
  return clock.unpolled <= 0 || std::ranges::any_of(copies, rests) ||
         (engine.gathers && std::ranges::all_of(copies, &Scheduler::waits));
}

}  // namespace

Stepped step_through(const SteppedEngine& engine, std::span<const spec::Request> requests, std::int64_t clients) {
  Clock clock;
  std::vector<Scheduler> copies;
  for (std::size_t i = 0; i < engine.together; ++i)
    copies.emplace_back(engine, clock, turned(requests, i * requests.size() / engine.together), clients);
  while (!copies.front().is_done()) {
    if (engine.gathers) std::ranges::for_each(copies, &Scheduler::take_arrived);
    clock.looks = looks(engine, copies, clock);
    std::ranges::for_each(copies, &Scheduler::take_arrived);
    if (std::ranges::all_of(copies, &Scheduler::is_idle)) {
      clock.decided = clock.now = std::max(clock.now, std::ranges::min_element(copies, {}, &Scheduler::next)->next());
    } else {
      step(engine, copies, clock);
    }
  }
  return copies.front().done();
}

}  // namespace llmcalc::serving
