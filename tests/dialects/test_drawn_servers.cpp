// What public files of those who serve had been misread in: labels of cards, tasks of dstack, values of a chart,
// recipes of vLLM's and configurations of llama-swap, as their programs take them.

#include "dialects/read.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

using namespace llmcalc;

namespace {

/// ray python/ray/util/accelerators/accelerators.py, NVIDIA_A100_80G; GPU feature discovery's nvidia.com/gpu.product.
constexpr test::PublicFile labelled[] = {
    {"the size behind the name",
     "model_loading_config: {model_id: Qwen/Qwen2.5-7B-Instruct}\naccelerator_type: A100-80G\n", "gpu=a100-80"},
    {"the smaller one", "model_loading_config: {model_id: Qwen/Qwen2.5-7B-Instruct}\naccelerator_type: A100-40G\n",
     "gpu=a100-40"},
    {"cards whose name holds another's",
     "model_loading_config: {model_id: Qwen/Qwen2.5-7B-Instruct}\naccelerator_type: NVIDIA-GH200-480GB\n", "gpu=gh200"},
    {"more memory than the usual one",
     "model_loading_config: {model_id: Qwen/Qwen2.5-7B-Instruct}\naccelerator_type: Tesla-V100-SXM2-32GB\n",
     "gpu=v100-32"},
};

/// vllm-project/recipes, models; src/lib/command-synthesis.js.
constexpr test::PublicFile recipes[] = {
    {"as many cards as the recipe says, and not what its guide writes",
     "meta: {title: MiniMax-M2.5}\nmodel:\n  model_id: MiniMaxAI/MiniMax-M2.5\n  base_args: [--trust-remote-code]\n"
     "features:\n  spec_decoding: {args: [--max-num-seqs, '8']}\n  text_only: {args: [--max-model-len, '64']}\n"
     "opt_in_features: [text_only]\nvariants:\n  default: {precision: fp8, vram_minimum_gb: 276}\n"
     "  nvfp4: {model_id: nvidia/MiniMax-M2.5-NVFP4}\ncompatible_strategies: [single_node_tp]\n"
     "strategy_overrides:\n  single_node_tp:\n    tp: 4\nguide: |\n  ```bash\n  vllm serve a/b --kv-cache-dtype fp8\n"
     "  ```\n",
     "model=MiniMaxAI/MiniMax-M2.5 tp=4 max_seqs=8 context=- kv_dtype=-"},
    {"what the variant has of its own",
     "model: {model_id: a/b}\nvariants:\n  default: {model_id: a/b-FP8, tp: 2, extra_args: [--kv-cache-dtype, fp8]}\n"
     "compatible_strategies: [single_node_tp]\nstrategy_overrides: {single_node_tp: {tp: 8}}\n",
     "model=a/b-FP8 tp=2 kv_dtype=fp8"},
};

/// substratusai/kubeai manifests/models and internal/modelcontroller; llm-d/llm-d guides and llm-d-modelservice
/// templates/_helpers.tpl.
constexpr test::PublicFile operated[] = {
    {"KubeAI: llama-3.1-405b-instruct-fp8-mi300x.yaml",
     "apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: m}\nspec:\n  url: hf://amd/Llama-3.1-405B-FP8\n"
     "  engine: VLLM\n  args: [--max-model-len=120000, --max-num-seqs=1024, --tensor-parallel-size=8,\n"
     "    --kv-cache-dtype=fp8]\n  env: {HIP_FORCE_DEV_KERNARG: '1'}\n  resourceProfile: amd-gpu-mi300x:8\n",
     "model=amd/Llama-3.1-405B-FP8 gpu=mi300x gpus=8 tp=8 context=120000 max_seqs=1024 kv_dtype=fp8"},
    {"KubeAI: values of its chart of models",
     "catalog:\n  off: {enabled: false, url: 'hf://c/d', engine: VLLM}\n  llama-3.1-8b-instruct-fp8-l4: {enabled: "
     "true}\n"
     "  mine:\n    enabled: true\n    url: hf://a/b\n    engine: VLLM\n    resourceProfile: nvidia-gpu-l4:2\n"
     "    args: [--tensor-parallel-size=2]\n",
     "model=a/b gpu=l4 gpus=2 tp=2"},
    {"llm-d: ms-inference-scheduling/values.yaml, whose chart writes the command",
     "modelArtifacts: {uri: 'hf://Qwen/Qwen3-32B', name: Qwen/Qwen3-32B, size: 80Gi}\naccelerator: {type: nvidia}\n"
     "decode:\n  create: true\n  parallelism: {tensor: 2, data: 1}\n  replicas: 8\n  containers:\n  - name: vllm\n"
     "    image: ghcr.io/llm-d/llm-d-cuda:v0.5.0\n    modelCommand: vllmServe\n"
     "    args: [--gpu-memory-utilization=0.95]\nprefill: {create: false}\n",
     "model=Qwen/Qwen3-32B tp=2 memory_fraction=0.95 engine_version=-"},
    {"llm-d: a command of one's own, told how it is spread, on cards of a label",
     "modelArtifacts: {uri: 'hf://\"{{ .Values.modelArtifacts.name }}\"', name: a/b}\ndecode:\n"
     "  acceleratorTypes: {labelKey: gpu.nvidia.com/model, labelValues: [H200]}\n  parallelism: {tensor: 4}\n"
     "  containers:\n  - image: ghcr.io/llm-d/llm-d-cuda:v0.5.1\n    modelCommand: custom\n"
     "    command: [/bin/bash, -c]\n    args:\n    - |\n      vllm serve a/b \\\n        --tensor-parallel-size "
     "$TP_SIZE\n"
     "    resources: {limits: {nvidia.com/gpu: '4'}}\n",
     "model=a/b gpu=h200 gpus=4 tp=4"},
    {"llm-d: modelserver/gpu/vllm/base/patch-decode.yaml, a patch without an image",
     "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: modelserver\n"
     "        command: [vllm, serve]\n        args: [openai/gpt-oss-120b, --tensor-parallel-size=4]\n"
     "        livenessProbe: {exec: {command: [curl, x]}}\n"
     "        resources: {limits: {nvidia.com/gpu: '4'}}\n",
     "model=openai/gpt-oss-120b gpus=4 tp=4"},
    {"a slice of a card by its resource, on a node of a label",
     "kind: Pod\nspec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}\n  containers:\n  - name: v\n"
     "    image: vllm/vllm-openai:v0.11.0\n    args: [--model, a/b]\n"
     "    resources: {limits: {nvidia.com/mig-3g.40gb: 1}}\n",
     "gpu=a100-80-mig-3g.40gb gpus=1"},
    {"the same where the label names the slice",
     "kind: Pod\nspec:\n  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb}\n  containers:\n"
     "  - image: vllm/vllm-openai:v0.11.0\n    args: [--model, a/b]\n    resources: {limits: {nvidia.com/gpu: 1}}\n",
     "gpu=a100-80-mig-1g.10gb gpus=1"},
    {"a slice of a card that nobody names",
     "kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.11.0\n    args: [--model, a/b]\n"
     "    resources: {limits: {nvidia.com/mig-3g.40gb: 1}}\n",
     "gpu=nvidia.com/mig-3g.40gb gpus=1"},
};

void check_assumes(const dialects::Reading& reading, std::string_view words) {
  CAPTURE(words);
  CHECK(std::ranges::any_of(reading.assumptions,
                            [&](const auto& each) { return each.words.find(words) != std::string::npos; }));
}

}  // namespace

TEST_CASE("Names of cards are those of the ones that have so much memory") {
  test::check_public(labelled, "serve.yaml", "vLLM command");
  for (const auto& [label, gpu] : {std::pair{"A100", "a100-40"}, std::pair{"A100-80GB", "a100-80"}}) {
    const std::string task = std::string("resources:\n  accelerators: ") + label + "\nrun: vllm serve a/b\n";
    test::check_terms(test::read_alone(task, "sky.yaml"), std::string("gpu=") + gpu);  // SkyPilot's catalogue
  }
}

TEST_CASE("A name that cards of two sizes have says which of them is taken") {
  for (const auto& [text, place] :
       {std::pair{"model_loading_config: {model_id: a/b}\naccelerator_type: A100\n", "serve.yaml"},
        std::pair{"#!/bin/bash\n#SBATCH --gres=gpu:a100:1\nvllm serve a/b\n", "run.sh"},
        std::pair{"type: service\nresources: {gpu: A100}\ncommands: [vllm serve a/b]\n", "d.dstack.yml"}}) {
    check_assumes(test::read_alone(text, place), "a100 has 40 or 80 GiB, 80 is taken");
  }
  const auto sized =
      test::read_alone("type: service\nresources: {gpu: 'A100:40GB'}\ncommands: [vllm serve a/b]\n", "d.dstack.yml");
  test::check_terms(sized, "gpu=a100-40");
  CHECK(sized.assumptions.size() == 1);
}

TEST_CASE("A maker's name in a task of dstack's is no card, and its commands run on every machine") {
  const auto reading = test::read_alone(
      "type: service\nresources: {gpu: 'nvidia:8:80GB'}\ncommands: [vllm serve a/b --tensor-parallel-size 8]\n",
      "d.dstack.yml");
  test::check_terms(reading, "gpu=- gpus=8 tp=8");
  check_assumes(reading, "any accelerator of nvidia's with 80gb will do");
  const auto trained = test::read_alone(
      "type: task\nnodes: 2\nenv: ['CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7']\nresources: {gpu: 'H100:8'}\ncommands:\n"
      "- axolotl train config.yaml\n",
      "d.dstack.yml");
  test::check_terms(trained, "gpus=16 nodes=2");
}

TEST_CASE("Recipes of vLLM's are their default variant, whatever their guide writes") {
  test::check_public(recipes, "recipe.yaml", "vLLM command");
  check_assumes(test::read_alone("model: {model_id: a/b}\nvariants: {default: {precision: bf16}}\n"
                                 "hardware_overrides: {hopper: {extra_args: [--max-num-seqs, '512']}}\n"
                                 "strategy_overrides: {}\ncompatible_strategies: [single_node_tp]\n",
                                 "recipe.yaml"),
                "say --tp");
}

TEST_CASE("What a variant of a recipe says of some cards is named") {
  check_assumes(test::read_alone("model: {model_id: a/b}\nvariants:\n  default:\n    tp: 2\n    hardware_overrides: "
                                 "{mi300x: {extra_args: [--max-num-seqs, '512']}}\nstrategy_overrides: {}\n"
                                 "compatible_strategies: [single_node_tp]\n",
                                 "recipe.yaml"),
                "what mi300x are told");
}

/// sglang server_args.py, _handle_a2a_moe: those back ends set ep_size to tp_size.
TEST_CASE("Experts that SGLang exchanges by all-to-all are spread over all ranks") {
  for (const std::string by : {"--moe-a2a-backend deepep", "--moe-a2a-backend mooncake", "--enable-deepep-moe"}) {
    CAPTURE(by);
    test::check_terms(test::read_alone("sglang serve a/b --tp 8 --ep 2 " + by + "\n", "run.sh"), "tp=8 ep=8");
  }
  test::check_terms(test::read_alone("sglang serve a/b --tp 8 --moe-a2a-backend none\n", "run.sh"), "tp=8 ep=-");
  test::check_terms(test::read_alone("model-path: a/b\ntensor-parallel-size: 2\n", "config.yaml"), "tp=2");
}

TEST_CASE("Letters of docker run that take nothing stand in one word, and variables are an own image's options") {
  test::check_terms(
      test::read_alone("docker run -itd --gpus all vllm/vllm-openai:v0.11.0 --model a/b --max-num-seqs 8\n", "run.sh"),
      "model=a/b max_seqs=8 engine_version=0.11.0");
  test::check_terms(test::read_alone("services:\n  s:\n    image: mine/llama:latest\n    command: llama-server\n    "
                                     "environment: {LLAMA_ARG_MODEL: /m/a.gguf, LLAMA_ARG_CTX_SIZE: 4096}\n",
                                     "compose.yaml"),
                    "model=/m/a.gguf context=4096");
}

TEST_CASE("A server that is not modelled says what to type instead") {
  constexpr std::string_view compose =
      "services: {s: {image: 'ghcr.io/huggingface/text-generation-inference:3.3', command: --model-id a/b}}\n";
  CHECK_THROWS_WITH(test::read_alone(compose, "compose.yaml"), Catch::Matchers::Contains("say llmcalc serve --model"));
}

TEST_CASE("Values of the production stack say of copies and of arguments outside vllmConfig what becomes of them") {
  const auto reading = test::read_alone(
      "servingEngineSpec:\n  modelSpec:\n  - name: a\n    modelURL: a/b\n    replicaCount: 2\n    requestGPU: 1\n"
      "    extraArgs: [--max-model-len=4096]\n",
      "values.yaml");
  test::check_terms(reading, "model=a/b gpus=1 context=-");
  check_assumes(reading, "one of 2 replicas");
  check_assumes(reading, "extraArgs");
}

TEST_CASE("A model of KubeAI's without an address is no command of a model") {
  CHECK_THROWS_AS(
      test::read_alone("kind: Model\nspec: {engine: VLLM, url: '', resourceProfile: nvidia-gpu-l4:1}\n", "model.yaml"),
      quantity::BadInput);
}

TEST_CASE("Servers of KubeAI, of llm-d's chart and of patches are those that their operators start") {
  test::check_public(operated, "serve.yaml", "vLLM command");
  const auto ollama = test::read_alone("kind: Model\nspec: {url: 'ollama://gemma2:27b', engine: OLlama}\n", "m.yaml");
  CHECK(ollama.kind == "ollama command");
  test::check_terms(ollama, "model=gemma2:27b");
  check_assumes(
      test::read_alone("kind: Model\nspec: {url: 'hf://a/b', engine: VLLM, resourceProfile: 'big:2'}\n", "m.yaml"),
      "what big:2 is stands in the values");
  CHECK_THROWS_AS(test::read_alone("kind: Model\nspec: {url: 'hf://a/b', engine: Infinity}\n", "m.yaml"),
                  quantity::BadInput);
  check_assumes(test::read_alone("decode:\n  replicas: 8\n  containers: [{name: v, args: [a/b]}]\n", "v.yaml"),
                "one of 8 replicas");
}

TEST_CASE("Shares of llama.cpp's are those of so many cards") {
  for (const auto& [shares, gpus] : {std::pair{"1,1", "2"}, std::pair{"3,1,0", "2"}, std::pair{"0.6/0.4", "2"},
                                     std::pair{"1", "-"}, std::pair{"1,1,1", "3"}}) {
    CAPTURE(shares);
    const auto reading = test::read_alone(std::string("llama-server -m a.gguf -ngl 99 -ts ") + shares + "\n", "run.sh");
    test::check_terms(reading, std::string("gpus=") + gpus);
  }
  check_assumes(test::read_alone("llama-server -m a.gguf --tensor-split 3,1\n", "run.sh"), "spread evenly");
}

TEST_CASE("Variables of docker run and defaults that a script sets reach what runs") {
  constexpr std::string_view inner = "'true && vllm serve \"$M\"'";
  test::check_terms(
      test::read_alone("docker run -e M=a/b vllm/vllm-openai:v0.11.0 bash -c " + std::string(inner) + "\n", "run.sh"),
      "model=a/b");
  test::check_terms(test::read_alone("#!/bin/bash\n: \"${M:=a/b}\"\ndocker exec -it box vllm serve \"$M\"\n", "run.sh"),
                    "model=a/b");
}

TEST_CASE("Unsloth's programs take no model without an option") {
  check_assumes(test::read_alone("python unsloth-cli.py unsloth/llama-3-8b --r 64\n", "run.sh"), "without an option");
}
