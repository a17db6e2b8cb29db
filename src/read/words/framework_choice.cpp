#include "frameworks/table.hpp"
#include "read/words/draft_steps.hpp"
#include "read/words/training_rules.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

using spec::Framework;

bool is_rule(const QuestionDraft& draft) {
  return draft.question.training.activations != spec::ActivationModel::program;
}

bool is_split(const QuestionDraft& draft) {
  const spec::Layout& layout = draft.question.layout;
  return layout.tp > 1 || layout.pp > 1 || layout.cp > 1 || layout.ep > 1;
}

bool has_zero(const QuestionDraft& draft) {
  const auto sharding = draft.question.layout.sharding;
  return spec::zero_stage(sharding) > 0 && !spec::is_fsdp(sharding);
}

bool has_fsdp(const QuestionDraft& draft) { return spec::is_fsdp(draft.question.layout.sharding); }

bool has_adapters(const QuestionDraft& draft) { return trains_adapters(draft.question.training.method); }

/// A model is known by its size, and each card holds all of it. By values and not by words: a default said aloud is
/// one. Nobody tunes adapters as a textbook does.
bool is_size_alone(const QuestionDraft& draft) {
  const bool spread = is_split(draft) || has_zero(draft) || has_fsdp(draft);
  return draft.question.stated_parameters && !spread && !has_adapters(draft);
}

/// Programs of a TPU are compiled whole.
bool is_compiled(const QuestionDraft& draft) { return !spec::can(draft.question.gpu, spec::Ability::eager); }

bool is_plain(const QuestionDraft&) { return true; }

/// What people use for a layout, most common first; the first that can do all that is asked is taken, or else the
/// textbook, which can do everything.
struct Usage {
  bool (*holds)(const QuestionDraft& draft);
  std::string_view why;
  frameworks::List<Framework> trainers;
};

constexpr Usage usages[] = {
    {is_rule, "a rule of thumb", {}},
    {is_size_alone, "a size alone", {}},
    {is_compiled, "a TPU", {Framework::maxtext}},
    {is_split,
     "tp, pp, cp or ep",
     {Framework::megatron, Framework::megatron_bridge, Framework::nemo, Framework::deepspeed, Framework::hf}},
    {has_adapters, "adapters", {Framework::trl, Framework::hf, Framework::llama_factory, Framework::accelerate}},
    {has_zero, "ZeRO", {Framework::deepspeed, Framework::hf}},
    {has_fsdp, "FSDP", {Framework::torchtitan, Framework::accelerate, Framework::hf, Framework::trl}},
    {is_plain,
     "whole models on each card",
     {Framework::accelerate, Framework::hf, Framework::trl, Framework::llama_factory}},
};

/// Of several cards a search may cut a model in every direction, which few programs can.
constexpr Framework cutters[] = {Framework::megatron,  Framework::megatron_bridge, Framework::nemo,
                                 Framework::deepspeed, Framework::torchtitan,      Framework::hf};

constexpr Framework tuners[] = {Framework::trl,        Framework::hf,        Framework::llama_factory,
                                Framework::accelerate, Framework::deepspeed, Framework::megatron_bridge};

/// All weights on one card.
constexpr Framework alone[] = {Framework::accelerate, Framework::hf, Framework::trl, Framework::llama_factory,
                               Framework::deepspeed};

}  // namespace

std::span<const spec::Framework> frameworks_of_search(const spec::Question& question, bool on_several) {
  static constexpr Framework textbook[] = {Framework::generic};
  const auto& training = question.training;
  if (training.framework == Framework::generic) return textbook;
  static constexpr Framework compiled[] = {Framework::maxtext};
  if (!spec::can(question.gpu, spec::Ability::eager)) return compiled;
  if (trains_adapters(training.method)) return tuners;
  return on_several ? std::span<const Framework>(cutters) : std::span<const Framework>(alone);
}

void choose_framework(QuestionDraft& draft) {
  if (draft.given("framework")) return;
  const auto usage = std::ranges::find_if(usages, [&](const Usage& one) { return one.holds(draft); });
  const auto can = [&](Framework framework) { return frameworks::unable_to(framework, draft.question).empty(); };
  const auto found = std::ranges::find_if(usage->trainers, can);
  const Framework framework = found == usage->trainers.end() ? Framework::generic : *found;
  draft.training().framework = framework;
  const std::string word(frameworks::row_of(framework).words.front());
  draft.assume("framework", usage->why, word, "for " + std::string(usage->why));
}

}  // namespace llmcalc::read
