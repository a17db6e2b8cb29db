// The words that were given, at most one a term, with the shorthands of hardware and sharding spelled out.
#pragma once

#include "llmcalc/read/given.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class Words {
 public:
  /// \throws quantity::BadInput for an unknown term, and for two words that set one term to different values
  explicit Words(const std::vector<Given>& given);

  /// The word of a term, or nullptr.
  const Given* find(std::string_view term) const;
  bool has(std::string_view term) const { return find(term) != nullptr; }

 private:
  void put(Given word);
  void put_gpu(const Given& word);

  std::vector<Given> words_;
};

}  // namespace llmcalc::read
