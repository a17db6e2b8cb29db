// What layers keep and compute against transformers' own, executed by scripts/execute-families, which wrote the file.
#include "catch.hpp"
#include "executed_layers.hpp"

#include <cmath>

using namespace llmcalc;

TEST_CASE("layers keep within 2 % what autograd saves and run the products that torch counts") {
  int families = 0;
  for (const auto& family : test::executed_families(LLMCALC_TEST_DATA "/program/families/executed.jsonl")) {
    if (!family.refused) ++families;
    for (const auto& method : family.methods) {
      INFO(family.type << ", " << method.name << ": kept " << method.predicted.kept << " for " << method.executed.kept
                       << ", forward " << method.predicted.forward << " for " << method.executed.forward << ", both "
                       << method.predicted.both << " for " << method.executed.both);
      CHECK(std::abs(method.kept_error()) <= 0.02);
      CHECK(method.same_flops());
    }
  }
  CHECK(families >= 183);
}
