// Kinds of words against the words themselves and the sources that say what they mean.
#include "catch.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"

using namespace llmcalc::spec;

TEST_CASE("a ZeRO stage is the number in its word, and FSDP is stage 3 (Rajbhandari et al. 2020 section 5)") {
  for (const auto& word : vocabulary<Sharding>()) {
    CAPTURE(word.name);
    if (word.name.starts_with("zero")) CHECK(zero_stage(word.value) == word.name.back() - '0');
    if (word.name.find("fsdp") != std::string_view::npos) CHECK(zero_stage(word.value) == 3);
  }
  CHECK(zero_stage(Sharding::hsdp) == 3);
  CHECK(zero_stage(Sharding::ddp) == 0);
  CHECK(zero_stage(Sharding::none) == 0);
}

TEST_CASE("an offload moves what its word names") {
  for (const auto& word : vocabulary<Offload>()) {
    CAPTURE(word.name);
    CHECK(offloads_weights(word.value) == (word.name.find("params") != std::string_view::npos));
    CHECK(offloads_optimizer(word.value) == (word.name.find("optimizer") != std::string_view::npos));
  }
}

TEST_CASE("a machine has what its accelerator's preset says, and else eight accelerators") {
  CHECK(accelerators_per_node(std::nullopt) == 8);
  Accelerator tpu;
  tpu.gpus_per_node = 4;
  CHECK(accelerators_per_node(tpu) == 4);
}
