// Keys of trainers' files and commands that few people say, each with the term that the trainer itself takes it for.

#include "dialects/read.hpp"

#include <algorithm>
#include <string>
#include <string_view>

using namespace llmcalc;

namespace {

struct SaidRarely {
  std::string_view file;    ///< its name, by which a shell script is told from a table
  std::string_view text;    ///< its keys that decide
  std::string_view terms;   ///< "tp=2 ...", "-" where nothing is said
  std::string_view source;  ///< where the trainer reads the key
};

constexpr SaidRarely said_rarely[] = {
    {"accelerate.yaml", R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: 1
num_processes: 8
fsdp_config: {fsdp_version: 2}
parallelism_config: {parallelism_config_sp_size: 4, parallelism_config_dp_shard_size: 2}
dynamo_config: {dynamo_backend: INDUCTOR}
)",
     "gpus=8 cp=4 cp_exchange=all-to-all compile=1 sharding=fsdp2 dtype=mixed-bf16",
     "accelerate parallelism_config.py, sp_size: ALST/Ulysses of DeepSpeed"},
    {"accelerate.yaml", R"(compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
deepspeed_config: {zero_stage: 3, offload_optimizer_device: cpu, offload_param_device: cpu}
mixed_precision: bf16
num_machines: 1
num_processes: 8
)",
     "sharding=zero3 offload=params+optimizer gpus=8", "accelerate utils/dataclasses.py, DeepSpeedPlugin"},
    {"gpt.yaml", R"(language_model:
  num_layers: 24
  hidden_size: 1024
  num_attention_heads: 16
  add_bias_linear: True
)",
     "bias=all",
     "Megatron-LM megatron/training/yaml_arguments.py: add_bias_linear of TransformerConfig, True by default"},
    {"ds.json", R"({"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 1},
                    "bf16": {"enabled": true, "bf16_master_weights_and_grads": true}})",
     "micro_batch=2 sharding=zero1 dtype=bf16 master_type=bf16 grads=bf16",
     "deepspeed runtime/precision_config.py, DeepSpeedBF16Config"},
    {"qlora.yaml", R"(model_name_or_path: llama-3-8b
per_device_train_batch_size: 1
full_finetune: true
bits: 16
lora_r: 64
)",
     "method=full lora_rank=-", "artidoro/qlora qlora.py, get_accelerate_model: no adapters where all is tuned"},
    {"job.sh", R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=2
srun python run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 4 --output_dir o
)",
     "gpus=16 nodes=2 micro_batch=4", "sbatch(1), --gpus-per-task"},
    {"verl.sh", R"(python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \
  actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.actor.fsdp_config.fsdp_size=4 \
  trainer.n_gpus_per_node=8 trainer.nnodes=2 data.max_prompt_length=512 data.max_response_length=1024 \
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2
)",
     "gpus=16 seq=1536 sharding=hsdp sharding_group=4 micro_batch=2",
     "verl workers/fsdp_workers.py, create_device_mesh: a mesh of (world / fsdp_size, fsdp_size)"},
    {"verl-sft.sh", R"(torchrun --nproc_per_node=8 -m verl.trainer.sft_trainer model.path=Qwen/Qwen2.5-7B \
  data.train_batch_size=64 data.use_dynamic_bsz=True data.max_token_len_per_gpu=8192 data.max_length=2048
)",
     "gpus=8 seq=2048 global_batch=64 micro_batch=4", "verl trainer/config/sft_trainer_engine.yaml"},
    {"automodel.yaml", R"(recipe: TrainFinetuneRecipeForNextTokenPrediction
step_scheduler: {global_batch_size: 64, local_batch_size: 2, max_steps: 100}
model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained,
        pretrained_model_name_or_path: meta-llama/Llama-3.2-1B}
distributed: {_target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager, dp_replicate_size: 2, tp_size: 1}
packed_sequence: {packed_sequence_size: 4096}
)",
     "seq=4096 packing=1 sharding=hsdp micro_batch=2 global_batch=64 steps=100",
     "NeMo AutoModel components/distributed/fsdp2.py, dp_replicate_size"},
    {"nemo-rl.yaml", R"(policy:
  model_name: meta-llama/Llama-3.1-8B-Instruct
  train_global_batch_size: 128
  train_micro_batch_size: 1
  max_total_sequence_length: 4096
  precision: bfloat16
  dtensor_cfg: {enabled: true, tensor_parallel_size: 4, sequence_parallel: true, activation_checkpointing: true,
                lora_cfg: {enabled: true, dim: 8, target_modules: [q_proj, v_proj]}}
sft: {max_num_steps: 60}
cluster: {gpus_per_node: 8, num_nodes: 1}
)",
     "algorithm=sft tp=4 sp=1 recompute=full method=lora lora_rank=8 lora_targets=q,v gpus=8",
     "NeMo-RL models/policy/__init__.py, DTensorConfig"},
    {"foundry.yaml", R"(max_seq_len: 4096
model: {name: hf_causal_lm, pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf,
        peft_config: {r: 16, peft_type: LORA, target_modules: [q_proj, v_proj]}}
optimizer: {name: decoupled_adamw, lr: 1e-5}
max_duration: 100ba
global_train_batch_size: 64
device_train_microbatch_size: 2
precision: amp_bf16
)",
     "method=lora lora_rank=16 steps=100 micro_batch=2 global_batch=64",
     "llm-foundry models/hf/hf_base.py, peft_config; composer Time: ba are batches"},
    {"eight-bits.yaml", R"(model_name_or_path: meta-llama/Llama-3.1-8B-Instruct
stage: sft
do_train: true
finetuning_type: lora
quantization_bit: 8
dataset: identity
template: llama3
cutoff_len: 2048
)",
     "weights=int8", "LLaMA-Factory model/model_utils/quantization.py: 8 is bitsandbytes' LLM.int8()"},
    {"titan.toml", R"([model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 1
seq_len = 8192
mixed_precision_param = "float32"
)",
     "dtype=fp32 micro_batch=1 seq=8192", "torchtitan config/job_config.py, mixed_precision_param"},
    {"litgpt.sh", R"(litgpt finetune_lora meta-llama/Llama-3.2-1B --optimizer bitsandbytes.optim.AdamW8bit \
  --train.micro_batch_size 4 --train.max_seq_length 512
)",
     "optimizer=adamw-8bit method=lora micro_batch=4 seq=512", "litgpt utils.py, instantiate_torch_optimizer"},
    {"maxtext.sh", R"(python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-8b per_device_batch_size=2 \
  max_target_length=4096 dtype=float32 lora_rank=16 steps=10
)",
     "dtype=fp32 method=lora lora_rank=16 steps=10 seq=4096 micro_batch=2", "MaxText configs/types.py, LoRA"},
};

}  // namespace

TEST_CASE("Keys that few people say are taken for what their trainers take them for") {
  for (const auto& [file, text, terms, source] : said_rarely) {
    CAPTURE(file, source);
    test::check_terms(test::read_alone(text, file), terms);
  }
}

/// vllm/config/kv_transfer.py: which part of both a server takes its proxy decides.
TEST_CASE("a server of vLLM that its proxy may send either part is taken for one that does both, which is said") {
  const auto role_of = [](const std::string& role) {
    const auto reading = test::read_alone(
        "vllm serve Qwen/Qwen3-8B --kv-transfer-config '{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"" + role +
            "\"}'\n",
        "serve.sh");
    const bool is_assumed = std::ranges::any_of(
        reading.assumptions, [](const spec::Assumption& each) { return each.term == "role" && !each.words.empty(); });
    return test::word_of(reading, "role") + (is_assumed ? ", assumed" : "");
  };
  CHECK(role_of("kv_producer") == "prefill");
  CHECK(role_of("kv_consumer") == "decode");
  CHECK(role_of("kv_both") == "-, assumed");
}
