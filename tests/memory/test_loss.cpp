// Bytes a logit of each loss implementation, from the head block alone.

#include "../program/questions.hpp"
#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "program/count.hpp"
#include "read/words/terms.hpp"

using namespace llmcalc;
using quantity::in_bytes;

namespace {

// Llama 3 8B with 8,192 tokens: 1,050,673,152 logits.
spec::Question llama3(spec::Framework framework, spec::Loss loss) {
  spec::Shape s = test::llama2_7b_shape();
  s.kv_heads = 8;
  s.ffn = 14336;
  s.vocab = 128256;
  auto q = test::ask(s, 8192, 1);
  q.training.framework = framework;
  q.training.loss = loss;
  return q;
}

constexpr double logits = 8192.0 * 128256.0;
/// The head also holds hidden states of 8192 x 4096, 0.03 bytes a logit and byte of width each.
constexpr double hidden_margin = 0.4;

double per_logit(quantity::Bytes size) { return static_cast<double>(in_bytes(size)) / logits; }

memory::BlockWalk head_of(const spec::Question& q) { return memory::walk_block(test::program_of(q).blocks.back(), {}); }

}  // namespace

TEST_CASE("transformers' loss takes 10 bytes a logit forward, keeps 4 and takes 12 backward") {
  const auto head = head_of(llama3(spec::Framework::hf, spec::Loss::standard));
  CHECK(per_logit(head.forward_peak) == Approx(10.0).margin(hidden_margin));
  CHECK(per_logit(head.kept) == Approx(4.0).margin(hidden_margin));
  CHECK(per_logit(head.backward_peak) == Approx(12.0).margin(hidden_margin));
}

// Executed with transformers 4.48.0 and torch 2.15: GPT-BigCode's step in the Trainer, one sample of 512 tokens.
TEST_CASE("families with a loss of their own had 16-bit logits before transformers 4.49") {
  auto q = llama3(spec::Framework::hf, spec::Loss::standard);
  q.model.shape.writing.narrow_loss = true;
  CHECK(per_logit(head_of(q).forward_peak) == Approx(10.0).margin(hidden_margin));
  q.training.software = read::read_software("transformers 4.48.0");
  CHECK(per_logit(head_of(q).forward_peak) == Approx(4.0).margin(hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(6.0).margin(hidden_margin));
  q.training.precision.weights = formats::Dtype::fp32;
  q.training.precision.autocast = true;
  constexpr double cast_head = 2.0 * 128256 * 4096 / logits;  // the head's 16-bit copy, kept for the backward pass
  CHECK(per_logit(head_of(q).forward_peak) == Approx(10.0 + cast_head).margin(2 * hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(12.0 + cast_head).margin(2 * hidden_margin));
}

TEST_CASE("the in-place vocabulary-parallel loss takes 6 bytes a logit, keeps 4 and takes 6 backward") {
  const auto head = head_of(llama3(spec::Framework::megatron, spec::Loss::vocab_parallel));
  CHECK(per_logit(head.forward_peak) == Approx(6.0).margin(hidden_margin));
  CHECK(per_logit(head.kept) == Approx(4.0).margin(hidden_margin));
  CHECK(per_logit(head.backward_peak) == Approx(6.0).margin(hidden_margin));
}

TEST_CASE("a loss kernel that overwrites the logits takes 2 bytes a logit") {
  const auto head = head_of(llama3(spec::Framework::generic, spec::Loss::fused));
  CHECK(per_logit(head.forward_peak) == Approx(2.0).margin(hidden_margin));
  CHECK(per_logit(head.backward_peak) == Approx(2.0).margin(hidden_margin));
}

TEST_CASE("behind transformers' own fp32 copy it takes 2+4, with the shifted copy of older releases 8 or 10") {
  auto q = llama3(spec::Framework::hf, spec::Loss::fused);
  q.training.seq = 4096;  // as measured: of a single sample the shifted part is contiguous as it is
  q.training.micro_batch = 2;
  CHECK(per_logit(head_of(q).forward_peak) == Approx(6.0).margin(hidden_margin));
  // Measured: 1,304,531 bytes a token of Llama 3 8B are 32 checkpoints of 2h, 8 a logit and 4h (2024), and 10 a logit
  // with transformers 4.48.1 (foundation-model-stack/fms-acceleration, a100_80gb.csv).
  q.training.software = read::read_software("2024");
  CHECK(per_logit(head_of(q).forward_peak) == Approx(8.0).margin(hidden_margin));
  q.training.software = read::read_software("torch 2.4.1, transformers 4.48.1");
  CHECK(per_logit(head_of(q).forward_peak) == Approx(10.0).margin(hidden_margin));
}

TEST_CASE("the fused linear loss holds one chunk of logits and the two gradients it has made") {
  // Chunk 256 of 8,192 rows: 65.7 MB of logits; gradients of hidden 67 MB and of the head 1.05 GB.
  const auto head = head_of(llama3(spec::Framework::hf, spec::Loss::fused_linear));
  const double chunk = 256.0 * 128256 * 2;
  const double gradients = 2.0 * 8192 * 4096 + 2.0 * 128256 * 4096;
  CHECK(static_cast<double>(in_bytes(head.forward_peak)) == Approx(chunk + gradients).margin(0.6e9));
  CHECK(static_cast<double>(in_bytes(head.kept)) >= gradients);
}

// Liger-Kernel ops/fused_linear_cross_entropy.py: next_power_of_2(cdiv(tokens, cdiv(vocab, hidden))) rows, 256 of
// 6,000.
TEST_CASE("a chunk of the fused linear loss is a power of two of rows") {
  for (const auto& [tokens, rows] : {std::pair(8192, 256), {6000, 256}, {4000, 128}, {100, 4}}) {
    auto q = llama3(spec::Framework::hf, spec::Loss::fused_linear);
    q.training.seq = tokens;
    const auto program = test::program_of(q);
    const auto& loss = program.blocks.back().ops.back();
    CHECK(in_bytes(loss.workspace_forward) == 2LL * rows * 128256);
  }
}

// README of apple/ml-cross-entropy: 24 GB of logits become 1 MB; dE and dC are made in the backward pass.
TEST_CASE("cut cross-entropy keeps two fp32 numbers a token and no logits") {
  const auto cut = head_of(llama3(spec::Framework::hf, spec::Loss::cut));
  auto q = llama3(spec::Framework::hf, spec::Loss::fused_linear);
  const auto fused = head_of(q);
  CHECK(per_logit(cut.forward_peak) < hidden_margin);
  CHECK(in_bytes(cut.backward_peak) < in_bytes(fused.backward_peak) + 2LL * 8192 * 4096);
  // Beside those numbers the normed hidden state, in place of its own gradient and the head's.
  constexpr std::int64_t state = 2LL * 8192 * 4096;
  CHECK(in_bytes(cut.kept) - in_bytes(fused.kept) == state + 2 * 4 * 8192 - (state + 2LL * 128256 * 4096));
  const auto work = program::count_work(test::program_of(llama3(spec::Framework::hf, spec::Loss::cut)));
  const auto plain = program::count_work(test::program_of(llama3(spec::Framework::hf, spec::Loss::standard)));
  CHECK(quantity::in_flops(work.model()) == Approx(quantity::in_flops(plain.model())));
  // The logits are multiplied once more in the backward pass: 2 T h V.
  CHECK(quantity::in_flops(work.hardware() - plain.hardware()) == Approx(2.0 * 8192 * 4096 * 128256));
}

TEST_CASE("torchtune's compiled chunked loss takes 2 bytes a logit, and adds up the head's gradient chunk by chunk") {
  auto q = llama3(spec::Framework::torchtune, spec::Loss::chunked);
  q.training.compile = true;
  constexpr double head_gradient = 2.0 * 128256 * 4096 / logits;
  CHECK(per_logit(head_of(q).backward_peak) == Approx(2.0 - 2.0 / 8 + head_gradient).margin(0.2));
  q.training.method = spec::Method::lora;
  CHECK(per_logit(head_of(q).backward_peak) == Approx(2.0).margin(0.2));
  q.training.compile = false;  // every chunk's fp32 log-probabilities are kept
  CHECK(per_logit(head_of(q).kept) == Approx(4.0).margin(hidden_margin));
}

// torchtune modules/loss/ce_chunked_output_loss.py: num_output_chunks = 8. When the second gradient of the head is
// made, the logits of one chunk are gone. A frozen head has neither gradient nor input.
TEST_CASE("torchtune cuts the logits into eight chunks") {
  auto q = llama3(spec::Framework::torchtune, spec::Loss::chunked);
  q.training.compile = true;
  const auto whole = head_of(q).backward_peak;
  q.training.method = spec::Method::lora;
  CHECK(in_bytes(whole - head_of(q).backward_peak) == 2 * (128256LL * 4096 - 128256LL * 8192 / 8 + 8192 * 4096));
}

TEST_CASE("torchtune before 0.3 kept its shifted logits through the backward pass: 12 forward and 16 bytes a logit") {
  auto q = llama3(spec::Framework::torchtune, spec::Loss::standard);
  CHECK(per_logit(head_of(q).forward_peak) == Approx(8.0).margin(hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(12.0).margin(hidden_margin));
  q.training.software = read::read_software("torchtune 0.1; 2024");
  CHECK(per_logit(head_of(q).forward_peak) == Approx(12.0).margin(hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(16.0).margin(hidden_margin));
}

/// `del pred` since 2024-06-12; the loss widens since 2024-10-22, and is compiled since 2025-02.
TEST_CASE("torchtitan's loss takes 10 bytes a logit forward and 12 backward, compiled 2 and 4, and holds nothing") {
  auto q = llama3(spec::Framework::torchtitan, spec::Loss::standard);
  CHECK(per_logit(head_of(q).forward_peak) == Approx(10.0).margin(hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(12.0).margin(hidden_margin));
  CHECK(in_bytes(test::program_of(q).blocks.back().held_by_loop) == 0);
  q.training.compile = true;
  CHECK(per_logit(head_of(q).forward_peak) == Approx(2.0).margin(hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(4.0).margin(hidden_margin));
}

TEST_CASE("torchtitan's training loop held fp32 logits through the backward pass at first: 16 bytes a logit") {
  auto q = llama3(spec::Framework::torchtitan, spec::Loss::standard);
  q.training.software.date = spec::Date{2024, 5, 1};
  const auto program = test::program_of(q);
  CHECK(per_logit(memory::walk_block(program.blocks.back(), {}).backward_peak) == Approx(16.0).margin(hidden_margin));
  CHECK(per_logit(program.blocks.back().held_by_loop) == Approx(4.0));
}

// As runs of Qwen3 32B had it on tensor-parallel ranks (torchtitan pull request 1690).
TEST_CASE("between tensor-parallel ranks torchtitan's softmax is written out: 4 bytes a logit more either way") {
  auto q = llama3(spec::Framework::torchtitan, spec::Loss::standard);
  auto whole = llama3(spec::Framework::hf, spec::Loss::standard);
  constexpr int ranks = 8;
  q.layout.tp = q.layout.gpus = whole.layout.tp = whole.layout.gpus = ranks;
  CHECK(ranks * per_logit(head_of(q).forward_peak - head_of(whole).forward_peak) == Approx(4.0));
  CHECK(ranks * per_logit(head_of(q).backward_peak - head_of(whole).backward_peak) == Approx(4.0));
}

TEST_CASE("a loop of one's own has a loss in the type of its logits, which autocast alone widens") {
  auto q = llama3(spec::Framework::torch, spec::Loss::standard);
  CHECK(per_logit(head_of(q).forward_peak) == Approx(4.0).margin(hidden_margin));
  CHECK(per_logit(head_of(q).backward_peak) == Approx(6.0).margin(hidden_margin));
  q.training.precision.autocast = true;
  CHECK(per_logit(head_of(q).backward_peak) >= 12.0);
}
