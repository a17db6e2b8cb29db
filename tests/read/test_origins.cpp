// Where the values of a question come from: what nobody said and no rule gave is as plain as in a question of nobody.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/typed.hpp"
#include "read/vocabulary.hpp"

#include <string>
#include <vector>

using namespace llmcalc;

TEST_CASE("a value whose origin is no rule is that of an empty question, whoever trains what") {
  const spec::Question empty;
  std::size_t asked = 0;
  for (const auto* row : frameworks::rows()) {
    for (const std::string more : {"", " --method lora", " --method qlora --seq 4k", " --gpus 16 --sharding zero3",
                                   " --gpus 64 --tp 8 --pp 2 --global-batch 256", " --micro-batch 2 --tokens 1B",
                                   " --recompute full --gpus 8 --sharding fsdp2"}) {
      for (const std::string model : {"--params 7b", "--model llama-3-8b", "--model mixtral-8x7b", "--model t5-3b"}) {
        const auto line = model + " --gpu h100-sxm --framework " + std::string(row->words.front()) + more;
        CAPTURE(line);
        std::vector<read::Given> echo;
        try {
          echo = test::ask(line).echo;
        } catch (const quantity::BadInput&) {
          continue;  // what the framework does not do
        }
        ++asked;
        for (const auto& word : echo) {
          if (word.origin.source != read::Source::default_value || word.origin.where != "default") continue;
          CAPTURE(word.term, word.text);
          const read::Term* term = read::find_term(word.term);
          REQUIRE(term != nullptr);
          const auto plain = term->show(empty);
          if (!plain.empty() && plain != word.text) FAIL_CHECK("is " << plain << " of a question of nobody");
        }
      }
    }
  }
  CHECK(asked > 200);
}
