// Configurations that torchtune 0.6.1 ships (recipes/configs), and what its recipes take of them (recipes/*.py,
// torchtune/models/*/_model_builders.py).

#include "dialects/read.hpp"

using namespace llmcalc;

namespace {

constexpr test::PublicFile torchtune_files[] = {
    {"llama3/8B_qdora_single_device.yaml: the builder of LoRA with a quantized base, decomposed",
     R"(model:
  _component_: torchtune.models.llama3.lora_llama3_8b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  apply_lora_to_output: False
  lora_rank: 8
  use_dora: True
  quantize_base: True
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
batch_size: 2
optimizer: {_component_: torch.optim.AdamW, fused: True}
loss: {_component_: torchtune.modules.loss.CEWithChunkedOutputLoss}
gradient_accumulation_steps: 8
compile: False
dtype: bf16
enable_activation_checkpointing: True
enable_activation_offloading: False
)",
     "method=dora weights=nf4 lora_targets=q,v,o,gate,up,down lora_rank=8 micro_batch=2 grad_accum=8 seq=- "
     "loss=chunked "
     "recompute=full offload=- optimizer_impl=fused dtype=bf16"},
    {"llama3/8B_dora.yaml",
     R"(model:
  _component_: torchtune.models.llama3.lora_llama3_8b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 8
  use_dora: True
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
batch_size: 2
optimizer: {_component_: torch.optim.AdamW, fused: True}
gradient_accumulation_steps: 1
dtype: bf16
enable_activation_checkpointing: False
)",
     "method=dora weights=- recompute=none grad_accum=1 model=llama-3-8b"},
    {"llama2/7B_full_low_memory.yaml: paged states, updates within the backward pass",
     R"(tokenizer: {_component_: torchtune.models.llama2.llama2_tokenizer, max_seq_len: null}
model: {_component_: torchtune.models.llama2.llama2_7b}
batch_size: 2
optimizer: {_component_: bitsandbytes.optim.PagedAdamW}
optimizer_in_bwd: True
loss: {_component_: torchtune.modules.loss.CEWithChunkedOutputLoss}
gradient_accumulation_steps: 1
enable_activation_checkpointing: True
enable_activation_offloading: True
dtype: bf16
)",
     "method=full model=llama-2-7b optimizer=paged-adamw optimizer_in_backward=1 offload=activations recompute=full"},
    {"llama3_1/405B_qlora.yaml",
     R"(model:
  _component_: torchtune.models.llama3_1.qlora_llama3_1_405b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 16
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer}
batch_size: 1
optimizer: {_component_: torch.optim.AdamW, fused: True}
gradient_accumulation_steps: 8
dtype: bf16
enable_activation_checkpointing: True
)",
     "model=llama-3.1-405b method=qlora lora_rank=16 micro_batch=1"},
    {"llama3_1/70B_full.yaml: the host keeps what FSDP shards",
     R"(tensor_parallel_dim: 1
tensor_parallel_plan: {_component_: torchtune.models.llama3.base_llama_tp_plan}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
model: {_component_: torchtune.models.llama3_1.llama3_1_70b}
batch_size: 2
optimizer: {_component_: torch.optim.AdamW, fused: False}
enable_activation_checkpointing: True
custom_sharded_layers: ['tok_embeddings', 'output']
fsdp_cpu_offload: True
dtype: bf16
)",
     "model=llama-3.1-70b offload=params+optimizer optimizer_impl=foreach tp=1"},
    {"llama3_1/8B_full_dpo.yaml",
     R"(model: {_component_: torchtune.models.llama3_1.llama3_1_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 1024}
batch_size: 4
optimizer: {_component_: torch.optim.AdamW, fused: True}
loss: {_component_: torchtune.rlhf.loss.DPOLoss}
max_steps_per_epoch: 1000
epochs: 1
gradient_accumulation_steps: 8
dtype: bf16
enable_activation_checkpointing: True
)",
     "algorithm=dpo seq=1024 steps=1000 micro_batch=4 grad_accum=8 method=full"},
    {"llama3_3/70B_full_multinode.yaml: packed and compiled",
     R"(tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 1024}
dataset: {_component_: torchtune.datasets.alpaca_dataset, packed: True}
model: {_component_: torchtune.models.llama3_3.llama3_3_70b}
batch_size: 4
optimizer: {_component_: torch.optim.AdamW, fused: True}
compile: True
fsdp_cpu_offload: False
enable_activation_checkpointing: True
dtype: bf16
)",
     "model=llama-3.3-70b seq=1024 compile=1 offload=- micro_batch=4"},
    {"dev/8B_full_experimental.yaml: every second layer, where the old switch is off",
     R"(tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
model: {_component_: torchtune.models.llama3.llama3_8b}
batch_size: 2
optimizer: {_component_: torch.optim.AdamW, fused: True}
enable_activation_checkpointing: False
ac_mode: 'selective'
ac_option: 2
dtype: bf16
)",
     "recompute=every-2 model=llama-3-8b"},
    {"gemma2/27B_lora.yaml",
     R"(tokenizer: {_component_: torchtune.models.gemma.gemma_tokenizer}
model:
  _component_: torchtune.models.gemma2.lora_gemma2_27b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 64
  lora_dropout: 0.0
optimizer: {_component_: torch.optim.AdamW, fused: True}
batch_size: 4
enable_activation_checkpointing: True
dtype: bf16
)",
     "model=gemma-2-27b lora_rank=64 lora_dropout=0.0 micro_batch=4 method=lora"},
    {"qwen2_5/72B_lora.yaml",
     R"(model:
  _component_: torchtune.models.qwen2_5.lora_qwen2_5_72b_instruct
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 8
tokenizer: {_component_: torchtune.models.qwen2_5.qwen2_5_tokenizer, max_seq_len: null}
batch_size: 2
optimizer: {_component_: torch.optim.AdamW, fused: True}
dtype: bf16
enable_activation_checkpointing: True
)",
     "model=qwen2.5-72b lora_targets=q,v,o,gate,up,down"},
    {"mistral/7B_full_ppo_low_memory.yaml: an update takes ppo_batch_size samples of 512 and 58 tokens",
     R"(tokenizer: {_component_: torchtune.models.mistral.mistral_tokenizer, max_seq_len: 512}
policy_model: {_component_: torchtune.models.mistral.mistral_7b}
reward_and_value_model: {_component_: torchtune.models.mistral._component_builders.mistral_classifier}
batch_size: 128
num_steps: 10000
ppo_epochs: 1
ppo_batch_size: 128
gradient_accumulation_steps: 1
compile: True
optimizer: {_component_: bitsandbytes.optim.PagedAdamW}
optimizer_in_bwd: True
enable_activation_checkpointing: True
dtype: bf16
forward_batch_size: 128
max_generated_tokens: 58
loss: {_component_: torchtune.rlhf.loss.PPOLoss}
)",
     "algorithm=ppo micro_batch=128 seq=570 compile=1 optimizer=paged-adamw optimizer_in_backward=1"},
    {"llama3_2/8B_to_1B_KD_lora_distributed.yaml: the student is trained",
     R"(tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: null}
model:
  _component_: torchtune.models.llama3_2.lora_llama3_2_1b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 64
teacher_model: {_component_: torchtune.models.llama3_1.llama3_1_8b}
batch_size: 4
gradient_accumulation_steps: 8
optimizer: {_component_: torch.optim.AdamW, fused: True}
enable_activation_checkpointing: False
dtype: bf16
)",
     "model=llama-3.2-1b lora_rank=64 recompute=none grad_accum=8"},
    {"llama2/7B_qat_full.yaml",
     R"(tokenizer: {_component_: torchtune.models.llama2.llama2_tokenizer, max_seq_len: null}
model: {_component_: torchtune.models.llama2.llama2_7b}
batch_size: 2
optimizer: {_component_: torch.optim.AdamW, fused: True}
optimizer_in_bwd: False
enable_activation_checkpointing: True
quantizer: {_component_: torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer, groupsize: 256}
dtype: bf16
)",
     "method=full optimizer_in_backward=0 recompute=full"},
    {"llama3_2_vision/11B_lora.yaml: towers of images, for which no model is known by that name",
     R"(model:
  _component_: torchtune.models.llama3_2_vision.lora_llama3_2_vision_11b
  decoder_trainable: "frozen"
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 8
tokenizer: {_component_: torchtune.models.llama3_2_vision.llama3_2_vision_transform, max_seq_len: 8192}
batch_size: 2
gradient_accumulation_steps: 8
optimizer: {_component_: torch.optim.AdamW, fused: True}
enable_activation_checkpointing: True
dtype: bf16
)",
     "model=- seq=8192 micro_batch=2"},
    {"phi4/14B_lora_single_device.yaml",
     R"(model:
  _component_: torchtune.models.phi4.lora_phi4_14b
  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']
  apply_lora_to_mlp: True
  lora_rank: 8
tokenizer: {_component_: torchtune.models.phi4.phi4_tokenizer, max_seq_len: null}
batch_size: 2
gradient_accumulation_steps: 8
optimizer: {_component_: torch.optim.AdamW, fused: True}
enable_activation_checkpointing: True
enable_activation_offloading: False
dtype: bf16
)",
     "model=phi-4 method=lora lora_rank=8 offload=-"},
};

}  // namespace

TEST_CASE("Configurations that torchtune ships are read as its recipes take them") {
  test::check_public(torchtune_files, "run.yaml", "torchtune configuration");
}
