// Files of trainers and servers out of public repositories of late 2026: what decides of each, and the terms that its
// tool takes of it, written down from the tool's source before the file was read.
#include "catch.hpp"
#include "dialects/read.hpp"

#include <algorithm>
#include <string>

using namespace llmcalc;

namespace {

/// torchtune recipes/dev, configurations of users: groups of samples, prompts and what is generated behind them.
constexpr test::PublicFile published_torchtune_runs[] = {
    {"dev/3B_full_grpo.yaml: all samples of a prompt are one micro-batch", R"(
model: {_component_: torchtune.models.llama3_2.llama3_2_3b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
batch_size: 1
grpo_samples: 16
forward_batch_size: 1
max_generated_tokens: 512
optimizer: {_component_: torch.optim.AdamW, fused: True}
loss: {_component_: torchtune.dev.grpo.loss.GRPOSimpleLoss, kl_coeff: 0.01}
enable_activation_checkpointing: True
dtype: bf16
)",
     "algorithm=grpo micro_batch=16 seq=- recompute=full"},
    {"a benchmark of GRPO on Qwen3-32B: 1,024 of a prompt and 256 behind it", R"(
model: {_component_: torchtune.models.qwen3.qwen3_32b}
tokenizer: {_component_: torchtune.models.qwen3.qwen3_tokenizer, max_seq_len: 1024}
batch_size: 1
grpo_samples: 4
max_generated_tokens: 256
optimizer: {_component_: torch.optim.AdamW, fused: True}
loss: {_component_: torchtune.dev.grpo.loss.GRPOSimpleLoss}
reward_functions: [{_component_: torchtune.dev.rl.rewards.FormattedMathCorrectnessReward}]
dtype: bf16
)",
     "micro_batch=4 seq=1280"},
    {"dev/qwen3B_async_grpo.yaml: samples out of a buffer, a reference of its own", R"(
model: {_component_: torchtune.models.qwen2_5.qwen2_5_3b}
tokenizer: {_component_: torchtune.models.qwen2_5.qwen2_5_tokenizer, max_seq_len: 1024}
num_trainer_workers: 2
batch_size: 16
grpo_samples: 16
max_generated_tokens: 512
replay_buffer_size: 16
optimizer: {_component_: torch.optim.AdamW, fused: True}
loss: {_component_: torchtune.dev.grpo.loss.GRPOWithChunkedOutputLoss}
enable_activation_offloading: True
dtype: bf16
num_ref_workers: 1
num_fsdp_workers: 2
vllm: {num_workers: 4, tp_size: 1}
)",
     "algorithm=grpo micro_batch=16 seq=1536 gpus=2 reference=none loss=chunked offload=activations"},
    {"a distillation on Azure: torch's own step where nothing is fused", R"(
model:
  _component_: torchtune.models.qwen2.lora_qwen2_0_5b
  lora_attn_modules: ['q_proj', 'k_proj', 'v_proj']
  apply_lora_to_mlp: False
  lora_rank: 32
teacher_model: {_component_: torchtune.models.qwen2.qwen2_1_5b}
tokenizer: {_component_: torchtune.models.qwen2.qwen2_tokenizer, max_seq_len: null}
optimizer: {_component_: torch.optim.AdamW, weight_decay: 0.01}
batch_size: 4
gradient_accumulation_steps: 4
dtype: bf16
)",
     "optimizer_impl=foreach lora_targets=q,k,v micro_batch=4 grad_accum=4"},
    {"code_llama2/7B_qlora_single_device.yaml", R"(
model:
  _component_: torchtune.models.code_llama2.qlora_code_llama2_7b
  lora_attn_modules: ['q_proj', 'v_proj', 'k_proj', 'output_proj']
  apply_lora_to_mlp: True
tokenizer: {_component_: torchtune.models.llama2.llama2_tokenizer, max_seq_len: null}
batch_size: 2
gradient_accumulation_steps: 16
optimizer: {_component_: torch.optim.AdamW, fused: True}
dtype: bf16
)",
     "model=codellama-7b method=qlora lora_targets=q,v,k,o,gate,up,down"},
    {"quantization-aware training with 8-bit moments", R"(
model: {_component_: torchtune.models.llama3_1.llama3_1_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
batch_size: 2
quantizer: {_component_: torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer, groupsize: 256}
optimizer: {_component_: torchao.prototype.low_bit_optim.AdamW8bit, lr: 2e-5}
max_steps_per_epoch: 2000
fake_quant_after_n_steps: 1000
enable_activation_offloading: True
dtype: bf16
)",
     "optimizer=adamw-8bit optimizer_impl=- offload=activations steps=2000"},
};

/// Primus examples: fine-tuning by sft_trainer.yaml, torchtitan's FP8 by the model's file, layers that run again.
constexpr test::PublicFile published_primus_runs[] = {
    {"adapters in 128k of context", R"(
modules:
  post_trainer:
    framework: megatron
    config: sft_trainer.yaml
    model: llama2_70B.yaml
    overrides:
      stage: sft
      enable_packed_sequences: true
      seq_length: ${PRIMUS_SEQ_LENGTH:131072}
      tensor_model_parallel_size: ${PRIMUS_TP:2}
      context_parallel_size: ${PRIMUS_CP:4}
      cp_comm_type: ${PRIMUS_CP_COMM:all_gather}
      use_distributed_optimizer: true
      recompute_granularity: full
      recompute_method: block
      recompute_num_layers: 80
      lora: {enabled: true, dim: 16, dropout: 0.0, target_modules: [linear_qkv, linear_proj, linear_fc1, linear_fc2]}
)",
     "method=lora lora_rank=16 lora_targets=q,k,v,o,gate,up,down framework=megatron-bridge micro_batch=1 "
     "global_batch=128 cp_exchange=ring packing=1 algorithm=sft"},
    {"layers by number", R"(
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: deepseek_v3.yaml
    overrides:
      micro_batch_size: 2
      global_batch_size: 4096
      pipeline_model_parallel_size: 16
      main_grads_dtype: bf16
      exp_avg_dtype: bf16
      exp_avg_sq_dtype: bf16
      recompute_granularity: full
      recompute_layer_ids: "0,3,4,7"
      fp8: hybrid
)",
     "recompute=full grads=bf16 optimizer_states=bf16 compute=fp8-e4m3 method=- algorithm=-"},
};
constexpr test::PublicFile published_titan_runs[] = {
    {"products in FP8, which the model's file says", R"(
modules:
  pre_trainer:
    framework: torchtitan
    model: llama3.1_8B-fp8.yaml
    overrides:
      training: {local_batch_size: 4, seq_len: 8192, steps: 50}
      activation_checkpoint: {mode: "none"}
      quantize: {linear: {float8: {filter_fqns: ["output"]}}}
)",
     "model=llama3.1_8B compute=fp8-e4m3 recompute=none micro_batch=4"},
};

/// LeaderWorkerSet docs/examples/vllm: TPUs of a pool, as many machines as a group has.
constexpr test::PublicFile published_worker_sets[] = {
    {"TPU/lws.yaml", R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    leaderTemplate:
      spec:
        nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice}
        containers:
          - image: vllm/vllm-tpu:latest
            command:
              - sh
              - -c
              - "bash /workspace/multi-node-serving.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE);
                 python3 -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.3-70B-Instruct
                 --tensor-parallel-size=16"
            resources: {limits: {google.com/tpu: "4"}}
)",
     "gpu=tpu-v5e gpus=16 nodes=4 tp=16"},
    {"basic/vllm.yaml, without Ray", R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
          - image: vllm/vllm-openai:v0.28.0
            command: [vllm, serve, meta-llama/Llama-3.1-405B-Instruct, --tensor-parallel-size, "8",
                      --pipeline-parallel-size, "2", --nnodes, $(LWS_GROUP_SIZE), --node-rank, $(LWS_WORKER_INDEX)]
            resources: {limits: {nvidia.com/gpu: "8"}}
)",
     "gpus=16 nodes=2 tp=8 pp=2 engine_version=0.28.0"},
};

/// Configurations of llama-swap: what a container is entered by, variables of the environment, other builds.
constexpr test::PublicFile published_swaps[] = {
    {"a container whose entry is the server", R"(
models:
  qwen:
    cmd: |
      docker run --rm --runtime nvidia -p ${PORT}:8080 -v /home/jim/models:/models
      --entrypoint /app/llama-server ghcr.io/mostlygeek/llama-swap:cuda
      -m /models/Qwen3.6-27B-Q5_K_M.gguf
      # --spec-type draft-mtp

      --spec-type draft-mtp,ngram-mod
      -c 142000 -ctk q8_0 -ctv q8_0 -np 1 -ub 512
)",
     "model=/models/Qwen3.6-27B-Q5_K_M.gguf context=142000 kv_dtype=q8_0 slots=1 ubatch=512 draft=mtp:3"},
    {"the home of whoever starts it", R"(
macros:
  models_dir: ${env.HOME}/.llama-models
  server: ${env.HOME}/git/ik_llama.cpp/build/bin/llama-server
models:
  a:
    cmd: '${server} --port ${PORT}

      --model ${models_dir}/qwen/Qwen3.5-4B-Q4_K_M.gguf

      --parallel 1 --ctx-size 131072 --cache-type-k q4_0 --cache-type-v q4_0 --k-cache-hadamard

      '
)",
     "model=~/.llama-models/qwen/Qwen3.5-4B-Q4_K_M.gguf context=131072 kv_dtype=q4_0"},
    {"ik_llama.cpp's server, and how many tokens it drafts", R"(
macros:
  base: >-
    /usr/local/bin/ik-llama-server
    -ngl 99 -np 1 --merge-qkv
models:
  a:
    env: ["CUDA_VISIBLE_DEVICES=0"]
    cmd: >-
      ${base}
      --model /models/Qwen3.6-27B-IQ4_XS.gguf
      --spec-type mtp:n_max=2,p_min=0.6
      --ctx-size 175000 -ctk q4_0 -ctv q4_0
      -khad -vhad
)",
     "gpus=1 draft=mtp:2 context=175000 gpu_layers=all"},
    {"vLLM in a container that names its accelerator", R"(
models:
  a:
    cmd: |
      docker run --rm --name ${MODEL_ID} -e HUGGING_FACE_HUB_TOKEN=${env.HF_TOKEN}
      --gpus '"device=GPU-a8c640ca-4d44-440b-5caf-28eca88ea7c1"'
      vllm/vllm-openai:v0.25.1
      --model cyankiwi/gemma-4-26B-A4B-it-qat-AWQ-INT4
      --tensor-parallel-size 1 --gpu-memory-utilization 0.95
      --max-model-len 16800 --max-num-seqs 32
)",
     "gpus=1 engine=vllm engine_version=0.25.1 context=16800 max_seqs=32 memory_fraction=0.95"},
};

}  // namespace

TEST_CASE("Published runs of trainers are asked as their trainers take them") {
  test::check_public(published_torchtune_runs, "run.yaml", "torchtune configuration");
  test::check_public(published_primus_runs, "run.yaml", "Primus experiment");
  test::check_public(published_titan_runs, "run.yaml", "torchtitan configuration");
}

TEST_CASE("Published servers are asked as their engines take them") {
  test::check_public(published_worker_sets, "lws.yaml", "vLLM command");
  for (const auto& each : published_swaps) {
    CAPTURE(each.file);
    test::check_terms(test::read_alone(each.text, "config.yaml"), each.terms);
  }
}

/// Primus examples/maxtext, mixtral_8x7B: experts over the accelerators of a node, copies over nodes.
TEST_CASE("A degree that is the rest of the accelerators is left to options, by its own name") {
  const auto reading = test::read_alone(R"(
model_name: mixtral-8x7b
dcn_data_parallelism: -1
ici_fsdp_parallelism: 1
ici_expert_parallelism: -1
max_target_length: 4096
per_device_batch_size: 11
)",
                                        "run.yml");
  REQUIRE(reading.open.size() == 2);
  CHECK(reading.open.front().term == "ep");
  CHECK(reading.open.front().text.starts_with("ici_expert_parallelism"));
}

/// slime scripts/run-glm4.7-30B-A3B.sh: the folder of all checkpoints is said outside.
TEST_CASE("A checkpoint below a folder that nobody names is left to an option") {
  const auto reading = test::read_alone(
      "python3 train.py --hf-checkpoint $BASE_DIR/GLM-4.7-Flash --advantage-estimator grpo --global-batch-size 8 "
      "--rollout-max-response-len 8192",
      "run.sh");
  REQUIRE(reading.open.size() == 1);
  CHECK(reading.open.front().term == "model");
}

/// verl examples/grpo_trainer: layers are laid out by hand, and the launcher is an array.
TEST_CASE("Published scripts of verl start what their arrays say") {
  const auto reading = test::read_alone(R"(
NGPUS_PER_NODE=${NGPUS_PER_NODE:-8}
LAYOUT=${LAYOUT:-"Et*6|t*6|t*6|t*5|t*5|t*5|t*5|t*5L"}
ACTOR=(
    algorithm.adv_estimator=gpg
    data.max_prompt_length=1024
    data.max_response_length=2048
    actor_rollout_ref.model.path=Qwen/Qwen3-8B
    actor_rollout_ref.actor.ppo_mini_batch_size=256
    actor_rollout_ref.actor.use_dynamic_bsz=True
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=24576
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=8
    "++actor_rollout_ref.actor.megatron.override_transformer_config.pipeline_model_parallel_layout='${LAYOUT}'"
    actor_rollout_ref.rollout.n=5
    trainer.n_gpus_per_node=${NGPUS_PER_NODE}
    trainer.nnodes=1
    model_engine=megatron
)
LAUNCH=(python3)
if [ "${VERL_USE_UV:-1}" != 0 ]; then
    uv sync --extra vllm --frozen
    LAUNCH=(uv run --frozen --no-sync python3)
fi
"${LAUNCH[@]}" -m verl.trainer.main_ppo "${ACTOR[@]}" "$@"
)",
                                        "run.sh");
  test::check_terms(reading, "algorithm=grpo seq=3072 micro_batch=8 global_batch=1280 pp=8 gpus=8 sharding=zero1");
  const auto says_layout = [](const auto& said) { return said.sentence().find("layout") != std::string::npos; };
  CHECK(std::ranges::any_of(reading.assumptions, says_layout));
}

/// Dynamo recipes/deepseek-v4-flash/sglang: the pod is given four accelerators, its variable names eight.
TEST_CASE("A container sees no more accelerators than it is given") {
  const auto reading = test::read_alone(R"(
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    decode:
      resources: {limits: {gpu: "4"}}
      extraPodSpec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-B200}
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.4.2
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, deepseek-ai/DeepSeek-V4-Flash, --tp, "4", --speculative-algo, EAGLE,
                 --speculative-num-steps, "3", --speculative-eagle-topk, "1", --chunked-prefill-size, "4096"]
          env:
            - {name: CUDA_VISIBLE_DEVICES, value: "0,1,2,3,4,5,6,7"}
)",
                                        "deploy.yaml");
  test::check_terms(reading, "gpu=b200 gpus=4 tp=4 batched_tokens=4096 draft=mtp:3");
}

/// vllm-project/recipes OpenAI/GPT-OSS_EAGLE3_Hopper.yaml: a file for --config, without a model.
TEST_CASE("Options of vLLM alone are a file of vLLM's") {
  const auto reading = test::read_alone(R"(
no-enable-prefix-caching: true
max-cudagraph-capture-size: 2048
max-num-batched-tokens: 8192
stream-interval: 20
speculative-config: '{"model":"nvidia/gpt-oss-120b-Eagle3-v2","num_speculative_tokens":3,"method":"eagle3"}'
)",
                                        "hopper.yaml");
  CHECK(reading.unread.empty());
  test::check_terms(reading,
                    "engine=vllm model=- prefix_cache=0 largest_graph=2048 batched_tokens=8192 "
                    "draft=eagle=nvidia/gpt-oss-120b-Eagle3-v2:3");
}

/// LLaMA-Factory model/model_utils/quantization.py: quantization_bit does nothing to a checkpoint that is quantized.
TEST_CASE("A checkpoint that is quantized already keeps its weights, whatever quantizes others") {
  const auto reading = test::read_alone(
      "{model_name_or_path: Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4, stage: sft, finetuning_type: lora, quantization_bit: "
      "4}",
      "run.yaml");
  test::check_terms(reading, "method=qlora weights=-");
  const auto single = test::read_alone(
      "{model_name_or_path: Qwen/Qwen2.5-7B, stage: sft, quantization_bit: 4, double_quantization: false}", "run.yaml");
  test::check_terms(single, "method=qlora weights=nf4");
}

TEST_CASE("Levanter's vocabulary is that of a tokenizer that is known") {
  constexpr auto file = "{trainer: {train_batch_size: 512}, model: {type: llama}, data: {tokenizer: ";
  test::check_terms(test::read_alone(std::string(file) + "stanford-crfm/marin-tokenizer}}", "run.yaml"),
                    "vocab=128256");
  const auto unknown = test::read_alone(std::string(file) + "my/tokenizer}}", "run.yaml");
  REQUIRE(unknown.open.size() == 1);
  CHECK(unknown.open.front().term == "vocab");
}

/// torchtune's recipe stands on the command line, and its file, which says whether the base is in few bits, elsewhere.
TEST_CASE("A recipe of adapters whose file is not there leaves the method to an option") {
  const auto reading =
      test::read_alone("tune run --nproc_per_node 8 lora_finetune_distributed --config /configs/a.yaml", "run.sh");
  test::check_terms(reading, "method=- gpus=8 sharding=fsdp2");
  REQUIRE(reading.open.size() == 1);
  CHECK(reading.open.front().term == "method");
}
