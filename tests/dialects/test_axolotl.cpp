// Files of axolotl as people publish them, in model cards and repositories: what of them decides, and what axolotl
// 0.19.0 takes for it (utils/schemas, utils/config, loaders/adapter.py, loaders/model.py, core/builders).

#include "dialects/read.hpp"

using namespace llmcalc;

namespace {

constexpr test::PublicFile axolotl_files[] = {
    {"Llama 3 8B on a stream, of which no part is kept for evaluation; fp16 beside bf16 auto is fp16 (issue 1597)",
     R"(base_model: meta-llama/Meta-Llama-3-8B
load_in_4bit: true
pretraining_dataset:
   - path: dummy_dataset
     type: completion
val_set_size: 0.3
adapter: qlora
sequence_len: 8192
sample_packing: false
lora_r: 16
lora_dropout: 0
lora_target_modules: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
lora_target_linear: true
gradient_accumulation_steps: 1
micro_batch_size: 8
optimizer: paged_adamw_32bit
bf16: auto
fp16: true
gradient_checkpointing: true
flash_attention: true
max_steps: 100
)",
     "dtype=fp16 eval_batch=- method=qlora weights=nf4-dq lora_targets=all-linear optimizer=paged-adamw seq=8192 "
     "micro_batch=8 recompute=full attention=flash steps=100"},
    {"Dolphin 2.9.1 Yi 1.5 34B, in its card",
     R"(base_model: 01-ai/Yi-1.5-34B
val_set_size: 0.01
sequence_len: 8192
sample_packing: true
pad_to_sequence_len: true
gradient_accumulation_steps: 8
micro_batch_size: 1
optimizer: adamw_8bit
bf16: auto
fp16:
gradient_checkpointing: true
flash_attention: true
deepspeed: /workspace/axolotl/deepspeed_configs/zero3_bf16.json
)",
     "method=- dtype=mixed-bf16 sharding=zero3 optimizer=adamw-8bit grad_accum=8 eval_batch=1 attention=flash"},
    {"Qwen2.5 14B of a robot's physics, in its card; max_seq_length is no key of axolotl's",
     R"(base_model: Qwen/Qwen2.5-14B-Instruct
load_in_4bit: true
val_set_size: 0.15
adapter: qlora
sequence_len: 2048
sample_packing: true
lora_r: 16
lora_dropout: 0.05
lora_target_linear: true
gradient_accumulation_steps: 8
micro_batch_size: 1
optimizer: adamw_bnb_8bit
bf16: auto
gradient_checkpointing: true
flash_attention: true
max_steps: 50
max_seq_length: 4096
)",
     "seq=2048 weights=nf4-dq optimizer=adamw-8bit eval_batch=1 dtype=bf16 steps=50 lora_rank=16"},
    {"FinLoRA, sentiment_llama_3_1_8b_fp16_r8",
     R"(base_model: meta-llama/Llama-3.1-8B-Instruct
gradient_accumulation_steps: 2
micro_batch_size: 8
optimizer: adamw_torch_fused
load_in_8bit: false
load_in_4bit: false
adapter: lora
lora_r: 8
lora_dropout: 0.05
lora_target_modules:
- q_proj
- k_proj
- v_proj
val_set_size: 0.02
sequence_len: 4096
gradient_checkpointing: true
deepspeed: deepspeed_configs/zero1.json
bf16: auto
)",
     "method=lora weights=- lora_targets=q,k,v sharding=zero1 dtype=bf16 optimizer_impl=fused eval_batch=8"},
    {"FinLoRA, sentiment_llama_3_1_8b_8bits_r8_dora: norms of eight bits",
     R"(base_model: meta-llama/Llama-3.1-8B-Instruct
gradient_accumulation_steps: 2
micro_batch_size: 8
optimizer: adamw_bnb_8bit
load_in_8bit: true
load_in_4bit: false
adapter: lora
lora_r: 8
lora_target_modules:
- q_proj
- v_proj
- k_proj
val_set_size: 0.02
peft_use_dora: true
sequence_len: 4096
bf16: auto
gradient_checkpointing: true
flash_attention: false
deepspeed: deepspeed_configs/zero1.json
)",
     "method=dora weights=int8 lora_targets=q,v,k sharding=zero1 attention=- optimizer=adamw-8bit"},
    {"a chat of one's own messages: DoRA over NF4, token table and head trained whole",
     R"(base_model: NousResearch/Meta-Llama-3.1-8B
load_in_4bit: true
val_set_size: 0.005
sequence_len: 4096
sample_packing: true
adapter: qlora
lora_r: 64
lora_target_linear: true
lora_modules_to_save:
  - embed_tokens
  - lm_head
peft_use_dora: true
micro_batch_size: 1
gradient_accumulation_steps: 2
optimizer: adamw_bnb_8bit
bf16: true
gradient_checkpointing: true
flash_attention: true
deepspeed: /path/to/deepspeed_configs/zero2.json
)",
     "method=dora weights=nf4-dq modules_to_save=embed,head lora_rank=64 sharding=zero2"},
    {"a coder's first stage: adapter lora over four bits",
     R"(base_model: Qwen/Qwen2.5-Coder-7B-Instruct
load_in_4bit: true
adapter: lora
lora_r: 32
lora_dropout: 0.05
peft_use_dora: true
lora_target_modules: [q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]
sequence_len: 8192
sample_packing: true
micro_batch_size: 1
)",
     "method=dora weights=nf4-dq lora_targets=q,k,v,o,gate,up,down seq=8192 dtype=-"},
    {"DoRA of rank 256 on every linear layer, and on the tables that are named beside",
     R"(base_model: meta-llama/Meta-Llama-3-8B
val_set_size: 0.02
sequence_len: 8192
bf16: auto
load_in_8bit: false
load_in_4bit: false
peft_use_dora: true
adapter: lora
lora_r: 256
lora_dropout: 0.1
lora_target_linear: true
lora_target_modules:
  - embed_tokens
  - lm_head
optimizer: paged_adamw_8bit
micro_batch_size: 2
eval_batch_size: 2
)",
     "method=dora weights=- lora_targets=all-linear,embed,head lora_rank=256 optimizer=paged-adamw-8bit eval_batch=2"},
    {"Mistral 7B code, in its card",
     R"(base_model: mistralai/Mistral-7B-Instruct-v0.1
load_in_8bit: false
load_in_4bit: true
val_set_size: 0.01
adapter: qlora
sequence_len: 16384
sample_packing: true
lora_r: 32
lora_target_modules:
lora_target_linear: true
gradient_accumulation_steps: 2
micro_batch_size: 1
optimizer: paged_adamw_32bit
bf16: true
fp16: false
gradient_checkpointing: true
flash_attention: true
)",
     "lora_targets=all-linear seq=16384 dtype=bf16 weights=nf4-dq"},
    {"completion of lines of text: no type is said, and bf16 is auto",
     R"(base_model: mistralai/Mistral-7B-Instruct-v0.3
load_in_8bit: true
gradient_checkpointing: true
val_set_size: 0.01
sequence_len: 512
adapter: lora
lora_r: 8
lora_target_modules: [q_proj, v_proj, k_proj, o_proj, gate_proj, up_proj, down_proj]
micro_batch_size: 2
gradient_accumulation_steps: 4
optimizer: adamw_bnb_8bit
)",
     "method=qlora weights=int8 dtype=- seq=512"},
    {"a shell's completions on a Mac: neither bf16 nor fp16",
     R"(base_model: Qwen/Qwen2-0.5B
val_set_size: 0.0
adapter: lora
lora_r: 8
lora_target_modules: [q_proj, v_proj]
lora_modules_to_save: [embed_tokens, lm_head]
sequence_len: 512
sample_packing: true
micro_batch_size: 1
gradient_accumulation_steps: 8
optimizer: adamw_torch
load_in_4bit: true
bf16: false
fp16: false
gradient_checkpointing: true
fp8: false
)",
     "dtype=fp32 weights=nf4-dq method=qlora eval_batch=- optimizer_impl=foreach modules_to_save=embed,head"},
    {"Qwen3.5 2B of a generated file",
     R"(base_model: Qwen/Qwen3.5-2B
load_in_8bit: false
load_in_4bit: false
val_set_size: 0.05
adapter: lora
lora_r: 16
lora_target_linear: true
sequence_len: 2048
sample_packing: true
gradient_accumulation_steps: 8
micro_batch_size: 1
optimizer: adamw_bnb_8bit
bf16: auto
fp16: false
gradient_checkpointing: true
flash_attention: true
)",
     "method=lora dtype=bf16 lora_targets=all-linear eval_batch=1"},
    {"examples/alst/llama3-8b-fsdp2-alst.yaml 0c0abdd9: inputs of layers leave in the old way",
     R"(base_model: meta-llama/Llama-3.1-8B
val_set_size: 0.0
sequence_len: 500_000
sample_packing: true
tiled_mlp: true
sequence_parallel_degree: 8
plugins:
  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin
micro_batch_size: 1
gradient_accumulation_steps: 1
optimizer: adamw_torch_8bit
bf16: auto
gradient_checkpointing: true
activation_offloading: legacy
flash_attention: true
fsdp_version: 2
fsdp_config:
  offload_params: false
  reshard_after_forward: true
)",
     "offload=activations cp=8 sharding=fsdp2 loss=cut dtype=bf16 recompute=full optimizer=torchao-adamw-8bit"},
    {"examples/distributed-parallel/llama-3_1-8b-hsdp-tp.yaml 254e2bec: FSDP2 leaves weights in bf16",
     R"(base_model: meta-llama/Llama-3.1-8B
plugins:
  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin
dp_shard_size: 4
dp_replicate_size: 2
tensor_parallel_size: 2
fsdp_version: 2
fsdp_config:
  offload_params: false
  reshard_after_forward: true
sequence_len: 2048
sample_packing: true
flash_attention: true
gradient_accumulation_steps: 1
micro_batch_size: 1
optimizer: adamw_torch_fused
bf16: true
)",
     "gpus=16 tp=2 sharding=hsdp sharding_group=4 dtype=bf16 loss=cut"},
    {"examples/gemma4/26b-a4b-moe-qlora.yaml 0cd5f8b6: compiled, experts' adapters by their parameters",
     R"(base_model: google/gemma-4-26B-A4B
plugins:
  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin
  - axolotl.integrations.liger.LigerPlugin
torch_compile: true
liger_rms_norm: true
val_set_size: 0.05
sequence_len: 2048
sample_packing: true
load_in_4bit: true
quantize_moe_experts: true
adapter: qlora
lora_r: 16
lora_dropout: 0
lora_target_modules: 'model.language_model.layers.[\d]+.(mlp|self_attn).(up|down|gate|q|k|v|o)_proj'
lora_target_parameters:
  - experts.gate_up_proj
  - experts.down_proj
gradient_accumulation_steps: 4
micro_batch_size: 1
optimizer: adamw_torch_8bit
bf16: auto
gradient_checkpointing: true
activation_offloading: true
attn_implementation: flash_attention_2
)",
     "compile=1 fused_kernels=1 loss=cut offload=activations target_parameters=gate,up,down attention=flash"},
};

}  // namespace

TEST_CASE("Files of axolotl are read as axolotl takes them") {
  test::check_public(axolotl_files, "axolotl.yml", "axolotl configuration");
}
