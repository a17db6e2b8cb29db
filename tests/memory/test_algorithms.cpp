// Algorithms that need more than the trained model: what stands beside it, and what that does.

#include "asked.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "program/count.hpp"

using namespace llmcalc;
using memory::Phase;
using quantity::in_bytes;
using quantity::in_flops;
using test::Asked;

namespace {

const std::string llama = "--model llama-3-8b --dtype mixed-bf16 --seq 1k ";
constexpr std::int64_t parameters = 8'030'261'248, vocab = 128'256, hidden = 4096;
constexpr std::int64_t scored = parameters - vocab * hidden + hidden;  // one output instead of the head

memory::Moment persistent(const std::string& words) { return Asked(llama + words).walk().persistent; }

std::int64_t peak(const std::string& words, Phase phase) {
  return in_bytes(test::at(Asked(llama + words).walk(), phase).total());
}

program::Work work(const std::string& words) { return program::count_work(Asked(llama + words).program); }

std::string refused(const std::string& words) {
  try {
    test::question_of(llama + words);
  } catch (const quantity::BadInput& error) {
    return error.place();
  }
  return {};
}

}  // namespace

TEST_CASE("DPO holds a frozen copy of the weights, unless adapters are switched off or the copy was asked before") {
  CHECK(in_bytes(persistent("--algorithm dpo").reference) == 2 * parameters);
  CHECK(in_bytes(persistent("--algorithm kto").reference) == 2 * parameters);
  CHECK(in_bytes(persistent("--algorithm dpo --reference precomputed").reference) == 0);
  CHECK(in_bytes(persistent("--algorithm dpo --method lora --lora-rank 8").reference) == 0);
  CHECK(in_bytes(persistent("--algorithm dpo --method lora --lora-rank 8 --reference model").reference) ==
        2 * parameters);
  CHECK(in_bytes(persistent("--algorithm orpo").reference) == 0);
  CHECK(persistent("--algorithm dpo").total() - persistent("--algorithm sft").total() ==
        quantity::bytes(2 * parameters));
}

TEST_CASE("a model of a stated size is held whole by each of its copies, and spread over as many ranks") {
  for (const std::int64_t billions : {1, 7, 13, 70}) {
    for (const auto* algorithm : {"dpo", "kto", "ppo", "grpo"}) {
      for (const std::int64_t ranks : {1, 8}) {
        const Asked asked("--params " + std::to_string(billions) + "e9 --dtype mixed-bf16 --seq 1k --reference model" +
                          " --algorithm " + algorithm + " --sharding zero3 --gpus " + std::to_string(ranks));
        CAPTURE(billions, algorithm, ranks);
        const auto held = in_bytes(asked.walk().persistent.reference) * ranks;
        const auto weights =
            static_cast<std::int64_t>(asked.program.sequence.size()) * 64;  // rounded up a rank and block
        CHECK(held >= 2 * billions * 1'000'000'000);
        CHECK(held - 2 * billions * 1'000'000'000 < 100 * weights);
      }
    }
  }
}

TEST_CASE("a pair of answers is a batch of two") {
  for (const auto* algorithm : {"--algorithm orpo", "--algorithm dpo --reference precomputed"}) {
    CHECK(peak(std::string(algorithm) + " --micro-batch 2", Phase::backward) ==
          peak("--micro-batch 4", Phase::backward));
  }
  CHECK(peak("--algorithm kto --reference precomputed --micro-batch 2", Phase::backward) ==
        peak("--micro-batch 2", Phase::backward));
}

TEST_CASE("PPO holds actor, reference, reward and value model (Ouyang et al. 2022)") {
  const auto held = persistent("--algorithm ppo");
  CHECK(in_bytes(held.reference) == 2 * parameters);
  CHECK(in_bytes(held.reward) == 2 * scored);
  CHECK(in_bytes(held.value) == (6 + 4 + 8) * scored);  // weights and master, gradients, moments
  CHECK(in_bytes(held.states()) == (2 + 18) * parameters + (2 + 18) * scored);
}

TEST_CASE("sharding spreads the models beside the trained one as it spreads that") {
  const auto held = persistent("--algorithm ppo --dp 8 --sharding zero3");
  CHECK(in_bytes(held.reference) == Approx(2.0 * parameters / 8).epsilon(1e-6));
  CHECK(in_bytes(held.value) == Approx(18.0 * scored / 8).epsilon(1e-6));
}

// Rajbhandari et al. 2020, arXiv:1910.02054 section 5.3: a layer exists whole while it runs, whichever model it is of.
TEST_CASE("a reference that is sharded is gathered layer by layer while it runs") {
  const std::string small =
      "--layers 2 --hidden 4096 --heads 32 --ffn 16384 --vocab 1024 --seq 128 --dtype mixed-bf16 --framework textbook "
      "--algorithm dpo --gpus 8 --sharding ";
  const auto in_loss = [&](const std::string& sharding) {
    return in_bytes(test::at(Asked(small + sharding).walk(), Phase::loss).temporaries);
  };
  constexpr std::int64_t layer = 4LL * 4096 * 4096 + 3LL * 4096 * 16384 + 2 * 4096;
  constexpr std::int64_t outside = 2 * 1024 * 4096 + 4096;  // gathered through the step
  CHECK(in_loss("zero3") - in_loss("ddp") == 2 * (layer + outside));
}

// torch/optim/adamw.py, _multi_tensor_adamw: intermediate results as large as all parameters, and one
// optimizer has those of both models (trl trainer/ppo_trainer.py, PolicyAndValueWrapper).
TEST_CASE("the update of a value model takes temporaries beside those of the policy's") {
  const auto in_step = [](const std::string& algorithm) {
    const std::string words = "--framework torch --optimizer-impl foreach --recompute none --algorithm ";
    return static_cast<double>(
        in_bytes(test::at(Asked(llama + words + algorithm).walk(), Phase::optimizer).temporaries));
  };
  CHECK(in_step("sft") >= 4.0 * parameters);
  CHECK(in_step("ppo") / in_step("sft") == Approx(1.0 + static_cast<double>(scored) / parameters).epsilon(1e-4));
}

TEST_CASE("GRPO has no value model, and a reference where it penalises the distance to it") {
  CHECK(in_bytes(persistent("--algorithm grpo").value) == 0);
  CHECK(in_bytes(persistent("--algorithm grpo").reference) == 2 * parameters);
  CHECK(in_bytes(persistent("--algorithm grpo --framework trl").reference) == 0);
}

TEST_CASE("the value model's activations stay while the policy runs") {
  const auto forward = [](const std::string& words) {
    return in_bytes(test::at(Asked(llama + words).walk(), Phase::loss).activations);
  };
  const std::int64_t sft = forward("--algorithm sft");
  CHECK(forward("--algorithm grpo") == sft);
  CHECK(forward("--algorithm ppo") == Approx(2.0 * static_cast<double>(sft)).epsilon(0.01));
}

TEST_CASE("samples are made with keys and values of a whole optimizer step in the cache") {
  const std::string words = "--algorithm grpo --recompute full --grad-accum 1024";
  const std::int64_t cache = 2 * 2 * 1024 * 32 * 1024LL * 1024;  // keys and values of 32 layers, 8 heads of 128, bf16
  CHECK(peak(words, Phase::forward) == in_bytes(persistent(words).total()) + cache);
}

// trl models/utils.py, unwrap_model_for_generation: deepspeed.zero.GatheredParameters of all parameters.
TEST_CASE("trainers that generate by TRL's code have ZeRO-3's weights whole meanwhile, and only they") {
  for (const std::string framework : {"trl", "axolotl", "llama-factory", "ms-swift", "deepspeed"}) {
    const std::string algorithm = framework == "llama-factory" ? "ppo" : "grpo";
    const auto beside_states = [&](const std::string& more) {
      const auto words = "--framework " + framework + " --method lora --dtype bf16 --gpus 8 --recompute full" +
                         " --algorithm " + algorithm + " --sharding zero3" + more;
      return peak(words, Phase::forward) - in_bytes(persistent(words).total());
    };
    CAPTURE(framework);
    CHECK((beside_states("") > 2 * parameters) == (framework != "deepspeed"));
    CHECK(beside_states("") < 9 * parameters / 4);
    CHECK((beside_states(" --samples-by-engine 1") > 2 * parameters) == (framework != "deepspeed"));
    CHECK(beside_states(" --samples-by-engine 1") <= beside_states(""));
    CHECK(beside_states(" --samples-by-engine 1 --method full") < 2 * parameters);
  }
}

TEST_CASE("samples of an engine that sleeps or stands elsewhere leave nothing with the trainer") {
  const std::string words = "--algorithm grpo --recompute full --samples-by-engine 1 --grad-accum ";
  CHECK(peak(words + "1024", Phase::forward) == peak(words + "2", Phase::forward));
}

TEST_CASE("a reference costs a forward pass, and so do a reward model and generation") {
  const auto sft = work("--algorithm sft --micro-batch 2");
  const auto dpo = work("--algorithm dpo");
  CHECK(in_flops(dpo.beside) == Approx(in_flops(sft.forward)).epsilon(1e-12));
  CHECK(in_flops(dpo.model()) == Approx(in_flops(sft.model())).epsilon(1e-12));
  CHECK(in_flops(sft.beside) == 0.0);
  const double one = in_flops(work("--algorithm sft").forward);
  const double head = 2.0 * 1024 * vocab * hidden;
  // Generation, whose head sees the last position alone, reference, and the reward model, which has no head.
  CHECK(in_flops(work("--algorithm ppo").beside) == Approx(3 * one - 2 * head).epsilon(0.001));
  CHECK(in_flops(work("--algorithm ppo").forward) == Approx(2 * one - head).epsilon(0.001));
}

TEST_CASE("algorithms and references that do not go together are refused") {
  CHECK(refused("--algorithm orpo --reference model") == "--reference");
  CHECK(refused("--reference model") == "--reference");
  CHECK(refused("--algorithm dpo --reference none") == "--reference");
  CHECK(refused("--algorithm dpo --reference base") == "--reference");
  CHECK(refused("--algorithm ppo --reference precomputed") == "--reference");
  CHECK(refused("--algorithm dpo --method inference") == "--algorithm");
  CHECK(refused("--algorithm grpo --reference none").empty());
}
