// What the ranks hold together is the model: nothing is lost between them and nothing is there twice.
#include "asked.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "timing/inner/pipeline.hpp"

#include <string>

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_seconds;
using quantity::seconds;

namespace {

/// The ranks that hold different slices of a weight. Beside experts, the side of an adapter that meets a cut matrix is
/// cut and the other is not; of biases those behind a matrix that is cut by columns, not those behind one that is cut
/// by rows.
std::int64_t slices(const layers::Weight& w, const spec::Layout& layout) {
  if (w.split == layers::Split::tensor) return layout.tp;
  if (w.split != layers::Split::expert) return 1;
  const bool is_whole = (w.adapter || w.name == "bias") && w.elements * layout.ep == w.whole;
  return layout.ep * (is_whole ? 1 : layout.etp);
}

void check_slices(const std::string& line, int& checked) try {
  const test::Asked asked(line);
  for (const auto& block : asked.program.blocks) {
    for (const auto& w : block.weights) {
      CAPTURE(line, std::string(block.name), std::string(w.name));
      const std::int64_t ranks = slices(w, asked.question.layout);
      // The vocabulary is not cut evenly, nor is the bias of a head, which has no columns.
      const bool by_vocabulary = w.table || block.name == "head" || block.name == "embedding";
      const std::int64_t odd_rows = by_vocabulary ? (ranks - 1) * std::max<std::int64_t>(w.columns, 1) : 0;
      CHECK(w.whole - w.elements * ranks <= odd_rows);
      CHECK(w.elements * ranks <= w.whole);
      CHECK(w.active <= w.whole);
      ++checked;
    }
  }
} catch (const quantity::BadInput&) {  // the model cannot be cut so
}

std::int64_t bytes_of(const layers::Weight& w, spec::Optimizer optimizer) {
  spec::Training training;
  training.optimizer = optimizer;
  return in_bytes(program::optimizer_bytes(w, training));
}

/// Equal blocks of a run on one rank and on two stand at the same places, as do their tensors.
void check_tensors(const std::string& line, int& checked) try {
  const test::Asked one(line + " --tp 1");
  const test::Asked two(line + " --tp 2 --sp 0");
  if (one.program.blocks.size() != two.program.blocks.size()) return;
  for (std::size_t b = 0; b < one.program.blocks.size(); ++b) {
    const auto& alone = one.program.blocks[b].tensors;
    const auto& shared = two.program.blocks[b].tensors;
    if (one.program.blocks[b].name == "head" || alone.size() != shared.size()) continue;
    for (std::size_t t = 0; t < alone.size(); ++t) {
      CAPTURE(line, std::string(one.program.blocks[b].name), std::string(alone[t].name), in_bytes(alone[t].size),
              in_bytes(shared[t].size));
      CHECK(shared[t].size <= alone[t].size);
      CHECK(2 * shared[t].size >= alone[t].size);
      ++checked;
    }
  }
} catch (const quantity::BadInput&) {  // the model cannot be cut so
}

}  // namespace

TEST_CASE("the slices of all ranks are the weights of the model") {
  int checked = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const std::string model = "--model " + preset.id + " --framework megatron-bridge --gpus 8 --seq 256";
    check_slices(model + " --tp 2", checked);
    check_slices(model + " --tp 2 --ep 4 --etp 1", checked);
    check_slices(model + " --tp 2 --ep 2 --etp 2", checked);
    check_slices(model + " --tp 2 --ep 2 --etp 2 --method lora --lora-rank 8", checked);
  }
  CHECK(checked > 5000);
}

/// Narayanan et al. 2021, arXiv:2104.04473, section 2.2; a layer that predicts further stands in the place of another.
TEST_CASE("stages have all blocks between them, each once and none many more than another") {
  int checked = 0;
  for (const std::string model : {"deepseek-v3", "qwen3-30b-a3b", "llama-3.1-8b"}) {
    for (const std::string pp : {"2", "4", "6", "16"}) {
      for (const std::string more : {"", " --mtp-num-layers 1", " --vpp 2"}) {
        const std::string line = "--model " + model + " --framework megatron --gpus 64 --pp " + pp + more;
        CAPTURE(line);
        try {
          const test::Asked asked(line);
          const auto& chunks = asked.program.chunks;
          const auto even = quantity::ceil_divide(asked.question.model.shape.layers, std::ssize(chunks));
          std::uint32_t at = 0;
          for (const auto& chunk : chunks) {
            CHECK(chunk.first == at);
            CHECK(chunk.last > at);
            CHECK(chunk.last - at <= even + 4);  // a head, and an input, a layer and a head of the further token
            at = chunk.last;
          }
          CHECK(at == asked.program.sequence.size());
          ++checked;
        } catch (const quantity::BadInput&) {  // the layers cannot be cut so
        }
      }
    }
  }
  CHECK(checked > 12);
}

// Rajbhandari et al. 2020, arXiv:1910.02054 section 5.1: a state is on one of the ranks that hold the same weights.
// What tensor parallelism does not cut, each of its ranks has.
/// Shoeybi et al. 2019, arXiv:1909.08053, section 3: what is not cut among tensor-parallel ranks each of them has
/// whole.
/// Of what is made of both, more than half: the groups of state spaces that all ranks share.
TEST_CASE("a rank of two has half of a tensor at least, and all of it at most") {
  int checked = 0;
  for (const auto& preset : read::Catalogue().models()) {
    check_tensors("--model " + preset.id + " --framework megatron-bridge --seq 64 --micro-batch 2 --recompute none",
                  checked);
  }
  CHECK(checked > 1000);
}

TEST_CASE("ZeRO keeps each state of the optimizer once among all ranks") {
  const std::string run = "--model mixtral-8x7b --framework megatron --dtype bf16 --seq 256 --gpus 16 --zero 1 ";
  for (const char* cut : {"--tp 2 --ep 4 --etp 1", "--tp 2 --ep 2 --etp 2", "--tp 4 --ep 2 --etp 1",
                          "--tp 8 --ep 8 --etp 2", "--tp 2 --cp 2 --ep 8 --etp 1", "--ep 8"}) {
    const test::Asked asked(run + cut);
    const auto& layout = asked.question.layout;
    for (const auto& block : asked.program.blocks) {
      for (const auto& w : block.weights) {
        CAPTURE(cut, std::string(block.name), std::string(w.name));
        const auto states = program::weight_states(w, asked.question.training, program::StateSharding(layout));
        const std::int64_t copies = w.split == layers::Split::replicated ? layout.tp : 1;
        CHECK(in_bytes(states.optimizer) * layout.gpus == 8 * w.whole * copies);
      }
    }
  }
}

// github.com/KellerJordan/Muon: one momentum of each hidden matrix; AdamW's two moments of all others.
TEST_CASE("Muon keeps one momentum of hidden matrices and AdamW's two of the others") {
  const auto hidden = test::matrix(4096, 1024);
  auto table = hidden;
  table.table = true;
  layers::Weight vector;
  vector.elements = vector.whole = 4096;
  CHECK(bytes_of(hidden, spec::Optimizer::muon) == 4 * 4096 * 1024);
  CHECK(bytes_of(table, spec::Optimizer::muon) == 8 * 4096 * 1024);
  CHECK(bytes_of(vector, spec::Optimizer::muon) == 8 * 4096);
  CHECK(bytes_of(hidden, spec::Optimizer::adamw) == 8 * 4096 * 1024);
}

// Qi et al. 2023, arXiv:2401.10241 table 2: a stage of 1F1B adds T_F + T_B + T_W to the bubble, of ZB-H1 T_F + T_B -
// T_W, where T_B is the gradients of inputs alone.
TEST_CASE("the bubble of ZB-H1 is that of 1F1B less twice the gradients of weights") {
  timing::StageTime stage;
  stage.forward.products = seconds(3.0);
  stage.backward.products = seconds(4.0 + 2.0);
  stage.weight_gradients = seconds(2.0);
  spec::Layout layout;
  layout.pp = 4;
  CHECK(in_seconds(timing::share_of_bubble(stage.pace(), layout)) == Approx(3.0 + 4.0 + 2.0));
  layout.schedule = spec::Schedule::zero_bubble;
  CHECK(in_seconds(timing::share_of_bubble(stage.pace(), layout)) == Approx(3.0 + 4.0 - 2.0));
  stage.weight_gradients = seconds(6.0);
  CHECK(in_seconds(timing::share_of_bubble(stage.pace(), layout)) == 0.0);
}
