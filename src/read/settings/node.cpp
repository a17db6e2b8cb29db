#include "read/settings/node.hpp"

#include "llmcalc/quantity/error.hpp"

#include <algorithm>

namespace llmcalc::read {

const Node* Node::find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &Member::key);
  return found == members.end() ? nullptr : &found->value;
}

void refuse_large(std::string_view text, std::string_view place) {
  if (text.size() <= largest_settings) return;
  throw quantity::BadInput(std::string(place), "is larger than 1 MiB, which no file of settings is");
}

}  // namespace llmcalc::read
