// Files of stacks as they were published in autumn 2026: what decides of each, and the terms that its tool takes of it.
#include "catch.hpp"
#include "dialects/read.hpp"

#include <string>

namespace llmcalc {
namespace {

/// axolotl examples/expert_parallel, gemma2: experts are an axis of their own, a reward model has pairs.
constexpr test::PublicFile axolotl_files[] = {
    {"experts beside shards", R"(
base_model: Qwen/Qwen3-30B-A3B-Instruct-2507
plugins: [axolotl.integrations.expert_parallel.ExpertParallelPlugin]
expert_parallel_size: 2
dp_shard_size: 2
sequence_len: 2048
sample_packing: true
micro_batch_size: 1
bf16: true
fsdp_config: {fsdp_version: 2, offload_params: false, reshard_after_forward: true}
)",
     "gpus=4 ep=2 sharding=fsdp2"},
    {"a model of rewards", R"(
base_model: google/gemma-2-2b
model_type: AutoModelForSequenceClassification
num_labels: 1
reward_model: true
sequence_len: 2048
micro_batch_size: 2
bf16: true
)",
     "algorithm=orpo micro_batch=2"},
    {"none of rewards",
     R"({base_model: google/gemma-2-2b, reward_model: false, micro_batch_size: 2, sequence_len: 64})", "algorithm=-"},
};

/// NeMo AutoModel examples/benchmark, convergence: TE's products of 8 bits, experts whose layers stay gathered.
constexpr test::PublicFile automodel_files[] = {
    {"FP8 of Transformer Engine", R"(
step_scheduler: {global_batch_size: 128, local_batch_size: 4, max_steps: 30}
distributed: {_target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager, ep_size: 8}
parallelizer: {activation_checkpointing: true}
model:
  config: {pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B}
  backend: {attn: te, te_fp8: {_target_: nemo_automodel.components.models.common.utils.TEFp8Config, recipe: block}}
dataset: {seq_len: 4096}
optimizer: {_target_: torch.optim.Adam}
)",
     "compute=fp8-e4m3 reshard=0 ep=8 recompute=full micro_batch=4"},
    {"experts of gathered layers that are given back", R"(
step_scheduler: {global_batch_size: 128, local_batch_size: 4}
distributed: {strategy: fsdp2, ep_size: 8, moe: {reshard_after_forward: true}}
model: {config: {pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B}}
dataset: {seq_len: 4096}
)",
     "reshard=1 compute=-"},
    {"FlashOptim's narrow moments", R"(
step_scheduler: {global_batch_size: 128, local_batch_size: 8}
model: {pretrained_model_name_or_path: Qwen/Qwen3-4B-Base}
distributed: {strategy: fsdp2, cp_size: 2}
dataset: {seq_length: 2048}
optimizer: {_target_: flashoptim.FlashAdamW, master_weight_bits: 24}
)",
     "optimizer=adamw-8bit dtype=bf16 cp=2 reshard=-"},
};

/// LLaMA-Factory hparams/finetuning_args.py, use_ref_model; model/adapter.py.
constexpr test::PublicFile factory_files[] = {
    {"SimPO, which is a loss of DPO's", R"(
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: dpo
pref_loss: simpo
do_train: true
finetuning_type: full
per_device_train_batch_size: 2
bf16: true
)",
     "algorithm=orpo"},
    {"DPO with a loss of its own", R"(
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: dpo
pref_loss: sigmoid
finetuning_type: lora
pure_bf16: true
)",
     "algorithm=dpo dtype=bf16"},
};

/// ms-swift examples/megatron: checkpoints that it converted are called after their model.
constexpr test::PublicFile megatron_files[] = {
    {"a converted checkpoint", R"(
NPROC_PER_NODE=2 CUDA_VISIBLE_DEVICES=0,1 megatron sft --load Qwen2.5-7B-Instruct-mcore --dataset "$DATASET" \
    --tensor_model_parallel_size 2 --micro_batch_size 4 --global_batch_size 16 --train_iters 100 --max_length 2048
)",
     "model=Qwen2.5-7B-Instruct gpus=2 tp=2 seq=2048"},
    {"data beside the script", R"(
REPO_DIR=$(cd "$(dirname "$0")/../.." && pwd)
NPROC_PER_NODE=${NPROC_PER_NODE:-8} megatron sft --model "${MODEL:-Qwen/Qwen3-30B-A3B}" \
    --dataset "${REPO_DIR}/data/sft.jsonl" --tensor_model_parallel_size 2 --expert_model_parallel_size 8 \
    --micro_batch_size 1 --global_batch_size 16 --max_length 16384 --train_iters 10
)",
     "model=Qwen/Qwen3-30B-A3B gpus=8 ep=8"},
};

/// verl examples/grpo_trainer: Megatron's engine keeps its reference where nobody sends it away, and adapters its own.
constexpr test::PublicFile verl_files[] = {
    {"Megatron's adapters", R"(
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' algorithm.adv_estimator=grpo \
    data.max_prompt_length=1024 data.max_response_length=1024 actor_rollout_ref.model.path=Qwen/Qwen2-7B-Instruct \
    actor_rollout_ref.model.lora.rank=16 actor_rollout_ref.actor.ppo_mini_batch_size=16 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.rollout.n=4 trainer.n_gpus_per_node=8 trainer.nnodes=1
)",
     "method=lora lora_rank=16 lora_targets=all-linear reference=none tp=4 gpus=8"},
    {"a reference on the accelerators", R"(
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' algorithm.adv_estimator=grpo \
    actor_rollout_ref.model.path=$HOME/models/Qwen3-8B actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 actor_rollout_ref.rollout.n=4 \
    +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload=True
)",
     "model=~/models/Qwen3-8B reference=model offload=optimizer method=-"},
    {"no reference at all", R"(
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' algorithm.adv_estimator=grpo \
    actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.rollout.n=4
)",
     "reference=none"},
    {"a reference that is sent to the host", R"(
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' algorithm.adv_estimator=grpo \
    actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.ref.megatron.param_offload=True
)",
     "reference=none"},
};

/// Dynamo recipes: accelerators and machines of a service stand beside its container.
constexpr test::PublicFile dynamo_files[] = {
    {"a decoder over two machines", R"(
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    decode:
      multinode: {nodeCount: 2}
      resources: {limits: {gpu: "8"}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.2
          command: [/bin/bash, -c]
          args:
            - |
              exec python3 -m dynamo.vllm --model deepseek-ai/DeepSeek-R1 --tensor-parallel-size 1 \
                --data-parallel-size 16 --enable-expert-parallel --kv-cache-dtype fp8_ds_mla \
                --eplb-config '{"num_redundant_experts":"32"}'
)",
     "gpus=16 nodes=2 ep=16 attention_dp=16 kv_dtype=fp8"},
};

/// production-stack tutorials/assets: a cluster of Ray has a head, a pair of servers their roles.
constexpr test::PublicFile stack_files[] = {
    {"a head with an accelerator", R"(
servingEngineSpec:
  modelSpec:
  - {name: a, modelURL: distilbert/distilgpt2, replicaCount: 1, requestGPU: 1,
     vllmConfig: {tensorParallelSize: 1, pipelineParallelSize: 2},
     raySpec: {enabled: true, headNode: {requestGPU: 1}}}
)",
     "gpus=2 pp=2"},
    {"a server that reads prompts", R"(
servingEngineSpec:
  modelSpec:
  - {name: a, modelURL: meta-llama/Llama-3.1-8B-Instruct, vllmConfig: {extraArgs: ["--enforce-eager"]},
     lmcacheConfig: {enabled: true, kvRole: "kv_producer", nixlBufferSize: "1073741824"}}
)",
     "role=prefill graphs=0"},
    {"options alone", "{kv-cache-dtype: fp8, max-num-batched-tokens: 8192, max-model-len: 10240}",
     "model=- context=10240 kv_dtype=fp8"},
};

/// TensorRT-LLM examples/configs: files of options, and click's options of one value.
constexpr test::PublicFile trtllm_files[] = {
    {"a share of the memory by its old name", R"(
max_batch_size: 1024
max_num_tokens: 3200
kv_cache_free_gpu_memory_fraction: 0.8
tensor_parallel_size: 8
moe_expert_parallel_size: 8
enable_attention_dp: true
kv_cache_config: {dtype: fp8}
)",
     "ep=8 attention_dp=8 memory_fraction=0.8 kv_dtype=fp8"},
    {"no share", "{dtype: bfloat16, max_num_tokens: 4096, tensor_parallel_size: 8, kv_cache_config: {dtype: fp8}}",
     "tp=8 batched_tokens=4096 kv_dtype=fp8"},
    {"a model behind the options", "trtllm-serve --tp_size 4 --pp_size 1 Qwen/Qwen3-8B",
     "model=Qwen/Qwen3-8B tp=4 pp=1"},
};

/// slime tests/test_qwen3_vl_8B_fsdp, scripts/run-qwen3-30B-A3B-lora: another backend, and adapters.
constexpr test::PublicFile slime_files[] = {
    {"shards of PyTorch", R"(
python3 train.py --hf-checkpoint /root/Qwen3-8B --advantage-estimator grpo --rollout-max-response-len 8192 \
  --global-batch-size 128 --train-backend fsdp --gradient-checkpointing --attn-implementation flash_attention_3 \
  --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate
)",
     "framework=torch sharding=fsdp2 dtype=mixed-bf16 recompute=full attention=flash gpus=8"},
    {"adapters", R"(
python3 train.py --hf-checkpoint /root/Qwen3-8B --advantage-estimator grpo --rollout-max-response-len 8192 \
  --global-batch-size 128 --use-lora --lora-rank 32 --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate
)",
     "framework=nemo method=lora lora_rank=32"},
};

/// Primus examples/megatron: a variable without a default stays for whoever reads the question.
constexpr test::PublicFile primus_files[] = {
    {"several variables", R"(
work_group: amd
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: ${PREFIX:}${PRIMUS_MODEL:llama3.1_8B}.yaml
    overrides: {micro_batch_size: "${MBS:2}", global_batch_size: 128, seq_length: 8192}
)",
     "model=llama3.1_8B micro_batch=2"},
};

/// prime-rl trainer.py `model.fp8`, llm-foundry's precision amp_fp8 of Composer: products alone are in FP8.
constexpr test::PublicFile prime_files[] = {
    {"products in FP8", R"(
[model]
name = "Qwen/Qwen3-8B"
fp8 = true
[data]
seq_len = 4096
batch_size = 8
)",
     "compute=fp8-e4m3"},
};
constexpr test::PublicFile foundry_files[] = {
    {"products in FP8", R"(
max_seq_len: 2048
model: {name: mpt_causal_lm, d_model: 2048, n_heads: 16, n_layers: 24, expansion_ratio: 4, vocab_size: 50368}
global_train_batch_size: 512
device_train_microbatch_size: 4
precision: amp_fp8
)",
     "dtype=mixed-bf16 compute=fp8-e4m3"},
};

}  // namespace

TEST_CASE("Trainers' files of this autumn are read as their trainers take them") {
  test::check_public(axolotl_files, "run.yaml", "axolotl configuration");
  test::check_public(automodel_files, "run.yaml", "NeMo AutoModel recipe");
  test::check_public(factory_files, "run.yaml", "LLaMA-Factory configuration");
  test::check_public(megatron_files, "run.sh", "ms-swift options for Megatron");
  test::check_public(verl_files, "run.sh", "verl configuration");
  test::check_public(slime_files, "run.sh", "slime arguments");
  test::check_public(primus_files, "run.yaml", "Primus experiment");
  test::check_public(prime_files, "run.toml", "prime-rl configuration");
  test::check_public(foundry_files, "run.yaml", "llm-foundry configuration");
}

TEST_CASE("Servers' files of this autumn are read as their engines take them") {
  test::check_public(dynamo_files, "deploy.yaml", "vLLM command");
  test::check_public(stack_files, "values.yaml", "vLLM command");
  test::check_public(trtllm_files, "options.yaml", "trtllm-serve command");
}

TEST_CASE("What trains something else than a model of words is refused") {
  constexpr const char* others[] = {
      "{base_model: Qwen/Qwen3-0.6B, gkd_trainer: true, gkd_teacher: Qwen/Qwen3-4B, sequence_len: 2048}",
      "{step_scheduler: {local_batch_size: 4, global_batch_size: 8}, "
      "model: {_target_: nemo_automodel.NeMoAutoModelForBiencoder.from_pretrained}}"};
  for (const char* const each : others) CHECK_THROWS(test::read_alone(each, "run.yaml"));
}

TEST_CASE("A here-document that a script runs hangs on what its variables do") {
  constexpr auto script = R"(
read -r -d '' cmd <<EOF
accelerate launch --num_processes $((gpu_count * 2)) trl/scripts/sft.py --model_name_or_path Qwen/Qwen2.5-1.5B \
    --per_device_train_batch_size 1
EOF
gpu_count=$(nvidia-smi -L | wc -l)
eval $cmd
)";
  const auto reading = test::read_alone(script, "run.sh");
  REQUIRE(reading.open.size() == 1);
  CHECK(reading.open.front().term == "gpus");
}

/// kubernetes StatefulSet of SGLang: its copies are the machines of one server.
TEST_CASE("Copies that join each other are not servers of their own") {
  constexpr auto set = R"(
apiVersion: apps/v1
kind: StatefulSet
spec:
  replicas: 2
  template:
    spec:
      containers:
      - image: lmsysorg/sglang:latest
        command: [python3, -m, sglang.launch_server, --model, deepseek-ai/DeepSeek-R1, --tp, "16", --nnodes, "2"]
)";
  const auto reading = test::read_alone(set, "set.yaml");
  test::check_terms(reading, "tp=16 nodes=2");
  for (const auto& said : reading.assumptions) CHECK(said.sentence().find("replicas") == std::string::npos);
}

/// llama-swap config.example.yaml: a program by the build that it is.
TEST_CASE("The first of several servers is asked about, whichever build it is of") {
  constexpr auto swap = R"(
macros: {latest: /path/to/llama-server/llama-server-ec9e0301}
models:
  a: {cmd: "${latest} --model path/to/gpt-oss-120B.gguf --ctx-size 16384"}
  b: {cmd: "llama-server -m Llama-3.2-1B-Instruct-Q4_K_M.gguf"}
)";
  test::check_terms(test::read_alone(swap, "swap.yaml"), "model=path/to/gpt-oss-120B.gguf context=16384");
}

/// AutoGPTQ's group_size -1.
TEST_CASE("Weights with one scale for all inputs are said to be") {
  const auto reading = test::read_alone(
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "intermediate_size": 11008, "vocab_size": 32000,
          "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": -1}})",
      "config.json");
  test::check_terms(reading, "quant=gptq group_size=4096");
  CHECK(reading.assumptions.size() == 1);
}

/// DeepSpeedExamples: options of Megatron-LM 1.1.5, and those of DeepSpeed-Chat.
TEST_CASE("Older scripts that DeepSpeed starts say batch, length and precision") {
  test::check_terms(test::read_alone("deepspeed --num_gpus 8 pretrain_gpt2.py --model-parallel-size 4 --num-layers 64 "
                                     "--hidden-size 8192 --num-attention-heads 32 --seq-length 1024 "
                                     "--max-position-embeddings 1024 --batch-size 4 --fp16 --checkpoint-activations",
                                     "run.sh"),
                    "tp=4 micro_batch=4 dtype=fp16 gpus=8");
  const auto chat = test::read_alone(
      "deepspeed main.py --model_name_or_path meta-llama/Llama-2-7b-hf --deepspeed "
      "--per_device_train_batch_size 4 --max_seq_len 512 --zero_stage 3",
      "run.sh");
  test::check_terms(chat, "seq=512 sharding=zero3 framework=deepspeed");
  CHECK(chat.unread.empty());
}

}  // namespace llmcalc
