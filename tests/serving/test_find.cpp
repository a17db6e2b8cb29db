// What --find answers, asked again: it carries the load within the limits, and the next better one does not.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using serving::Candidate;
using serving::Find;
using test::served;
using test::with;
using Words = std::vector<std::string>;

/// "--gpus 12 --tp 4" as words of a question.
Words words_of(const std::string& change) {
  Words words;
  for (std::size_t at = 0; at < change.size();) {
    const std::size_t end = std::min(change.find(' ', at), change.size());
    std::string word = change.substr(at, end - at);
    words.push_back(word.starts_with("--") ? word.substr(2) : word);
    at = end + 1;
  }
  return words;
}

/// What a person reads off the answer, not what the search asks itself.
bool carried(const Words& words) {
  const auto answer = serving::serve(served(words));
  const auto& load = answer.deployment.question.serving.load;
  if (answer.verdict != trust::VerdictKind::fits || !answer.speed) return false;
  if (!load.rate && answer.capacity.max_concurrency < load.concurrency) return false;
  return answer.broken_limits.empty();
}

/// "gpus 8 tp 2" without the accelerators of one copy, "gpus 8 copies 4" without them and the copy, "gpus 8" of the
/// one.
std::optional<Words> one_copy_less(Words change) {
  if (change.size() == 2) return std::nullopt;
  const std::int64_t gpus = std::stoll(change[1]);
  const std::int64_t said = std::stoll(change[3]);
  const bool by_copies = change[2] == "copies";
  const std::int64_t left = gpus - (by_copies ? gpus / said : said);
  if (left == 0) return std::nullopt;
  change[1] = std::to_string(left);
  if (by_copies) change[3] = std::to_string(said - 1);
  return change;
}

std::string more_by(const std::string& number, std::int64_t n) { return std::to_string(std::stoll(number) + n); }

const std::vector<Words> asked_servers{
    {"engine", "vllm", "model", "llama-3.1-8b", "gpu", "h100-sxm", "context", "2048"},
    {"engine", "sglang", "model", "qwen3-32b", "quant", "fp8", "gpu", "h100-sxm", "context", "4096"},
    {"engine", "trtllm", "model", "llama-3-70b", "gpu", "b200-sxm", "context", "2048"},
    {"engine", "vllm", "model", "gpt-oss-120b", "quant", "mxfp4", "gpu", "h200-sxm", "context", "2048"},
    {"engine", "llama.cpp", "model", "llama-3.1-8b", "quant", "q4_k_m", "gpu", "rtx-4090", "context", "2048"}};

const std::vector<Words> asked_limits{{},
                                      {"tpot", "12ms"},
                                      {"tpot", "50ms"},
                                      {"ttft", "400ms"},
                                      {"ttft", "2s", "tpot", "30ms"},
                                      {"ttft", "1ms"},
                                      {"ttft_p95", "800ms", "tpot_p95", "30ms"},
                                      {"max_cost_per_million", "0.5"},
                                      {"max_cost_per_million", "2", "tpot", "30ms"},
                                      {"max_cost_per_hour", "12", "ttft", "1s"},
                                      {"margin", "12%"},
                                      {"max_memory", "60GiB", "tpot", "50ms"}};

}  // namespace

TEST_CASE("the concurrency that is found keeps the limits, and one more does not") {
  for (const Words& server : asked_servers) {
    for (const Words& limit : asked_limits) {
      const Words asked = test::with(server, limit);
      CAPTURE(server, limit);
      const auto found = serving::find(served(asked), Find::concurrency);
      REQUIRE(found.size() == 1);
      const Words change = words_of(found.front().change);
      CHECK(carried(test::with(asked, change)) == found.front().carries);
      if (found.front().carries) CHECK_FALSE(carried(test::with(asked, {change[0], more_by(change[1], 1)})));
      if (!found.front().carries) CHECK_FALSE(carried(test::with(asked, {change[0], "1"})));
    }
  }
}

TEST_CASE("the context that is found is there for all requests at once, and one position more is not") {
  std::vector<Words> servers = asked_servers;  // and one whose layers mostly keep a window
  servers.push_back({"engine", "sglang", "model", "gemma-3-12b", "gpu", "h100-sxm", "context", "2048"});
  for (const Words& server : servers) {
    for (const std::string requests : {"1", "4", "24", "512"}) {
      Words asked = test::with(server, {"concurrency", requests});
      CAPTURE(server, requests);
      const auto found = serving::find(served(asked), Find::context);
      const auto has_room = [&](const std::string& context) {
        *std::next(std::ranges::find(asked, "context")) = context;
        const auto answer = serving::serve(served(asked));
        return answer.verdict == trust::VerdictKind::fits && answer.capacity.max_concurrency >= std::stoll(requests);
      };
      REQUIRE(found.size() == 1);
      const std::string context = words_of(found.front().change)[1];
      CAPTURE(context);
      CHECK(has_room(context));
      CHECK(found.front().carries);
      if (std::stoll(context) < served(asked).model.shape.max_position) CHECK_FALSE(has_room(more_by(context, 1)));
    }
  }
}

// An engine that takes what it needs takes less of a card for a shorter context; one that takes a share takes as much.
TEST_CASE("the context that is found leaves the margin, and one block more does not") {
  const Words asked{"engine", "llama.cpp", "model",       "qwen3-8b", "quant",
                    "q4_k_m", "gpu",       "rtx-3060-12", "margin",   "2GiB"};
  const auto found = serving::find(served(asked), Find::context);
  REQUIRE(found.size() == 1);
  CHECK(found.front().carries);
  const std::string context = words_of(found.front().change)[1];
  CHECK(serving::serve(served(test::with(asked, {"context", context}))).broken_limits.empty());
  CHECK_FALSE(serving::serve(served(test::with(asked, {"context", more_by(context, 256)}))).broken_limits.empty());
}

TEST_CASE("the accelerators that are found carry the load, and one copy less does not", "[long]") {
  for (const Words& server : asked_servers) {
    for (const Words& limit : asked_limits) {
      for (const Words& load : std::vector<Words>{{"rate", "3"}, {"rate", "40"}, {"concurrency", "300"}}) {
        const Words asked = test::with(test::with(server, limit), load);
        CAPTURE(server, limit, load);
        for (const Candidate& each : serving::find(served(asked), Find::gpus)) {
          const Words change = words_of(each.change);
          CAPTURE(change);
          CHECK(carried(test::with(asked, change)) == each.carries);
          if (!each.carries) continue;
          if (const auto less = one_copy_less(change)) CHECK_FALSE(carried(test::with(asked, *less)));
        }
      }
    }
  }
}

// Servers that read prompts are found beside those that answer: of neither kind is one too many.
TEST_CASE("of servers of both kinds that are found one less does not carry the load", "[prefill]") {
  for (const Words& limit : std::vector<Words>{{"rate", "4"}, {"rate", "12", "ttft", "2s", "tpot", "25ms"}}) {
    const Words server =
        test::with({"model", "qwen3-32b", "quant", "fp8", "gpu", "h100-sxm", "prompt", "4096", "output", "512"}, limit);
    const auto found = serving::find(served(test::with(server, {"prefill_servers", "1"})), Find::gpus);
    REQUIRE(found.front().carries);
    for (const Candidate& each : found) {
      const Words change = words_of(each.change);
      const std::int64_t tp = std::stoll(change[3]);
      const auto carried_by = [&](std::int64_t readers, std::int64_t all) {
        return readers > 0 && all > readers &&
               carried(test::with(server, {"tp", change[3], "gpus", std::to_string(tp * all), "prefill_servers",
                                           std::to_string(readers)}));
      };
      const std::int64_t readers = std::stoll(change[5]);
      const std::int64_t all = std::stoll(change[1]) / tp;
      CAPTURE(limit, change);
      CHECK(carried_by(readers, all) == each.carries);
      if (!each.carries) continue;
      CHECK_FALSE(carried_by(readers - 1, all - 1));
      CHECK_FALSE(carried_by(readers, all - 1));
    }
  }
}

// A load that one copy of the widest server does not answer is answered by copies behind a balancer.
TEST_CASE("copies carry what no single server does") {
  const Words asked{"model", "llama-3-70b", "gpu", "h100-sxm", "rate", "20", "ttft", "1s", "tpot", "40ms"};
  const auto found = serving::find(served(asked), Find::gpus);
  REQUIRE(found.front().carries);
  const Words change = words_of(found.front().change);
  CHECK(std::stoll(change[1]) > std::stoll(change[3]));
  CHECK_FALSE(carried(test::with(asked, {"gpus", "8", "tp", "8"})));
  CHECK(std::ranges::none_of(found, [](const Candidate& each) { return each.carries && !each.starts; }));
}

TEST_CASE("weights and engines that are found keep the limits where they say so") {
  for (const Words& limit : asked_limits) {
    const Words asked =
        test::with({"model", "llama-3.1-8b", "gpu", "h100-sxm", "context", "2048", "concurrency", "64"}, limit);
    CAPTURE(limit);
    for (const Find what : {Find::quant, Find::engine}) {
      const auto typed = [&](const std::string& change) { return served(test::with(asked, words_of(change))); };
      const auto all = serving::find(served(asked), what, typed);
      // Narrower weights are tried until some carry the load; engines stand by what they make of it.
      const auto at_last = [&](const Candidate& each) { return each.carries == (&each == &all.back()); };
      const auto rank = [](const Candidate& each) { return std::pair(each.carries, each.max_concurrency); };
      if (what == Find::engine) CHECK(std::ranges::is_sorted(all, std::ranges::greater(), rank));
      if (what == Find::quant && all.back().carries) CHECK(std::ranges::all_of(all, at_last));
      if (what == Find::quant) CHECK((all.back().carries || all.size() == 3));  // 16, 8 and 4 bits
      for (const Candidate& each : all) {
        CAPTURE(each.change);
        if (each.change.find("llama.cpp") != std::string::npos || each.change.find("ollama") != std::string::npos)
          continue;
        CHECK(carried(test::with(asked, words_of(each.change))) == each.carries);
      }
    }
  }
}

namespace {

const Words engines{"vllm", "sglang", "trtllm", "llama.cpp", "ollama"};

/// A model of each kind of cache, on what holds it.
const std::vector<Words> models{
    {"model", "llama-3.1-8b", "gpu", "rtx-4090"},        {"model", "llama-3.1-70b", "gpu", "h200-sxm"},
    {"model", "qwen3-30b-a3b", "gpu", "a100-80"},        {"model", "deepseek-v2-lite", "gpu", "h100-sxm"},
    {"model", "nemotron-nano-9b-v2", "gpu", "h100-sxm"}, {"model", "gemma-3-12b", "gpu", "l40s"},
    {"model", "falcon-mamba-7b", "gpu", "a100-80-sxm"},  {"model", "gpt-oss-20b", "gpu", "rtx-5090"}};

std::string seconds(quantity::Seconds time, double times) {
  return std::to_string(quantity::in_seconds(time) * times) + "s";
}

/// Limits of as many times what a request alone takes.
std::vector<Words> limits_of(const serving::Speed& alone) {
  const auto ttft = seconds(alone.ttft, 4);
  const auto tpot = seconds(alone.tpot, 1.5);
  return {{"ttft", ttft}, {"tpot", tpot}, {"ttft", ttft, "tpot", tpot}, {"ttft_p95", ttft, "tpot_p95", tpot}, {}};
}

/// The server with a request at once; nothing where its engine does not run the model.
std::optional<serving::ServingAnswer> alone(const Words& server) {
  try {
    auto answer = serving::serve(served(server));
    return answer.verdict == trust::VerdictKind::fits && answer.speed ? std::optional(std::move(answer)) : std::nullopt;
  } catch (const quantity::BadInput& refusal) {
    CHECK_FALSE(refusal.place().empty());
    return std::nullopt;
  }
}

void check_concurrency(const Words& asked) {
  const auto found = serving::find(served(asked), Find::concurrency);
  REQUIRE(found.size() == 1);
  const Words change = words_of(found.front().change);
  CAPTURE(change);
  CHECK(carried(with(asked, change)) == found.front().carries);
  if (found.front().carries) CHECK_FALSE(carried(with(asked, {change[0], more_by(change[1], 1)})));
  if (!found.front().carries) CHECK_FALSE(carried(with(asked, {change[0], "1"})));
}

void check_context(Words asked) {
  std::erase_if(asked, [](const std::string& word) { return word == "context" || word == "2048"; });
  const auto found = serving::find(served(with(asked, {"context", "2048"})), Find::context);
  REQUIRE(found.size() == 1);
  const Words change = words_of(found.front().change);
  CAPTURE(change);
  const auto fits = [&](const std::string& context) {
    return serving::serve(served(with(asked, {"context", context}))).capacity.max_concurrency >= 1;
  };
  CHECK(fits(change[1]));
  if (std::stoll(change[1]) < served(with(asked, {"context", "2048"})).model.shape.max_position)
    CHECK_FALSE(fits(more_by(change[1], 1)));
}

void check_gpus(const Words& asked) {
  for (const auto& each : serving::find(served(asked), Find::gpus)) {
    const Words change = words_of(each.change);
    CAPTURE(change);
    if (!each.carries) continue;
    CHECK(carried(with(asked, change)));
    if (const auto less = one_copy_less(change)) CHECK_FALSE(carried(with(asked, *less)));
  }
}

}  // namespace

TEST_CASE("what --find answers keeps its limits under every engine and for every kind of model", "[long]") {
  std::size_t asked_servers = 0;
  std::size_t turn = 0;
  for (const auto& engine : engines) {
    for (const auto& model : models) {
      const Words server = with(model, {"engine", engine, "context", "2048"});
      CAPTURE(server);
      const auto answer = alone(server);
      if (!answer) continue;
      ++asked_servers;
      const auto limits = limits_of(*answer->speed);
      for (const Words& limit : limits) {
        CAPTURE(limit);
        check_concurrency(with(server, limit));
      }
      check_context(server);
      const Words& limit = limits[turn++ % limits.size()];  // of this dearest search one each
      CAPTURE(limit);
      check_gpus(with(with(server, limit), {"rate", "6"}));
    }
  }
  CHECK(asked_servers >= 30);
}
