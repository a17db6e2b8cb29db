// The one table of frameworks: complete, and of one mind.
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "spec/traits.hpp"

#include <algorithm>
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
  }
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
