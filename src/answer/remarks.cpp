#include "answer/parts.hpp"

#include "llmcalc/quantity/format.hpp"
#include "llmcalc/spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

using spec::name_of;

namespace {

/// The field's rule of thumb for pre-training: below some 200 B tokens a model is under-trained for general use.
constexpr double fewest_pretraining_tokens = 200e9;

bool fits(spec::Question question) {
  const Walks walks = walk(question);
  return verdict(question, memory_answer(question, walks)).kind == VerdictKind::fits;
}

/// The largest multiple of `unit` of one field with which the run still fits, by doubling and halving.
template <class Set>
std::int64_t largest(const spec::Question& question, std::int64_t unit, std::int64_t most, const Set& set) {
  const auto fits_with = [&](std::int64_t n) {
    spec::Question changed = question;
    set(changed, n * unit);
    return fits(changed);
  };
  std::int64_t good = 0;
  std::int64_t bad = 1;
  while (bad * unit <= most && fits_with(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (middle * unit <= most && fits_with(middle) ? good : bad) = middle;
  }
  return good * unit;
}

/// Sequences are counted in multiples of this, as kernels and batches like them.
constexpr std::int64_t sequence_unit = 256;
constexpr std::int64_t longest_sequence = 10'000'000;
constexpr std::int64_t largest_batch = 1'000'000;

bool has_room_to_search(const spec::Question& question) {
  return question.training.activations == spec::ActivationModel::program;
}

std::string room_note(const spec::Question& question) {
  const std::int64_t batch =
      largest(question, 1, largest_batch, [](spec::Question& q, std::int64_t n) { q.training.micro_batch = n; });
  const std::int64_t seq = largest(question, sequence_unit, longest_sequence,
                                   [](spec::Question& q, std::int64_t n) { q.training.seq = n; });
  return fmt::format("largest that still fits, one change at a time: --micro-batch {}, --seq {}", batch, seq);
}

}  // namespace

std::vector<std::string> notes(const spec::Question& question, const Verdict& v) {
  std::vector<std::string> lines;
  if (v.kind == VerdictKind::fits && has_room_to_search(question)) lines.push_back(room_note(question));
  if (question.training.method != spec::Method::full) {
    lines.push_back(fmt::format("not modelled yet: method '{}' is answered as if nothing were trained but what it names",
                                name_of(question.training.method)));
  }
  return lines;
}

std::vector<std::string> warnings(const spec::Question& question, const Estimate& estimate) {
  std::vector<std::string> lines;
  const auto& data = question.pricing.data;
  const bool stated = data.tokens || data.tokens_per_parameter || data.samples;
  if (stated && quantity::in_tokens(estimate.compute.tokens) < fewest_pretraining_tokens) {
    lines.push_back(fmt::format("{} tokens is little for pre-training; the field's rule of thumb is at least 200B",
                                quantity::format_tokens(estimate.compute.tokens)));
  }
  if (estimate.verdict.kind == VerdictKind::tight) {
    lines.push_back(fmt::format("tight: the room left is inside the error bar of {:.0f} %", 100.0 * estimate.verdict.error_share));
  }
  return lines;
}

}  // namespace llmcalc::answer
