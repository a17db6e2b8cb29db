// What Megatron-LM's kernels keep, against its functional tests and the sources of the kernels.

#include "asked.hpp"
#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "read/presets.hpp"

using namespace llmcalc;
using quantity::in_bytes;
using quantity::mib;

namespace {

/// gpt3_7b_tp4_pp1_memory_speed; all its attention products run in FlashAttention or cuDNN.
constexpr std::string_view of_7b =
    "--framework megatron --layers 32 --hidden 4096 --heads 32 --kv-heads 8 --ffn 16384 --vocab 131584 --mlp gelu "
    "--norm layernorm --position learned --bias all --tied 0 --dropout 0.1 --seq 8k --micro-batch 2 --tp 4 --dp 2 "
    "--sharding zero1 --loss vocab-parallel";

constexpr std::string_view of_7b_alone =
    "--framework megatron --layers 32 --hidden 4096 --heads 32 --kv-heads 8 --ffn 16384 --vocab 131584 --mlp gelu "
    "--norm layernorm --position learned --bias all --tied 0 --dropout 0.1 --seq 8k --tp 4 --dp 2 --sharding zero1 "
    "--loss vocab-parallel";

constexpr std::string_view of_scores =
    "--framework megatron --dtype bf16 --transformer-impl local --layers 4 --hidden 1024 --heads 16 --ffn 4096 "
    "--vocab 1024 --mlp gelu --norm layernorm --position learned --bias all --dropout 0 --seq 2048 --attention eager";

/// gpt3_mcore_tp1_pp4 and its siblings.
constexpr std::string_view of_toy =
    "--framework megatron --layers 12 --hidden 512 --heads 8 --ffn 2048 --vocab 50304 --mlp gelu --norm layernorm "
    "--position learned --bias all --tied 1 --dropout 0.1 --seq 1024 --micro-batch 4 --grad-accum 4 --pp 4 --dp 2 "
    "--sharding ddp --attention eager --loss vocab-parallel";

spec::Accelerator part(int year, std::string_view arch) {
  spec::Accelerator gpu;
  gpu.vendor = "NVIDIA";
  gpu.year = year;
  gpu.arch = arch;
  gpu.memory_type = "HBM";
  read::Catalogue().add_rates(gpu);
  return gpu;
}

spec::Accelerator a100() { return part(2020, "Ampere"); }
spec::Accelerator h100() { return part(2022, "Hopper"); }
spec::Accelerator b200() { return part(2024, "Blackwell"); }

memory::StepMemory walk_last(spec::Question q, const spec::Accelerator& gpu) {
  q.gpu = gpu;
  const auto profile = frameworks::make_profile(q.training, q.gpu);
  const auto program = program::build_program(q, profile);
  return memory::StepWalk(program, q, profile).walk(q.layout.pp - 1);
}

std::int64_t peak(const spec::Question& q, const spec::Accelerator& gpu) {
  return in_bytes(walk_last(q, gpu).peak().alive.total());
}

std::int64_t persistent(const spec::Question& q, const spec::Accelerator& gpu) {
  return in_bytes(walk_last(q, gpu).persistent.total());
}

spec::Question with(std::string_view line, std::string_view more) {
  return test::question_of(std::string(line) + " " + std::string(more));
}

}  // namespace

TEST_CASE("before Hopper each layer keeps its attention's result twice: 996 MiB more in a test of 7B, as measured") {
  constexpr std::int64_t measured_a100 = 58'188'115'968, measured_h100 = 57'143'791'616;
  const auto q = with(of_7b, "--deterministic 1");
  CHECK(std::abs(peak(q, a100()) - peak(q, h100()) - (measured_a100 - measured_h100)) < in_bytes(mib(1)));
}

TEST_CASE("a deterministic run on Blackwell uses FlashAttention as well: 1024 MiB more in the same test, as measured") {
  constexpr std::int64_t measured_gb200 = 58'217'476'096, measured_h100 = 57'143'791'616;
  const auto q = with(of_7b, "--deterministic 1");
  CHECK(std::abs(peak(q, b200()) - peak(q, h100()) - (measured_gb200 - measured_h100)) < in_bytes(mib(1)));
  CHECK(peak(with(of_7b, "--deterministic 0"), b200()) == peak(q, h100()));
}

TEST_CASE("Megatron-LM's own layers keep a buffer of scores and have no workspace of Transformer Engine") {
  constexpr double measured = 778'948'608;  // gpt3_mcore_tp1_pp4, H100, between two steps
  const auto local = persistent(with(of_toy, "--transformer-impl local"), h100());
  CHECK(static_cast<double>(local) == Approx(measured).epsilon(0.01));
  constexpr std::int64_t scores = 4 * 8 * 1024 * 1024 * 2;
  CHECK(local == persistent(test::question_of(of_toy), h100()) + scores - 33'555'456);
}

TEST_CASE("before Hopper only deterministic runs give cuBLAS 32 MiB a handle instead of 8.125") {
  const auto always = with(of_toy, "--deterministic 1"), never = with(of_toy, "--deterministic 0");
  CHECK(persistent(always, a100()) - persistent(never, a100()) == 2 * (in_bytes(mib(32)) - 8320 * 1024));
  CHECK(persistent(always, h100()) == persistent(never, h100()));
  CHECK(persistent(test::question_of(of_toy), a100()) == persistent(never, a100()));
}

TEST_CASE("experts that run one after another have no workspaces of grouped products") {
  constexpr std::string_view experts = "--experts 8 --top-k 1 --grouped-experts ";
  const auto grouped = with(of_toy, std::string(experts) + "1"), alone = with(of_toy, std::string(experts) + "0");
  CHECK(persistent(grouped, h100()) - persistent(alone, h100()) == 4 * 33'555'456);
}

TEST_CASE("the compiled vocabulary-parallel loss makes one more fp32 tensor of logits") {
  constexpr std::int64_t logits = 4 * 1024 * 50'304;
  const auto fused = with(of_toy.substr(0, of_toy.rfind(" --loss")), "--loss vocab-parallel-fused");
  CHECK(static_cast<double>(peak(fused, h100()) - peak(test::question_of(of_toy), h100())) ==
        Approx(4.0 * logits).epsilon(0.01));
}

TEST_CASE("ungated experts keep what the router's weights multiply: 2 bytes a row and inner column of each layer") {
  const auto kept = [&](std::string_view mlp) {
    const auto q = test::question_of(
        "--framework megatron --layers 2 --hidden 512 --heads 8 --ffn 2048 --vocab 50304 "
        "--seq 1024 --micro-batch 4 --experts 8 --top-k 1 --mlp " +
        std::string(mlp));
    auto profile = frameworks::make_profile(q.training, q.gpu);
    const auto walk = [&] { return memory::walk_block(program::build_program(q, profile).blocks[1], {}).kept; };
    const auto weighed = walk();
    profile.experts.weighs_activations = false;
    return in_bytes(weighed) - in_bytes(walk());
  };
  CHECK(kept("gelu") == 2 * 4 * 1024 * 2048);
  CHECK(kept("swiglu") == 0);
}

TEST_CASE("fp32 copies of fp16 gradients rest between steps and are gone while micro-batches run") {
  const auto toy = [](std::string_view type, std::string_view grads) {
    return test::question_of(
        "--framework megatron --layers 12 --hidden 512 --heads 8 --ffn 2048 --vocab 50304 --mlp gelu --norm layernorm "
        "--position learned --bias all --tied 1 --dropout 0.1 --seq 1024 --micro-batch 4 --grad-accum 2 --pp 2 --dp 4 "
        "--sharding ddp --attention eager --transformer-impl local --loss vocab-parallel --weights " +
        std::string(type) + " --grads " + std::string(grads));
  };
  constexpr double measured_fp16 = 3'547'033'088, measured_bf16 = 3'632'653'312;  // gpt3_mcore_tp1_pp2 on A100
  const auto difference = [](auto a, auto b) { return static_cast<double>(a - b); };
  const auto fp16 = toy("fp16", "fp16"), bf16 = toy("bf16", "fp32");
  CHECK(difference(peak(bf16, a100()), peak(fp16, a100())) == Approx(measured_bf16 - measured_fp16).epsilon(0.1));
  CHECK(difference(persistent(fp16, a100()), persistent(bf16, a100())) == Approx(2.0 * 44'681'216).epsilon(0.01));
}

TEST_CASE("Megatron-LM's BERT has a dense layer and a norm before its head, as measured between steps") {
  constexpr double measured = 1'795'597'824;  // bert_mcore_tp2_pp2 on H100
  const auto bert = test::question_of(
      "--framework megatron --model bert-large-uncased --vocab 30720 --weights bf16 --grads fp32 --seq 512 "
      "--micro-batch 4 --grad-accum 16 --tp 2 --pp 2 --dp 2 --sharding ddp --attention eager --loss vocab-parallel "
      "--dropout 0.1");
  CHECK(static_cast<double>(persistent(bert, h100())) == Approx(measured).epsilon(0.002));
}

TEST_CASE("kept tensors of 1 to 10 MiB share the allocator's segments, larger ones have their own") {
  const auto with_slack = [](std::int64_t hidden) {
    const auto q = test::question_of("--framework megatron --layers 1 --heads 8 --mlp gelu --vocab 50304 --seq 1024 " +
                                     ("--micro-batch 1 --hidden " + std::to_string(hidden)));
    const auto profile = frameworks::make_profile(q.training, q.gpu);
    const auto program = program::build_program(q, profile);
    std::vector<memory::BlockWalk> walks;
    memory::walk_blocks(program, memory::step_rules(q, profile), walks);
    const auto exact = memory::walk_block(program.blocks[1], {});
    return in_bytes(walks[1].kept - exact.kept);
  };
  // A few tensors of 2 to 6 MiB, at no more than 1 MiB * (1 + 1) / (2 * 20) each (c10/cuda/CUDACachingAllocator.cpp).
  CHECK(with_slack(1536) > 0);
  CHECK(with_slack(1536) < 10 * in_bytes(mib(1)) / 20);
  CHECK(with_slack(8192) < in_bytes(mib(1)) / 100);  // 16 MiB and more, in multiples of 2
}

/// TransformerEngine backends.py, FlashAttention.forward: the transposed result of one sequence is contiguous.
TEST_CASE("of a single sequence attention's result lies in both orders, so that nothing is copied") {
  const auto one = with(of_7b_alone, "--micro-batch 1 --deterministic 1");
  CHECK(peak(one, a100()) - peak(one, h100()) < in_bytes(mib(64)));
  const auto two = with(of_7b_alone, "--micro-batch 2 --deterministic 1");
  CHECK(peak(two, a100()) - peak(two, h100()) > in_bytes(mib(900)));
}

/// core/fusions/fused_softmax.py, forward_torch_softmax: fp32 probabilities, 4 bytes a score, beside the narrow ones
/// that multiply the values.
TEST_CASE("without the fused softmax the probabilities are kept in fp32 too") {
  const auto peak_of = [](std::string_view words) {
    return in_bytes(test::Asked(std::string(of_scores) + std::string(words)).walk().peak().alive.total());
  };
  const std::int64_t scores = std::int64_t{16} * 2048 * 2048;
  CHECK(peak_of(" --softmax-fusion 0") - peak_of("") >= 4 * 4 * scores);
}
