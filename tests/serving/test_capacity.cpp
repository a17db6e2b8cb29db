// Printed capacities, asked again, fit; one more does not.
#include "catch.hpp"
#include "quantity/lists.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <cmath>
#include <string>

namespace {

using namespace llmcalc;
using Words = std::vector<std::string>;
using test::with;

serving::ServingAnswer ask(const Words& words) { return serving::serve(test::served(words)); }

const Words servers[] = {
    {"model", "llama-3-8b", "quant", "awq", "gpu", "rtx-4090", "max_position", "1000000"},
    {"model", "llama-3-8b", "engine", "llama.cpp", "quant", "q4_k_m", "gpu", "rtx-3090", "max_position", "1000000",
     "gpu_layers", "all"},
    {"model", "llama-3-8b", "engine", "llama.cpp", "quant", "q4_k_m", "gpu", "rtx-3090", "kv_dtype", "q8_0", "gpus",
     "2", "max_position", "1000000", "gpu_layers", "all"},
    {"model", "llama-3-70b", "engine", "sglang", "gpu", "h100-sxm", "gpus", "4", "tp", "4", "max_position", "1000000"},
    {"model", "deepseek-v3", "engine", "trtllm", "quant", "fp8-block", "gpu", "h200-sxm", "gpus", "8", "tp", "8",
     "max_position", "4000000"},
    {"model", "gpt-oss-20b", "quant", "mxfp4", "gpu", "h100-sxm", "max_position", "8000000"},
    {"model", "llama-3-8b", "engine", "hf", "gpu", "a100-80", "output", "256", "max_position", "1000000"},
    {"model", "llama-3-8b", "engine", "ollama", "quant", "q8_0", "gpu", "rtx-4090", "max_position", "1000000",
     "gpu_layers", "all"},
    {"model", "llama-3.1-8b", "engine_version", "2024-12", "gpu", "rtx-3090", "max_position", "1000000"},
};

TEST_CASE("the longest context fits and one token more does not") {
  for (const Words& server : servers) {
    CAPTURE(server[3], server[5]);
    const auto first = ask(with(server, {"context", "4096"}));
    const std::int64_t longest = first.capacity.max_context;
    REQUIRE(longest > 4096);
    CHECK(ask(with(server, {"context", std::to_string(longest)})).verdict == trust::VerdictKind::fits);
    CHECK(ask(with(server, {"context", std::to_string(longest + 1)})).verdict == trust::VerdictKind::does_not_fit);
  }
}

/// More cards than layers: those behind the last keep no sequence from the others, and hold none up.
TEST_CASE("a server has a speed and room for its cache on however many cards its layers are") {
  double held = 0;
  for (int gpus = 1; gpus <= 16; ++gpus) {
    CAPTURE(gpus);
    const auto answer =
        ask({"model", "pythia-70m", "engine", "llama.cpp", "gpu", "rtx-4090", "gpus", std::to_string(gpus)});
    REQUIRE(answer.speed.has_value());
    CHECK(answer.memory.needed > quantity::bytes(0));
    CHECK(answer.memory.sequences_in_pool >= 1.0);
    const auto now = static_cast<double>(answer.capacity.max_concurrency);
    CHECK(now >= held);
    held = now;
  }
}

TEST_CASE("all cards hold what each of them does, and a request is a prompt and an answer") {
  for (const Words& server : servers) {
    CAPTURE(server[3], server[5]);
    const auto answer = ask(with(server, {"context", "4096"}));
    const auto& question = answer.deployment.question;
    CHECK(device_total_of_all(answer) <= question.layout.gpus * device_total(answer));
    if (question.layout.gpus == 1) CHECK(device_total_of_all(answer) == device_total(answer));
    CHECK(2 * device_total_of_all(answer) >= question.layout.gpus * device_total(answer));
    CHECK(question.serving.load.prompt + question.serving.load.output == 4096);
  }
}

TEST_CASE("the most requests run at once and one more waits") {
  for (const Words& server : servers) {
    CAPTURE(server[3], server[5]);
    const auto context = with(server, {"context", "4096"});
    const std::int64_t most = ask(context).capacity.max_concurrency;
    REQUIRE(most > 0);
    CHECK(ask(with(context, {"concurrency", std::to_string(most)})).capacity.queued == 0);
    CHECK(ask(with(context, {"concurrency", std::to_string(most + 1)})).capacity.queued == 1);
  }
}

TEST_CASE("advice does what it says") {
  const Words server{"model", "llama-3-70b", "gpu", "h100-sxm", "context", "8192", "concurrency", "8"};
  const auto question = test::served(server);
  const auto answer = serving::serve(question);
  REQUIRE(answer.verdict == trust::VerdictKind::does_not_fit);
  const auto advice = serving::advise(answer, [] { return std::vector<spec::ProposedAccelerator>(); });
  REQUIRE(!advice.empty());
  for (const auto& change : advice) {
    Words changed = server;
    std::string words = change.change;
    for (std::size_t at = words.find("--"); at != std::string::npos; at = words.find("--")) {
      words.erase(0, at + 2);
      const auto space = words.find(' ');
      std::string term = words.substr(0, space);
      std::replace(term.begin(), term.end(), '-', '_');
      const std::string value = words.substr(space + 1, words.find(' ', space + 1) - space - 1);
      const auto present = std::find(changed.begin(), changed.end(), term);
      if (present != changed.end()) {
        *(present + 1) = value;
      } else {
        changed = with(changed, {term, value});
      }
    }
    CAPTURE(change.change);
    CHECK(ask(changed).capacity.max_concurrency == change.max_concurrency);
    CHECK(ask(changed).verdict == trust::VerdictKind::fits);
  }
}

// By Little's law a server answers at most as many as run at once, divided by what one then takes; so many copies carry
// a rate as that goes into it.
TEST_CASE("a load that comes too fast or is held to too little is told, with what carries it") {
  const std::vector<Words> loaded{{"model", "llama-3.1-8b", "gpu", "h100-sxm"},
                                  {"model", "qwen3-32b", "gpu", "h100-sxm", "engine", "sglang", "quant", "fp8"},
                                  {"model", "llama-3-70b", "gpu", "b200-sxm", "engine", "trtllm"}};
  for (const Words& server : loaded) {
    const auto full = ask(with(server, {"concurrency", "100000"})).speed->requests_per_s;
    for (const double share : {0.5, 0.97, 1.03, 11.8}) {
      const Words asked = with(server, {"rate", std::to_string(share * full)});
      const auto answer = ask(asked);
      CAPTURE(server, share);
      CHECK(answer.verdict == trust::VerdictKind::fits);
      CHECK(answer.broken_limits.empty() == (share < 1));
      const auto advice = serving::advise(answer, [] { return std::vector<spec::ProposedAccelerator>(); });
      CHECK(advice.empty() == (share < 1));
      const auto copies = static_cast<std::int64_t>(std::ceil(share));
      const bool told =
          quantity::contains(advice, "--gpus " + std::to_string(copies) + " --tp 1", &serving::Candidate::change);
      CHECK(told == (share > 1));
      const Words carried = with(asked, {"gpus", std::to_string(copies), "tp", "1"});
      CHECK(ask(carried).broken_limits.empty());
    }
    CHECK(ask(with(server, {"tpot", "100us"})).broken_limits.size() == 1);
    CHECK(ask(with(server, {"ttft", "100us", "tpot", "100us"})).broken_limits.size() == 2);
  }
}

TEST_CASE("twice the ranks are advised where heads can be cut so often") {
  const auto advised = [](const char* model, const char* ranks, const std::string& change) {
    const auto question =
        test::served({"model", model, "gpu", "rtx-3070", "gpus", ranks, "tp", ranks, "context", "8k"});
    const auto advice =
        serving::advise(serving::serve(question), [] { return std::vector<spec::ProposedAccelerator>(); });
    return std::ranges::find(advice, change, &serving::Candidate::change) != advice.end();
  };
  CHECK(advised("llama-3.1-8b", "2", "--gpus 4 --tp 4"));
  CHECK_FALSE(advised("qwen2.5-32b", "8", "--gpus 16 --tp 16"));  // 40 heads
}

// vLLM's sampler keeps counts and logits of each sequence that may run at once; SGLang's has no such pool.
TEST_CASE("fewer sequences make room under vLLM alone") {
  const auto advised = [](const char* engine) {
    const auto question = test::served({"model", "qwen3-32b", "gpu", "h100-sxm", "context", "37000", "engine", engine});
    const auto advice =
        serving::advise(serving::serve(question), [] { return std::vector<spec::ProposedAccelerator>(); });
    return std::ranges::find(advice, "--max-seqs 256", &serving::Candidate::change) != advice.end();
  };
  CHECK(advised("vllm"));
  CHECK_FALSE(advised("sglang"));
}

TEST_CASE("what a server takes none of is not found") {
  const auto tight = test::served({"model", "gemma-3-27b", "gpu", "l40s"});
  CHECK(serving::find(tight, serving::Find::context).empty());
  CHECK(serving::find(tight, serving::Find::concurrency).empty());
}

// 141 GB of weights on cards of 80.
TEST_CASE("the fewest accelerators that carry the load stand in front") {
  const auto found =
      serving::find(test::served({"model", "llama-3-70b", "gpu", "h100-sxm", "context", "8192"}), serving::Find::gpus);
  REQUIRE(!found.empty());
  CHECK(found.front().change == "--gpus 2 --tp 2");
  CHECK(found.front().carries);
}

}  // namespace
