// Any bytes, read as lines of "term=text", are planned or refused; of a large space only the start is searched.
#include "dialects/launch.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "search/plan.hpp"
#include "words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace llmcalc;

/// Deeper models take no other path, only longer: each way to cut their layers is laid out.
bool is_deep(const spec::Question& question) {
  constexpr std::int64_t most_layers = 1000;
  return question.model.layer_count() > most_layers;
}

void search_start(const search::PlanSpace& space) {
  constexpr std::size_t most_units = 5;
  search::PlanSearch search(space);
  for (const auto& unit : space.units().first(std::min(most_units, space.units().size()))) search.search(unit);
  for (const auto& run : search.findings().best) dialects::launches(space.question_of(run.choice));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto plan = read::resolve_plan(fuzz::words_of(text), std::nullopt, read::Catalogue());
    constexpr std::size_t most_bases = 4;
    search::PlanQuestion question;
    for (const auto& base : plan.bases) {
      if (is_deep(base.resolved.question)) return 0;
      if (question.bases.size() < most_bases) question.bases.push_back(base.resolved.question);
    }
    question.choices = plan.choices;
    search_start(search::PlanSpace(std::move(question)));
  } catch (const quantity::BadInput&) {  // a plan that cannot be made
  } catch (const quantity::Overflow&) {  // or whose figures have no room in 64 bits
  }
  return 0;
}
