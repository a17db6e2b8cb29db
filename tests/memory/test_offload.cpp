// What leaves the accelerator and what the host needs for it, against DeepSpeed's own estimator.

#include "asked.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"

using namespace llmcalc;
using memory::Phase;
using quantity::in_bytes;
using quantity::in_gib;

namespace {

/// T5-3B as DeepSpeed's documentation sizes it, 2,783M parameters on one accelerator.
memory::StepMemory t5_3b(std::string_view offload) {
  return test::Asked("--params 2783000000 --seq 512 --framework deepspeed --dtype fp16 --sharding zero3 --offload " +
                     std::string(offload))
      .walk();
}

/// The estimator multiplies the states on the host by this for further buffers.
constexpr double estimator_margin = 1.5;

constexpr std::int64_t llama_parameters = 6'738'415'616;

}  // namespace

TEST_CASE(
    "DeepSpeed stage 3 on one accelerator: 69.98, 62.20 and 0 GiB of the host "
    "(estimate_zero3_model_states_mem_needs)") {
  CHECK(estimator_margin * in_gib(t5_3b("params+optimizer").host) == Approx(69.98).margin(0.01));
  CHECK(estimator_margin * in_gib(t5_3b("optimizer").host) == Approx(62.20).margin(0.01));
  CHECK(in_bytes(t5_3b("none").host) == 0);
}

TEST_CASE("what stays of T5-3B: nothing, the 16-bit weights (5.43 less 0.24 GiB of the largest layer), or everything") {
  const auto states = [](const memory::StepMemory& memory) {
    const auto& p = memory.persistent;
    return in_gib(p.weights + p.master + p.gradients + p.optimizer);
  };
  CHECK(states(t5_3b("params+optimizer")) == 0.0);
  CHECK(states(t5_3b("optimizer")) == Approx(5.43 - 0.24).margin(0.01));
  CHECK(states(t5_3b("none")) == Approx(16 * 2.783e9 / (1 << 30)).margin(0.01));
}

TEST_CASE("weights that rest on the host are on the accelerator for the layer that runs") {
  const test::Asked asked("--model llama-2-7b --seq 128 --dtype bf16 --offload params");
  const auto memory = asked.walk();
  CHECK(in_bytes(memory.persistent.weights) == 0);
  CHECK(in_bytes(memory.host) == 2 * llama_parameters);
  // A layer of Llama 2 7B has 202,383,360 parameters; two of them and both tables are whole at once.
  const auto whole = 2 * (2 * 202'383'360LL + 2 * 32000 * 4096 + 4096);
  CHECK(in_bytes(test::at(memory, Phase::forward).temporaries) >= whole);
  CHECK(in_bytes(test::at(memory, Phase::forward).temporaries) < whole + whole / 10);
}

TEST_CASE("an offloaded optimizer takes moments and masters along, Megatron's gradients stay") {
  const std::string run = "--model llama-2-7b --seq 128 --framework megatron --dtype bf16";
  const auto memory = test::Asked(run + " --offload optimizer").walk();
  CHECK(in_bytes(memory.host) == 12 * llama_parameters);
  CHECK(in_bytes(memory.persistent.gradients) == 4 * llama_parameters);
  const auto whole = test::Asked(run).walk();
  CHECK(memory.persistent.total() + memory.host == whole.persistent.total());
}

TEST_CASE("torchao's optimizer frees the gradients that it has copied to the host") {
  const std::string run = "--model llama-2-7b --seq 128 --framework hf --dtype bf16";
  const auto memory = test::Asked(run + " --offload optimizer+gradients").walk();
  // bf16 moments and gradients: 4 + 2 bytes a parameter leave, 2 stay.
  CHECK(in_bytes(memory.host) == 6 * llama_parameters);
  CHECK(in_bytes(memory.persistent.total()) < 2 * llama_parameters + (1LL << 30));
  CHECK(in_bytes(test::at(memory, Phase::backward).gradients) == 0);
}

TEST_CASE("states on drives leave the host DeepSpeed's buffers: 4 of 1e9 fp32 and 5 of 1e8 bf16") {
  const std::string run =
      "--model llama-2-7b --seq 128 --framework deepspeed --dtype bf16 --zero 3 --gpus 2 --offload ";
  const auto host = test::Asked(run + "params+optimizer").walk();
  const auto drives = test::Asked(run + "params+optimizer --offload-to nvme").walk();
  CHECK(drives.nvme == host.host);
  CHECK(in_bytes(drives.host) == 16'000'000'000 + 1'000'000'000);
  CHECK(drives.persistent.total() == host.persistent.total());
}

TEST_CASE("FSDP's CPU offload moves weights, gradients and optimizer: 16 bytes of the shard") {
  const test::Asked asked(
      "--model llama-2-7b --seq 128 --framework torch --dtype mixed-bf16 --dp 8 --sharding fsdp2 --offload params");
  const auto memory = asked.walk();
  CHECK(static_cast<double>(in_bytes(memory.host)) == Approx(2.0 * llama_parameters).epsilon(1e-4));
  CHECK(in_bytes(memory.persistent.optimizer + memory.persistent.weights + memory.persistent.gradients) == 0);
  CHECK(in_bytes(test::at(memory, Phase::backward).gradients) == 0);
}

TEST_CASE("offloaded checkpoints: L x 2Th on the host, two on the accelerator") {
  const std::string run = "--model llama-2-7b --seq 4096 --dtype bf16 --recompute full";
  constexpr std::int64_t checkpoint = 2LL * 4096 * 4096;
  const auto memory = test::Asked(run + " --offload activations").walk();
  CHECK(in_bytes(memory.host) >= 32 * checkpoint);
  CHECK(in_bytes(test::at(memory, Phase::forward).activations) == checkpoint);
  CHECK(in_bytes(test::at(memory, Phase::backward).activations) <= 2 * checkpoint);
  const auto kept = test::Asked(run).walk();
  CHECK(in_bytes(kept.host) == 0);
  CHECK(in_bytes(test::at(kept, Phase::forward).activations) == 31 * checkpoint);
}

// 1F1B: a stage holds as many micro-batches as stages follow it, itself counted (Narayanan et al. 2021, section 2.2).
TEST_CASE("offloaded checkpoints of all micro-batches in flight are on the host") {
  const std::string run =
      "--model llama-2-7b --seq 4096 --dtype bf16 --recompute full --pp 4 --gpus 4 --grad-accum 8 --offload "
      "activations";
  constexpr std::int64_t checkpoint = 2LL * 4096 * 4096;
  const test::Asked asked(run);
  const memory::StepWalk step(asked.program, asked.question, asked.profile);
  // The last has what its loss keeps there as well.
  for (std::int64_t stage = 0; stage < 3; ++stage) {
    CAPTURE(stage);
    const auto memory = step.walk(stage);
    CHECK(in_bytes(memory.host) >= (4 - stage) * 8 * checkpoint);
    CHECK(in_bytes(memory.host) <= (4 - stage) * 9 * checkpoint);
    CHECK(in_bytes(test::at(memory, Phase::forward).activations) <= 2 * checkpoint);
  }
}

TEST_CASE("DeepSpeed offloads weights in stage 3 only") {
  CHECK_THROWS_AS(test::Asked("--params 1e9 --framework deepspeed --dp 2 --sharding zero2 --offload params"),
                  quantity::BadInput);
}

TEST_CASE(
    "a measured run with offloaded activations: LoRA on Llama 3.2 3B takes 8.5 GiB (torchtune README, 2024-11-18)") {
  const test::Asked asked(
      "--model llama-3.2-3b --framework torchtune --method lora --lora-rank 64 --lora-targets q,v,o,gate,up,down "
      "--weights bf16 --grads bf16 --optimizer-states bf16 --seq 4096 --micro-batch 2 --recompute full --attention "
      "sdpa "
      "--compile 1 --loss chunked --offload activations --gpu a100-80-sxm");
  CHECK(in_gib(asked.walk().peak().alive.total()) == Approx(8.5).epsilon(0.06));
}

// torch/distributed/fsdp: SHARD_GRAD_OP holds all gathered weights from the forward to the backward pass.
TEST_CASE("without resharding the whole model is gathered at once") {
  const std::string run =
      "--model llama-2-7b --seq 128 --framework torchtitan --dtype mixed-bf16 --gpus 8 --sharding fsdp2";
  const auto gathered = test::Asked(run).walk();
  const auto whole = test::Asked(run + " --reshard 0").walk();
  CHECK(whole.persistent.total() == gathered.persistent.total());
  // All 32 layers of 202,383,360 parameters are whole where two were, and the token table.
  const auto at_once = [](const memory::StepMemory& memory) {
    return in_bytes(test::at(memory, Phase::forward).temporaries);
  };
  CHECK(at_once(whole) - at_once(gathered) == 2 * (30 * 202'383'360LL + 32'000 * 4'096));
}

/// TransformerEngine pytorch/cpu_offload.py, num_layers: the first ones.
TEST_CASE("of offloaded activations some layers' may stay") {
  const std::string run = "--model llama-2-7b --seq 4096 --recompute none --dtype bf16";
  const auto peak = [&](const std::string& words) {
    return in_bytes(test::Asked(run + words).walk().peak().alive.total());
  };
  const auto host = [&](const std::string& words) { return in_bytes(test::Asked(run + words).walk().host); };
  CHECK(peak(" --offload activations --offload-layers 0") == peak(""));
  CHECK(host(" --offload activations --offload-layers 0") == 0);
  CHECK(host(" --offload activations --offload-layers 16") * 2 == host(" --offload activations --offload-layers 32"));
  const auto half = peak(" --offload activations --offload-layers 16");
  CHECK(half < peak(""));
  CHECK(half > peak(" --offload activations"));
  CHECK(peak("") - half == host(" --offload activations --offload-layers 16"));
}
