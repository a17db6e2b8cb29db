#include "spec/file_tensors.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::spec {

namespace {

/// The part of a model that a step of a module's name leads into.
enum class ModulePart { attention, recurrence, mlp, experts, shared_experts, layer, layers, beside };

/// Parts whose own parts go by numbers.
bool is_list(std::optional<ModulePart> part) { return part == ModulePart::layers || part == ModulePart::experts; }

struct ModuleStep {
  std::string_view step;
  ModulePart part;
};

constexpr ModuleStep module_steps[] = {
#include "roles/steps.inc"
};

constexpr std::int64_t every_layer = -1;

/// Roles of matrices that files have apart and engines load as one.
struct LoadedIn {
  Role part;
  Role whole;
};
constexpr LoadedIn loaded_in[] = {{Role::delta_heads, Role::delta_fused}, {Role::delta_beta, Role::delta_beta_decay}};

bool is_within(Role role, ModulePart part) {
  const Use use = use_of(role);
  const bool attends = use >= Use::query && use <= Use::attention_out;
  const bool recurs = role >= Role::delta_fused && role <= Role::delta_out;
  switch (part) {
    case ModulePart::attention: return attends && !recurs && use != Use::recurrence;
    case ModulePart::recurrence: return recurs || use == Use::recurrence;
    case ModulePart::mlp:
    case ModulePart::experts:
    case ModulePart::shared_experts: return (use >= Use::gate && use <= Use::down) || use == Use::router;
    case ModulePart::layer: return use >= Use::query && use < Use::whole;
    case ModulePart::layers:
    case ModulePart::beside: break;
  }
  return false;
}

RoleSet roles_within(ModulePart part) {
  RoleSet roles;
  for (const RoleFacts& row : all_roles()) roles.set(static_cast<std::size_t>(row.role), is_within(row.role, part));
  return roles;
}

/// Steps of a pattern, of a regular expression those that are as in a name.
std::vector<std::string_view> steps_of(std::string_view pattern) {
  return quantity::mapped_if(quantity::pieces_of(quantity::without_start(pattern, "re:"), ".*^$\\"), std::identity(),
                             [](std::string_view step) { return !step.empty(); });
}

/// Matrices of a last step, "(gate|up)_proj" of several.
RoleSet roles_called(std::string_view step) {
  const auto open = std::min(step.find('('), step.size());
  const auto close = std::min(step.find(')', open), step.size());
  const std::string behind(step.substr(std::min(close + 1, step.size())));
  std::vector<std::string> words;
  for (const auto one :
       quantity::pieces_of(close < step.size() ? step.substr(open + 1, close - open - 1) : step, "|")) {
    const std::string name = std::string(step.substr(0, close < step.size() ? open : 0)).append(one).append(behind);
    for (const auto word : quantity::pieces_of(words_of_module(name), ",")) words.emplace_back(word);
  }
  RoleSet roles = roles_of(words);
  for (const auto& [apart, whole] : loaded_in) {
    if (roles.test(static_cast<std::size_t>(apart))) roles.set(static_cast<std::size_t>(whole));
  }
  return roles;
}

}  // namespace

NamedModules all_of_layers() { return {.roles = roles_within(ModulePart::layer)}; }

NamedModules modules_named(std::string_view pattern) {
  constexpr std::string_view any_number[] = {"d+", "[0-9]+"};
  NamedModules named;
  std::optional<ModulePart> part;    // that the steps so far lead into
  std::optional<ModulePart> before;  // that the step before does
  bool first = true;
  for (const std::string_view step : steps_of(pattern)) {
    const auto* known = quantity::find_or_null(module_steps, step, &ModuleStep::step);
    const auto list = std::exchange(before, known == nullptr ? std::nullopt : std::optional(known->part));
    if (before == ModulePart::beside) return {};
    if (before && before != ModulePart::layers) {
      part = before;
      named.roles = roles_within(*part);
      named.expert = part == ModulePart::experts          ? std::optional(true)
                     : part == ModulePart::shared_experts ? std::optional(false)
                                                          : std::nullopt;
    } else if (list == ModulePart::layers && quantity::is_number(step)) {
      part = ModulePart::layer;
      named.roles = roles_within(*part);
      auto digits = step;
      named.layer = quantity::take_number<std::int64_t>(digits);
    } else if (is_list(list)) {
      if (!quantity::is_number(step) && !quantity::contains(any_number, step)) return {};
    } else if (!before && (part || first || !words_of_module(step).empty())) {
      named.roles = roles_called(step);
      if (part) named.roles &= roles_within(*part);
    }
    named.whole_mlp = before == ModulePart::mlp;
    named.beside_mlp = part == ModulePart::layer;
    first = false;
  }
  return named;
}

void FileTensors::add(Use use, Part part, bool expert, std::int64_t layer, double elements, double bytes) {
  Held& held = held_[{use, part, expert, layer}];
  held.elements += elements;
  held.bytes += bytes;
}

void FileTensors::add(const FileTensors& shard) {
  for (const auto& [place, more] : shard.held_) {
    Held& held = held_[place];
    held.elements += more.elements;
    held.bytes += more.bytes;
  }
}

std::optional<double> FileTensors::bytes_each(Use use, bool expert, std::int64_t layer) const {
  for (const Part part : {Part::whole, Part::other}) {
    const auto found = held_.lower_bound({use, part, expert, layer});
    const auto last = held_.upper_bound({use, part, expert, std::numeric_limits<std::int64_t>::max()});
    if (found != last) return found->second.bytes / found->second.elements;
  }
  return std::nullopt;
}

void FileTensors::say(const NamedModules& modules, formats::Quant scheme) {
  for (const bool expert : {false, true}) {
    if (modules.expert.value_or(expert) != expert || modules.roles.none()) continue;
    auto& said = said_[{expert, modules.layer.value_or(every_layer)}];
    for (std::size_t role = 0; role < role_count; ++role) {
      if (modules.roles.test(role)) said[role] = scheme;
    }
  }
}

std::optional<formats::Quant> FileTensors::said(Role role, bool expert, std::int64_t layer) const {
  for (const std::int64_t place : {layer, every_layer}) {
    const auto found = said_.find({expert, place});
    if (found == said_.end()) continue;
    if (const auto& scheme = found->second[static_cast<std::size_t>(role)]) return scheme;
  }
  return std::nullopt;
}

}  // namespace llmcalc::spec
