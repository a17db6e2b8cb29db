#include "quantity/lists.hpp"
#include "read/settings.hpp"
#include "read/settings/archive.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

/// A value of the stack: a number, a piece of the bytes, or the place of a list or a dictionary.
struct Value {
  enum class Kind : std::uint8_t { other, number, text, list, table };
  std::uint64_t payload = 0;
  std::uint32_t length = 0;
  Kind kind = Kind::other;
};

enum class Action : std::uint8_t { none, allocates, frees, reserves, releases };

/// torch/csrc/cuda/Module.cpp, action_to_str: memory is free as soon as its free is requested.
struct ActionName {
  std::string_view name;
  Action action;
};
constexpr ActionName actions[] = {{"alloc", Action::allocates},        {"free_requested", Action::frees},
                                  {"segment_alloc", Action::reserves}, {"segment_map", Action::reserves},
                                  {"segment_free", Action::releases},  {"segment_unmap", Action::releases}};

/// Those of a dictionary's values that are asked for here: of a segment, of an event, or of the whole.
struct Facts {
  std::int64_t size = 0;
  std::int64_t total = 0;
  std::int64_t allocated = 0;
  std::int64_t device = 0;
  std::uint32_t segments = 0;  ///< places of lists, from one on
  std::uint32_t traces = 0;
  Action action = Action::none;
};

/// Amounts of an accelerator run through its events backward from what it holds: the first of them is what it held
/// when the recording began.
void replay(const std::vector<Value>& events, const std::vector<Facts>& tables, RecordedMemory& memory) {
  auto allocated = memory.allocated;
  auto reserved = memory.reserved;
  for (auto each = events.rbegin(); each != events.rend(); ++each) {
    const Facts& event = tables[each->payload];
    switch (event.action) {
      case Action::allocates: allocated -= event.size; break;
      case Action::frees: allocated += event.size; break;
      case Action::reserves: reserved -= event.size; break;
      case Action::releases: reserved += event.size; break;
      case Action::none: break;
    }
    memory.most_allocated = std::max(memory.most_allocated, allocated);
    memory.most_reserved = std::max(memory.most_reserved, reserved);
  }
  memory.is_recorded = memory.is_recorded || !events.empty();
}

/// The operations of CPython's Lib/pickletools.py that a dictionary of plain values takes, protocols 2 to 5. Of lists
/// only members that say something here are kept.
class Walker : PickleBytes {
 public:
  Walker(std::string_view bytes, std::string_view place) : PickleBytes(bytes, place) {}

  std::vector<RecordedMemory> read() {
    while (true) {
      const auto code = static_cast<unsigned char>(take(1).front());
      if (code == '.') break;
      if (!takes_plain(code) && !takes_group(code) && !takes_memo(code)) {
        fail(fmt::format("has an operation 0x{:02x} at byte {} that no snapshot of memory has", code, at_ - 1));
      }
    }
    const Value root = pop();
    if (root.kind != Value::Kind::table) fail("is no dictionary, which a snapshot of memory is");
    return recorded(tables_[root.payload]);
  }

 private:
  using Kind = Value::Kind;

  Value pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
      fail(fmt::format("takes more than it has at byte {}", at_));
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }
  void push_signed(std::size_t width) {
    stack_.push_back({std::bit_cast<std::uint64_t>(whole(width)), 0, Kind::number});
  }
  void push_text(std::size_t width) {
    const auto length = number(width);
    const auto begin = at_;
    take(length);
    stack_.push_back({begin, static_cast<std::uint32_t>(std::min<std::uint64_t>(length, UINT32_MAX)), Kind::text});
  }
  std::string_view text(const Value& value) const {
    return value.kind == Kind::text ? bytes_.substr(value.payload, value.length) : std::string_view();
  }

  bool takes_plain(unsigned char code) {
    switch (code) {
      case 0x80: take(1); return true;  // the protocol
      case 0x95: take(8); return true;  // a frame
      case 'N':
      case 0x88:
      case 0x89: stack_.push_back({}); return true;
      case 'G':
        take(8);
        stack_.push_back({});
        return true;
      case 'J': push_signed(4); return true;
      case 'K': stack_.push_back({number(1), 0, Kind::number}); return true;
      case 'M': stack_.push_back({number(2), 0, Kind::number}); return true;
      case 0x8a: push_signed(number(1)); return true;
      case 'C':
      case 'U':
      case 0x8c: push_text(1); return true;
      case 'B':
      case 'T':
      case 'X': push_text(4); return true;
      case 0x8d:
      case 0x8e: push_text(8); return true;
      default: return false;
    }
  }

  bool takes_group(unsigned char code) {
    const auto drop = [&](std::size_t count) {
      for (; count > 0; --count) pop();
      stack_.push_back({});
    };
    switch (code) {
      case '(': marks_.push_back(stack_.size()); return true;
      case '0': pop(); return true;
      case ')': stack_.push_back({}); return true;
      case ']':
        stack_.push_back({lists_.size(), 0, Kind::list});
        lists_.emplace_back();
        return true;
      case '}':
        stack_.push_back({tables_.size(), 0, Kind::table});
        tables_.emplace_back();
        return true;
      case 0x85: drop(1); return true;
      case 0x86: drop(2); return true;
      case 0x87: drop(3); return true;
      case 't':
        stack_.resize(mark());
        stack_.push_back({});
        return true;
      case 'a': {
        const Value item = pop();
        const Value list = pop();
        stack_.push_back(list);
        add(list, item);
        return true;
      }
      case 's': {
        const Value value = pop();
        const Value key = pop();
        const Value table = pop();
        stack_.push_back(table);
        set(table, key, value);
        return true;
      }
      case 'e':
      case 'u': {
        const auto begin = mark();
        if (begin == 0) fail(fmt::format("takes more than it has at byte {}", at_));
        const Value group = stack_[begin - 1];
        for (auto i = begin; code == 'e' && i < stack_.size(); ++i) add(group, stack_[i]);
        for (auto i = begin; code == 'u' && i + 1 < stack_.size(); i += 2) set(group, stack_[i], stack_[i + 1]);
        stack_.resize(begin);
        return true;
      }
      default: return false;
    }
  }

  bool takes_memo(unsigned char code) {
    const auto put = [&](std::uint64_t place) {
      if (place > bytes_.size()) fail(fmt::format("keeps more at byte {} than it holds", at_));
      if (place >= memo_.size()) memo_.resize(place + 1);
      memo_[place] = pop();
      stack_.push_back(memo_[place]);
    };
    const auto get = [&](std::uint64_t place) {
      if (place >= memo_.size()) fail(fmt::format("mentions at byte {} what it does not hold", at_));
      stack_.push_back(memo_[place]);
    };
    switch (code) {
      case 'q': put(number(1)); return true;
      case 'r': put(number(4)); return true;
      case 0x94: put(memo_.size()); return true;
      case 'h': get(number(1)); return true;
      case 'j': get(number(4)); return true;
      default: return false;
    }
  }

  std::size_t mark() {
    if (marks_.empty()) fail(fmt::format("takes more than it has at byte {}", at_));
    const auto begin = marks_.back();
    marks_.pop_back();
    return begin;
  }

  void add(const Value& list, const Value& item) {
    if (list.kind != Kind::list) return;
    const bool says =
        item.kind == Kind::list ||
        (item.kind == Kind::table && (tables_[item.payload].total > 0 || tables_[item.payload].action != Action::none));
    if (says) lists_[list.payload].push_back(item);
  }

  void set(const Value& table, const Value& key, const Value& value) {
    if (table.kind != Kind::table) fail(fmt::format("adds at byte {} to what is no dictionary", at_));
    Facts& facts = tables_[table.payload];
    const auto name = text(key);
    const auto place = static_cast<std::uint32_t>(value.kind == Kind::list ? value.payload : 0);
    if (name == "size") facts.size = amount(value);
    if (name == "total_size") facts.total = amount(value);
    if (name == "allocated_size") facts.allocated = amount(value);
    if (name == "device" && value.kind == Kind::number) facts.device = std::bit_cast<std::int64_t>(value.payload);
    if (name == "segments") facts.segments = place;
    if (name == "device_traces") facts.traces = place;
    if (name != "action") return;
    const auto* known = quantity::find_or_null(actions, text(value), &ActionName::name);
    facts.action = known == nullptr ? Action::none : known->action;
  }

  /// One allocation never takes a tebibyte, and sums of all that fit into a file are whole numbers.
  std::int64_t amount(const Value& value) const {
    constexpr auto largest = std::int64_t{1} << 40;
    const auto number = std::bit_cast<std::int64_t>(value.payload);
    if (value.kind != Kind::number || number < 0 || number > largest) {
      fail(fmt::format("holds at byte {} an amount that is none of an accelerator's memory", at_));
    }
    return number;
  }

  std::vector<RecordedMemory> recorded(const Facts& root) const {
    constexpr std::int64_t most_devices = 1'024;
    std::vector<RecordedMemory> all;
    const auto of = [&](std::int64_t device) -> RecordedMemory& {
      if (device < 0 || device >= most_devices) fail(fmt::format("names an accelerator {}", device));
      while (all.size() <= static_cast<std::size_t>(device)) all.push_back({static_cast<std::int64_t>(all.size())});
      return all[static_cast<std::size_t>(device)];
    };
    for (const Value& each : lists_[root.segments]) {
      if (each.kind != Kind::table) continue;
      const Facts& segment = tables_[each.payload];
      RecordedMemory& memory = of(segment.device);
      memory.allocated += segment.allocated;
      memory.reserved += segment.total;
    }
    for (RecordedMemory& memory : all) {
      memory.most_allocated = memory.allocated;
      memory.most_reserved = memory.reserved;
    }
    std::int64_t device = 0;
    for (const Value& each : lists_[root.traces]) {
      std::vector<Value> events = each.kind == Kind::list ? lists_[each.payload] : std::vector<Value>();
      std::erase_if(events, [](const Value& event) { return event.kind != Kind::table; });
      replay(events, tables_, of(device++));
    }
    std::erase_if(all, [](const RecordedMemory& memory) { return memory.reserved == 0 && !memory.is_recorded; });
    return all;
  }

  std::vector<Value> stack_ = {};
  std::vector<std::size_t> marks_ = {};
  std::vector<Value> memo_ = {};
  std::vector<Facts> tables_ = {};
  std::vector<std::vector<Value>> lists_ = {{}};  ///< the first is nobody's
};

}  // namespace

bool is_memory_snapshot(std::string_view bytes) {
  const bool is_pickle = bytes.size() > 2 && bytes[0] == '\x80';
  return is_pickle && bytes.find("segments") != bytes.npos && bytes.find("device_traces") != bytes.npos;
}

std::vector<RecordedMemory> parse_memory_snapshot(std::string_view bytes, std::string_view place) {
  return Walker(bytes, place).read();
}

}  // namespace llmcalc::read
