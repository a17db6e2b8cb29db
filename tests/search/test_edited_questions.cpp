// A change edits the question that is tried at once, and says the words that are tried when it seems to help: both are
// one run, and need the same.
#include "../answer/asking.hpp"
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "search/advice.hpp"
#include "search/inner/changes.hpp"

#include <fmt/format.h>

#include <map>

using namespace llmcalc;
using test::question;

namespace llmcalc::edited_questions {
namespace {

std::string line_of(std::string line, const std::vector<spec::Word>& terms) {
  for (const auto& said : terms) {
    auto option = said.term;
    std::ranges::replace(option, '_', '-');
    line += " --" + option + " " + said.text;
  }
  return line;
}

std::optional<spec::Question> typed(const std::string& line) try {
  return question(line);
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

/// Trainers that keep other states once they shard or cut, which only typed words find out, as of a mixture that is cut
/// and of all that trains adapters.
constexpr std::string_view moving[] = {"accelerate", "unsloth", "megatron-deepspeed", "torchtitan", "litgpt", "liger"};

bool is_settled(const spec::Question& run, std::string_view framework, search::ChangeKind kind) {
  if (search::leaves_states(kind))
    return kind != search::ChangeKind::accelerator || !quantity::contains(moving, framework);
  const bool cuts_experts = kind == search::ChangeKind::tensor && run.model.shape.moe.experts > 0;
  return kind != search::ChangeKind::method && !cuts_experts && !quantity::contains(moving, framework);
}

}  // namespace

TEST_CASE("a changed run needs what its words, typed, need", "[long]") {
  constexpr const char* models[] = {"llama-3-8b", "mixtral-8x7b", "gpt2-xl"};
  constexpr const char* layouts[] = {"", "--micro-batch 6", "--method lora", "--attention eager --seq 2k"};
  search::Probe probe;
  std::map<search::ChangeKind, int> seen;
  for (const auto* row : frameworks::rows()) {
    for (std::size_t turn = 0; turn < std::size(layouts); ++turn) {
      const std::string line = fmt::format("--model {} --framework {} --gpu a100-40:8 {}",
                                           models[turn % std::size(models)], row->words.front(), layouts[turn]);
      const auto run = typed(line);
      if (!run) continue;
      for (const auto& change : search::all_changes()) {
        for (std::size_t step = 0; step < change.steps(*run, {}); ++step) {
          search::Changed changed{*run, {}, {}, {}};
          if (!change.apply(changed, {}, step) || !is_settled(*run, row->words.front(), change.kind)) continue;
          const auto again = typed(line_of(line, changed.terms));
          if (!again) continue;
          CAPTURE(line, line_of("", changed.terms));
          const auto edited = probe.need(changed.question);
          const auto said = probe.need(*again);
          REQUIRE(edited.has_value() == said.has_value());
          if (edited) CHECK(edited->accelerator == said->accelerator);
          if (edited) CHECK(edited->host == said->host);
          ++seen[change.kind];
        }
      }
    }
  }
  CHECK(seen.size() >= 13);
}

}  // namespace llmcalc::edited_questions
