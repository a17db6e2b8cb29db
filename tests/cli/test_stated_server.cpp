// A server's default is a value: saying it aloud changes nothing, of any term, model and engine.
#include "catch.hpp"
#include "cli/answered.hpp"
#include "quantity/lists.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::stated_server {
namespace {

using nlohmann::json;

/// An answer without what repeats the question.
json figures(json answer) {
  if (!answer.is_object()) return answer;
  for (const char* said : {"question", "assumptions", "notes", "warnings", "launch", "launch_notes"})
    answer.erase(said);
  return answer;
}

/// The model and the machine are said already.
constexpr std::array<std::string_view, 2> left_out{"model", "gpu"};

const std::vector<std::string> servers{"llama-3.1-8b --gpu h100-sxm:2",
                                       "gpt-oss-20b --gpu h100-sxm",
                                       "qwen3-30b-a3b --gpu rtx-4090:4 --concurrency 8 --context 4k",
                                       "deepseek-v3 --gpu h200-sxm:8",
                                       "llama-3.1-8b --gpu h100-sxm --rate 2",
                                       "bge-m3 --gpu a10g",
                                       "qwen3-embedding-0.6b --gpu l4"};

}  // namespace

TEST_CASE("stating what is echoed of a server leaves its answer as it is") {
  std::size_t stated = 0, turn = 0;
  for (const auto& row : serving::all_engines()) {
    for (const std::size_t next : {turn, turn + 1, turn + 3, turn + 4}) {
      const auto& server = servers[next % servers.size()];
      const std::string line = "serve " + server + " --engine " + std::string(spec::name_of(row.engine));
      const json before = test::answered(line);
      if (!before.is_object()) continue;  // what the engine does not serve
      for (const auto& [term, echoed] : before["question"].items()) {
        if (echoed["origin"] == "flag" || !echoed["value"].is_string() || quantity::contains(left_out, term)) continue;
        std::string option = term;
        std::ranges::replace(option, '_', '-');
        const auto value = echoed["value"].get<std::string>();
        if (value.empty() || value.find(' ') != std::string::npos) continue;
        CAPTURE(line, option, value, echoed["origin"].get<std::string>());
        const json after = test::answered(line + " --" + option + " " + value);
        const bool is_same = figures(before) == figures(after);
        if (!is_same) FAIL_CHECK(json::diff(figures(before), figures(after)).dump());
        ++stated;
      }
    }
    ++turn;
  }
  CHECK(stated > 300);
}

}  // namespace llmcalc::stated_server
