// A card that is better in every rate is never slower, whichever model, trainer and engine asks.
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"
#include "tools/relations.hpp"

#include <string>
#include <vector>

namespace llmcalc::relations {
namespace {

const std::vector<std::string> models{"llama-3.2-1b", "qwen3-30b-a3b", "gpt2", "deepseek-v2-lite", "gemma-2-9b"};
const std::vector<std::string> cards{"h100-sxm:8", "a100-40:4", "rtx-4090:2", "l40s", "mi300x:8"};

/// \return whether it is answered
bool check(const std::string& verb, const std::vector<spec::Word>& words) try {
  CAPTURE(verb, words[0].text, words[1].text, words[2].text, words.back().text);
  for (const auto& broken : test::broken_relations(verb, words)) FAIL_CHECK(broken);
  return true;
} catch (const quantity::BadInput&) {
  return false;
}

}  // namespace

TEST_CASE("a run on a better card is no slower, and fits where it did") {
  int answered = 0, turn = 0;
  for (const auto* row : frameworks::rows()) {
    for (const auto& model : models) {
      const auto& card = cards[static_cast<std::size_t>(turn++) % cards.size()];
      answered +=
          check("fit", {{"model", model}, {"framework", std::string(row->words.front())}, {"gpu", card}}) ? 1 : 0;
    }
  }
  CHECK(answered > 60);
}

TEST_CASE("a server on a better card answers no later, holds no less, and costs as much more as its price") {
  int answered = 0, turn = 0;
  for (const auto& row : serving::all_engines()) {
    for (const auto& model : models) {
      const auto& card = cards[static_cast<std::size_t>(turn++) % cards.size()];
      const std::vector<spec::Word> words{{"model", model},     {"engine", std::string(spec::name_of(row.engine))},
                                          {"gpu", card},        {"context", "4k"},
                                          {"concurrency", "8"}, {"prompt", "1k"},
                                          {"output", "100"}};
      answered += check("serve", words) ? 1 : 0;
    }
  }
  CHECK(answered > 20);
}

}  // namespace llmcalc::relations
