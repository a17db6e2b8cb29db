// A question said again in the shortest words is the same question.
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/typed.hpp"
#include "spec/names.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcalc;

namespace {

constexpr std::array<std::string_view, 7> first{"framework", "gpus", "tp", "pp", "vpp", "sharding", "micro_batch"};

spec::Question question_of(const std::vector<read::Given>& words) {
  return read::resolve(words, std::nullopt, read::Catalogue()).question;
}

/// \return whether such a run can be asked for
bool check(const std::string& model, const std::string& rest) {
  CAPTURE(model, rest);
  spec::Question question;
  try {
    question = question_of(test::words(model + rest));
  } catch (const quantity::BadInput&) {
    return false;
  }
  const std::optional<read::ConfigText> no_file;
  const read::Catalogue catalogue;
  const auto base = test::words(model);
  const auto said = read::say(question, base, first, {no_file, catalogue});
  CHECK(read::differences(question, question_of(said)).empty());
  for (std::size_t i = base.size(); i < said.size(); ++i) {
    auto fewer = said;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    CAPTURE(said[i].term, said[i].text);
    try {
      const auto other = question_of(fewer);
      CHECK_FALSE(read::differences(question, other).empty());
    } catch (const quantity::BadInput& error) {
      CHECK_FALSE(error.problem().empty());
    }
  }
  return true;
}

}  // namespace

TEST_CASE("what resolves to a question is said in no more words than it needs") {
  const std::string models[] = {"--model llama-3.2-1b --gpu h100-sxm", "--model mixtral-8x7b --gpu h200-sxm",
                                "--params 7e9 --gpu a100-80"};
  const std::string layouts[] = {"", " --gpus 8 --zero 3", " --gpus 8 --tp 2 --pp 2 --global-batch 64",
                                 " --gpus 8 --pp 4 --vpp 2 --grad-accum 8"};
  int asked = 0;
  for (const auto* row : frameworks::rows()) {
    const std::string framework(row->words.front());
    for (const auto& model : models) {
      for (const auto& layout : layouts) {
        for (const std::string method : {"full", "qlora"}) {
          asked += check(model, " --framework " + framework + " --method " + method + layout) ? 1 : 0;
        }
      }
    }
  }
  CHECK(asked > 150);
}

TEST_CASE("nothing is said that follows") {
  const std::optional<read::ConfigText> no_file;
  const read::Catalogue catalogue;
  const auto base = test::words("--model llama-3-8b --gpu h100-sxm");
  const auto spoken = [&](const std::string& line) {
    std::string text;
    for (const auto& word : read::say(question_of(test::words(line)), base, first, {no_file, catalogue})) {
      text += " --" + word.term + " " + word.text;
    }
    return text;
  };
  const std::string same = " --model llama-3-8b --gpu h100-sxm";
  CHECK(spoken("--model llama-3-8b --gpu h100-sxm") == same);
  CHECK(spoken("--model llama-3-8b --gpu h100-sxm --method lora --seq 1024 --micro-batch 8") ==
        same + " --method lora");
  CHECK(spoken("--model llama-3-8b --gpu h100-sxm:8 --dp 8 --grad-accum 1") == same + " --gpus 8");
}
