// Step times against runs that published theirs, and against what must hold of any.

#include "catch.hpp"
#include "timing/steps.hpp"

#include <fmt/format.h>

using namespace llmcalc;
using quantity::in_seconds;
using test::step_of;

namespace {

double seconds_of(const std::string& line) { return in_seconds(step_of(line).total()); }

std::string gpt(int layers, int hidden, int heads) {
  return fmt::format(
      "--layers {} --hidden {} --heads {} --kv-heads {} --ffn {} --vocab 51200 --max-position 2048"
      " --mlp gelu --norm layernorm --position learned --bias all --tied 1 --dropout 0.1 --seq 2048"
      " --framework megatron --weights fp16 --compute fp16 --attention eager --gpu a100-80-sxm"
      " --inter-node-gbps 1600",
      layers, hidden, heads, heads, 4 * hidden);
}

struct Published {
  std::string model, layout;
  double full, selective;
};

}  // namespace

/// Korthikanti et al. 2022, arXiv:2205.05198, table 5: seconds an iteration on Selene, full recompute without and
/// selective recompute with sequence parallelism.
TEST_CASE("iterations of Megatron's models take what their paper measured, within a tenth") {
  const Published runs[] = {
      {gpt(48, 6144, 64), " --gpus 8 --tp 8 --micro-batch 4 --global-batch 4", 1.42, 1.10},
      {gpt(96, 12288, 96), " --gpus 64 --tp 8 --pp 8 --vpp 3 --micro-batch 1 --global-batch 64", 18.13, 13.75},
      {gpt(105, 20480, 128), " --gpus 280 --tp 8 --pp 35 --vpp 3 --micro-batch 1 --global-batch 280", 49.05, 37.83},
      {gpt(128, 25600, 160), " --gpus 512 --tp 8 --pp 64 --micro-batch 1 --global-batch 512", 94.42, 71.49},
  };
  for (const auto& run : runs) {
    INFO(run.layout);
    CHECK(seconds_of(run.model + run.layout + " --recompute full") == Approx(run.full).epsilon(0.10));
    CHECK(seconds_of(run.model + run.layout + " --sp 1 --recompute selective") == Approx(run.selective).epsilon(0.10));
  }
}

TEST_CASE("frozen models take the time of a forward pass, a value model that of training") {
  const std::string line = "--model llama-3-8b --framework torch --seq 2k --gpu h100-sxm --gpus 8 --sharding zero1 ";
  const auto sft = step_of(line + "--micro-batch 2");
  const auto dpo = step_of(line + "--algorithm dpo");
  CHECK(in_seconds(dpo.forward.total()) == Approx(2.0 * in_seconds(sft.forward.total())).epsilon(0.02));
  CHECK(in_seconds(dpo.backward.total()) == Approx(in_seconds(sft.backward.total())));
  const auto one = step_of(line + "--micro-batch 1");
  const auto ppo = step_of(line + "--algorithm ppo");
  CHECK(in_seconds(ppo.forward.total()) < 4.0 * in_seconds(one.forward.total()));
  CHECK(in_seconds(ppo.forward.total()) > 3.0 * in_seconds(one.forward.total()));
  CHECK(in_seconds(ppo.backward.total()) > 1.5 * in_seconds(one.backward.total()));
}

/// Narayanan et al. 2021, arXiv:2104.04473, table 1: achieved TFLOP/s of each accelerator at full recompute, by
/// equation 3; interleaved schedule with two virtual stages where there is a pipeline of more than one stage.
TEST_CASE("weak scaling from 1.7 B to 1 T parameters reaches the published rates, within a tenth") {
  struct Row {
    int layers, hidden, heads, tp, pp, gpus, batch, micro_batch;
    double teraflops;
  };
  const Row rows[] = {
      {24, 2304, 24, 1, 1, 32, 512, 16, 137},       {30, 3072, 32, 2, 1, 64, 512, 16, 138},
      {36, 4096, 32, 4, 1, 128, 512, 16, 142},      {40, 6144, 48, 8, 1, 256, 1024, 8, 135},
      {48, 8192, 64, 8, 2, 512, 1536, 4, 138},      {60, 10240, 80, 8, 4, 1024, 1792, 2, 140},
      {80, 12288, 96, 8, 8, 1536, 2304, 2, 148},    {96, 16384, 128, 8, 16, 1920, 2160, 1, 155},
      {105, 20480, 128, 8, 35, 2520, 2520, 1, 163}, {128, 25600, 160, 8, 64, 3072, 3072, 1, 163},
  };
  for (const auto& row : rows) {
    const double seconds = seconds_of(
        gpt(row.layers, row.hidden, row.heads) +
        fmt::format(" --gpus {} --tp {} --pp {} --micro-batch {} --global-batch {} --recompute full --sharding ddp",
                    row.gpus, row.tp, row.pp, row.micro_batch, row.batch));
    const double h = row.hidden;
    const double work =
        96.0 * row.batch * 2048.0 * row.layers * h * h * (1 + 2048.0 / (6 * h) + 51200.0 / (16.0 * row.layers * h));
    INFO(row.hidden);
    CHECK(work / seconds / row.gpus / 1e12 == Approx(row.teraflops).epsilon(0.10));
  }
}

TEST_CASE("a step takes longer with every sample and every token, and its parts make the whole") {
  const std::string base = "--model llama-3-8b --gpu h100-sxm:8 --framework megatron --tp 2 --sp 1 --pp 2";
  double last = 0;
  for (const int samples : {8, 16, 32, 64}) {
    const auto step = step_of(base + fmt::format(" --seq 4096 --global-batch {}", samples));
    CHECK(in_seconds(step.total()) > last);
    last = in_seconds(step.total());
    const auto passes = step.forward.total() + step.recompute.total() + step.backward.total();
    const auto rest = step.pipeline + step.bubble + step.data + step.optimizer + step.offload;
    CHECK(in_seconds(passes + rest) == Approx(last));
  }
  last = 0;
  for (const int seq : {1024, 2048, 4096, 8192, 16384}) {
    const double seconds = seconds_of(base + fmt::format(" --seq {} --global-batch 16", seq));
    CHECK(seconds > last);
    last = seconds;
  }
}

/// Narayanan et al. 2021 §2.2: (p - 1) / m of the ideal time, divided by the number of virtual stages.
TEST_CASE("the bubble of equal stages is the paper's share") {
  const std::string base =
      "--model llama-2-7b --gpu a100-80-sxm:4 --framework megatron --seq 2048 --micro-batch 1 --global-batch 16 --pp 4";
  const auto plain = step_of(base);
  const auto interleaved = step_of(base + " --vpp 2");
  CHECK(plain.bubble / interleaved.bubble == Approx(2.0));
  const auto ideal = plain.forward.total() + plain.recompute.total() + plain.backward.total();
  CHECK(plain.bubble / ideal < 3.0 / 16.0);  // the slowest stage has the head, the others are shorter
  CHECK(plain.bubble / ideal > 0.75 * 3.0 / 16.0);
}

TEST_CASE("recompute costs a forward pass") {
  const std::string base =
      "--model llama-3-8b --gpu h100-sxm:8 --framework megatron --tp 8 --seq 4096 --global-batch 8";
  const auto none = step_of(base);
  const auto full = step_of(base + " --recompute full");
  CHECK(in_seconds(none.recompute.total()) == 0.0);
  CHECK(full.recompute.total() / none.forward.total() == Approx(1.0).epsilon(0.1));
  CHECK(full.forward.total() / none.forward.total() == Approx(1.0));
}

namespace {

const std::string experts =
    "--model qwen3-30b-a3b --framework megatron --seq 4096 --micro-batch 4 --grad-accum 8 --gpus 64 --ep 64"
    " --sharding zero1 --gpu h100-sxm ";

}  // namespace

/// Megatron-Bridge docs/performance-summary.md: Qwen3 235B on 256 H100 went from 1204 tokens/s (25.09) to 1575 to 1712
/// with the exchanges overlapped (25.11 to 26.04).
TEST_CASE("overlapped experts cost what outlasts all other work, and never more than exposed ones") {
  const auto exposed = step_of(experts);
  const auto hidden = step_of(experts + "--expert-overlap 1");
  const auto exchanges = [](const timing::StepTime& step) { return step.forward.expert + step.backward.expert; };
  const double work = in_seconds(exposed.forward.total() + exposed.backward.total() - exchanges(exposed));
  CHECK(in_seconds(exchanges(hidden)) == Approx(std::max(0.0, in_seconds(exchanges(exposed)) - work)).margin(1e-9));
  CHECK(in_seconds(hidden.forward.products) == in_seconds(exposed.forward.products));
}

/// A stated imbalance of 2 doubles what the busiest rank exchanges and multiplies; without one a step is balanced.
TEST_CASE("the time of experts is that of a balanced router unless an imbalance is stated") {
  const auto balanced = step_of(experts + "--moe-imbalance 1");
  CHECK(in_seconds(step_of(experts).total()) == Approx(in_seconds(balanced.total())).epsilon(0.02));
  const auto uneven = step_of(experts + "--moe-imbalance 2");
  CHECK(in_seconds(uneven.forward.expert) == Approx(2.0 * in_seconds(balanced.forward.expert)).epsilon(0.05));
}

TEST_CASE("data parallelism is waited for where it is said to be, whatever the framework does") {
  const std::string line = "--model llama-3-8b --framework megatron --sharding zero1 --gpu h100-sxm:8 --grad-accum 4";
  const double meanwhile = in_seconds(step_of(line + " --data-overlap 1").data);
  const double behind = in_seconds(step_of(line + " --data-overlap 0").data);
  // 7/8 of 32 GB of fp32 gradients and 16 GB of weights at the link's 450 GB/s or less
  CHECK(behind - meanwhile > 7.0 / 8.0 * 48e9 / 450e9);
  // Its own default (training/arguments.py, --overlap-grad-reduce: off).
  CHECK(in_seconds(step_of(line).data) == behind);
}

/// Transformer Engine reads 2 bytes of each input and of each output's gradient once more for a block-scaled type and
/// writes two layouts of a little more than a byte; a 16-bit run has none of it.
TEST_CASE("narrow products are quantized in kernels that take time") {
  const std::string line = "--model llama-3-8b --framework megatron --seq 4096 --gpu b200-sxm --dtype bf16";
  const test::Asked narrow(line + " --compute mxfp8");
  double moved = 0.0;
  for (const layers::Op& op : narrow.program.blocks[1].ops) {
    if (op.name == "quantization") moved += static_cast<double>(in_bytes(op.moved_forward));
  }
  const double inputs = 3 * 4096.0 + 14336.0;  // of qkv, output, gate and up; of down
  CHECK(moved == Approx(4096.0 * inputs * (2.0 + 2.0 * 33.0 / 32.0)).epsilon(1e-6));
  CHECK(in_seconds(step_of(line + " --compute mxfp8").forward.streams) > in_seconds(step_of(line).forward.streams));
}

/// torchao finds a weight's largest element, then casts it: 2 + 2 + 1 bytes; compiled, an input is read once and
/// written in two layouts, for all matrices that share it (pytorch/ao torchao/testing/training/roofline_utils.py).
TEST_CASE("frameworks that keep no narrow copies cast at each use") {
  const std::string line =
      "--model llama-3-8b --framework torchtitan --seq 4096 --micro-batch 1 --weights bf16 --gpu h100-sxm --compute "
      "fp8-e4m3";
  const auto moved = [&](const std::string& words) {
    const test::Asked asked(line + words);
    double sum = 0.0;
    for (const layers::Op& op : asked.program.blocks[1].ops) {
      if (op.name == "cast") sum += static_cast<double>(in_bytes(op.moved_forward));
    }
    return sum;
  };
  const double weights = 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336);
  CHECK(moved(" --compile 1") == Approx(4096.0 * (3 * 4096 + 14336) * 4.0 + weights * 5.0));
  CHECK(moved(" --compile 0") == Approx(4096.0 * (6 * 4096 + 14336) * 6.0 + weights * 5.0));
  CHECK(test::Asked(line).program.blocks.back().ops[1].narrow == false);  // the head
  // Delayed scaling reads what it narrows once (Transformer Engine, fp8_delayed_scaling).
  const test::Asked delayed("--model llama-3-8b --framework composer --seq 4096 --gpu h100-sxm --compute fp8-e4m3");
  for (const layers::Op& op : delayed.program.blocks[1].ops) {
    if (op.name != "cast") continue;
    CHECK_FALSE(op.eager);
    CHECK(static_cast<double>(in_bytes(op.moved_forward)) == Approx(4.0 * (4096.0 * 4096 + 4096.0 * 6144)));
    break;  // that of the fused q, k and v
  }
}

/// torchtitan benchmarks/llama3_h100_202412_torchtitan.md, table 1: 8532 over 6667 tokens per second.
TEST_CASE("fp8 makes torchtitan as much faster as it published") {
  const std::string line =
      "--model llama-3-8b --framework torchtitan --framework-version torch 2024-12-23 --weights fp32 --autocast 1"
      " --grads fp32 --seq 8k --micro-batch 2 --recompute selective --attention sdpa --compile 1 --gpu h100-sxm-500w:8"
      " --sharding fsdp2 --compute ";
  CHECK(seconds_of(line + "bf16") / seconds_of(line + "fp8") == Approx(8532.0 / 6667.0).epsilon(0.06));
}

TEST_CASE("FSDP2 gathers and reduces once a step in a pipeline, and with every micro-batch outside of one") {
  const std::string line =
      "--model llama-3-8b --framework torchtitan --grads fp32 --seq 8k --sharding fsdp2 --gpu h100-sxm:16 "
      "--grad-accum ";
  CHECK(in_seconds(step_of(line + "32 --pp 2").data) == Approx(in_seconds(step_of(line + "8 --pp 2").data)));
  CHECK(in_seconds(step_of(line + "32").data) == Approx(4.0 * in_seconds(step_of(line + "8").data)));
}

TEST_CASE("recipes that slice exchanges into products wait for half of them at most") {
  const std::string line = "--model llama-3-70b --tp 8 --sp 1 --seq 4096 --gpu h100-sxm:8 --dtype bf16 --framework ";
  const double plain = in_seconds(step_of(line + "megatron").forward.tensor);
  const double sliced = in_seconds(step_of(line + "nemo").forward.tensor);
  CHECK(sliced < plain);
  CHECK(sliced >= 0.5 * plain);
}

TEST_CASE("a run that does not train takes the forward pass alone") {
  for (const std::string attention : {"flash", "eager"}) {
    const auto step = step_of(
        "--model llama-3-8b --framework torch --gpu h100-sxm --seq 512 --method forward-only --attention " + attention);
    CHECK(in_seconds(step.forward.total()) > 0.0);
    CHECK(in_seconds(step.total()) == in_seconds(step.forward.total()));
  }
}
