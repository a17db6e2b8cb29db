#include "read/presets/names.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::read {
namespace {

bool same_letters(char a, char b) { return quantity::to_lower(a) == quantity::to_lower(b); }

}  // namespace

bool same_name(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, same_letters); }

std::string_view without_organisation(std::string_view hf_id) {
  const auto slash = hf_id.find('/');
  return slash == std::string_view::npos ? hf_id : hf_id.substr(slash + 1);
}

std::vector<std::string_view> split_aliases(std::string_view joined) { return quantity::pieces_of(joined, "|"); }

bool PresetNames::contains(std::string_view name) const {
  const auto same = [name](std::string_view mine) { return same_name(mine, name); };
  return same(id) || std::ranges::any_of(aliases, same) ||
         (!hf_id.empty() && (same(hf_id) || same(without_organisation(hf_id))));
}

void PresetNames::append_to(std::vector<std::string_view>& names) const {
  names.push_back(id);
  quantity::append(names, aliases);
  if (!hf_id.empty()) quantity::append(names, std::array{std::string_view(hf_id), without_organisation(hf_id)});
}

}  // namespace llmcalc::read
