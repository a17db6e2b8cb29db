#include "spec/roles.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

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

bool names(std::string_view wanted, const RoleFacts& row) {
  if (wanted == all_linear_word) return row.linear == AllLinear::yes;
  for (std::string_view rest = row.targets; !rest.empty();) {
    if (quantity::take_until(rest, ",") == wanted) return true;
  }
  return false;
}

}  // namespace

const RoleFacts& facts(Role role) { return rows[static_cast<std::size_t>(role)]; }

const std::array<RoleFacts, role_count>& all_roles() { return rows; }

RoleSet roles_of(const std::vector<std::string>& targets) {
  RoleSet found;
  for (const RoleFacts& row : rows) {
    found[static_cast<std::size_t>(row.role)] =
        std::ranges::any_of(targets, [&](const std::string& wanted) { return names(wanted, row); });
  }
  return found;
}

std::string_view words_of_module(std::string_view module) {
  const std::string_view last = module.substr(module.rfind('.') + 1);
  if (const auto* known = quantity::find_or_null(modules, last, &ModuleWords::module)) return known->words;
  const auto is_word = [&](const RoleFacts& row) { return names(last, row); };
  const auto* row = quantity::find_if_or_null(rows, is_word);
  return row == nullptr ? std::string_view() : last;
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
