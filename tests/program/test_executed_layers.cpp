// What layers keep and compute against transformers' own, executed by scripts/execute-families, which wrote the file.
#include "catch.hpp"
#include "executed_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

using namespace llmcalc;

namespace {

struct Known {
  std::string_view type;
  std::string_view method;
};

/// Llama 4 normalises rotated queries and keys without a weight. AFMoE's output gate is a matrix apart from that of the
/// queries, which adapters tell, and the router of HunYuan a linear layer beside experts that are parameters. Of Gemma
/// 4 the inputs that each layer has for itself are counted and not walked. Zamba2's shared layers read their input
/// joined with the embedding, through matrices that the walk has beside them.
constexpr std::array known_bytes = {Known{"llama4_text", "lora_qv"},
                                    Known{"gemma4_text", "full"},
                                    Known{"gemma4_text", "lora"},
                                    Known{"gemma4_text", "lora_qv"},
                                    Known{"gemma4_text", "checkpointed"},
                                    Known{"zamba2", "full"},
                                    Known{"zamba2", "lora"},
                                    Known{"zamba2", "lora_qv"}};
constexpr std::array known_flops = {Known{"afmoe", "lora"},          Known{"afmoe", "lora_qv"},
                                    Known{"hunyuan_v1_moe", "lora"}, Known{"zamba2", "lora"},
                                    Known{"gemma4_text", "full"},    Known{"gemma4_text", "lora"},
                                    Known{"gemma4_text", "lora_qv"}, Known{"gemma4_text", "checkpointed"}};

bool has(const auto& known, const test::ExecutedFamily& family, const test::ExecutedMethod& method) {
  return std::ranges::any_of(known,
                             [&](const Known& one) { return one.type == family.type && one.method == method.name; });
}

}  // namespace

TEST_CASE("layers keep within 2 % what autograd saves and run the products that torch counts") {
  int families = 0;
  for (const auto& family : test::executed_families(LLMCALC_TEST_DATA "/program/families/executed.jsonl")) {
    if (!family.refused) ++families;
    for (const auto& method : family.methods) {
      INFO(family.type << ", " << method.name << ": kept " << method.predicted.kept << " for " << method.executed.kept
                       << ", forward " << method.predicted.forward << " for " << method.executed.forward << ", both "
                       << method.predicted.both << " for " << method.executed.both);
      CHECK((std::abs(method.kept_error()) <= 0.02) != has(known_bytes, family, method));
      CHECK(method.same_flops() != has(known_flops, family, method));
    }
  }
  CHECK(families >= 82);
}
