// The text of an expression, read sign by sign.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace llmcalc::read {

class ExpressionText {
 public:
  /// \param place  of the expression, for messages
  ExpressionText(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  /// Takes a sign unless a longer one stands there.
  bool take(std::string_view sign);
  void expect(std::string_view sign);   ///< \throws quantity::BadInput when it is not there
  void expect_end();                    ///< \throws quantity::BadInput when more follows
  std::string_view take_name();         ///< "attn_config.kv_n_heads"; empty when none stands there
  std::string_view take_until_quote();  ///< a word whose opening quote was taken
  bool is_at_digit();
  double take_number();  ///< \pre is_at_digit()
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  void skip_space();

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
};

/// The first key that an expression names: what a person would add to the file.
std::string first_key(std::string_view text);

}  // namespace llmcalc::read
