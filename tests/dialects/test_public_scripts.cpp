// Scripts and files of servers, ms-swift and verl as people publish them: what of them decides, and what those take.

#include "dialects/read.hpp"

#include <string>

using namespace llmcalc;

namespace {

/// verl 0.9.1: verl/workers/config/engine.py (fsdp_size -1), trainer/config/rollout/rollout.yaml, recipe/dapo.
constexpr test::PublicFile verl_files[] = {
    {"a long-context run of DAPO on one machine of eight: fsdp_size -1, sequences over eight ranks, an engine awake",
     R"(#!/usr/bin/env bash
max_prompt_length=$((1024 * 2))
max_response_length=$((1024 * 32))
sp_size=8
actor_ppo_max_token_len=$(((max_prompt_length + max_response_length) / sp_size))
train_prompt_mini_bsz=16
offload=True
python3 -u -m recipe.dapo.main_dapo \
    data.max_prompt_length=${max_prompt_length} data.max_response_length=${max_response_length} \
    actor_rollout_ref.rollout.n=8 actor_rollout_ref.actor.use_dynamic_bsz=True \
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=${actor_ppo_max_token_len} \
    algorithm.adv_estimator=grpo actor_rollout_ref.actor.use_kl_loss=False \
    actor_rollout_ref.rollout.free_cache_engine=False actor_rollout_ref.rollout.gpu_memory_utilization=0.8 \
    actor_rollout_ref.model.path=Qwen/Qwen3-4B-Instruct-2507 \
    actor_rollout_ref.model.enable_gradient_checkpointing=True \
    actor_rollout_ref.actor.ppo_mini_batch_size=${train_prompt_mini_bsz} \
    actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.actor.fsdp_config.offload_policy=${offload} \
    actor_rollout_ref.actor.ulysses_sequence_parallel_size=${sp_size} \
    actor_rollout_ref.actor.fsdp_config.fsdp_size=-1 trainer.n_gpus_per_node=8 trainer.nnodes=1
)",
     "model=Qwen/Qwen3-4B-Instruct-2507 seq=34816 micro_batch=1 global_batch=128 cp=8 sharding=fsdp2 gpus=8 "
     "offload=params+optimizer colocate_fraction=0.8 recompute=full reference=none algorithm=grpo"},
    {"adapters of a vision model in groups of prompts with eight answers",
     R"(#!/bin/bash
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=8 \
    data.max_prompt_length=4096 data.max_response_length=512 \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-VL-7B-Instruct actor_rollout_ref.actor.ppo_mini_batch_size=8 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 actor_rollout_ref.model.lora_rank=64 \
    actor_rollout_ref.model.target_modules=all-linear actor_rollout_ref.model.exclude_modules='.*visual.*' \
    actor_rollout_ref.actor.strategy=fsdp actor_rollout_ref.actor.fsdp_config.fsdp_size=-1 \
    actor_rollout_ref.model.enable_gradient_checkpointing=True actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.gpu_memory_utilization=0.7 \
    trainer.nnodes=1 trainer.n_gpus_per_node=8
)",
     "method=lora lora_rank=64 seq=4608 global_batch=64 sharding=fsdp1 gpus=8 micro_batch=1"},
    {"a batch of all ranks, of which each takes its part (workers/fsdp_workers.py), and an engine that sleeps",
     R"(python3 -m rllm.trainer.main_agent_ppo algorithm.adv_estimator=grpo data.max_prompt_length=23000 \
    data.max_response_length=1024 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \
    actor_rollout_ref.actor.ppo_mini_batch_size=16 actor_rollout_ref.actor.ppo_micro_batch_size=16 \
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=8 trainer.n_gpus_per_node=8 trainer.nnodes=1
)",
     "micro_batch=2 global_batch=128 seq=24024 samples_by_engine=1 colocate_fraction=- loss=te-fused"},
    {"an entropy in the loss, for which the logits are kept (workers/actor/dp_actor.py)",
     R"(python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \
    actor_rollout_ref.actor.entropy_coeff=0.001 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1
)",
     "loss=- samples_by_engine=1"},
    {"lengths of verl's own, 512 of a prompt and 512 of an answer (trainer/config/data/legacy_data.yaml)",
     R"(#!/usr/bin/env bash
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=4 trainer.n_gpus_per_node=8 trainer.nnodes=1
)",
     "seq=1024 global_batch=256 micro_batch=1 gpus=8"},
    {"Qwen3 30B A3B on six machines by Megatron, every size with a variable before it",
     R"(#!/usr/bin/env bash
NNODES=${NNODES:-6}
micro_bs=${MICRO_BS:-3}
actor_pp=${ACTOR_PP:-6}
actor_ep=${ACTOR_EP:-8}
offload=${OFFLOAD:-True}
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.max_prompt_length=512 \
    data.max_response_length=512 actor_rollout_ref.model.path="${MODEL_PATH:-Qwen/Qwen3-30B-A3B}" \
    actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.ppo_mini_batch_size=3 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=${micro_bs} \
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=${actor_pp} \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1 \
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=${actor_ep} \
    actor_rollout_ref.actor.megatron.expert_tensor_parallel_size=1 \
    actor_rollout_ref.actor.megatron.optimizer_offload=${offload} \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1 \
    actor_rollout_ref.rollout.name=sglang actor_rollout_ref.rollout.n=8 \
    trainer.n_gpus_per_node=8 trainer.nnodes=${NNODES}
)",
     "framework=nemo pp=6 ep=8 etp=1 tp=1 gpus=48 nodes=6 micro_batch=3 global_batch=24 recompute=uniform-1 "
     "sharding=zero1"},
};

/// ms-swift 4.6.0: swift/arguments; 1.x, examples/pytorch/llm.
constexpr test::PublicFile swift_files[] = {
    {"a program of ms-swift 1: a model by its type, the batch of a device",
     R"(CUDA_VISIBLE_DEVICES=0 \
python llm_sft.py --model_type qwen-14b-chat --sft_type lora --dtype bf16 --max_length 2048 --quantization_bit 4 \
    --lora_rank 8 --lora_target_modules ALL --batch_size 1 --gradient_accumulation_steps 16
)",
     "framework=ms-swift model=qwen-14b-chat method=qlora micro_batch=1 grad_accum=16 seq=2048 gpus=1"},
    {"a model by the folder in which huggingface_hub keeps it",
     R"(#!/bin/bash
NPROC_PER_NODE=8 swift sft \
    --model /shared/hf-hub/models--Qwen--Qwen2.5-VL-72B-Instruct/snapshots/5d8e171e5ee60e8ca4c6daa380bd29f78fe19021 \
    --model_type qwen2_5_vl --train_type lora --deepspeed zero3 --torch_dtype bfloat16 \
    --per_device_train_batch_size 2 --per_device_eval_batch_size 2 --lora_rank 64 --target_modules all-linear \
    --gradient_accumulation_steps 2 --max_length 2048
)",
     "model=Qwen/Qwen2.5-VL-72B-Instruct gpus=8 sharding=zero3 method=lora lora_rank=64 micro_batch=2 dtype=bf16"},
    {"accumulation by expr, towers that are trained",
     R"(#!/bin/bash
nproc_per_node=8
NPROC_PER_NODE=$nproc_per_node swift sft --model /models/Qwen3-VL-4B-Instruct --val_dataset /data/test.jsonl \
    --torch_dtype bfloat16 --train_type lora --freeze_vit false --freeze_aligner false --lora_rank 32 \
    --target_modules all-linear --use_rslora true --per_device_train_batch_size 8 \
    --per_device_eval_batch_size 1 --gradient_accumulation_steps $(expr 16 / $nproc_per_node)
)",
     "grad_accum=2 gpus=8 micro_batch=8 eval_batch=1 lora_targets=all-linear"},
    {"a reranker, trained whole",
     R"(#!/bin/bash
NPROC_PER_NODE=4 swift sft --model Qwen/Qwen3-Reranker-4B --task_type generative_reranker --train_type full \
    --split_dataset_ratio 0.05 --eval_strategy steps --per_device_train_batch_size 2 \
    --per_device_eval_batch_size 2 --gradient_accumulation_steps 8
)",
     "method=full gpus=4 eval_batch=2 grad_accum=8 recompute=full"},
    {"4 bits asked as of transformers, which ms-swift has no key for",
     R"(#!/bin/bash
swift sft --model /root/autodl-tmp/Qwen3-VL-8B-Instruct --tuner_type lora --lora_rank 32 --max_steps 10 \
    --gradient_checkpointing True --load_in_4bit True
)",
     "method=lora weights=- steps=10"},
};

/// NeMo AutoModel 0.7.0: components/_peft/module_matcher.py, recipes/llm/train_ft.py.
constexpr test::PublicFile automodel_files[] = {
    {"experts over eight, each layer recomputed by the parallelizer",
     R"(model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B
  torch_dtype: bfloat16
  attn_implementation: sdpa
distributed: {_target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager, dp_size: null, tp_size: 1, ep_size: 8}
parallelizer: {_target_: nemo_automodel.components.moe.parallelizer.parallelize_model, activation_checkpointing: true}
step_scheduler: {global_batch_size: 64, local_batch_size: 1, max_steps: 100}
optimizer: {_target_: torch.optim.AdamW, lr: 1e-5}
)",
     "ep=8 recompute=full sharding=fsdp2 micro_batch=1 global_batch=64 attention=sdpa steps=100"},
    {"Nemotron 3 Nano without adapters on the way out of its state spaces: all else, and the head",
     R"(model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16
peft: {_target_: nemo_automodel.components._peft.lora.PeftConfig, dim: 64, alpha: 128, exclude_modules: ["*.out_proj"]}
distributed: {strategy: fsdp2, ep_size: 1}
step_scheduler: {global_batch_size: 8, local_batch_size: 1, max_steps: 1600}
)",
     "method=lora lora_rank=64 lora_targets=all-linear,head exclude_modules=o,out_proj"},
    {"README: LoRA on every linear layer",
     R"(model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: meta-llama/Llama-3.2-1B
peft: {_target_: nemo_automodel.components._peft.lora.PeftConfig, match_all_linear: true, dim: 16, alpha: 32}
step_scheduler: {grad_acc_steps: 4, num_epochs: 1}
)",
     "lora_targets=all-linear,head lora_rank=16 grad_accum=4"},
    {"a guide: replicas",
     R"(model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: Qwen/Qwen3-0.6B
step_scheduler: {global_batch_size: 64, local_batch_size: 8, num_epochs: 1}
distributed: {strategy: ddp, tp_size: 1}
optimizer: {_target_: torch.optim.Adam, lr: 1.0e-5}
)",
     "sharding=ddp micro_batch=8 global_batch=64 optimizer=adamw method=-"},
};

/// MaxText 0.2.4: src/maxtext/configs/base.yml, configs/pyconfig.py (override_model_config), and tpu-recipes.
constexpr test::PublicFile maxtext_scripts[] = {
    {"docs of hy3: experts over four, weights in bf16",
     R"(#!/bin/bash
python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml model_name=hy3-295b \
    per_device_batch_size=1 max_target_length=4096 ici_fsdp_parallelism=64 ici_expert_parallelism=4 \
    megablox=true sparse_matmul=true attention=flash dtype=bfloat16 weight_dtype=bfloat16 steps=100
)",
     "model=hy3-295b gpus=256 ep=4 dtype=bf16 seq=4096 micro_batch=1 steps=100 sharding=-"},
    {"DeepSeek V3 on 128 accelerators",
     R"(#!/bin/bash
python3 -m MaxText.train MaxText/configs/base.yml per_device_batch_size=4 model_name=deepseek3-671b \
  ici_fsdp_parallelism=128 steps=5 max_target_length=1024 attention=flash dtype=bfloat16 weight_dtype=bfloat16
)",
     "model=deepseek-v3 gpus=128 seq=1024 micro_batch=4 dtype=bf16"},
    {"fine-tuning of Qwen as base.yml has it",
     R"(#!/bin/bash
python3 -m MaxText.train MaxText/configs/base.yml model_name=qwen2.5-7b load_parameters_path=gs://b/c \
    learning_rate=2e-5 dataset_type=grain per_device_batch_size=4 max_target_length=4096 steps=700
)",
     "model=qwen2.5-7b micro_batch=4 seq=4096 steps=700 dtype=- recompute=-"},
    {"two replicas on GPUs",
     R"(#!/bin/bash
python3 -m MaxText.train MaxText/configs/base.yml model_name=llama2-7b steps=10 per_device_batch_size=2 hardware=gpu \
    dcn_fsdp_parallelism=1 ici_fsdp_parallelism=1 ici_data_parallelism=2 dcn_data_parallelism=1
)",
     "gpus=2 sharding=ddp micro_batch=2 seq=-"},
    {"Llama 3.1 8B with heads twice as wide, over 128 accelerators (Llama3.1-8B-LongContext-Maxtext), whole sequences",
     R"(#!/bin/bash
export ICI_CONTEXT_PARALLELISM=128
python3 -m maxtext.trainers.pre_train.train src/maxtext/configs/base.yml model_name=llama3.1-8b steps=8 \
    override_model_config=true head_dim=256 base_num_query_heads=16 base_num_kv_heads=4 num_vocab_tiling=16 \
    per_device_batch_size=1 max_target_length=10485760 attention=flash \
    ici_context_parallelism=$ICI_CONTEXT_PARALLELISM ici_fsdp_parallelism=1 ici_tensor_parallelism=1
)",
     "model=llama3.1-8b heads=16 kv_heads=4 head_dim=256 cp=128 gpus=128 seq=10485760"},
};

/// production-stack helm/templates/deployment-vllm-multi.yaml 010004ee: prefixes are kept where the values say so
/// alone.
constexpr test::PublicFile helm_files[] = {
    {"two replicas with LMCache",
     R"(servingEngineSpec:
  modelSpec:
    - name: "my-model"
      repository: "lmcache/vllm-openai"
      tag: "latest"
      modelURL: "meta-llama/Llama-3.1-8B-Instruct"
      replicaCount: 2
      requestGPU: 1
      vllmConfig:
        enableChunkedPrefill: false
        enablePrefixCaching: false
        maxModelLen: 16384
      lmcacheConfig:
        enabled: true
)",
     "prefix_cache=0 context=16384 gpus=1 engine_version=-"},
    {"a file of GGUF, prefixes not spoken of",
     R"(servingEngineSpec:
  modelSpec:
  - name: "gemma3-12b"
    repository: "vllm/vllm-openai"
    tag: "nightly"
    modelURL: "/data/google/gemma-3-12b-it-q4_0.gguf"
    requestGPU: 1
    vllmConfig:
      gpuMemoryUtilization: 0.85
      dtype: "bfloat16"
      maxModelLen: 8192
      extraArgs: ["--tokenizer", "google/gemma-3-12b-it", "--cpu-offload-gb", "1"]
)",
     "prefix_cache=0 memory_fraction=0.85 quant=- engine_version=-"},
    {"prefixes kept, tensors over two, adapters",
     R"(servingEngineSpec:
  modelSpec:
  - name: "mistral"
    tag: "v0.11.0"
    modelURL: "mistralai/Mistral-7B-Instruct-v0.2"
    enableLoRA: true
    requestGPU: 2
    vllmConfig:
      enablePrefixCaching: true
      tensorParallelSize: 2
      maxLoras: 4
)",
     "prefix_cache=1 tp=2 max_loras=4 engine_version=0.11.0"},
};

}  // namespace

TEST_CASE("Scripts of verl are read as verl takes them") {
  test::check_public(verl_files, "run.sh", "verl configuration");
}

TEST_CASE("Scripts of ms-swift are read as ms-swift takes them") {
  test::check_public(swift_files, "run.sh", "ms-swift options");
}

TEST_CASE("Scripts of MaxText are read as it takes them, and programs of its that do not train are refused") {
  test::check_public(maxtext_scripts, "run.sh", "MaxText configuration");
  const std::string others[] = {
      "python3 -m benchmarks.lm_eval.maxtext_generator MaxText/configs/base.yml model_name=llama3-8b "
      "max_target_length=2048 per_device_batch_size=8 ici_tensor_parallelism=4 ici_fsdp_parallelism=1\n",
      "python3 MaxText/load_and_quantize_checkpoint.py MaxText/configs/base.yml model_name=llama3-8b "
      "max_target_length=2048 per_device_batch_size=1 ici_fsdp_parallelism=1\n"};
  for (const auto& each : others) {
    CHECK_THROWS_WITH(test::read_alone(each, "run.sh"), Catch::Matchers::Contains("is not known to train"));
  }
}

/// Commands of guides: trl 1.16.0 trl/scripts; what evaluates and exports stands beside what trains.
TEST_CASE("A module of trl says the trainer, and a script's training is what is asked about") {
  constexpr test::PublicFile files[] = {
      {"pairs that a judge scored",
       R"(#!/bin/bash
MAX_LEN=4096
uv run python -m trl.scripts.dpo --model_name_or_path Qwen/Qwen3-4B --dataset_name x/y --output_dir out \
  --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --gradient_checkpointing --use_peft --lora_r 32 \
  --lora_target_modules q_proj k_proj v_proj o_proj --max_length "$MAX_LEN" --beta 5.0 --loss_type sigmoid
)",
       "algorithm=dpo method=lora lora_targets=q,k,v,o seq=4096 recompute=full framework=trl"},
      {"nothing but a model and pairs",
       R"(#!/bin/bash
python -m trl.scripts.dpo --model_name_or_path meta-llama/Llama-2-7b-hf --dataset_name pairs --output_dir out
)",
       "algorithm=dpo framework=trl"},
      {"groups of answers", R"(#!/bin/bash
python -m trl.scripts.grpo --model_name_or_path Qwen/Qwen2.5-1.5B-Instruct --output_dir out --bf16 --use_vllm
)",
       "algorithm=grpo framework=trl colocate_fraction=0.3"},
      {"groups of answers that a server elsewhere makes", R"(#!/bin/bash
python -m trl.scripts.grpo --model_name_or_path Qwen/Qwen2.5-1.5B-Instruct --use_vllm --vllm_mode server
)",
       "algorithm=grpo samples_by_engine=1 colocate_fraction=-"},
      {"a recipe of torchtune by its name", "tune run full_dpo_distributed --config my_own\n",
       "algorithm=dpo sharding=fsdp2"},
      {"a module of one's own", R"(#!/bin/bash
python -m my_project.train_grpo --model_name_or_path Qwen/Qwen2.5-1.5B-Instruct --output_dir out --bf16
)",
       "algorithm=grpo framework=trl"},
      {"an evaluation before the training", R"(#!/bin/bash
python eval.py --model_name_or_path Qwen/Qwen2-0.5B-Instruct --output_dir x --per_device_eval_batch_size 8
python train_sft.py --model_name_or_path Qwen/Qwen2-0.5B-Instruct --output_dir x --per_device_train_batch_size 4
)",
       "micro_batch=4 eval_batch=-"},
  };
  for (const auto& each : files) {
    CAPTURE(each.file);
    test::check_terms(test::read_alone(each.text, "run.sh"), each.terms);
  }
  for (const char* const other : {"llamafactory-cli export --model_name_or_path x --finetuning_type lora\n",
                                  "tune run eleuther_eval --config llama3/eval\n"}) {
    CHECK_THROWS(test::read_alone(other, "run.sh"));
  }
}

TEST_CASE("Recipes of NeMo AutoModel are read as it takes them") {
  test::check_public(automodel_files, "recipe.yaml", "NeMo AutoModel recipe");
}

TEST_CASE("Values of vLLM's production stack are read as its chart writes them") {
  test::check_public(helm_files, "values.yaml", "vLLM command");
}
