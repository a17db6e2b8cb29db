// The one table of frameworks: complete, and of one mind.
#include "../answer/asking.hpp"
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "quantity/lists.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace llmcalc;

TEST_CASE("every framework has the row of its own place, and words that nobody else has") {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec::Framework::count); ++i) {
    const auto framework = static_cast<spec::Framework>(i);
    const frameworks::FrameworkRow& row = frameworks::row_of(framework);
    CHECK(row.framework == framework);
    CHECK(row.words.size() > 0);
    CHECK(row.profile != nullptr);
    CHECK((!row.title.empty() && row.methods.has(spec::Method::full) && row.space.shardings.size() > 0));
    CHECK(spec::name_of(framework) == row.words.front());
    words.insert(words.end(), row.words.begin(), row.words.end());
  }
  for (const auto word : words) {
    CAPTURE(word);
    CHECK(std::ranges::count(words, word) == 1);
    CHECK(spec::find_name<spec::Framework>(word) != nullptr);
  }
  CHECK(words.size() == spec::vocabulary<spec::Framework>().size());
}

TEST_CASE("a search begins with what shards least") {
  for (const auto* row : frameworks::rows()) {
    CAPTURE(row->words.front());
    CHECK(spec::zero_stage(row->space.shardings.front()) <= spec::zero_stage(*(row->space.shardings.end() - 1)));
    CHECK(row->space.offloads.front() == spec::Offload::none);
    CHECK(row->recomputes.has(spec::RecomputePolicy::none));
  }
}

namespace {

/// The modules of each selective way, by their words; "core" for the attention core, "none" and "full" for those.
std::string ways_of(const std::string& line) {
  const auto names = [](const spec::Recompute& way) -> std::string {
    if (way.policy != spec::RecomputePolicy::selective) return std::string(spec::name_of(way.policy));
    const auto modules = quantity::mapped(way.modules, spec::name_of<spec::RecomputeModule>);
    return modules.empty() ? "core" : quantity::joined(modules, "+");
  };
  return quantity::joined(quantity::mapped(frameworks::ways_to_recompute(test::question(line)), names), ", ");
}

}  // namespace

// What Megatron Core refuses: core/transformer/transformer_config.py, __post_init__; what its users recompute:
// Megatron-Bridge scripts/performance, recompute_modules of DeepSeek-V3 and Kimi K2 ("mla_up_proj"), of Qwen3
// "moe_act".
TEST_CASE("a search recomputes the parts that Megatron Core has a word for where the model has them") {
  CHECK(ways_of("--model llama-3-8b --framework megatron") == "none, mlp, full");
  CHECK(ways_of("--model llama-3-8b --framework megatron --attention eager") == "none, mlp, core, full");
  CHECK(ways_of("--model qwen3-30b-a3b --framework megatron-bridge") == "none, moe_act, full");
  CHECK(ways_of("--model qwen3-30b-a3b --framework megatron --grouped-experts 0") == "none, core, full");
  CHECK(ways_of("--model deepseek-v3 --framework megatron") == "none, mla_up_proj, mla_up_proj+moe_act, full");
  CHECK(ways_of("--model deepseek-v3 --framework megatron --compute fp8-e4m3") == "none, mla_up_proj, core, full");
  CHECK(ways_of("--model deepseek-v3 --framework megatron --compute mxfp8 --gpu b200-sxm") ==
        "none, mla_up_proj, mla_up_proj+moe_act, core, full");
  CHECK(ways_of("--model deepseek-v3 --framework torchtitan") == "none, core, full");
}

TEST_CASE("a search tries only what the framework can do") {
  for (const auto* row : frameworks::rows()) {
    CAPTURE(row->words.front());
    const auto& space = row->space;
    CHECK(std::ranges::all_of(space.shardings, [&](auto each) { return row->shardings.has(each); }));
    CHECK(std::ranges::all_of(space.schedules, [&](auto each) { return row->schedules.has(each); }));
    CHECK(std::ranges::all_of(space.offloads, [&](auto each) { return row->offloads.has(each); }));
  }
}
