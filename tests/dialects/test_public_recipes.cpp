// What decides in recipes that people publish of trainers by rewards, of JAX's and of Mosaic's: keys as they write
// them, terms as the trainer's own code takes them.

#include "dialects/read.hpp"

using namespace llmcalc;

namespace {

/// OpenRLHF 0.11.2 cli/train_ppo_ray.py and cli/train_dpo.py.
constexpr test::PublicFile openrlhf_files[] = {
    {"a critic, a reference and an engine on accelerators of their own",
     R"(#!/bin/bash
ray job submit --address="http://127.0.0.1:8265" -- python3 -m openrlhf.cli.train_ppo_ray \
  --ref_num_nodes 4 --ref_num_gpus_per_node 2 --actor_num_nodes 8 --actor_num_gpus_per_node 4 --critic_num_nodes 4 \
  --critic_num_gpus_per_node 4 --vllm_num_engines 1 --vllm_tensor_parallel_size 4 --pretrain Qwen/Qwen2.5-7B-Instruct \
  --remote_rm_url http://0.0.0.0:5001/get_gen_prm --micro_train_batch_size 1 --train_batch_size 64 \
  --prompt_max_len 4096 --generate_max_len 2048 --advantage_estimator gae --zero_stage 3 --bf16
)",
     "algorithm=grpo reference=none gpus=32 nodes=8 seq=6144 sharding=zero3 attention=flash colocate_fraction=-"},
    {"the reference beside the actor",
     R"(#!/bin/bash
python3 -m openrlhf.cli.train_ppo_ray --actor.num_nodes 1 --actor.num_gpus_per_node 4 --train.colocate_actor_ref \
  --vllm.num_engines 4 --actor.model_name_or_path Qwen/Qwen3-4B --algo.advantage.estimator rloo --data.max_len 8192
)",
     "algorithm=grpo reference=model gpus=4 seq=8192 micro_batch=1 global_batch=128 sharding=zero2"},
    {"no penalty, and so no reference",
     R"(#!/bin/bash
python3 -m openrlhf.cli.train_ppo_ray --actor_num_gpus_per_node 8 --colocate_all_models --vllm_num_engines 8 \
  --vllm_gpu_memory_utilization 0.6 --pretrain Qwen/Qwen2.5-7B --advantage_estimator group_norm --init_kl_coef 0
)",
     "algorithm=grpo reference=none colocate_fraction=0.6"},
    {"pairs under adapters, whose reference is whole",
     R"(#!/bin/bash
deepspeed --num_gpus 8 --module openrlhf.cli.train_dpo --pretrain meta-llama/Meta-Llama-3-8B --lora_rank 64 --bf16
)",
     "algorithm=dpo method=lora reference=model lora_targets=all-linear micro_batch=8 gpus=8"},
    {"a launcher whose place a command says",
     R"(#!/bin/bash
BIN="${BIN:-$(command -v deepspeed)}"
cmd=("$BIN" --num_gpus 8 --module openrlhf.cli.train_sft --model.model_name_or_path Qwen/Qwen2.5-Math-7B
  --data.max_len 8192 --train.batch_size 64 --train.micro_batch_size 1 --ds.zero_stage 3 --ds.adam_offload)
"${cmd[@]}"
)",
     "algorithm=sft gpus=8 seq=8192 offload=optimizer attention=flash"},
    {"a reward model, of whose pairs one is passed at a time",
     "deepspeed --module openrlhf.cli.train_rm --model.model_name_or_path Qwen/Qwen3-8B --ds.zero_stage 3\n",
     "algorithm=orpo seq=2048 micro_batch=1 global_batch=128 sharding=zero3"},
};

/// prime-rl packages/prime-rl-configs/src/prime_rl/configs/trainer.py.
constexpr test::PublicFile prime_files[] = {
    {"sections that are there without a key",
     "max_steps = 20\n[model]\nname = \"Qwen/Qwen3-0.6B\"\n[model.ac]\n[model.compile]\n[model.lora]\n"
     "[data]\nseq_len = 4096\nbatch_size = 64\n",
     "recompute=full compile=1 method=lora lora_rank=16 lora_targets=q,k,v,o,gate,up,down seq=4096"},
    {"activations on the host, which asks for checkpoints",
     "[model]\nname = \"Qwen/Qwen3-8B\"\n[model.ac_offloading]\n[data]\nbatch_size = 8\nseq_len = 2048\n",
     "recompute=full offload=activations seq=2048"},
    {"whole layers again and nothing on the host",
     "[model]\nname = \"Qwen/Qwen3-8B\"\nac_offloading = \"None\"\n[model.ac]\nmode = \"full\"\nfreq = 1\n[data]\n"
     "batch_size = 8\nseq_len = 32768\n",
     "recompute=full offload=- seq=32768"},
    {"modules of layers, copies of shards, SGD",
     "seq_len = 8192\n[model]\nname = \"Qwen/Qwen3-8B\"\n[deployment]\nnum_train_gpus = 8\n[trainer.model]\n"
     "dp_replicate = 2\ncp = 2\ncp_style = \"ulysses\"\n[trainer.model.ac]\nmode = \"selective\"\n"
     "targets = [\"norm\"]\n[trainer.optim]\ntype = \"sgd\"\n[orchestrator]\nbatch_size = 128\n",
     "recompute=none sharding=hsdp sharding_group=4 cp=2 cp_exchange=all-to-all optimizer=sgd-momentum gpus=8"},
    {"an earlier file, whose orchestrator says the length",
     "inference_gpu_ids = [0, 1, 2, 3]\ntrainer_gpu_ids = [4, 5]\n[trainer.model.ac]\n[model]\nname = \"a/b\"\n"
     "[orchestrator]\nbatch_size = 1024\nmicro_batch_size = 32\nseq_len = 4096\n",
     "gpus=2 seq=4096 micro_batch=32 recompute=full"},
    {"a release that moves the optimizer and checkpoints layers unasked",
     "[model]\nname = \"Qwen/Qwen3-30B-A3B\"\nep = 8\n[model.moe.dispatch]\ntype = \"torch\"\n[data]\nseq_len = 2048\n"
     "batch_size = 32\n[deployment]\nnum_train_nodes = 4\n",
     "recompute=full offload=optimizer compile=1 loss=- gpus=32 ep=8 global_batch=32"},
    {"its optimizer where it is trained, FP8 products, nothing else unasked",
     "[model]\nname = \"Qwen/Qwen3-8B\"\noffload = \"none\"\nac = \"None\"\nac_offloading = \"None\"\ncompile = "
     "\"None\"\n"
     "fused_lm_head_token_chunk_size = \"disabled\"\n[model.quantization]\ntype = \"fp8\"\n[data]\nbatch_size = "
     "8\n[deployment]\n"
     "num_train_gpus = 8\n",
     "recompute=- offload=- compile=- loss=- compute=fp8-e4m3"},
    {"its optimizer where it is trained, and checkpoints on the host unasked",
     "[model]\nname = \"Qwen/Qwen3-8B\"\noffload = \"none\"\nac = \"None\"\n[data]\nbatch_size = 8\n[deployment]\n"
     "num_train_gpus = 8\n",
     "recompute=full offload=activations loss=fused-linear"},
    {"rewards, of which each release with experts' own keys cuts the head, and the older key of its optimizer",
     "seq_len = 4096\n[model]\nname = \"Qwen/Qwen3-30B-A3B\"\n[trainer.model]\noptim_cpu_offload = false\n"
     "[trainer.model.moe.compute]\ntype = \"deepgemm_fp8\"\n[orchestrator]\nbatch_size = 128\n",
     "algorithm=grpo recompute=full offload=activations loss=fused-linear compile=1 compute=-"},
};

/// NeMo-RL nemo_rl/algorithms/grpo.py, setup, and dpo.py; examples/configs/grpo_math_1B.yaml.
constexpr test::PublicFile nemo_rl_files[] = {
    {"one machine of four generates, experts by themselves, sums in bf16", R"(
grpo: {num_prompts_per_step: 32}
policy:
  model_name: Qwen/Qwen3-30B-A3B
  train_global_batch_size: 256
  train_micro_batch_size: 1
  max_total_sequence_length: 8192
  megatron_cfg: {enabled: true, tensor_model_parallel_size: 4, expert_model_parallel_size: 8,
    expert_tensor_parallel_size: 1, distributed_data_parallel_config: {grad_reduce_in_fp32: false}}
  generation: {colocated: {enabled: false, resources: {num_nodes: 1, gpus_per_node: 8}}}
cluster: {gpus_per_node: 8, num_nodes: 4}
)",
     "gpus=24 nodes=3 etp=1 grads=bf16 reference=none"},
    {"two accelerators of eight generate, the optimizer takes weight by weight", R"(
grpo: {num_prompts_per_step: 32}
policy:
  model_name: Qwen/Qwen3-8B
  train_global_batch_size: 512
  train_micro_batch_size: 4
  max_total_sequence_length: 512
  optimizer: {name: torch.optim.AdamW, kwargs: {foreach: False, fused: False}}
  generation: {colocated: {enabled: false, resources: {gpus_per_node: 2}}}
cluster: {gpus_per_node: 8, num_nodes: 1}
)",
     "gpus=6 nodes=- optimizer_impl=loop sharding=fsdp2 dtype=mixed-bf16"},
    {"pairs, whose reference has its own pass", R"(
dpo: {val_period: 50}
policy: {model_name: meta-llama/Llama-3.1-8B-Instruct, train_global_batch_size: 256, train_micro_batch_size: 1,
  max_total_sequence_length: 8192, megatron_cfg: {enabled: true, tensor_model_parallel_size: 4}}
cluster: {gpus_per_node: 8, num_nodes: 4}
)",
     "algorithm=dpo reference=precomputed tp=4 gpus=32"},
};

/// slime slime/utils/arguments.py, beside Megatron-LM's own arguments.
constexpr test::PublicFile slime_files[] = {
    {"positions of Megatron-LM, a critic of its own",
     R"(#!/bin/bash
ray job submit -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 4 --critic-num-gpus-per-node 4 \
  --num-layers 36 --hidden-size 2560 --ffn-hidden-size 9728 --num-attention-heads 32 --swiglu \
  --use-rotary-position-embeddings --disable-bias-linear --vocab-size 151936 --hf-checkpoint Qwen/Qwen3-4B \
  --advantage-estimator ppo --rollout-max-response-len 8192 --global-batch-size 256 --use-kl-loss
)",
     "position=rope algorithm=grpo reference=none gpus=4 bias=none"},
    {"answers without an end, which take as many tokens as the engine's context leaves",
     "python3 train.py --hf-checkpoint Qwen/Qwen3-4B --advantage-estimator grpo --rollout-max-prompt-len 1024\n",
     "model=Qwen3-4B algorithm=grpo seq=-"},
};

/// MaxText configs/base.yml, max_utils.py (get_individual_scales), layers/decoders.py (get_remat_policy).
constexpr test::PublicFile maxtext_files[] = {
    {"a scale of 32: 8192 wide, 32 layers, 64 heads",
     R"(#!/bin/bash
python3 MaxText/train.py MaxText/configs/base.yml steps=150 per_device_batch_size=4 remat_policy=full \
  max_target_length=2048 global_parameter_scale=32
)",
     "hidden=8192 layers=32 heads=64 kv_heads=64 ffn=28672 vocab=32000 head_dim=128 recompute=full recompute_kept=-"},
    {"widths of one's own, the rest of base.yml",
     R"(#!/bin/bash
python3 -m maxtext.trainers.pre_train.train base.yml max_target_length=2048 base_emb_dim=2048 base_num_kv_heads=4 \
  base_num_decoder_layers=24 ici_fsdp_parallelism=4 remat_policy=save_dot_except_mlpwi per_device_batch_size=1
)",
     "hidden=2048 layers=24 heads=16 kv_heads=4 ffn=7168 recompute=full recompute_kept=query,key,value,out,down"},
    {"copies over slices, shards in two directions",
     R"(#!/bin/bash
python MaxText/train.py MaxText/configs/base.yml model_name=llama2-70b per_device_batch_size=4 max_target_length=4096 \
  remat_policy=save_qkv_proj ici_fsdp_parallelism=8 dcn_fsdp_parallelism=16 dcn_data_parallelism=8
)",
     "gpus=1024 sharding_group=128 recompute_kept=query,key,value"},
    {"one by one, the layer's input to the host",
     R"(#!/bin/bash
python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-8b per_device_batch_size=2 \
  remat_policy=custom decoder_layer_input=offload out_proj=device mlpwi_0=device query_proj=offload
)",
     "recompute=full recompute_kept=out,gate offload=activations"},
};

/// llm-foundry 0.22.0 models/utils/config_defaults.py, command_utils/train.py.
constexpr test::PublicFile foundry_files[] = {
    {"one head of keys and values, an evaluation", R"(
max_seq_len: 2048
model: {name: mpt_causal_lm, d_model: 4096, n_heads: 32, n_layers: 32, vocab_size: 50368,
  attn_config: {attn_impl: flash, attn_type: multiquery_attention}}
eval_loader: {name: text}
global_train_batch_size: 1024
device_eval_batch_size: 16
device_train_microbatch_size: 4
)",
     "kv_heads=1 eval_batch=16 micro_batch=4 attention=flash sharding=-"},
    {"a model of the Hub with its kernel", R"(
max_seq_len: 4096
model: {name: hf_causal_lm, pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf, use_flash_attention_2: false}
global_train_batch_size: 64
device_eval_batch_size: 8
)",
     "attention=eager eval_batch=- micro_batch=-"},
};

/// EleutherAI/gpt-neox megatron/neox_arguments/neox_args.py: expert_interval 2, moe_top_k 1.
constexpr test::PublicFile neox_files[] = {
    {"experts in every second layer", R"({
  "num_experts": 4, "pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 12, "hidden_size": 768,
  "num_attention_heads": 12, "seq_length": 2048, "pos_emb": "rotary", "moe_expert_parallel_size": 2,
  "train_micro_batch_size_per_gpu": 4, "fp16": {"enabled": true}})",
     "experts=4 top_k=1 moe_every=2 ep=2 dtype=fp16"},
    {"a part without the model", R"({
  "zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 4, "checkpoint_activations": true,
  "checkpoint_num_layers": 1, "fp16": {"enabled": true}, "mlp_multiple_of": 256, "finetune": true})",
     "recompute=uniform-1 sharding=zero1 experts=- ep=-"},
};

/// Levanter 1.1 config/gpt2_7b.yaml, config/llama2_7b_continued.yaml.
constexpr test::PublicFile levanter_files[] = {
    {"a GPT-2 of 7B", R"(
data: {tokenizer: gpt2}
model: {type: gpt2, hidden_dim: 4096, num_heads: 32, num_layers: 32, seq_len: 2048, gradient_checkpointing: true}
trainer: {mp: "p=f32,c=bfloat16", model_axis_size: 1, per_device_parallelism: -1, train_batch_size: 1024}
)",
     "hidden=4096 ffn=16384 layers=32 vocab=50257 position=learned seq=2048 grad_accum=1 global_batch=1024 "
     "dtype=mixed-bf16 framework=maxtext"},
    {"Llama 2 from its checkpoint", R"(
data: {id: EleutherAI/pile, tokenizer: meta-llama/Llama-2-7b-hf}
model: {type: llama}
initialize_from_hf: true
use_hf_model_config: true
trainer: {mp: "p=f32,c=bfloat16", per_device_parallelism: 4, train_batch_size: 1024, num_train_steps: 10000}
)",
     "model=meta-llama/Llama-2-7b-hf micro_batch=4 eval_batch=4 seq=2048 steps=10000 hidden=-"},
    {"adapters on MPT", R"(
data: {tokenizer: EleutherAI/gpt-neox-20b}
initialize_from_hf: "mosaicml/mpt-7b@68e1a8e0ebb9b30f3c45c1ef6195980f29063ae2"
lora: {r: 32, alpha: 32.0, target_modules: ["q_proj"]}
trainer: {mp: "p=f32,c=bfloat16", per_device_parallelism: 4, train_batch_size: 1024}
)",
     "model=mosaicml/mpt-7b method=lora lora_rank=32 lora_targets=q"},
};

/// podman-systemd.unit(5), systemd.exec(5).
constexpr test::PublicFile unit_files[] = {
    {"a container of podman's with two cards", R"(
[Unit]
Description=vllm
[Container]
Exec=--model meta-llama/Llama-3.1-8B-Instruct \
  --max-model-len 8192 --tensor-parallel-size 2
Image=docker.io/vllm/vllm-openai:v0.8.5
AddDevice=nvidia.com/gpu=0
AddDevice=nvidia.com/gpu=1
Environment=HF_TOKEN=x
[Service]
Restart=always
)",
     "model=meta-llama/Llama-3.1-8B-Instruct context=8192 gpus=2 tp=2 engine_version=0.8.5"},
    {"variables in quotes", R"(
[Service]
Environment="CUDA_VISIBLE_DEVICES=0,1" "LEN=4096"
ExecStart=/opt/venv/bin/vllm serve Qwen/Qwen2.5-7B-Instruct -tp 2 --max-model-len ${LEN}
)",
     "gpus=2 context=4096"},
    {"variables behind the command", R"(
[Service]
ExecStart=/opt/venv/bin/vllm serve Qwen/Qwen2.5-7B-Instruct -tp 4 --max-model-len ${LEN}
Restart=always
Environment="CUDA_VISIBLE_DEVICES=0,1,2,3"
Environment="LEN=8192"
)",
     "gpus=4 context=8192"},
};

/// production-stack helm/templates/ray-cluster.yaml: pods with requestGPU each.
constexpr test::PublicFile ray_files[] = {
    {"two stages on two pods", R"(
servingEngineSpec:
  modelSpec:
  - {name: a, repository: vllm/vllm-openai, tag: v0.8.5, modelURL: facebook/opt-125m, replicaCount: 2, requestGPU: 1,
     vllmConfig: {tensorParallelSize: 1, pipelineParallelSize: 2}, raySpec: {enabled: true}}
)",
     "gpus=2 pp=2 engine_version=0.8.5"},
};

/// Dynamo deploy/*.yaml: tags of Dynamo's images are Dynamo's releases.
constexpr test::PublicFile dynamo_files[] = {
    {"a decoding worker", R"(
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    VllmDecodeWorker:
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.5.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-32B, --tensor-parallel-size, "2"]
)",
     "model=Qwen/Qwen3-32B tp=2 engine_version=-"},
};

constexpr test::PublicFile dynamo_trtllm_files[] = {
    {"TensorRT-LLM's worker", R"(#!/bin/bash
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-8B --max-seq-len 8192 --free-gpu-memory-fraction 0.8
)",
     "model=Qwen/Qwen3-8B context=8192 memory_fraction=0.8"},
};

/// docs.docker.com/compose/how-tos/gpu-support; vllm/model_executor/layers/quantization/modelopt.py,
/// override_quantization_method: which of ModelOpt's schemes it is, the checkpoint says.
constexpr test::PublicFile published_composes[] = {
    {"accelerators as one text", R"(
services:
  vllm:
    image: vllm/vllm-openai:latest
    deploy: {resources: {reservations: {devices: [{capabilities: [gpu], device_ids: ['0,1,2,3,4,5,6,7']}]}}}
    command: --model ${MODEL:-Infermatic/Llama-3.3-70B-Instruct-FP8-Dynamic} --tensor-parallel-size ${TP:-8}
)",
     "gpus=8 tp=8"},
    {"a login shell", R"(
services:
  vllm:
    image: rocm/vllm:latest
    entrypoint: []
    command: ["bash", "-lc", "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2"]
)",
     "model=Qwen/Qwen3-8B tp=2"},
    {"ModelOpt's 4 bits under its common name", R"(
services:
  vllm:
    image: vllm/vllm-openai:v0.19.1
    command: --model nvidia/Qwen3.6-27B-NVFP4 --quantization modelopt --max-model-len 65536
)",
     "quant=nvfp4"},
    {"and its 8 bits", R"(
services:
  vllm:
    image: vllm/vllm-openai:v0.19.1
    command: --model nvidia/Llama-3.1-8B-Instruct-FP8 --quantization modelopt
)",
     "quant=fp8"},
};

}  // namespace

TEST_CASE("Recipes of trainers by rewards are read as those trainers take them") {
  test::check_public(openrlhf_files, "run.sh", "OpenRLHF options");
  test::check_public(prime_files, "run.toml", "prime-rl configuration");
  test::check_public(nemo_rl_files, "run.yaml", "NeMo-RL configuration");
  test::check_public(slime_files, "run.sh", "slime arguments");
}
TEST_CASE("Recipes of JAX's trainers, Mosaic's and GPT-NeoX's are read as those take them") {
  test::check_public(maxtext_files, "run.sh", "MaxText configuration");
  test::check_public(levanter_files, "run.yaml", "Levanter configuration");
  test::check_public(foundry_files, "run.yaml", "llm-foundry configuration");
  test::check_public(neox_files, "run.yml", "GPT-NeoX configuration");
}
TEST_CASE("Units, charts and manifests of servers are read as what starts them takes them") {
  test::check_public(unit_files, "vllm.container", "vLLM command");
  test::check_public(published_composes, "compose.yaml", "vLLM command");
  test::check_public(ray_files, "values.yaml", "vLLM command");
  test::check_public(dynamo_files, "agg.yaml", "vLLM command");
  test::check_public(dynamo_trtllm_files, "agg.sh", "trtllm-serve command");
  for (const std::string image : {"lmcache/vllm-openai:v0.3.7", "kserve/huggingfaceserver:v0.15.0", "me/vllm:1.2.3"}) {
    const auto reading =
        test::read_alone("services: {a: {image: '" + image + "', command: vllm serve m}}", "compose.yaml");
    test::check_terms(reading, "engine_version=-");
  }
}
