// A command line that grows option by option, broken before it gets wide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace llmcalc::dialects {

class CommandText {
 public:
  explicit CommandText(std::string start) : text_(std::move(start)), width_(text_.size() - (text_.rfind('\n') + 1)) {}

  void flag(std::string_view name) { add(std::string(name)); }
  void option(std::string_view name, std::int64_t value) { add(std::string(name) + " " + std::to_string(value)); }
  void word(std::string_view name, std::string_view value) { add(std::string(name) + " " + std::string(value)); }

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& piece) {
    constexpr std::size_t widest = 80;
    const bool breaks = width_ + piece.size() + 3 > widest;
    text_ += breaks ? " \\\n  " : " ";
    width_ = piece.size() + (breaks ? 2 : width_ + 1);
    text_ += piece;
  }

  std::string text_;
  std::size_t width_;  ///< of the line that grows
};

}  // namespace llmcalc::dialects
