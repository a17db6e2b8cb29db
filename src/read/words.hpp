// The words that were given, at most one a term, with the shorthands of hardware and sharding spelled out.
#pragma once

#include "read/given.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// The first word of a term in a list that may say it twice, or nullptr.
const Given* find_word(const std::vector<Given>& words, std::string_view term);
inline bool has_word(const std::vector<Given>& words, std::string_view term) {
  return find_word(words, term) != nullptr;
}

/// Each under the vocabulary's name, "micro_batch" of "micro-batch", and in its order: who says the same in another
/// order asks the same. Names that nobody knows stay as they are, behind the others.
std::vector<Given> in_order(std::vector<Given> words);

class Words {
 public:
  /// \throws quantity::BadInput for an unknown term, and for two words that set one term to different values
  explicit Words(const std::vector<Given>& given);

  /// The word of a term, or nullptr.
  const Given* find(std::string_view term) const;
  bool has(std::string_view term) const { return find(term) != nullptr; }

  /// What stood there for a term: "2" for zero2 where somebody typed --zero 2.
  std::string_view typed(const Given& word) const;

 private:
  void put(Given word, std::string_view typed = {});
  void put_gpu(const Given& word);
  bool put_instance(const Given& word);

  /// Cards of the machine that a cloud rents, where it was named and nobody counted others.
  struct Rented {
    std::int64_t cards;
    Origin origin;
  };

  std::vector<Given> words_;
  std::optional<Rented> rented_;
  std::map<std::string, std::string, std::less<>> typed_;  ///< of the terms that were said in other words
};

}  // namespace llmcalc::read
