// Files as people keep them beside their code: batch files, Makefiles and justfiles, Dockerfiles; commands with what
// stands around them. What decides of each is written down as it was published, and what the tool itself would take.
#include "catch.hpp"
#include "dialects/read.hpp"
#include "llmcalc/quantity/error.hpp"

#include <fstream>
#include <string>

namespace llmcalc {
namespace {

/// cmd.exe: `set`, "%NAME%", '^' at the end of a line, `start` and `cmd /k` in front.
constexpr test::PublicFile batch_files[] = {
    {"variables in the folder of a program", R"(set LLAMA_HOME=G:\Utils\llama
set GGUF_MODELS=G:\Utils\llama\models\Meta-Llama-3.1-8B-Instruct-Q6_K.gguf

%LLAMA_HOME%\llama-server.exe --host 0.0.0.0 --model %GGUF_MODELS% --ctx-size 2048 --gpu-layers 20 --threads 8
)",
     "model=G:/Utils/llama/models/Meta-Llama-3.1-8B-Instruct-Q6_K.gguf context=2048 gpu_layers=20"},
    {"nothing is told", R"(@echo off
set MODELPATH=models\wizardlm-13b-v1.2.Q4_K_M.gguf
set CTX_SIZE=4096
cd /d "%~dp0"
llama.cpp\llama-server.exe -m %MODELPATH% ^
  --ctx-size %CTX_SIZE% --n-gpu-layers 0
pause
)",
     "model=models/wizardlm-13b-v1.2.Q4_K_M.gguf context=4096 gpu_layers=0"},
    {"a window of its own", R"(@echo off
setlocal
set "PATH=%CD%;%PATH%"
start "llama-server" cmd /k "llama-server.exe --model qwen\qwen2.5-7b-instruct-q5_k_m.gguf --ctx-size 16000"
endlocal
)",
     "model=qwen/qwen2.5-7b-instruct-q5_k_m.gguf context=16000"},
};

/// Makefiles and justfiles: their variables, and what recipes hand to a shell.
constexpr test::PublicFile rules_files[] = {
    {"a target",
     ".PHONY: serve\n\nserve:\n\tvllm serve Qwen/Qwen3-4B \\\n\t\t--max-model-len 8192 \\\n"
     "\t\t--gpu-memory-utilization 0.8\n",
     "model=Qwen/Qwen3-4B context=8192 memory_fraction=0.8"},
    {"variables",
     "MODEL ?= Qwen/Qwen3-8B\nTP := 2 # cards\nserve: build\n\t@vllm serve $(MODEL) "
     "--tensor-parallel-size $(TP) --port $${PORT}\n",
     "model=Qwen/Qwen3-8B tp=2"},
    {"just", "model := \"Qwen/Qwen3-8B\"\n\nserve port=\"8000\":\n    vllm serve {{ model }} --max-model-len 4096\n",
     "model=Qwen/Qwen3-8B context=4096"},
};

/// docs.docker.com/reference/dockerfile: CMD in the exec form is what the entry point of the image is given.
constexpr test::PublicFile dockerfiles[] = {
    {"arguments of the image's server", R"(FROM vllm/vllm-openai:v0.10.1
ENV HF_HOME=/models
EXPOSE 8000
CMD ["--host", "0.0.0.0",\
     "--model", "Qwen/Qwen2.5-0.5B", \
     "--enforce-eager", "--max-model-len", "8128"]
)",
     "model=Qwen/Qwen2.5-0.5B context=8128 graphs=0 engine_version=0.10.1"},
    {"an entry point of its own", R"(FROM vllm/vllm-openai:latest
ENTRYPOINT python3 -m vllm.entrypoints.openai.api_server \
  --model ${MODEL_NAME:-meta-llama/Meta-Llama-3.1-8B-Instruct} \
  ${REVISION:+--revision "$REVISION"}
)",
     "model=meta-llama/Meta-Llama-3.1-8B-Instruct"},
    {"both", R"(ARG TAG=v0.9.2
FROM vllm/vllm-openai:${TAG}
ENV MODEL=Qwen/Qwen3-8B
ENTRYPOINT ["vllm", "serve"]
CMD ["Qwen/Qwen3-8B", "--max-num-seqs", "32"]
)",
     "model=Qwen/Qwen3-8B max_seqs=32 engine_version=0.9.2"},
};

/// Servers by what stands around their command.
constexpr test::PublicFile started_servers[] = {
    {"cards that its ranks do not take", "CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve Qwen/Qwen3-8B -tp 2 -pp 1\n",
     "gpus=2 tp=2"},
    {"cards of a copy each", "CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve Qwen/Qwen3-8B -tp 2 -dp 2\n", "gpus=4 tp=2"},
    {"options by their beginnings", "vllm serve Qwen/Qwen3-8B --max-num-batched-token 4096 --gpu-memory-util 0.8\n",
     "batched_tokens=4096 memory_fraction=0.8"},
    {"a folder by its name in the container",
     "docker run -v /data/models/Qwen3-8B:/model:ro vllm/vllm-openai:v0.10.1 --model /model --max-model-len 4096\n",
     "model=/data/models/Qwen3-8B context=4096"},
    {"a script that runs what it is handed", "./tpu-env.sh vllm serve Qwen/Qwen3-8B --max-model-len 4096\n",
     "model=Qwen/Qwen3-8B context=4096"},
};

/// docs.baseten.co/reference/truss-configuration
constexpr test::PublicFile trusses[] = {
    {"an image and its command", R"(base_image:
  image: vllm/vllm-openai:v0.9.2
docker_server:
  start_command: >-
    bash -c "truss-transfer-cli &&
    vllm serve Qwen/Qwen3-8B --max-model-len 8192 --tensor-parallel-size 2"
  server_port: 8000
resources:
  accelerator: H100:2
  use_gpu: true
)",
     "model=Qwen/Qwen3-8B context=8192 tp=2 gpus=2 gpu=h100-sxm engine_version=0.9.2"},
};

}  // namespace

TEST_CASE("what batch files start is read") { test::check_public(batch_files, "serve.bat", "llama-server command"); }

TEST_CASE("what rules of Makefiles and justfiles start is read") {
  test::check_public(rules_files, "Makefile", "vLLM command");
}

TEST_CASE("what a container of an image starts is read of its Dockerfile") {
  test::check_public(dockerfiles, "Dockerfile", "vLLM command");
}

TEST_CASE("what a Truss starts is read") { test::check_public(trusses, "config.yaml", "vLLM command"); }

TEST_CASE("servers are read with what stands around their command") {
  test::check_public(started_servers, "serve.sh", "vLLM command");
}

TEST_CASE("a value that a batch file sets under a condition is not known") {
  const std::string text =
      "@echo off\nif exist big.txt (\n  set CTX=32768\n) else (\n  set CTX=4096\n)\nllama-server -m a.gguf -c %CTX%\n";
  const auto reading = test::read_alone(text, "serve.bat");
  REQUIRE(reading.open.size() == 1);
  CHECK(reading.open.front().term == "context");
}

TEST_CASE("llama-cpp-python's server has defaults of its own") {
  // llama_cpp/server/settings.py, ModelSettings: n_ctx 2048, n_gpu_layers 0, flash_attn false
  const auto reading = test::read_alone("python3 -m llama_cpp.server --model llama-2-7b-chat.Q5_K_M.gguf\n", "run.sh");
  test::check_terms(reading, "context=2048 gpu_layers=0 flash=0 slots=1 engine=llama.cpp");
  const auto said =
      test::read_alone("python3 -m llama_cpp.server --model a.gguf --n_gpu_layers -1 --n_ctx 8192\n", "run.sh");
  test::check_terms(said, "context=8192 gpu_layers=all");
}

TEST_CASE("one process of ms-swift on several cards copies no model") {
  const auto spread = test::read_alone("CUDA_VISIBLE_DEVICES=0,1 swift sft --model Qwen/Qwen3-8B\n", "run.sh");
  REQUIRE(spread.open.size() == 1);
  CHECK(spread.open.front().term == "gpus");
  const auto copied =
      test::read_alone("NPROC_PER_NODE=2 CUDA_VISIBLE_DEVICES=0,1 swift sft --model Qwen/Qwen3-8B\n", "run.sh");
  test::check_terms(copied, "gpus=2");
}

TEST_CASE("a template's value is not a trainer's default") {
  const auto reading = test::read_alone(
      "model_name_or_path: {model_name}\nstage: sft\nfinetuning_type: full\ncutoff_len: {{cutoff}}\n"
      "per_device_train_batch_size: {batch}  # of the sweep\ndataset: {}\n",
      "run.yaml");
  test::check_terms(reading, "model={model_name} micro_batch={batch} seq={{cutoff}}");
}

TEST_CASE("batches of a DeepSpeed file say how many ranks there are") {
  // deepspeed/runtime/config.py, _batch_assertion: train_batch = micro_batch * grad_acc * world_size
  const auto all = test::read_alone(
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
          "zero_optimization": {"stage": 2}})",
      "ds.json");
  test::check_terms(all, "gpus=8 micro_batch=4 grad_accum=2");
  const auto two = test::read_alone(
      R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}})", "ds.json");
  test::check_terms(two, "gpus=- micro_batch=4");
}

TEST_CASE("axolotl's qlora is of 4 bits") {
  // axolotl utils/schemas/peft.py, validate_qlora
  CHECK_THROWS_AS(test::read_alone("base_model: a/b\nadapter: qlora\nload_in_8bit: true\n", "a.yaml"),
                  quantity::BadInput);
}

TEST_CASE("torchtitan's degrees were elsewhere before") {
  const auto reading = test::read_alone(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 4\nseq_len = 2048\n"
      "data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 4\ntensor_parallel_degree = 2\n"
      "[experimental]\ncontext_parallel_degree = 2\npipeline_parallel_degree = 1\n",
      "run.toml");
  test::check_terms(reading, "sharding=hsdp sharding_group=4 tp=2 cp=2 gpus=32");
}

// torchtitan/models/<name>/__init__.py: a model is called by its module and one of its flavors, and by no other name.
TEST_CASE("torchtitan's flavors are models by their own names alone") {
  std::ifstream rows(LLMCALC_TEST_DATA "/../presets/dialects/torchtitan_flavors.rows");
  int flavors = 0;
  for (std::string row; std::getline(rows, row);) {
    auto cells = quantity::pieces_of(row, "|");
    if (cells.size() != 3 || row.starts_with('"') || row.starts_with('#')) continue;
    for (auto& cell : cells) cell = quantity::trim(cell);
    const auto model_of = [&](const std::string& flavor) {
      const auto toml = "[model]\nname = \"" + std::string(cells[0]) + "\"\nflavor = \"" + flavor +
                        "\"\n[training]\nlocal_batch_size = 4\n";
      return test::word_of(test::read_alone(toml, "run.toml"), "model");
    };
    const std::string flavor(cells[1]);
    CAPTURE(row);
    CHECK(model_of(flavor) == cells[2]);
    CHECK(model_of(flavor + "x") == "-");
    const auto mark = flavor.find_first_of("-.");
    if (mark == flavor.npos) continue;
    CHECK(model_of(std::string(flavor).replace(mark, 1, "_")) == cells[2]);
    CHECK(model_of(std::string(flavor).replace(mark, 1, "x")) == "-");
    CHECK(model_of(std::string(flavor).replace(mark - 1, 1, "_")) == "-");
    ++flavors;
  }
  CHECK(flavors > 3);
}

TEST_CASE("Megatron-LM runs without positions by no option of old") {
  // megatron/training/arguments.py, validate_args: '--no-position-embedding is deprecated, use
  // --position-embedding-type'
  const std::string model =
      "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 64 --num-attention-heads 4 --seq-length 8 "
      "--micro-batch-size 1 --no-position-embedding ";
  const auto reading = test::read_alone(model, "run.sh");
  REQUIRE(reading.open.size() == 1);
  CHECK(reading.open.front().term == "position");
  test::check_terms(test::read_alone(model + "--use-rotary-position-embeddings", "run.sh"), "position=rope");
}

TEST_CASE("a model that others are made of, or that a card names, is not trained by axolotl") {
  CHECK_THROWS_AS(test::read_alone("merge_method: ties\nbase_model: a/b\nmodels: [{model: c/d}]\n", "merge.yaml"),
                  quantity::BadInput);
  CHECK_THROWS_AS(test::read_alone("base_model: a/b\nlicense: gemma\n", "card.yaml"), quantity::BadInput);
}

TEST_CASE("settings of Paddle's trainers are not LLaMA-Factory's") {
  CHECK_THROWS_AS(test::read_alone("model_name_or_path: a/b\nstage: SFT\nfine_tuning: Full\nsharding: stage1\n"
                                   "per_device_train_batch_size: 1\n",
                                   "run.yaml"),
                  quantity::BadInput);
}

TEST_CASE("verl attends as it is told") {
  const auto reading = test::read_alone(
      "actor_rollout_ref:\n  model:\n    path: a/b\n    override_config: {attn_implementation: sdpa}\n  actor:\n"
      "    ppo_mini_batch_size: 2\n",
      "grpo.yaml");
  test::check_terms(reading, "attention=sdpa");
}

TEST_CASE("RunPod's worker hands axolotl's arguments on") {
  const auto reading = test::read_alone(
      R"({"input": {"user_id": "u", "args": {"base_model": "NousResearch/Meta-Llama-3-8B", "adapter": "lora",
          "load_in_8bit": true, "lora_r": 32, "sequence_len": 4096, "micro_batch_size": 2}}})",
      "request.json");
  CHECK(reading.kind == "axolotl configuration");
  test::check_terms(reading, "model=NousResearch/Meta-Llama-3-8B lora_rank=32 seq=4096 micro_batch=2 weights=int8");
}

TEST_CASE("a program is no trainer of transformers by two keys") {
  CHECK_THROWS_AS(test::read_alone("torchrun --nproc_per_node=8 train_gpt2.py --output_dir out --model d12 "
                                   "--batch_size 32 --num_iterations 24576 --learning_rate 0.0015\n",
                                   "run.sh"),
                  quantity::BadInput);
}

}  // namespace llmcalc
