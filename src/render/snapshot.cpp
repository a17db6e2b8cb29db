// A step as a snapshot of PyTorch's caching allocator, which pytorch.org/memory_viz and torch/cuda/_memory_viz.py open:
// a dictionary as torch.cuda.memory._snapshot() returns it (torch/csrc/cuda/Module.cpp, THCPModule_memorySnapshot),
// pickled.

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace llmcalc::render {

namespace {

using answer::TimelinePoint;

/// Values by the operations of pickle's protocol 2 (CPython Lib/pickletools.py) that memory_viz reads as well
/// (torch/utils/viz/MemoryViz.js, unpickle).
class Pickle {
 public:
  void open_list() { text_ += "]("; }
  void close_list() { text_ += 'e'; }
  void open_dict() { text_ += "}("; }
  void close_dict() { text_ += 'u'; }
  void value(std::string_view text) {
    text_ += 'X';
    append<4>(static_cast<std::int64_t>(text.size()));
    text_ += text;
  }
  void value(std::int64_t number) {
    text_ += "\x8a\x08";
    append<8>(number);
  }
  template <class Value>
  void member(std::string_view key, const Value& of) {
    value(key);
    value(of);
  }
  std::string take() { return std::move(text_) + '.'; }

 private:
  /// Its lowest bytes, the lowest first.
  template <int bytes>
  void append(std::int64_t number) {
    for (int n = 0; n < bytes; ++n) text_ += static_cast<char>((static_cast<std::uint64_t>(number) >> (8 * n)) & 0xff);
  }

  std::string text_ = "\x80\x02";
};

/// A piece of memory, and who asked for it when.
struct Block {
  std::int64_t address = 0;
  std::int64_t size = 0;
  memory::Holding holding = {};
  const TimelinePoint* point = nullptr;
  std::int64_t number = 0;  ///< of the point in its step
  std::int64_t end() const { return address + size; }
};

struct Event {
  std::string_view action;
  Block block;
  std::int64_t microseconds = 0;
};

/// Allocations and frees until each point of a step holds what it is said to hold. What was allocated last is freed
/// first, as a backward pass does, and each block takes the lowest gap that has room for it.
class Replay {
 public:
  explicit Replay(const std::vector<TimelinePoint>& points) {
    for (const auto& point : points) reach(point);
  }
  const std::vector<Event>& events() const { return events_; }
  const std::map<std::int64_t, Block>& alive() const { return alive_; }
  std::int64_t end() const { return end_; }

 private:
  void reach(const TimelinePoint& point) {
    for (auto& [holding, held] : held_) {
      const auto* now = quantity::find_or_null(point.held, holding, &answer::HeldBytes::holding);
      shrink(holding, held, now == nullptr ? 0 : in_bytes(now->size));
    }
    for (const auto& [holding, size] : point.held) {
      std::int64_t& held = held_[holding];
      if (in_bytes(size) > held) allocate({0, in_bytes(size) - held, holding, &point, number_});
      held = in_bytes(size);
    }
    now_ += point.time.value_or(quantity::Seconds{});
    ++number_;
  }

  void shrink(memory::Holding holding, std::int64_t& held, std::int64_t wanted) {
    while (held > wanted) {
      Block last = newest(holding);
      alive_.erase(last.address);
      record("free_requested", last);
      record("free_completed", last);
      held -= last.size;
      if (held >= wanted) continue;
      last.size = wanted - held;  // what is kept of it
      held = wanted;
      allocate(last);
    }
  }

  const Block& newest(memory::Holding holding) const {
    const auto age = [&](const auto& each) { return each.second.holding == holding ? each.second.number : -1; };
    return std::ranges::max_element(alive_, {}, age)->second;
  }

  void allocate(Block block) {
    block.address = 0;
    for (const auto& [address, taken] : alive_) {
      if (address - block.address >= block.size) break;
      block.address = taken.end();
    }
    alive_[block.address] = block;
    end_ = std::max(end_, block.end());
    record("alloc", block);
  }

  void record(std::string_view action, const Block& block) {
    events_.push_back({action, block, static_cast<std::int64_t>(1e6 * in_seconds(now_))});
  }

  std::vector<Event> events_;
  std::map<std::int64_t, Block> alive_;  ///< by address
  std::map<memory::Holding, std::int64_t> held_;
  std::int64_t end_ = 0;
  std::int64_t number_ = 0;
  quantity::Seconds now_;
};

/// Addresses begin behind zero, which is nobody's.
constexpr std::int64_t base = std::int64_t{1} << 40;

/// The place in the step, where a run has the frames of its call.
void add_frames(Pickle& pickle, const Block& block) {
  pickle.value("frames");
  pickle.open_list();
  if (block.point != nullptr) {
    pickle.open_dict();
    pickle.member("filename", memory::name_of(block.point->phase));
    pickle.member("line", block.number);
    pickle.member("name", shown(block.point->place, Medium::line) + ": " + std::string(memory::name_of(block.holding)));
    pickle.close_dict();
  }
  pickle.close_list();
}

void add_event(Pickle& pickle, const Event& event) {
  pickle.open_dict();
  pickle.member("action", event.action);
  pickle.member("addr", base + event.block.address);
  pickle.member("size", event.block.size);
  pickle.member("stream", std::int64_t{0});
  pickle.member("time_us", event.microseconds);
  add_frames(pickle, event.block);
  pickle.close_dict();
}

void add_block(Pickle& pickle, const Block& block) {
  pickle.open_dict();
  pickle.member("address", base + block.address);
  pickle.member("size", block.size);
  pickle.member("requested_size", block.size);
  pickle.member("state", std::string_view(block.point == nullptr ? "inactive" : "active_allocated"));
  add_frames(pickle, block);
  pickle.close_dict();
}

/// Blocks alive when the step ends, with the gaps between.
void add_blocks(Pickle& pickle, const Replay& replay, std::int64_t size) {
  pickle.value("blocks");
  pickle.open_list();
  std::int64_t at = 0;
  for (const auto& [address, block] : replay.alive()) {
    if (address > at) add_block(pickle, {at, address - at});
    add_block(pickle, block);
    at = block.end();
  }
  if (size > at) add_block(pickle, {at, size - at});
  pickle.close_list();
}

void add_segment(Pickle& pickle, const Replay& replay, std::int64_t size) {
  const auto active = quantity::sum_of(replay.alive(), [](const auto& each) { return each.second.size; });
  pickle.open_dict();
  for (const std::string_view zero : {"device", "stream"}) pickle.member(zero, std::int64_t{0});
  pickle.member("address", base);
  pickle.member("total_size", size);
  for (const std::string_view key : {"allocated_size", "active_size", "requested_size"}) pickle.member(key, active);
  pickle.member("segment_type", std::string_view("large"));
  add_frames(pickle, {});
  add_blocks(pickle, replay, size);
  pickle.close_dict();
}

}  // namespace

/// One segment, as large as what the allocator holds at its most.
std::string to_snapshot(const Report& report) {
  const auto& memory = report.estimate.memory;
  if (memory.timeline.empty()) {
    throw quantity::BadInput("--format snapshot", "needs a step that is walked block by block",
                             "leave out the rule of thumb");
  }
  const Replay replay(memory.timeline);
  const std::int64_t size = std::max(replay.end(), in_bytes(memory.peak_reserved));
  Pickle pickle;
  pickle.open_dict();
  pickle.value("device_traces");
  pickle.open_list();
  pickle.open_list();
  add_event(pickle, {"segment_alloc", {0, size}});
  for (const auto& event : replay.events()) add_event(pickle, event);
  pickle.close_list();
  pickle.close_list();
  pickle.value("segments");
  pickle.open_list();
  add_segment(pickle, replay, size);
  pickle.close_list();
  pickle.close_dict();
  return pickle.take();
}

}  // namespace llmcalc::render
