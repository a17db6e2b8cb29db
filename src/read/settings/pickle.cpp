// Python's pickles, of which torch.save keeps one in a zip archive, as settings. Nothing is executed: a class is a
// name, an object the values that it was saved with, and a call of a class the values that it was given.
#include "quantity/text.hpp"
#include "read/settings.hpp"
#include "read/settings/archive.hpp"

#include <map>
#include <span>

namespace llmcalc::read {
namespace {

struct Object {
  enum class Kind { nothing, value, list, table, name };
  Kind kind = Kind::nothing;
  std::string text = {};                ///< of a value; of a name "module class"
  std::vector<std::size_t> parts = {};  ///< of a list its items, of a table keys and values in turn
  std::string name = {};                ///< of a table: the class whose object it is
};

/// The stack machine of CPython's Lib/pickletools.py, protocols 0 to 5. Objects stand in one list and know each other
/// by their places there, since a pickle may hold one object many times, or itself.
class Machine : PickleBytes {
 public:
  Machine(std::string_view bytes, std::string_view place) : PickleBytes(bytes, place) {}

  Node read() {
    while (true) {
      const auto code = byte();
      if (code == '.') return node(pop(), std::string(place_) + ":", 0);
      if (!takes_constant(code) && !takes_text(code) && !takes_group(code) && !takes_memo(code) && !takes_object(code))
        fail(fmt::format("has an operation 0x{:02x} at byte {} that no pickle has", code, at_ - 1));
    }
  }

 private:
  using Kind = Object::Kind;

  /// Every object, every mention of one in another and every place of the memo counts.
  void grow() {
    if (++size_ > 4 * most_nodes) fail(fmt::format("holds more than {} values", most_nodes));
  }

  unsigned char byte() { return static_cast<unsigned char>(take(1).front()); }
  std::string_view line() {
    const auto end = bytes_.find('\n', at_);
    if (end == bytes_.npos) fail(fmt::format("ends within the line that begins at byte {}", at_));
    const auto whole = take(end + 1 - at_);
    return whole.substr(0, whole.size() - 1);
  }

  void push(std::size_t object) { stack_.push_back(object); }
  void make(Object object) {
    grow();
    objects_.push_back(std::move(object));
    push(objects_.size() - 1);
  }
  void make_value(std::string text) { make({Kind::value, std::move(text)}); }
  void make_number(auto value) { make_value(std::to_string(value)); }

  std::size_t pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) fail(fmt::format("takes more than it has at byte {}", at_));
    const auto object = stack_.back();
    stack_.pop_back();
    return object;
  }
  std::size_t top() {
    const auto object = pop();
    push(object);
    return object;
  }
  std::vector<std::size_t> pop_to_mark() {
    if (marks_.empty()) fail(fmt::format("takes more than it has at byte {}", at_));
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<std::size_t> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  void add(std::size_t to, std::span<const std::size_t> parts) {
    for (const auto part : parts) {
      grow();
      objects_[to].parts.push_back(part);
    }
  }
  void make_group(Kind kind, std::span<const std::size_t> parts) {
    make({kind});
    add(top(), parts);
  }
  void make_tuple(std::size_t count) {
    std::vector<std::size_t> parts(count);
    for (; count > 0; --count) parts[count - 1] = pop();
    make_group(Kind::list, parts);
  }

  bool takes_constant(unsigned char code) {
    switch (code) {
      case 0x80: take(1); return true;  // the protocol
      case 0x95: take(8); return true;  // a frame
      case 'N': make({}); return true;
      case 0x88: make_value("true"); return true;
      case 0x89: make_value("false"); return true;
      case 'I': {
        const auto text = line();
        make_value(text == "01" ? "true" : text == "00" ? "false" : std::string(text));
        return true;
      }
      case 'L': make_value(std::string(quantity::without_end(line(), "L"))); return true;
      case 'F': make_value(std::string(line())); return true;
      case 'J': make_number(whole(4)); return true;
      case 'K': make_number(number(1)); return true;
      case 'M': make_number(number(2)); return true;
      case 0x8a: make_number(whole(number(1))); return true;
      case 0x8b: make_number(whole(number(4))); return true;
      case 'G': {  // the one number that is big-endian
        std::uint64_t bits = 0;
        for (const char each : take(8)) bits = bits << 8U | static_cast<unsigned char>(each);
        make_value(fmt::format("{}", std::bit_cast<double>(bits)));
        return true;
      }
      default: return false;
    }
  }

  bool takes_text(unsigned char code) {
    switch (code) {
      case 'U':
      case 'C':
      case 0x8c: make_value(std::string(take(number(1)))); return true;
      case 'T':
      case 'B':
      case 'X': make_value(std::string(take(number(4)))); return true;
      case 0x8d:
      case 0x8e:
      case 0x96: make_value(std::string(take(number(8)))); return true;
      case 'V': make_value(std::string(line())); return true;
      case 'S': {
        const auto quoted = line();
        make_value(std::string(quoted.size() < 2 ? quoted : quoted.substr(1, quoted.size() - 2)));
        return true;
      }
      case 'P':
        line();
        make({});
        return true;  // what stands outside of the pickle: a tensor
      case 'Q':
        pop();
        make({});
        return true;
      default: return false;
    }
  }

  bool takes_group(unsigned char code) {
    switch (code) {
      case '(': marks_.push_back(stack_.size()); return true;
      case '0': pop(); return true;
      case '1': pop_to_mark(); return true;
      case '2': push(top()); return true;
      case ']':
      case ')':
      case 0x8f: make({Kind::list}); return true;
      case '}': make({Kind::table}); return true;
      case 'l':
      case 't':
      case 0x91: make_group(Kind::list, pop_to_mark()); return true;
      case 'd': make_group(Kind::table, pop_to_mark()); return true;
      case 0x85: make_tuple(1); return true;
      case 0x86: make_tuple(2); return true;
      case 0x87: make_tuple(3); return true;
      case 'a': {
        const std::size_t part[] = {pop()};
        add(top(), part);
        return true;
      }
      case 's': {
        const auto value = pop();
        const std::size_t pair[] = {pop(), value};
        add(top(), pair);
        return true;
      }
      case 'e':
      case 'u':
      case 0x90: {
        const auto parts = pop_to_mark();
        add(top(), parts);
        return true;
      }
      default: return false;
    }
  }

  bool takes_memo(unsigned char code) {
    const auto index = [&] {
      std::string_view text = line();
      return quantity::take_number<std::uint64_t>(text).value_or(0);
    };
    const auto put = [&](std::uint64_t place) {
      grow();
      memo_[place] = top();
    };
    const auto get = [&](std::uint64_t place) {
      const auto found = memo_.find(place);
      if (found == memo_.end()) fail(fmt::format("mentions at byte {} what it does not hold", at_));
      push(found->second);
    };
    switch (code) {
      case 'p': put(index()); return true;
      case 'q': put(number(1)); return true;
      case 'r': put(number(4)); return true;
      case 0x94: put(memo_.size()); return true;
      case 'g': get(index()); return true;
      case 'h': get(number(1)); return true;
      case 'j': get(number(4)); return true;
      default: return false;
    }
  }

  bool takes_object(unsigned char code) {
    switch (code) {
      case 'c': {
        const auto module = line();
        make({Kind::name, fmt::format("{} {}", module, line())});
        return true;
      }
      case 0x93: {
        const auto name = pop();
        make({Kind::name, fmt::format("{} {}", objects_[pop()].text, objects_[name].text)});
        return true;
      }
      case 'R': call(); return true;
      case 'b': build(); return true;
      case 0x92: pop(); [[fallthrough]];  // keywords of a constructor
      case 0x81: {
        pop();
        const std::string name = objects_[pop()].text;
        make({Kind::table, {}, {}, name});
        return true;
      }
      case 'i': {
        pop_to_mark();
        const auto module = line();
        make({Kind::table, {}, {}, fmt::format("{} {}", module, line())});
        return true;
      }
      case 'o': {
        const auto parts = pop_to_mark();
        make({Kind::table, {}, {}, parts.empty() ? std::string() : objects_[parts.front()].text});
        return true;
      }
      default: return false;
    }
  }

  /// Arguments of a call stand for what it gave: of an enumeration or a device that is its word.
  void call() {
    const auto given = pop();
    const std::string name = objects_[pop()].text;
    const auto parts = objects_[given].parts;
    if (objects_[given].kind == Kind::list && parts.size() == 1) return push(parts.front());
    if (!parts.empty()) return make_group(Kind::list, parts);
    make({Kind::table, {}, {}, name});
  }

  /// The attributes of an object, or those and the ones in its slots.
  void build() {
    const auto state = pop();
    const auto object = top();
    const auto take_from = [&](std::size_t attributes) {
      const auto parts = objects_[attributes].parts;
      if (objects_[object].kind == Kind::table && objects_[attributes].kind == Kind::table) add(object, parts);
    };
    take_from(state);
    if (objects_[state].kind != Kind::list) return;
    const auto both = objects_[state].parts;
    for (const auto each : both) take_from(each);
  }

  Node node(std::size_t place, const std::string& where, int depth) {
    constexpr std::size_t longest_key = 64;
    if (depth > deepest_node) fail(fmt::format("nests deeper than {} levels", deepest_node));
    if (++nodes_ > most_nodes) fail(fmt::format("holds more than {} values", most_nodes));
    const Object& object = objects_[place];
    copied_ += object.text.size();
    if (copied_ > largest_settings) fail("holds more than 1 MiB of texts, which no settings do");
    Node made;
    made.where = where;
    switch (object.kind) {
      case Kind::nothing: return made;
      case Kind::value:
      case Kind::name:
        made.kind = Node::Kind::value;
        made.text = object.text;
        return made;
      case Kind::list:
        made.kind = Node::Kind::list;
        for (const auto part : object.parts) made.items.push_back(node(part, where, depth + 1));
        return made;
      case Kind::table: made.kind = Node::Kind::table; break;
    }
    if (!object.name.empty()) made.text = object.name;
    for (std::size_t i = 0; i + 1 < object.parts.size(); i += 2) {
      const Object& key = objects_[object.parts[i]];
      if (key.kind != Kind::value || key.text.size() > longest_key) continue;
      made.members.push_back({key.text, node(object.parts[i + 1], fmt::format("{}/{}", where, key.text), depth + 1)});
    }
    return made;
  }

  std::size_t size_ = 0;
  std::vector<Object> objects_ = {};
  std::vector<std::size_t> stack_ = {};
  std::vector<std::size_t> marks_ = {};  ///< heights of the stack
  std::map<std::uint64_t, std::size_t> memo_ = {};
  std::size_t nodes_ = 0;
  std::size_t copied_ = 0;  ///< bytes of texts that nodes have
};

constexpr std::string_view local_header = "PK\x03\x04";
constexpr std::string_view central_header = "PK\x01\x02";
constexpr std::string_view end_of_directory = "PK\x05\x06";

}  // namespace

bool is_pickled(std::string_view bytes) {
  constexpr char newest_protocol = 5;
  const bool is_pickle = bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= newest_protocol;
  return is_pickle || is_archive(bytes);
}

Node parse_pickle(std::string_view bytes, std::string_view place) {
  refuse_large(bytes, place);
  return Machine(is_archive(bytes) ? archived(bytes, "/data.pkl", place) : bytes, place).read();
}

bool is_archive(std::string_view bytes) { return bytes.starts_with(local_header); }

/// A file of a zip archive, whose directory stands at its end (PKWARE APPNOTE 4.3.12, 4.3.16); torch.save compresses
/// none.
std::string_view archived(std::string_view bytes, std::string_view name, std::string_view place) {
  const auto fail = [&](const std::string& problem) { throw quantity::BadInput(std::string(place), problem); };
  const auto end = bytes.rfind(end_of_directory);
  if (end == bytes.npos || bytes.size() - end < 22) fail("is an archive whose end is missing");
  std::uint64_t at = number_at(bytes, end + 16, 4);
  while (at + 46 <= bytes.size() && bytes.substr(at).starts_with(central_header)) {
    const auto called = bytes.substr(at + 46, number_at(bytes, at + 28, 2));
    const auto size = number_at(bytes, at + 20, 4);
    const auto header = number_at(bytes, at + 42, 4);
    if (called.ends_with(name)) {
      if (number_at(bytes, at + 10, 2) != 0) fail(fmt::format("is an archive whose {} is compressed", name));
      if (header + 30 > bytes.size()) fail("is an archive that ends too early");
      const auto begin = header + 30 + number_at(bytes, header + 26, 2) + number_at(bytes, header + 28, 2);
      if (begin > bytes.size() || size > bytes.size() - begin) fail("is an archive that ends too early");
      return bytes.substr(begin, size);
    }
    at += 46 + number_at(bytes, at + 28, 2) + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
  }
  fail(fmt::format("is an archive without {}: torch.save wrote none of it", name));
  return {};
}

}  // namespace llmcalc::read
