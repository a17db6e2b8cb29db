// A limit at what is reached is kept; one below it is broken, and its sentence says both figures.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/questions.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using test::with;
using Words = std::vector<std::string>;

serving::ServingAnswer asked_under(const Words& words) { return serving::serve(test::served(words)); }

const std::vector<Words> limited_servers{
    {"engine", "vllm", "model", "llama-3.1-8b", "gpu", "h100-sxm"},
    {"engine", "sglang", "model", "qwen3-32b", "gpu", "h200-sxm:2", "tp", "2"},
    {"engine", "trtllm", "model", "llama-3.1-70b", "gpu", "b200-sxm:2", "tp", "2"},
    {"engine", "llama.cpp", "model", "llama-3.1-8b", "quant", "q4_k_m", "gpu", "rtx-4090", "slots", "8"},
    {"engine", "vllm", "model", "mixtral-8x7b", "gpu", "a100-80:4", "tp", "4"},
};

struct Limit {
  const char* option;
  const char* unit;
  double (*reached)(const serving::Speed& speed);
};

const std::vector<Limit> stated_limits{
    {"ttft", "s", [](const serving::Speed& speed) { return quantity::in_seconds(speed.ttft); }},
    {"tpot", "s", [](const serving::Speed& speed) { return quantity::in_seconds(speed.tpot); }},
    {"ttft_p95", "s", [](const serving::Speed& speed) { return quantity::in_seconds(speed.tail->ttft.p95); }},
    {"tpot_p95", "s", [](const serving::Speed& speed) { return quantity::in_seconds(speed.tail->tpot.p95); }},
    {"max_cost_per_hour", "", [](const serving::Speed& speed) { return quantity::in_dollars(*speed.cost.hour); }},
    {"max_cost_per_million", "", [](const serving::Speed& speed) { return quantity::in_dollars(*speed.cost.all); }},
};

/// The figures of a sentence, durations in seconds: "the first token comes after 1.2 s, not within 300 ms".
std::vector<double> figures_of(std::string sentence) {
  static const std::map<std::string, double> units{{"s", 1},     {"ms", 1e-3}, {"us", 1e-6},
                                                   {"µs", 1e-6}, {"min", 60},  {"h", 3600}};
  std::ranges::replace_if(
      sentence, [](char c) { return c == ',' || c == '$'; }, ' ');
  std::istringstream words(sentence);
  std::vector<double> figures;
  bool is_number_before = false;
  for (std::string word; words >> word;) {
    if (is_number_before && units.contains(word)) figures.back() *= units.at(word);
    is_number_before = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_number_before) figures.push_back(std::stod(word));
  }
  return figures;
}

}  // namespace

TEST_CASE("a limit at what is reached is kept, and one below it is said with both figures") {
  for (const Words& server : limited_servers) {
    const Words load =
        with(server, {"context", "4096", "prompt", "1000", "output", "200", "rate", "0.5", "price", "5"});
    const auto speed = asked_under(load).speed;
    REQUIRE((speed && speed->tail));
    for (const Limit& limit : stated_limits) {
      const double reached = limit.reached(*speed);
      const auto broken_at = [&](double share) {
        return asked_under(with(load, {limit.option, std::to_string(share * reached) + limit.unit})).broken_limits;
      };
      CAPTURE(server, limit.option, reached);
      CHECK(broken_at(1.001).empty());
      const auto broken = broken_at(0.5);
      REQUIRE(broken.size() == 1);
      CAPTURE(broken.front());
      const auto figures = figures_of(broken.front());
      REQUIRE(figures.size() >= 2);
      const double cent = std::string(limit.option).starts_with("max") ? 0.006 : 0.0;
      CHECK(figures[figures.size() - 2] == Approx(reached).epsilon(0.006).margin(cent));
      CHECK(figures.back() == Approx(0.5 * reached).epsilon(0.006).margin(cent));
    }
  }
}

TEST_CASE("a rate that is not answered is said with what is") {
  for (const Words& server : limited_servers) {
    const double most = asked_under(with(server, {"context", "4096", "concurrency", "100000"})).speed->requests_per_s;
    for (const double share : {1.5, 20.0}) {
      const auto answer = asked_under(with(server, {"context", "4096", "rate", std::to_string(share * most)}));
      CAPTURE(server, share, answer.broken_limits);
      REQUIRE(answer.broken_limits.size() == 1);
      const auto figures = figures_of(answer.broken_limits.front());
      REQUIRE(figures.size() == 2);
      CHECK(figures[0] == Approx(answer.speed->requests_per_s).epsilon(0.006));
      CHECK(figures[1] == Approx(share * most).epsilon(0.006));
    }
  }
}

// Pollaczek 1930, Khinchine 1932: services of one length s, of which a share rho of the time is full, are waited for
// rho s / 2 (1 - rho) in the mean.
TEST_CASE("prompts wait for servers that read them as services of one length do") {
  const std::vector<Words> apart{
      {"engine", "vllm", "model", "llama-3.1-8b", "gpu", "h100-sxm:8", "tp", "1", "prefill_servers", "1"},
      {"engine", "sglang", "model", "qwen3-32b", "gpu", "h100-sxm:16", "tp", "2", "prefill_servers", "2"},
      {"engine", "trtllm", "model", "llama-3.1-8b", "gpu", "b200-sxm:8", "tp", "1", "prefill_servers", "1"}};
  for (const Words& server : apart) {
    const auto at = [&](const std::string& concurrency) {
      return *asked_under(with(server, {"prompt", "8192", "output", "16", "concurrency", concurrency})).speed;
    };
    const double most = at("100000").requests_per_s;
    const double service = std::stod(server.back()) / most;
    const auto beside_waiting = [&](const serving::Speed& speed) {
      const double busy = speed.requests_per_s / most;
      return quantity::in_seconds(speed.ttft) - busy * service / (2 * (1 - busy));
    };
    const auto alone = at("1");
    for (const char* concurrency : {"2", "4", "8", "16"}) {
      const auto speed = at(concurrency);
      CAPTURE(server, concurrency, quantity::in_seconds(speed.ttft));
      CHECK(speed.ttft > alone.ttft);
      CHECK(beside_waiting(speed) == Approx(beside_waiting(alone)).epsilon(0.02));
    }
  }
}

namespace {

/// The types of weights, the widest first, that an answer itself says to carry the load, if need be with 8-bit keys
/// and values: "--quant fp8", of what is at least a tenth smaller.
std::vector<std::string> two_that_carry(const Words& server, const serving::ServingAnswer& as_asked) {
  const bool is_file = spec::reads_gguf(as_asked.deployment.question.serving.engine);
  const std::string narrow = is_file ? "q8_0" : "fp8";
  const auto carried = [](const serving::ServingAnswer& answer) { return answer.capacity.max_concurrency > 0; };
  std::vector<std::string> found;
  for (const auto quant : serving::ladder(as_asked.deployment.question.serving.engine)) {
    const std::string name(spec::name_of(quant));
    try {
      const Words changed = with(server, {"quant", name});
      const auto alone = asked_under(changed);
      const double share = alone.model / as_asked.model;
      if (share >= 0.9) continue;
      if (carried(alone)) found.push_back("--quant " + name);
      if (carried(alone) || !carried(asked_under(with(changed, {"kv_dtype", narrow})))) continue;
      found.push_back("--quant " + name + " --kv-dtype " + narrow);
    } catch (const quantity::BadInput&) {
      continue;  // what the engine or the card does not multiply
    }
  }
  found.resize(std::min<std::size_t>(found.size(), 2));
  return found;
}

}  // namespace

TEST_CASE("of narrower weights that keep what was asked the two widest are advised") {
  std::size_t advised = 0;
  for (const std::string engine : {"vllm", "sglang", "trtllm", "llama.cpp"}) {
    for (const std::string model : {"llama-3.1-8b", "qwen3-32b", "gemma-3-12b"}) {
      for (const std::string gpu : {"rtx-4090", "a100-40", "rtx-3060"}) {
        Words server{"engine", engine, "model", model, "gpu", gpu, "context", "8192"};
        if (engine == "llama.cpp") server.insert(server.end(), {"gpu_layers", "all"});
        const auto answer = asked_under(with(server, {"quant", "bf16"}));
        if (answer.capacity.max_concurrency > 0) continue;
        const auto advice = serving::advise(answer, [] { return std::vector<spec::ProposedAccelerator>(); });
        std::vector<std::string> kept;
        for (const auto& each : advice) {
          const bool in_place = each.change.starts_with("--quant") && each.change.find("--gpus") == std::string::npos;
          if (each.carries && in_place) kept.push_back(each.change);
        }
        CAPTURE(engine, model, gpu);
        CHECK(kept == two_that_carry(server, answer));
        advised += kept.size();
      }
    }
  }
  CHECK(advised > 20);
}
