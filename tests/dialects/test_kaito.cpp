// Servers that KAITO starts for a workspace (kaito-project/kaito).

#include "dialects/read.hpp"
#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

dialects::Reading read_workspace(const std::string& text) { return test::read_alone(text, "ws.yaml"); }

std::string workspace(std::string_view model, std::string_view machine, std::string_view more = "") {
  return fmt::format(
      "apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata:\n  name: w\nresource:\n  instanceType: "
      "{}\n{}inference:\n"
      "  preset:\n    name: {}\n",
      machine, more, model);
}

}  // namespace

/// pkg/model/interface.go, modelFitsOnSingleGPU: copies where modelSize * numGPUs * 2 < the machine's memory and it has
/// several cards. Sizes are those of the catalogue, or of the files on the Hub: Qwen3-8B 16.4 GB, Qwen3-32B 65.5 GB.
/// Memory is what Azure says of the machines: 4 x 80, 2 x 94, 2 x 24, 4 x 16 GiB.
TEST_CASE("KAITO copies a model whose files take less than half a card, and splits others over the machine") {
  struct Case {
    std::string_view model, machine;
    std::string_view tp, gpus;
  };
  constexpr Case cases[] = {{"phi-4", "Standard_NC96ads_A100_v4", "1", "4"},                       // 27.31 GiB of 80
                            {"qwen2.5-coder-32b-instruct", "Standard_NC96ads_A100_v4", "4", "4"},  // 61.03 of 80
                            {"Qwen/Qwen3-32B", "Standard_NC96ads_A100_v4", "4", "4"},              // 61.0 of 80
                            {"Qwen/Qwen3-8B", "Standard_NC80adis_H100_v5", "1", "2"},              // 15.3 of 94
                            {"Qwen/Qwen3-8B", "Standard_NV72ads_A10_v5", "2", "2"},                // 15.3 of 24
                            {"Qwen/Qwen2.5-7B-Instruct", "Standard_NV72ads_A10_v5", "2", "2"},     // 14.2 of 24
                            {"openai/gpt-oss-20b", "Standard_NC80adis_H100_v5", "1", "2"},         // 25.63 of 94
                            {"gpt-oss-20b", "Standard_NV72ads_A10_v5", "2", "2"},                  // 25.63 of 24
                            {"phi-4-mini-instruct", "Standard_NV72ads_A10_v5", "1", "2"},          // 7.15 of 24
                            {"phi-3-mini-4k-instruct", "Standard_NC64as_T4_v3", "1", "4"},         // 7.12 of 16
                            {"llama-3.1-8b-instruct", "Standard_NC24ads_A100_v4", "1", "1"}};      // one card: neither
  for (const auto& each : cases) {
    CAPTURE(each.model, each.machine);
    const auto reading = read_workspace(workspace(each.model, each.machine));
    CHECK(test::word_of(reading, "tp") == each.tp);
    CHECK(test::word_of(reading, "gpus") == each.gpus);
    CHECK(reading.serves);
  }
}

/// configureParallelism: pipeline over the machines, tensors within each; never copies over several machines.
TEST_CASE("KAITO puts several machines in a row") {
  const auto reading = read_workspace(workspace("phi-4", "Standard_NC96ads_A100_v4", "  count: 2\n"));
  CHECK(test::word_of(reading, "pp") == "2");
  CHECK(test::word_of(reading, "tp") == "4");
  CHECK(test::word_of(reading, "gpus") == "8");
  CHECK(test::word_of(reading, "nodes") == "2");
}

TEST_CASE("A size that KAITO's catalogue does not say and 16 bits do not make is an assumption") {
  const auto reading = read_workspace(workspace("Qwen/Qwen3-30B-A3B-FP8", "Standard_NC96ads_A100_v4"));
  CHECK(test::word_of(reading, "tp") == "4");
  std::string all;
  for (const auto& each : reading.assumptions) all += each.words + "\n";
  CHECK_THAT(all, Contains("copies it to each instead where its files take less than half of one"));
}

TEST_CASE("A machine that nobody knows leaves the accelerator to an option") {
  const auto reading = read_workspace(workspace("phi-4", "Standard_NC4_A2"));
  CHECK(test::word_of(reading, "gpu") == "-");
  CHECK(test::word_of(reading, "tp") == "1");
}

TEST_CASE("What KAITO runs that is not modelled is refused at its line") {
  const std::string tuning =
      "kind: Workspace\nresource:\n  instanceType: Standard_NC6s_v3\ntuning:\n  preset:\n    name: phi-2\n  method: "
      "qlora\n";
  CHECK_THROWS_WITH(read_workspace(tuning), Contains("ws.yaml:6") && Contains("ConfigMap of the cluster"));
  const std::string server =
      "kind: Workspace\nmetadata:\n  annotations:\n    kaito.sh/runtime: transformers\ninference:\n  preset:\n    "
      "name: phi-2\n";
  CHECK_THROWS_WITH(read_workspace(server),
                    Contains("ws.yaml:4") && Contains("server of transformers is not modelled"));
}

/// Workspaces and sets of kaito-project/kaito (examples) and of people's guides, without what decides nothing.
TEST_CASE("Public files of KAITO are read as it takes them") {
  constexpr test::PublicFile files[] = {
      {"a laboratory on a T4",
       R"({kind: Workspace, resource: {instanceType: Standard_NC4as_T4_v3, count: 1},
 inference: {preset: {name: phi-4-mini-instruct}}})",
       "model=microsoft/Phi-4-mini-instruct gpu=t4 gpus=1 tp=1 memory_fraction=0.84 context=-"},
      {"docs: AWS", R"({kind: Workspace, resource: {instanceType: g5.4xlarge},
 inference: {preset: {name: phi-4-mini-instruct}}})",
       "gpu=a10g gpus=1 tp=1"},
      {"kaito_inferenceset_mig_mixed_strategy.yaml: the card of a slice is not named",
       R"({kind: InferenceSet, spec: {replicas: 2, template: {inference: {preset: {name: phi-4-mini-instruct}},
 resource: {mig: {profile: 2g.24gb}}}}})",
       "gpu=- tp=1 model=microsoft/Phi-4-mini-instruct"},
      {"kaito_multiroleinference_phi4_4.yaml: the first role",
       R"({kind: MultiRoleInference, spec: {model: {name: phi-4-mini-instruct}, roles: [
 {type: prefill, replicas: 1, instanceType: Standard_NC24ads_A100_v4},
 {type: decode, replicas: 1, instanceType: Standard_NC24ads_A100_v4}]}})",
       "gpu=a100-80-pcie gpus=1 role=prefill"},
      {"kaito_workspace_accelerator.yaml", R"({kind: Workspace, resource: {partition: {mode: accelerator, count: 2}},
 inference: {preset: {name: llama-3.1-8b-instruct}}})",
       "gpus=2 tp=2 gpu=-"},
      {"kaito_workspace_deepseek_v4_flash_node_image.yaml",
       R"({kind: Workspace, metadata: {annotations: {kaito.sh/use-local-weights: "true"}}, resource: {count: 1},
 inference: {preset: {name: deepseek-ai/DeepSeek-V4-Flash}}})",
       "model=deepseek-ai/DeepSeek-V4-Flash gpu=- tp=1"},
      {"kaito_workspace_phi_3_with_adapters.yaml", R"({kind: Workspace, resource: {instanceType: Standard_NC4_A2},
 inference: {preset: {name: phi-3-mini-128k-instruct}, adapters: [{source: {name: phi-3-adapter}, strength: "1.0"}]}})",
       "max_loras=1 gpu=- model=microsoft/Phi-3-mini-128k-instruct"},
      {"mig/workspace-mig.yaml: all of it below spec", R"({kind: Workspace, spec: {resource: {mig: {profile: 1g.10gb,
 count: 1}}, inference: {preset: {name: phi-4-mini-instruct}}}})",
       "model=microsoft/Phi-4-mini-instruct gpu=-"},
      {"kaito_inferenceset_llama-3.1_8b_instruct.yaml: one of two replicas",
       R"({kind: InferenceSet, spec: {replicas: 2, nodeCountLimit: 10, template: {resource:
 {instanceType: Standard_NC24ads_A100_v4}, inference: {preset: {name: llama-3.1-8b-instruct}}}}})",
       "gpus=1 tp=1 gpu=a100-80-pcie nodes=-"},
      {"azure-linux-kaito-workspaces.yaml: the third, over two machines",
       R"({kind: Workspace, spec: {resource: {instanceType: Standard_NC24ads_A100_v4, count: 2},
 inference: {preset: {name: llama-3.1-8b-instruct}}}})",
       "gpus=2 nodes=2 pp=2 tp=1"},
      {"kaito_workspace_gemma_4_12b_instruct.yaml: a copy on each", R"({kind: Workspace,
 resource: {instanceType: Standard_NC80adis_H100_v5}, inference: {preset: {name: google/gemma-4-12B-it}}})",
       "gpus=2 tp=1 gpu=h100-nvl"},
      {"kaito_workspace_mistral-medium-3.5.yaml", R"({kind: Workspace,
 resource: {instanceType: Standard_NC24ads_A100_v4}, inference: {preset: {name: mistralai/Mistral-Small-4-119B-2603}}})",
       "gpus=1 tp=1"},
      {"a cache of weights, over two machines of four", R"({kind: Workspace, spec: {resource: {count: 2,
 instanceType: Standard_NC96ads_A100_v4}, inference: {preset: {name: llama-3.3-70b-instruct}}}})",
       "gpus=8 nodes=2 tp=4 pp=2"},
      {"a guide of agents: V100, below spec", R"({kind: Workspace, spec: {resource: {instanceType: Standard_NC6s_v3},
 inference: {preset: {name: phi-4-mini-instruct}}}})",
       "gpus=1 tp=1"},
  };
  test::check_public(files, "ws.yaml", "vLLM command");
}

/// kaito_workspace_llama-3.3_70b_instruct.yaml 0e39c99c, with the ConfigMap that it names.
TEST_CASE("A ConfigMap in the file of a workspace gives KAITO's options") {
  const auto reading = read_workspace(
      "kind: ConfigMap\nmetadata:\n  name: llama-inference-params\ndata:\n  inference_config.yaml: |\n    vllm:\n"
      "      gpu-memory-utilization: 0.95\n      max-model-len: 16384\n---\n"
      "kind: Workspace\nresource:\n  count: 2\n  instanceType: Standard_NC48ads_A100_v4\ninference:\n  preset:\n"
      "    name: meta-llama/Llama-3.3-70B-Instruct\n  config: llama-inference-params\n");
  test::check_terms(reading, "memory_fraction=0.95 context=16384 tp=2 pp=2 gpus=4 nodes=2 gpu=a100-80-pcie");
}
