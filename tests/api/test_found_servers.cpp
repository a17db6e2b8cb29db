// What --find found is answered as if it had been typed; and the requests of a trace one by one.
#include "catch.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<Word>;
using nlohmann::json;

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json served(const Words& words, const Outside& outside = {}) {
  return json::parse(to_json(ask("serve", words, outside)));
}

/// "--gpus 12 --tp 4" as words.
Words words_of(const std::string& change) {
  Words words;
  std::size_t at = 0;
  while (at < change.size()) {
    const std::size_t value = change.find(' ', at) + 1;
    const std::size_t end = std::min(change.find(' ', value), change.size());
    words.push_back({change.substr(at + 2, value - at - 3), change.substr(value, end - value)});
    at = end + 1;
  }
  return words;
}

/// The first that carries the load, or the only one.
json chosen(const json& found) {
  const auto carries = std::ranges::find_if(found, [](const json& each) { return each["carries_load"] == true; });
  if (carries != found.end()) return *carries;
  return found.size() == 1 ? found.front() : json();
}

const std::vector<Words> servers{
    {{"model", "llama-3.1-8b"}, {"gpu", "rtx-4090"}},
    {{"model", "llama-3.1-8b"}, {"gpu", "rtx-4090"}, {"context", "16k"}, {"tpot", "30ms"}},
    {{"model", "qwen3-32b"}, {"gpu", "h100-sxm"}, {"context", "8k"}, {"ttft-p95", "2s"}},
    {{"model", "llama-3-8b"}, {"gpu", "rtx-3090"}, {"engine", "llama.cpp"}, {"quant", "q4_k_m"}},
    {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:8"}},
    {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:8"}, {"pp", "2"}},
    {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:2"}, {"engine", "llama.cpp"}, {"quant", "q8_0"}},
    {{"model", "t5-11b"}, {"gpu", "h100-sxm:8"}}};

/// A server with a change in the place of what was said.
json changed(Words server, const json& change) {
  const Words words = words_of(change);
  std::erase_if(server, [&](const Word& word) {
    return std::ranges::any_of(words, [&](const Word& each) { return each.term == word.term; });
  });
  const bool counts = std::ranges::any_of(words, [](const Word& each) { return each.term == "gpus"; });
  for (Word& word : server) {
    if (counts && word.term == "gpu") word.text = word.text.substr(0, word.text.find(':'));
  }
  return served(with(server, words));
}

}  // namespace

TEST_CASE("the verdict, the speed and the command of --find are those of what it found, typed") {
  for (const Words& server : servers) {
    for (const std::string what : {"concurrency", "context", "gpus", "quant", "engine"}) {
      const json answer = served(with(server, {{"concurrency", "4"}, {"find", what}}));
      const json best = chosen(answer["found"]);
      CAPTURE(server[0].text, server[1].text, what, answer["found"].dump());
      if (best.is_null()) {
        CHECK(answer["verdict"] == "does_not_fit");
        continue;
      }
      const json again = changed(with(server, {{"concurrency", "4"}}), best["change"]);
      for (const char* part : {"verdict", "speed", "launch", "capacity"}) CHECK(answer[part] == again[part]);
    }
  }
}

TEST_CASE("what --find says of each engine is what that engine, typed, holds") {
  std::size_t engines = 0;
  for (const Words& server : servers) {
    const json answer = served(with(server, {{"find", "engine"}}));
    for (const json& each : answer["found"]) {
      CAPTURE(server[0].text, server[1].text, each.dump());
      const json capacity = changed(server, each["change"])["capacity"];
      CHECK(each["max_context"] == capacity["max_context"]);
      CHECK(each["max_concurrency"] == capacity["max_concurrency"]);
      ++engines;
    }
  }
  CHECK(engines > 4 * servers.size());
}

namespace {

/// Terms that a person or the search said, as words.
Words words_said(const json& question) {
  Words words;
  for (const auto& [term, line] : question.items()) {
    if (line["origin"] == "flag" && term != "config") words.push_back({term, line["value"]});
  }
  return words;
}

}  // namespace

TEST_CASE("a search over layouts keeps what was said, and what it answers is what it echoes, typed") {
  const std::vector<std::pair<Words, std::vector<Words>>> asked{
      {{{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:8"}},
       {{}, {{"tp", "4"}}, {{"tp", "1"}, {"pp", "2"}}, {{"engine", "sglang"}, {"tp", "2"}}, {{"quant", "awq"}}}},
      {{{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:6"}}, {{}, {{"pp", "3"}}}},
      {{{"model", "deepseek-v3"}, {"gpu", "h200-sxm:8"}},
       {{}, {{"attention-dp", "8"}, {"tp", "1"}}, {{"ep", "8"}}, {{"expert-tp", "4"}, {"tp", "8"}}}},
      {{{"model", "gpt-oss-120b"}, {"gpu", "h100-sxm:4"}}, {{}, {{"ep", "2"}, {"tp", "2"}}}},
      {{{"model", "llama-3.1-8b"}, {"gpu", "rtx-4090:4"}, {"engine", "llama.cpp"}}, {{}, {{"copies", "2"}}}},
      {{{"model", "llama-3.3-70b"}, {"gpu", "rtx-4090:2"}}, {{}}}};
  for (const auto& [server, said] : asked) {
    for (const Words& more : said) {
      const json answer = served(with(with(server, more), {{"find", "layout"}}));
      CAPTURE(server[0].text, server[1].text, more.empty() ? std::string() : more[0].term, answer["plans"].dump());
      REQUIRE_FALSE(answer["plans"]["best"].empty());
      for (const Word& word : more) {
        std::string term = word.term;
        std::ranges::replace(term, '-', '_');
        CHECK(answer["question"][term]["value"] == word.text);
      }
      const json& best = answer["plans"]["best"][0];
      for (const char* term : {"engine", "quant", "tp", "pp", "ep", "attention_dp", "concurrency"}) {
        const json& echo = answer["question"][term]["value"];
        CHECK(echo == (best[term].is_string() ? best[term].get<std::string>() : best[term].dump()));
      }
      const json again = served(words_said(answer["question"]));
      for (const char* part : {"verdict", "speed", "launch", "capacity"}) CHECK(answer[part] == again[part]);
    }
  }
}

TEST_CASE("a search over several accelerators looks at what it looks at on each") {
  const auto looked = [](const std::string& gpu, const std::string& count) {
    const Words words{{"model", "llama-3.1-8b"}, {"gpu", gpu}, {"find", "layout"}};
    return served(words)["plans"][count].get<std::int64_t>();
  };
  for (const std::string count : {"layouts", "starting", "estimates"}) {
    CAPTURE(count);
    CHECK(looked("l4", count) > 0);
    CHECK(looked("l4,l40s", count) == looked("l4", count) + looked("l40s", count));
  }
}

TEST_CASE("a server that does not start is started with the first advice") {
  const json answer = served({{"model", "llama-3.1-8b"}, {"gpu", "rtx-4090"}});
  REQUIRE(answer["verdict"] == "does_not_fit");
  CHECK(answer["launched_with"] == answer["advice"][0]["change"]);
  const json again = served(with({{"model", "llama-3.1-8b"}, {"gpu", "rtx-4090"}}, words_of(answer["launched_with"])));
  CHECK(again["verdict"] == "fits");
  CHECK(again["launch"] == answer["launch"]);
}

TEST_CASE("a trace of requests far apart answers each as if it were alone") {
  std::string trace = "arrival,prompt,output\n";
  for (int i = 0; i < 40; ++i) trace += std::to_string(100 * i) + ",1024,256\n";
  const Outside outside{.read = [&](const std::string&) { return std::optional(trace); }};
  const Words server{{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm"}, {"context", "8k"}};
  const json answer = served(with(server, {{"requests", "trace.csv"}}), outside);
  const json alone = served(with(server, {{"prompt", "1024"}, {"output", "256"}}));
  const json& tail = answer["speed"]["tail"];
  CHECK(tail["requests"] == 40);
  CHECK(tail["ttft"]["p95_s"].get<double>() == Approx(alone["speed"]["ttft_s"].get<double>()).epsilon(0.01));
  CHECK(tail["tpot"]["p95_s"].get<double>() == Approx(alone["speed"]["tpot_s"].get<double>()).epsilon(0.01));
  CHECK_THROWS_AS(served(with(server, {{"requests", "trace.csv"}, {"rate", "2"}}), outside), quantity::BadInput);
}
