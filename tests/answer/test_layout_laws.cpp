// What holds of any layout, whatever is trained and by whom.
#include "asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"

#include <functional>
#include <optional>
#include <string>

using namespace llmcalc;

namespace {

constexpr const char* trained = "--model llama-3.2-1b --gpu h100-sxm:8 --seq 2048 --micro-batch 1 --method ";

/// Asks every framework and method, with the words behind; what a framework refuses is left out.
/// \return how many were asked
int each_run(const std::string& words, const std::function<void(const spec::Question&)>& check) {
  int asked = 0;
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const std::string method : {"full", "lora", "qlora"}) {
      const auto line = trained + method + " --framework " + framework + " " + words;
      CAPTURE(line);
      std::optional<spec::Question> question;
      try {
        question = test::question(line);
      } catch (const quantity::BadInput&) {
        continue;
      }
      check(*question);
      ++asked;
    }
  }
  return asked;
}

}  // namespace

/// Zhao et al. 2023, arXiv:2304.11277, section 3.2.2: a sharding factor of all ranks is full sharding.
TEST_CASE("hybrid sharding over the ranks of one machine is full sharding") {
  int asked = 0;
  for (const std::string recompute : {"none", "full"}) {
    asked += each_run("--sharding hsdp --recompute " + recompute, [](spec::Question question) {
      const auto hybrid = answer::estimate(question).memory;
      question.layout.sharding = spec::Sharding::fsdp1;
      const auto full = answer::estimate(question).memory;
      CHECK(hybrid.peak_allocated == full.peak_allocated);
      CHECK(hybrid.persistent == full.persistent);
    });
  }
  CHECK(asked > 10);
}

/// Rajbhandari et al. 2020, arXiv:1910.02054: what is sharded over more ranks is less on each, what is not is as much.
TEST_CASE("a rank of more replicas holds no more") {
  for (const std::string sharding : {"ddp", "zero1", "zero2", "zero3", "fsdp1", "fsdp2"}) {
    const int asked = each_run("--sharding " + sharding, [](spec::Question question) {
      auto held = answer::estimate(question).memory.peak_allocated;
      for (const std::int64_t machines : {2, 4, 16}) {
        question.layout.nodes = machines;
        question.layout.dp = question.layout.gpus = 8 * machines;
        const auto more = answer::estimate(question).memory.peak_allocated;
        CHECK(more <= held);
        held = more;
      }
    });
    CAPTURE(sharding);
    CHECK(asked > 3);
  }
}
