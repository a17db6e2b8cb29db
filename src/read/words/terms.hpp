// Kinds of values, and how a row of the vocabulary (presets/vocabulary) is written with them: the kind and the path to
// its member, the term, its group, and what to say about it.
//
//   in_shape<Word<spec::Mlp>, &Shape::mlp> | mlp | model | activation of the MLP
#pragma once

#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/software.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"
#include "read/inner/numbers.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace llmcalc::read {

/// The member at the end of a chain of member pointers.
template <auto... members>
struct Path {
  template <class Question>
  static auto& in(Question& question) {
    return (question.*....*members);
  }
};

std::vector<std::string> split_list(std::string_view text, std::string_view place);

/// A quantity that is at least so much in a unit, and finite.
template <class Quantity>
auto at_least(double least, Quantity value, double (*in)(Quantity), std::string_view text, std::string_view place) {
  check_limits(in(value), least, max_amount, text, place);
  return value;
}

/// A whole number; where zero is below the minimum it stands for "not said" and is not shown.
template <std::int64_t min, std::int64_t max = max_dimension>
struct Whole {
  static constexpr std::string_view values = "integer";
  static std::int64_t read(std::string_view text, std::string_view place) {
    return check_range(quantity::parse_count(text, place), min, max, text, place);
  }
  static std::string write(std::int64_t value) { return value < min ? std::string() : std::to_string(value); }
};

/// A number of positions, where 8k is 8,192; zero is "not said".
struct Length {
  static constexpr std::string_view values = "positions, as 4096 or 8k";
  static std::int64_t read(std::string_view text, std::string_view place) {
    return check_range(quantity::parse_length(text, place), 1, max_dimension, text, place);
  }
  static std::string write(std::int64_t value) { return value == 0 ? std::string() : std::to_string(value); }
};

struct Switch {
  static constexpr std::string_view values = "0|1";
  static bool read(std::string_view text, std::string_view place) { return quantity::parse_bool(text, place); }
  static std::string write(bool value) { return value ? "1" : "0"; }
};

struct Share {
  static constexpr std::string_view values = "0..1 or percent";
  static double read(std::string_view text, std::string_view place) { return quantity::parse_share(text, place); }
  static std::string write(double value) { return write_double(value); }
};

/// A share that something is divided by.
struct PositiveShare : Share {
  static double read(std::string_view text, std::string_view place) {
    return check_limits(quantity::parse_share(text, place), std::numeric_limits<double>::min(), 1.0, text, place);
  }
};

/// A finite amount; the limit keeps every product of two of them finite as well.
struct Number {
  static constexpr std::string_view values = "number";
  static double read(std::string_view text, std::string_view place) {
    return check_limits(quantity::parse_number(text, place), 0.0, max_amount, text, place);
  }
  static std::string write(double value) { return write_double(value); }
};

/// A number that something is divided by.
struct Rate : Number {
  static double read(std::string_view text, std::string_view place) {
    return check_limits(quantity::parse_number(text, place), std::numeric_limits<double>::min(), max_amount, text,
                        place);
  }
};

/// A ratio of at least one: an allocator holds at least what is allocated, a building draws at least what its servers
/// draw; a hundred times that is a slip of the keyboard.
struct AtLeastOne {
  static constexpr std::string_view values = "number from 1 to 100";
  static double read(std::string_view text, std::string_view place) {
    return check_limits(quantity::parse_number(text, place), 1.0, 100.0, text, place);
  }
  static std::string write(double value) { return write_double(value); }
};

struct Size {
  static constexpr std::string_view values = "size, as 550MiB";
  static quantity::Bytes read(std::string_view text, std::string_view place) {
    return quantity::parse_bytes(text, place);
  }
  static std::string write(quantity::Bytes size) { return std::to_string(quantity::in_bytes(size)); }
};

struct Capacity : Size {
  static constexpr std::string_view values = "size, as 80GB or 79GiB";
  static quantity::Bytes read(std::string_view text, std::string_view place) {
    return quantity::parse_capacity(text, place);
  }
};

struct Dollars {
  static constexpr std::string_view values = "dollars";
  static quantity::Money read(std::string_view text, std::string_view place) {
    return at_least(0.0, quantity::parse_money(text, place), quantity::in_dollars, text, place);
  }
  static std::string write(quantity::Money money) { return write_double(quantity::in_dollars(money)); }
};

struct Duration {
  static constexpr std::string_view values = "duration, as 30min or 2h";
  static quantity::Seconds read(std::string_view text, std::string_view place) {
    return at_least(0.0, quantity::parse_duration(text, place), quantity::in_seconds, text, place);
  }
  static std::string write(quantity::Seconds time) { return write_double(quantity::in_seconds(time)) + "s"; }
};

struct Interval : Duration {
  static quantity::Seconds read(std::string_view text, std::string_view place) {
    constexpr double least = std::numeric_limits<double>::min();
    return at_least(least, Duration::read(text, place), quantity::in_seconds, text, place);
  }
};

struct FreeText {
  static constexpr std::string_view values = "text";
  static std::string read(std::string_view text, std::string_view) { return std::string(text); }
  static std::string write(const std::string& value) { return value; }
};

/// The first word of every value: the others are spellings that people bring from elsewhere.
template <class E>
std::vector<std::string_view> canonical_words() {
  const auto is_first = [](const spec::Named<E>& word) { return spec::name_of(word.value) == word.name; };
  return quantity::mapped_if(spec::vocabulary<E>(), &spec::Named<E>::name, is_first);
}

/// A closed vocabulary.
template <class E>
struct Word {
  static constexpr std::string_view values = {};
  static E read(std::string_view text, std::string_view place) {
    const auto* word = spec::find_name<E>(quantity::to_lower(text));
    if (word == nullptr) throw_unknown_word(text, place, words());
    return word->value;
  }
  static std::string write(E value) { return std::string(spec::name_of(value)); }
  static std::vector<std::string_view> words() { return canonical_words<E>(); }
};

/// Those number formats that a use of them allows.
template <formats::Dtype... allowed>
struct DtypeIn {
  static constexpr std::string_view values = {};
  static formats::Dtype read(std::string_view text, std::string_view place) {
    const auto* word = spec::find_name<formats::Dtype>(quantity::to_lower(text));
    if (word == nullptr || ((word->value != allowed) && ...)) throw_unknown_word(text, place, words());
    return word->value;
  }
  static std::string write(formats::Dtype value) { return std::string(spec::name_of(value)); }
  static std::vector<std::string_view> words() { return {spec::name_of(allowed)...}; }
};

/// A value that may be left unsaid.
template <class Kind>
struct Maybe {
  static constexpr std::string_view values = Kind::values;
  static auto read(std::string_view text, std::string_view place) { return Kind::read(text, place); }
  template <class T>
  static std::string write(const std::optional<T>& value) {
    return value ? Kind::write(*value) : std::string();
  }
  static auto words() requires requires { Kind::words(); }
  { return Kind::words(); }
};

template <class Kind>
concept Closed = requires {
  Kind::words();
};

template <class Kind>
constexpr auto words_of() -> std::vector<std::string_view> (*)() {
  if constexpr (Closed<Kind>) {
    return &Kind::words;
  } else {
    return nullptr;
  }
}

template <class Kind>
constexpr std::string_view values_of() {
  if constexpr (requires { Kind::values; }) {
    return Kind::values;
  } else {
    return {};
  }
}

/// A term of a kind that reads and shows more than one member.
template <class Kind>
constexpr TermValue by_rule{values_of<Kind>(), words_of<Kind>(), &Kind::apply, &Kind::show};

/// A term of one member of a question.
template <class Kind, auto... members>
constexpr TermValue in_question{
    values_of<Kind>(), words_of<Kind>(),
    [](spec::Question& question, std::string_view text, std::string_view place) {
      auto& member = Path<members...>::in(question);
      member = static_cast<std::remove_reference_t<decltype(member)>>(Kind::read(text, place));
    },
    [](const spec::Question& question) { return Kind::write(Path<members...>::in(question)); }};

template <class Kind, auto... members>
constexpr TermValue in_shape = in_question<Kind, &spec::Question::model, &spec::Model::shape, members...>;
template <class Kind, auto... members>
constexpr TermValue in_training = in_question<Kind, &spec::Question::training, members...>;
template <class Kind, auto... members>
constexpr TermValue in_layout = in_question<Kind, &spec::Question::layout, members...>;
template <class Kind, auto... members>
constexpr TermValue in_pricing = in_question<Kind, &spec::Question::pricing, members...>;
template <class Kind, auto... members>
constexpr TermValue in_reliability = in_question<Kind, &spec::Question::reliability, members...>;
template <class Kind, auto... members>
constexpr TermValue in_electricity = in_question<Kind, &spec::Question::electricity, members...>;
template <class Kind, auto... members>
constexpr TermValue in_serving = in_question<Kind, &spec::Question::serving, members...>;
template <class Kind, auto... members>
constexpr TermValue in_runtime = in_question<Kind, &spec::Question::runtime, members...>;

/// "400Gbps", "8x400Gbps" (eight adapters), "50GB/s", "3.2 Tbit/s": gigabits per second.
/// \throws quantity::BadInput at `place`, also where no unit says whether bits or bytes are meant
double parse_network_rate(std::string_view text, std::string_view place);

/// Reads "transformers==4.40.0", "torch 2.4, 2024-08", "Megatron-LM core_v0.12.0", "NeMo container 25.09", "Sep 2020",
/// and takes the same out of longer text. What is none of these is in `unread`.
spec::Software read_software(std::string_view text);

/// Releases that were understood, in words that read_software() reads again: "transformers 4.40.0, torch 2.4, 2024-08".
std::string write_software(const spec::Software& software);

std::span<const Term> model_terms();
std::span<const Term> run_terms();
std::span<const Term> layout_terms();
std::span<const Term> answer_terms();
std::span<const Term> serving_terms();

}  // namespace llmcalc::read
