// How tokens travel to their experts where nobody said.

#include "../memory/asked.hpp"
#include "catch.hpp"

using namespace llmcalc;

TEST_CASE("recipes of latent attention send tokens by node") {
  const auto by_node = [](const std::string& words) {
    return test::question_of(words + " --framework megatron --gpu h100-sxm:64 --ep 64").layout.node_dispatch;
  };
  CHECK(by_node("--model deepseek-v3 --framework-version Megatron-Bridge 25.09"));
  CHECK_FALSE(by_node("--model qwen3-235b-a22b --framework-version Megatron-Bridge 25.09"));
  CHECK_FALSE(by_node("--model deepseek-v3 --framework-version Megatron-LM"));
  CHECK_FALSE(by_node("--model deepseek-v3 --node-dispatch 0 --framework-version Megatron-Bridge 25.09"));
}
