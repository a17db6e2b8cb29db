// States and step temporaries of optimizers against their papers.

#include "asked.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "memory/block_prices.hpp"
#include "read/words/terms.hpp"

using namespace llmcalc;
using formats::Dtype;
using memory::Phase;
using quantity::in_bytes;
using quantity::in_gib;
using spec::Optimizer;
using test::matrix;

namespace {

spec::Training training(Optimizer optimizer) {
  spec::Training t;
  t.optimizer = optimizer;
  t.optimizer_rank = 256;
  return t;
}

std::int64_t optimizer_states_of(const layers::Weight& w, Optimizer optimizer) {
  return in_bytes(program::optimizer_bytes(w, training(optimizer)));
}

/// Gigabytes of states for the matrices of a model's layers, with 16-bit moments where they are not quantized.
double hidden_gigabytes(std::string_view model, Optimizer optimizer) {
  const test::Asked asked("--model " + std::string(model) + " --seq 128");
  auto t = training(optimizer);
  t.precision.moments = Dtype::bf16;
  std::int64_t sum = 0;
  for (const auto index : asked.program.sequence) {
    for (const auto& w : asked.program.blocks[index].weights) {
      if (w.rows > 1 && !w.table) sum += in_bytes(program::optimizer_bytes(w, t));
    }
  }
  return static_cast<double>(sum) / 1e9;
}

const std::string tiny_batch = "--model llama-2-7b --seq 1 --dtype bf16 --optimizer ";

}  // namespace

TEST_CASE("Adagrad keeps one sum, LAMB two moments") {
  const auto w = matrix(1024, 4096);
  CHECK(optimizer_states_of(w, Optimizer::adagrad) == 4 * w.elements);
  CHECK(optimizer_states_of(w, Optimizer::lamb) == 8 * w.elements);
}

TEST_CASE("SOAP keeps 2m^2 + 2n^2 beside Adam's moments (Vyas et al. 2024), sides beyond 10,000 have no factor") {
  CHECK(optimizer_states_of(matrix(1024, 4096), Optimizer::soap) ==
        4 * (2 * 1024 * 1024 + 2 * 4096 * 4096 + 2 * 1024 * 4096));
  CHECK(optimizer_states_of(matrix(4096, 11008), Optimizer::soap) == 4LL * (2 * 4096 * 4096 + 2LL * 4096 * 11008));
  CHECK(optimizer_states_of(matrix(1, 4096), Optimizer::soap) == 8 * 4096);
}

TEST_CASE("Shampoo keeps a factor and its root for each side of each block of 1,024") {
  constexpr std::int64_t square = 1024 * 1024;
  CHECK(optimizer_states_of(matrix(1024, 1024), Optimizer::shampoo) == 4 * (4 * square + 2 * square));
  CHECK(optimizer_states_of(matrix(2048, 3072), Optimizer::shampoo) ==
        6 * optimizer_states_of(matrix(1024, 1024), Optimizer::shampoo));
  CHECK(optimizer_states_of(matrix(1124, 1024), Optimizer::shampoo) ==
        4 * (2 * (square + 100 * 100 + 2 * square) + 2 * 1124 * 1024));
}

TEST_CASE("LLaMA 7B: APOLLO 1.6 GB, APOLLO-Mini 0.0 GB, 8-bit Adam 13 GB (Zhu et al. 2024, pre-training on C4)") {
  CHECK(hidden_gigabytes("llama-7b", Optimizer::apollo) == Approx(1.6).margin(0.05));
  CHECK(hidden_gigabytes("llama-7b", Optimizer::apollo_mini) < 0.05);
  CHECK(hidden_gigabytes("llama-7b", Optimizer::adamw_8bit) == Approx(13).margin(0.5));
}

TEST_CASE("transformers' Trainer keeps the 8-bit optimizers' moments of embeddings in fp32 from release 4.52 on") {
  // trainer.py, create_optimizer: register_module_override(module, "weight", {"optim_bits": 32}) for every nn.Embedding
  auto table = matrix(1024, 4096);
  table.table = true;
  const std::int64_t narrow = 2 * (table.elements + 4 * (table.elements / 256));
  const std::int64_t wide = 8 * table.elements;
  const auto states = [&](spec::Framework framework, std::string version) {
    auto t = training(Optimizer::adamw_8bit);
    t.framework = framework;
    t.software = read::read_software(std::move(version));
    return in_bytes(program::optimizer_bytes(table, t));
  };
  CHECK(states(spec::Framework::hf, "") == wide);
  CHECK(states(spec::Framework::hf, "transformers 4.52.4") == wide);
  CHECK(states(spec::Framework::hf, "transformers 4.51.3") == narrow);
  CHECK(states(spec::Framework::torchtune, "") == narrow);
  table.role = layers::Role::head;
  CHECK(states(spec::Framework::hf, "") == narrow);
  table.table = false;
  CHECK(optimizer_states_of(table, Optimizer::paged_adamw_8bit) == narrow);
}

TEST_CASE("APOLLO's package keeps the projector that the paper makes again") {
  // apollo_torch 1.0.3, random_projector.py: ortho_matrix, made every 200 steps and cast to the gradient's type
  auto t = training(Optimizer::apollo);
  t.precision.moments = t.precision.grads = Dtype::bf16;
  const auto w = matrix(11008, 4096);
  CHECK(in_bytes(program::optimizer_bytes(w, t)) == 2 * 2 * 256 * 11008);
  t.framework = spec::Framework::hf;
  CHECK(in_bytes(program::optimizer_bytes(w, t)) == 2 * 2 * 256 * 11008 + 2 * 256 * 4096);
}

TEST_CASE("GaLore's projector has the gradient's type, and of fp32 gradients keeps every singular vector") {
  // galore_torch 1.0, galore_projector.py: Vh[:rank, :] is cast to the gradient's type, or else a view of Vh
  const auto w = matrix(11008, 4096);
  const std::int64_t moments = 2 * (256 * 11008 + 4 * 256 * 11008 / 256);
  auto t = training(Optimizer::galore_adamw_8bit);
  t.precision.grads = Dtype::bf16;
  CHECK(in_bytes(program::optimizer_bytes(w, t)) == moments + 2 * 256 * 4096);
  t.precision.grads = Dtype::fp32;
  CHECK(in_bytes(program::optimizer_bytes(w, t)) == moments + 4 * 4096 * 4096);
}

TEST_CASE("LLaMA 7B: LOMO holds 12.55 GB of weights, 0.24 GB of gradients and no states (Lv et al. 2023 table 1)") {
  const auto lomo = test::Asked(tiny_batch + "lomo").walk();
  CHECK(in_gib(lomo.persistent.total()) == Approx(12.55).margin(0.01));
  CHECK(lomo.peak().phase == Phase::backward);
  CHECK(in_gib(lomo.peak().alive.total() - lomo.persistent.total()) == Approx(0.24).margin(0.02));
  const auto sgd = test::Asked(tiny_batch + "sgd").walk();
  CHECK(in_gib(test::at(sgd, Phase::optimizer).gradients) == Approx(12.55).margin(0.01));
}

TEST_CASE("AdaLomo keeps a row and a column vector a matrix, and no gradients either") {
  CHECK(optimizer_states_of(matrix(1024, 4096), Optimizer::adalomo) == 4 * (1024 + 4096));
  const auto memory = test::Asked(tiny_batch + "adalomo").walk();
  CHECK(in_gib(memory.persistent.total()) == Approx(12.55).margin(0.02));
}

TEST_CASE("LOMO cannot accumulate gradients") {
  CHECK_THROWS_AS(test::Asked(tiny_batch + "lomo --grad-accum 2"), quantity::BadInput);
}

TEST_CASE("paged states are counted apart, but not those of small tensors (bitsandbytes: below 100,000 elements)") {
  const auto paged = test::Asked(tiny_batch + "paged-adamw");
  const auto resident = test::Asked(tiny_batch + "adamw");
  const auto states = paged.states();
  CHECK(states.paged + states.optimizer == resident.states().optimizer);
  CHECK(in_bytes(states.optimizer) == 8 * 65 * 4096);  // 65 norms
  CHECK(paged.walk().paged == states.paged);
  CHECK(paged.walk().peak().alive.optimizer == states.optimizer);
}

TEST_CASE(
    "foreach AdamW makes one tensor of moments for every parameter, Adagrad two, fused none, the loop one tensor's") {
  const auto temporaries = [](std::string_view line) {
    const auto asked = test::Asked("--model llama-2-7b --seq 32 --dtype bf16 --framework torch " + std::string(line));
    return in_bytes(test::at(asked.walk(), Phase::optimizer).temporaries);
  };
  CHECK(temporaries("--optimizer-impl foreach") == 2 * 6'738'415'616);
  CHECK(temporaries("--optimizer adagrad --optimizer-impl foreach") == 4 * 6'738'415'616);
  CHECK(temporaries("--optimizer-impl fused") == 0);
  CHECK(temporaries("--optimizer-impl loop") == 2 * 2 * 32000 * 4096);
}

TEST_CASE("Muon's Newton-Schulz iteration takes five half-precision tensors for a square matrix") {
  const auto t = training(Optimizer::muon);
  CHECK(in_bytes(program::update_scratch(matrix(4096, 4096), t)) == 2 * 5 * 4096 * 4096);
  CHECK(in_bytes(program::update_scratch(matrix(11008, 4096), t)) == 2 * (3LL * 4096 * 11008 + 2 * 4096 * 4096));
  auto table = matrix(32000, 4096);
  table.table = true;
  CHECK(in_bytes(program::update_scratch(table, t)) == 0);
}

TEST_CASE("the rank of a projection is assumed where it was not given, and refused where nothing is projected") {
  CHECK(test::question_of("--model llama-2-7b --optimizer apollo").training.optimizer_rank == 256);
  CHECK(test::question_of("--model llama-2-7b --optimizer apollo --framework hf").training.optimizer_rank == 128);
  CHECK(test::question_of("--model llama-2-7b --optimizer apollo --optimizer-rank 64").training.optimizer_rank == 64);
  CHECK(test::question_of("--model llama-2-7b --method galore").training.optimizer == Optimizer::galore_adamw_8bit);
  CHECK_THROWS_AS(test::question_of("--model llama-2-7b --optimizer-rank 64"), quantity::BadInput);
}

/// torchtune's README, Llama 3.2 3B on an A100: 24.9 GiB become 23.1 GiB with optimizer_in_bwd.
TEST_CASE("an optimizer inside the backward pass keeps no gradients but a tied matrix's first one") {
  const std::string line =
      "--framework torchtune --model llama-3.2-3b --method full --dtype bf16 --optimizer adamw --optimizer-states bf16 "
      "--optimizer-impl fused --seq 4096 --micro-batch 2 --recompute full --compile 1 --loss chunked";
  const auto peak_gib = [](const std::string& words) {
    return static_cast<double>(quantity::in_bytes(test::Asked(words).walk().peak().alive.total())) / 1073741824.0;
  };
  const auto behind = test::Asked(line + " --optimizer-in-backward 1").walk();
  CHECK(quantity::in_bytes(behind.persistent.gradients) == 0);
  CHECK(peak_gib(line) == Approx(24.9).epsilon(0.02));
  CHECK(peak_gib(line + " --optimizer-in-backward 1") == Approx(23.1).epsilon(0.03));
}

TEST_CASE("autograd holds the head's gradient of a tied matrix until the table's is there") {
  const std::string shape =
      "--framework hf --layers 2 --hidden 256 --ffn 512 --heads 4 --vocab 32000 --seq 128 --method full ";
  constexpr std::int64_t table = 2 * 32000 * 256;
  const auto walked = [&](const std::string& words) {
    const test::Asked asked(shape + "--dtype bf16 " + words);
    const auto rules = memory::step_rules(asked.question, asked.profile);
    return memory::walk_block(asked.program.blocks.back(), rules.gradients);
  };
  CHECK(quantity::in_bytes(walked("--tied 1").awaiting_gradient) == table);
  CHECK(quantity::in_bytes(walked("--tied 1 --micro-batch 1 --grad-accum 4").awaiting_gradient) == table);
  CHECK(quantity::in_bytes(walked("--tied 0").awaiting_gradient) == 0);
}
