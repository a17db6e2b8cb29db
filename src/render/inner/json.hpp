// Described values as JSON: one object, indented by two spaces, members in the order in which they are described.
#pragma once

#include "render/inner/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace llmcalc::render {

class JsonText {
 public:
  void open(char bracket);
  void close(char bracket);
  void key(std::string_view name);
  void item();  ///< of a list; its value follows, as that of a key
  void null() { text_ += "null"; }
  void scalar(bool value) { text_ += value ? "true" : "false"; }
  void scalar(std::int64_t value);
  /// \throws std::domain_error when it is not finite: JSON has no such number, and null would mean "does not apply"
  void scalar(double value);
  void scalar(std::string_view value);
  void word(std::string_view words);  ///< "optimizer step" as "optimizer_step"
  std::string take() { return std::move(text_) + '\n'; }

 private:
  void begin_line();

  std::string text_;
  std::size_t depth_ = 0;
  bool empty_ = true;
};

class JsonFields {
 public:
  /// A record's name and meaning, for pages.
  void is(std::string_view, std::string_view) {}

  /// The keys that every answer begins with.
  void answer(std::string_view kind, std::string_view version, std::string_view) { envelope(kind, version); }

  template <class T>
  void operator()(std::string_view key, const T& value, std::string_view) {
    text_.key(key);
    write(value);
  }

  /// A member that is an object of its own, described by what is called.
  template <class Describe>
  void object(std::string_view key, std::string_view, Describe described) {
    text_.key(key);
    text_.open('{');
    described();
    text_.close('}');
  }

  template <class T>
  void write(const T& value) {
    if constexpr (is_optional<T>) {
      if (!value) return text_.null();
      write(*value);
    } else if constexpr (std::is_same_v<T, Text>) {
      if (value.value.empty()) return text_.null();
      text_.scalar(value.value);
    } else if constexpr (std::is_same_v<T, OneOf>) {
      if (value.nullable && value.value.empty()) return text_.null();
      text_.scalar(value.value);
    } else if constexpr (is_word<T>) {
      text_.word(value.name(value.value));
    } else if constexpr (is_signed<T>) {
      write(value.value);
    } else if constexpr (std::is_same_v<T, Measured>) {
      value.whole ? text_.scalar(static_cast<std::int64_t>(value.value)) : text_.scalar(value.value);
    } else if constexpr (Plain<T>) {
      text_.scalar(plain(value));
    } else if constexpr (std::ranges::range<T>) {
      write_all(value);
    } else {
      text_.open('{');
      describe(*this, value);
      text_.close('}');
    }
  }

  std::string take() { return text_.take(); }

 private:
  void envelope(std::string_view kind, std::string_view version);

  template <class List>
  void write_all(const List& list) {
    constexpr bool keyed = is_keyed<std::ranges::range_value_t<List>>;
    text_.open(keyed ? '{' : '[');
    for (const auto& each : list) {
      if constexpr (keyed) {
        text_.key(each.key);
        write(each.value);
      } else {
        text_.item();
        write(each);
      }
    }
    text_.close(keyed ? '}' : ']');
  }

  JsonText text_;
};

/// The whole answer.
template <class Answer>
std::string json_of(const Answer& answer) {
  JsonFields fields;
  fields.write(answer);
  return fields.take();
}

}  // namespace llmcalc::render
