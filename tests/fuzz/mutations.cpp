#include "mutations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <random>
#include <string_view>

namespace llmcalc::fuzz {
namespace {

constexpr std::size_t most_bytes = 1 << 20;
constexpr std::size_t most_piece = 64;
constexpr std::size_t most_repeats = 256;

/// Where counts, lengths, signs and depths turn over.
constexpr std::array<std::string_view, 14> texts{"0",
                                                 "-1",
                                                 "1e308",
                                                 "1e-308",
                                                 "nan",
                                                 "9223372036854775807",
                                                 "9223372036854775808",
                                                 "4294967296",
                                                 "18446744073709551615",
                                                 "null",
                                                 "[[[[",
                                                 "{{{{",
                                                 "${A:-$A}",
                                                 "\"\\u0000"};
constexpr std::array<std::uint64_t, 10> integers{
    0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};

/// One input while it is being changed. Remainders, since the standard's distributions differ between libraries.
class Change {
 public:
  Change(const std::vector<std::string>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed), input_(any()) {}

  std::string run() {
    for (auto left = 1 + below(6); left > 0; --left) (this->*kinds[below(kinds.size())])();
    input_.resize(std::min(input_.size(), most_bytes));
    return std::move(input_);
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound); }
  const std::string& any() { return corpus_[below(corpus_.size())]; }
  std::size_t place() { return below(input_.size() + 1); }
  std::string piece_of(const std::string& text) { return text.substr(below(text.size() + 1), 1 + below(most_piece)); }

  void flip_bit() {
    if (!input_.empty()) input_[below(input_.size())] ^= static_cast<char>(1 << below(8));
  }
  void set_byte() {
    if (!input_.empty()) input_[below(input_.size())] = static_cast<char>(below(256));
  }
  /// A length or a count of a binary header.
  void set_integer() {
    auto value = integers[below(integers.size())];
    const auto at = place();
    for (auto i = at; i < std::min(at + sizeof value, input_.size()); ++i, value >>= 8) {
      input_[i] = static_cast<char>(value & 0xff);
    }
  }
  /// The digits of a number that is written out.
  void set_number() {
    constexpr std::string_view digits = "0123456789";
    const auto from = input_.find_first_of(digits, place());
    if (from == std::string::npos) return;
    const auto to = std::min(input_.find_first_not_of(digits, from), input_.size());
    input_.replace(from, to - from, texts[below(texts.size())]);
  }
  void insert_text() { input_.insert(place(), texts[below(texts.size())]); }
  void insert_bytes() { input_.insert(place(), below(most_piece), static_cast<char>(below(256))); }
  void insert_other() { input_.insert(place(), piece_of(any())); }
  void erase() { input_.erase(place(), 1 + below(most_piece)); }
  void cut() { input_.resize(place()); }
  void join() {
    const auto& other = any();
    input_ = input_.substr(0, place()) + other.substr(below(other.size() + 1));
  }
  /// What is nested or listed goes deeper or on for longer.
  void repeat() {
    const auto piece = piece_of(input_);
    std::string all;
    for (auto left = below(most_repeats); left > 0; --left) all += piece;
    input_.insert(place(), all);
  }
  void move_line() {
    const auto from = input_.rfind('\n', place());
    if (from == std::string::npos) return;
    const auto to = std::min(input_.find('\n', from + 1), input_.size());
    const auto line = input_.substr(from, to - from);
    if (below(2) == 0) input_.erase(from, to - from);
    input_.insert(std::min(input_.find('\n', place()), input_.size()), line);
  }

  using Kind = void (Change::*)();
  static constexpr std::array<Kind, 12> kinds{&Change::flip_bit,     &Change::set_byte,    &Change::set_integer,
                                              &Change::set_number,   &Change::insert_text, &Change::insert_bytes,
                                              &Change::insert_other, &Change::erase,       &Change::cut,
                                              &Change::join,         &Change::repeat,      &Change::move_line};

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
  std::string input_;
};

}  // namespace

std::string mutated(const std::vector<std::string>& corpus, std::uint64_t seed, std::uint64_t number) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // neighbours get seeds far apart (Knuth, TAOCP 3, 6.4)
  return Change(corpus, seed + number * odd).run();
}

}  // namespace llmcalc::fuzz
