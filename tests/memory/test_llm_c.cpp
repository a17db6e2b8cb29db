// llm.c allocates everything once, so that its source states what it holds.

#include "asked.hpp"
#include "catch.hpp"

#include <string>

using namespace llmcalc;

namespace {

/// karpathy/llm.c train_gpt2.cu, fill_in_activation_sizes and fill_in_parameter_sizes with cuDNN, bf16 and `-r 0`: all
/// buffers, with gradients, fp32 master weights, both moments and the 32 MiB of llmc/cublas_common.h.
double allocated_gib(double layers, double width, double heads, double batch, double seq) {
  const double rows = batch * seq;
  const double padded_vocabulary = 50304;
  const double parameters = (padded_vocabulary + seq) * width + layers * (12 * width * width + 13 * width) + 2 * width;
  const double a_layer = 16 * width * 2 + 4 * 4 + heads * 4;
  const double once = 2 * width * 2 + 3 * 4 + padded_vocabulary * 2 + 5 * width * 2;
  return (16 * parameters + rows * (layers * a_layer + once) + 32 * 1024.0 * 1024) / (1024.0 * 1024 * 1024);
}

double peak_gib(const test::Asked& run) {
  return static_cast<double>(quantity::in_bytes(run.walk().peak().alive.total())) / (1024.0 * 1024 * 1024);
}

test::Asked asked(const std::string& words) {
  return test::Asked(words + " --vocab 50304 --framework llm.c --dtype bf16 --dropout 0 --attention flash --seq 1024");
}

double peak_gib(const std::string& words) { return peak_gib(asked(words)); }

/// The same program around another loss than it has.
double peak_gib(const std::string& words, spec::Loss loss) {
  test::Asked run = asked(words);
  run.question.training.loss = loss;
  run.program = program::build_program(run.question, run.profile);
  return peak_gib(run);
}

}  // namespace

TEST_CASE("llm.c needs what its source allocates") {
  CHECK(peak_gib("--model gpt2 --micro-batch 64 --gpu h100-sxm") ==
        Approx(allocated_gib(12, 768, 12, 64, 1024)).epsilon(0.015));
  CHECK(peak_gib("--model gpt2-large --micro-batch 32 --gpu a100-80-sxm") ==
        Approx(allocated_gib(36, 1280, 20, 32, 1024)).epsilon(0.01));
  CHECK(peak_gib("--model gpt2-xl --micro-batch 16 --gpu h100-sxm") ==
        Approx(allocated_gib(48, 1600, 25, 16, 1024)).epsilon(0.01));
}

/// llmc/fused_classifier.cuh: one buffer of 16 bit; Megatron-LM has an fp32 copy beside it.
TEST_CASE("llm.c's standard loss is the one that overwrites its logits") {
  const std::string run = "--model gpt2 --micro-batch 16 --gpu a100-80-sxm";
  CHECK(peak_gib(run, spec::Loss::standard) == Approx(peak_gib(run + " --loss fused")));
  CHECK(peak_gib(run, spec::Loss::vocab_parallel) - peak_gib(run) > 16 * 1024 * 50304 * 3.5 / (1024.0 * 1024 * 1024));
}
