#include "spec/roles.hpp"

#include "quantity/lists.hpp"

#include <algorithm>

namespace llmcalc::spec {

namespace {

constexpr std::array<RoleFacts, role_count> rows{{
#include "roles/roles.inc"
}};

constexpr bool stands_in_order() {
  for (std::size_t i = 0; i < role_count; ++i) {
    if (static_cast<std::size_t>(rows[i].role) != i) return false;
  }
  return true;
}
static_assert(stands_in_order(), "a role is looked up by its place");

struct ModuleWords {
  std::string_view module;
  std::string_view words;
};

constexpr ModuleWords modules[] = {
#include "roles/modules.inc"
};

constexpr std::size_t words_in(std::string_view list) {
  return list.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(list, ','));
}

struct NamedRole {
  std::string_view word;
  Role role;
};

constexpr std::size_t word_count = quantity::sum_of(rows, [](const RoleFacts& row) { return words_in(row.targets); });

/// Every word of every role: each layer of each run that a search tries asks for some.
constexpr auto target_words = [] {
  std::array<NamedRole, word_count> all{};
  std::size_t n = 0;
  for (const RoleFacts& row : rows) {
    std::string_view rest = row.targets;
    for (std::size_t count = words_in(rest); count > 0; --count) {
      const auto word = rest.substr(0, rest.find(','));
      all[n++] = {word, row.role};
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    }
  }
  return all;
}();

}  // namespace

const RoleFacts& facts(Role role) { return rows[static_cast<std::size_t>(role)]; }

const std::array<RoleFacts, role_count>& all_roles() { return rows; }

RoleSet roles_of(const std::vector<std::string>& targets) {
  RoleSet found;
  const auto add = [&](Role role) { found.set(static_cast<std::size_t>(role)); };
  for (const std::string& wanted : targets) {
    for (const RoleFacts& row : rows) {
      if (wanted == all_linear_word && row.linear == AllLinear::yes) add(row.role);
    }
    for (const auto& [word, role] : target_words) {
      if (word == wanted) add(role);
    }
  }
  return found;
}

std::string_view words_of_module(std::string_view module) {
  const std::string_view last = module.substr(module.rfind('.') + 1);
  if (const auto* known = quantity::find_or_null(modules, last, &ModuleWords::module)) return known->words;
  const bool is_word = last == all_linear_word || quantity::contains(target_words, last, &NamedRole::word);
  return is_word ? last : std::string_view();
}

std::string_view module_of_word(std::string_view word) {
  const auto* known = quantity::find_or_null(modules, word, &ModuleWords::words);
  return known == nullptr ? word : known->module;
}

bool names_all_linear(const std::vector<std::string>& words) {
  constexpr std::string_view linear[] = {"q", "k", "v", "o", "gate", "up", "down"};
  const auto is_said = [&](std::string_view each) { return quantity::contains(words, each); };
  return quantity::contains(words, all_linear_word) || std::ranges::all_of(linear, is_said);
}

}  // namespace llmcalc::spec
