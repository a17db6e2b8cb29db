#include "read/words/framework_choice.hpp"

#include "llmcalc/frameworks/table.hpp"
#include "llmcalc/spec/traits.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::read {
namespace {

using spec::Framework;

/// Whether a model is known by its size alone, and nothing is said of how it is spread.
bool is_size_alone(const Draft& draft) {
  constexpr std::array model{"model", "config", "layers", "hidden", "heads"};
  constexpr std::array spread{"tp", "pp", "cp", "ep", "sharding"};
  const auto given = [&](const char* term) { return draft.given(term); };
  return draft.given("params") && std::ranges::none_of(model, given) && std::ranges::none_of(spread, given);
}

bool is_rule(const Draft& draft) { return draft.question.training.activations != spec::ActivationModel::program; }

bool is_split(const Draft& draft) {
  const spec::Layout& layout = draft.question.layout;
  return layout.tp > 1 || layout.pp > 1 || layout.cp > 1 || layout.ep > 1;
}

bool has_zero(const Draft& draft) {
  const auto sharding = draft.question.layout.sharding;
  return spec::zero_stage(sharding) > 0 && !spec::is_fsdp(sharding);
}

bool has_fsdp(const Draft& draft) { return spec::is_fsdp(draft.question.layout.sharding); }

bool is_plain(const Draft&) { return true; }

/// What people use for a layout, most common first; the first that can do all that is asked is taken.
struct Choice {
  bool (*holds)(const Draft& draft);
  std::string_view why;
  std::array<Framework, 5> frameworks;  ///< filled up with the textbook, which can do everything
};

constexpr Framework textbook = Framework::generic;

constexpr Choice choices[] = {
    {is_rule, "a rule of thumb", {textbook, textbook, textbook, textbook, textbook}},
    {is_size_alone, "a size alone", {textbook, textbook, textbook, textbook, textbook}},
    {is_split,
     "tp, pp, cp or ep",
     {Framework::megatron, Framework::megatron_bridge, Framework::nemo, Framework::deepspeed, Framework::hf}},
    {has_zero, "ZeRO", {Framework::deepspeed, Framework::hf, textbook, textbook, textbook}},
    {has_fsdp, "FSDP", {Framework::torchtitan, Framework::accelerate, Framework::hf, Framework::trl, textbook}},
    {is_plain,
     "whole models on each card",
     {Framework::hf, Framework::trl, Framework::llama_factory, Framework::accelerate, textbook}},
};

}  // namespace

void choose_framework(Draft& draft) {
  if (draft.given("framework")) return;
  const auto choice = std::ranges::find_if(choices, [&](const Choice& one) { return one.holds(draft); });
  const auto can = [&](Framework framework) { return frameworks::unable_to(framework, draft.question).empty(); };
  const auto found = std::ranges::find_if(choice->frameworks, can);
  const Framework framework = found == choice->frameworks.end() ? textbook : *found;
  draft.training().framework = framework;
  const std::string word(frameworks::row_of(framework).words.front());
  draft.assume("framework", choice->why, "--framework " + word + ", for " + std::string(choice->why));
}

}  // namespace llmcalc::read
