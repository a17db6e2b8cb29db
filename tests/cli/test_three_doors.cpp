// The command line, C++ and C answer one question with the same bytes, in whichever order and spelling it is said.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/llmcalc.h"
#include "llmcalc/llmcalc.hpp"
#include "render/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

using Said = std::vector<std::pair<std::string, std::string>>;

template <class Ask>
std::string answered(const Ask& ask_it) try {
  return ask_it();
} catch (const quantity::BadInput& error) {
  return render::to_json(error, version());
}

std::string typed(const Said& said) {
  std::vector<std::string> words{"fit"};
  for (const auto& [option, value] : said) words.insert(words.end(), {"--" + option, value});
  words.insert(words.end(), {"--format", "json"});
  return answered([&] { return cli::run(words, cli::Environment{}).answer; });
}

std::string of_cpp(const Said& said) {
  std::vector<Word> words;
  for (const auto& [option, value] : said) words.push_back({option, value});
  std::ranges::reverse(words);
  return answered([&] { return to_json(ask(words)); });
}

/// \param spelled  '_' or '-', between the words of an option
std::string of_c(const Said& said, char spelled) {
  json question = json::object();
  for (auto [option, value] : said) {
    std::ranges::replace(option, '-', spelled);
    question[option] = value;
  }
  char* text = nullptr;
  llmcalc_fit(question.dump().c_str(), &text);
  std::string answer = text;
  llmcalc_free(text);
  return answer;
}

void check_alike(const Said& said) {
  CAPTURE(said);
  const auto expected = typed(said);
  CHECK(of_cpp(said) == expected);
  CHECK(of_c(said, '-') == expected);
  CHECK(of_c(said, '_') == expected);
}

}  // namespace

TEST_CASE("every door gives the same answer of the same question") {
  const std::vector<std::pair<std::string, std::string>> models{{"model", "llama-3-8b"}, {"params", "13b"}};
  const std::vector<std::string> frameworks{"", "hf", "deepspeed", "megatron", "trl"};
  const std::vector<std::string> methods{"full", "qlora"};
  for (const auto& model : models) {
    for (const auto& framework : frameworks) {
      for (const auto& method : methods) {
        Said said{model, {"gpu", "a100-40:4"}, {"method", method}, {"seq", "4k"}, {"micro-batch", "2"}};
        if (!framework.empty()) said.emplace_back("framework", framework);
        check_alike(said);
      }
    }
  }
}

TEST_CASE("every door knows the words that stand for others") {
  check_alike({{"params", "13b"}, {"gpu", "a100-40:4"}, {"zero", "3"}, {"seq", "4k"}, {"micro-batch", "2"}});
  check_alike({{"model", "llama-3-70b"}, {"gpu", "h100-sxm:16"}, {"zero", "1"}, {"inter-node", "8x400Gbps"}});
  check_alike({{"model", "mixtral-8x7b"}, {"gpu", "8x h100-sxm"}, {"tp", "8"}, {"global-batch", "64"}});
  check_alike({{"params", "1e9"}, {"dtype", "bf16"}, {"host-memory", "64GiB"}, {"offload", "optimizer"}});
}
