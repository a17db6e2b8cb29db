// What public files that were drawn blind had been misread in, or refused though it stands there: keys as their
// authors write them, terms as the trainer's own code takes them.

#include "dialects/read.hpp"
#include "llmcalc/quantity/error.hpp"

#include <string>

using namespace llmcalc;

namespace {

/// prime-rl packages/prime-rl-configs/src/prime_rl/configs/{rl,sft,trainer}.py.
constexpr test::PublicFile prime_files[] = {
    {"a run on several machines, whose optimizer and activations lie on the host",
     "seq_len = 65536\n[deployment]\ntype = \"multi_node\"\nnum_train_nodes = 2\nnum_infer_nodes = 1\n[model]\n"
     "name = \"zai-org/GLM-4.5-Air\"\n[trainer.model]\nattn = \"flash_attention_3\"\ncp = 8\ncp_style = \"ulysses\"\n"
     "fused_lm_head_token_chunk_size = 1024\noptim_cpu_offload = true\n[trainer.model.ac]\n"
     "[trainer.model.ac_offloading]\nmax_inflight_activations = 1\n[trainer.optim]\ntype = \"muon\"\n"
     "[orchestrator]\nbatch_size = 256\n",
     "gpus=16 nodes=2 offload=optimizer loss=fused-linear cp=8 recompute=full optimizer=muon seq=65536"},
    {"machines of a size of their own",
     "max_steps = 6\nseq_len = 32768\n[model]\nname = \"zai-org/GLM-5\"\n[deployment]\ntype = \"multi_node\"\n"
     "num_train_nodes = 16\nnum_infer_nodes = 2\ngpus_per_node = 4\n[trainer.model]\nep = 16\n[orchestrator]\n"
     "batch_size = 256\n",
     "gpus=64 nodes=16 ep=16 steps=6"},
    {"supervised, with the machines it says",
     "[model]\nname = \"google/gemma-4-26B-A4B-it\"\n[data]\nbatch_size = 8\nseq_len = 2048\n[deployment]\n"
     "num_gpus = 8\n",
     "algorithm=sft gpus=8 global_batch=8"},
    {"a trainer alone, for adapters of several runs",
     "max_concurrent_runs = 4\n[model]\nname = \"PrimeIntellect/Qwen3-0.6B\"\nseq_len = 65536\n"
     "fused_lm_head_token_chunk_size = 1024\n[model.ac]\n[model.lora]\nrank = 8\n",
     "lora_rank=8 recompute=full seq=65536"},
};

/// slime slime/utils/arguments.py and miles' examples/multi_lora.
constexpr test::PublicFile slime_files[] = {
    {"a server of the teacher's beside the training",
     R"(#!/bin/bash
CUDA_VISIBLE_DEVICES=3 python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 1 --mem-fraction-static 0.6 &
PERF_ARGS=(--use-dynamic-batch-size --max-tokens-per-gpu 8192)
ray job submit --address="http://127.0.0.1:8265" -- python3 train.py --hf-checkpoint Qwen/Qwen3-8B \
  --train-backend fsdp --gradient-checkpointing --advantage-estimator grpo --rollout-batch-size 16 \
  --n-samples-per-prompt 4 --rollout-max-response-len 16384 --global-batch-size 64 --actor-num-nodes 1 \
  --actor-num-gpus-per-node 2 ${PERF_ARGS[@]} &
)",
     "model=Qwen3-8B framework=torch gpus=2 recompute=full global_batch=64 sharding=fsdp2"},
    {"adapters that no switch asks for",
     R"(ray job submit -- python3 examples/multi_lora/train_multi_lora.py --actor-num-gpus-per-node 8 --colocate \
  --hf-checkpoint /root/Qwen3-4B/ --lora-rank 32 --target-modules "all-linear" --multi-lora-n-adapters 4 \
  --rollout-batch-size 32 --n-samples-per-prompt 8 --num-steps-per-rollout 2 --advantage-estimator grpo \
  --rollout-max-response-len 4096
)",
     "method=lora lora_rank=32 lora_targets=all-linear global_batch=128 gpus=8"},
};

/// QwenLM/Qwen2 examples/sft/finetune.py, lm-sys/FastChat fastchat/train/train_lora.py, yuanzhoulvpi2017/zero_nlp.
constexpr test::PublicFile loop_files[] = {
    {"weights in 4 bits by a switch of one's own",
     "deepspeed finetune.py --model_name_or_path Qwen/Qwen2-7B-Instruct --bf16 True --per_device_train_batch_size 2 "
     "--model_max_length 512 --use_lora True --q_lora True --gradient_checkpointing --deepspeed ds_config_zero2.json\n",
     "method=qlora weights=nf4-dq sharding=zero2 offload=- seq=512 recompute=full"},
    {"adapters by that switch, and a file that says what it leaves out",
     "deepspeed --include localhost:0,1 train_sft.py --deepspeed ds_zero2_no_offload.json --use_lora true "
     "--model_name_or_path a/b --fp16 true --per_device_train_batch_size 4 --model_max_length 2048\n",
     "method=lora weights=- sharding=zero2 offload=- gpus=2 dtype=fp16"},
    {"all weights, with states on the host",
     "deepspeed train_sft.py --deepspeed ds_zero2_offload.json --use_lora false --model_name_or_path a/b "
     "--per_device_train_batch_size 4 --model_max_length 2048\n",
     "method=- sharding=zero2 offload=optimizer"},
};

/// litgpt litgpt/config.py, litgpt/pretrain.py, litgpt/finetune/lora.py.
constexpr test::PublicFile litgpt_files[] = {
    {"a model of one's own, which counts before its name",
     "model_name: Qwen3-30B-A3B-Base\nmodel_config:\n  name: Qwen3-30B-A3B\n  block_size: 40960\n  head_size: 128\n"
     "  padded_vocab_size: 151936\n  n_layer: 48\n  n_head: 32\n  n_embd: 2048\n  n_query_groups: 4\n  bias: false\n"
     "  norm_class_name: RMSNorm\n  mlp_class_name: LLaMAMoE\n  intermediate_size: 6144\n"
     "  moe_intermediate_size: 768\n  norm_qk: true\n  n_expert: 128\n  n_expert_per_token: 8\ntrain:\n"
     "  max_seq_length: 4096\n  micro_batch_size: 4\n  global_batch_size: 128\n  activation_checkpointing: true\n"
     "optimizer:\n  class_path: torch.optim.AdamW\nprecision: bf16-mixed\n",
     "model=- layers=48 hidden=2048 kv_heads=4 experts=128 top_k=8 expert_ffn=768 recompute=full qk_norm=per-head"},
    {"layers as GPT-2 has them",
     "model_name: gpt2-124M\nmodel_config:\n  name: gpt2-124M\n  block_size: 512\n  padded_vocab_size: 50304\n"
     "  n_layer: 12\n  n_head: 12\n  n_embd: 768\n  norm_class_name: LayerNorm\n  mlp_class_name: GptNeoxMLP\n"
     "  bias: false\nprecision: bf16-mixed\ntrain:\n  max_seq_length: 512\n  micro_batch_size: 16\n"
     "  global_batch_size: 16\noptimizer:\n  class_path: torch.optim.AdamW\n",
     "layers=12 hidden=768 vocab=50304 mlp=gelu norm=layernorm bias=none dtype=mixed-bf16"},
};

/// llm-foundry llmfoundry/models/hf/hf_causal_lm.py: config_overrides.
constexpr test::PublicFile foundry_files[] = {
    {"a shape that counts before the named model's",
     "max_seq_len: 2048\nmodel:\n  name: hf_causal_lm\n  pretrained_model_name_or_path: mistralai/Mistral-7B-v0.1\n"
     "  config_overrides:\n    intermediate_size: 4032\n    hidden_size: 1152\n    num_attention_heads: 16\n"
     "    num_hidden_layers: 16\n    num_key_value_heads: 4\n    vocab_size: 32768\n    sliding_window: 2048\n"
     "  pretrained: false\nglobal_train_batch_size: 512\ndevice_train_microbatch_size: 16\nprecision: amp_bf16\n",
     "model=mistralai/Mistral-7B-v0.1 layers=16 hidden=1152 heads=16 kv_heads=4 ffn=4032 vocab=32768"},
    {"adapters of DoRA's",
     "max_seq_len: 2048\nmodel:\n  name: hf_causal_lm\n  pretrained_model_name_or_path: HuggingFaceTB/SmolLM2-135M\n"
     "  peft_config: {r: 256, peft_type: LORA, target_modules: [q_proj, v_proj], use_dora: true}\n"
     "global_train_batch_size: 256\ndevice_train_microbatch_size: 16\nprecision: amp_bf16\n",
     "method=dora lora_rank=256 lora_targets=q,v"},
};

/// AMD-AGI/Primus primus/modules/trainer and its examples.
constexpr test::PublicFile primus_files[] = {
    {"adapters by Megatron-Bridge",
     "work_group: amd\nmodules:\n  post_trainer:\n    framework: megatron_bridge\n    config: sft_trainer.yaml\n"
     "    model: qwen3_8b.yaml\n    overrides:\n      tensor_model_parallel_size: 1\n      train_iters: 1000\n"
     "      global_batch_size: 128\n      micro_batch_size: 1\n      seq_length: 2048\n      peft: lora\n"
     "      precision_config: bf16_mixed\n",
     "framework=megatron-bridge model=qwen3_8b method=lora lora_rank=32 seq=2048 global_batch=128 sharding=zero1"},
};

/// NVIDIA-NeMo/Automodel examples.
constexpr test::PublicFile automodel_files[] = {
    {"products in 8 bits of Transformer Engine",
     "recipe: BenchmarkingRecipeForNextTokenPrediction\nstep_scheduler: {global_batch_size: 64, local_batch_size: 1}\n"
     "distributed: {strategy: fsdp2, ep_size: 64, activation_checkpointing: true}\nmodel:\n"
     "  config: {pretrained_model_name_or_path: deepseek-ai/DeepSeek-V3}\n"
     "  backend: {attn: te, te_fp8: {recipe: mxfp8}}\ndataset: {seq_len: 4096}\n"
     "optimizer: {_target_: torch.optim.Adam}\n",
     "compute=mxfp8 ep=64 recompute=full seq=4096"},
    {"master weights and moments of the optimizer's own",
     "step_scheduler: {global_batch_size: 64, local_batch_size: 1}\ndistributed: {strategy: fsdp2}\nmodel:\n"
     "  pretrained_model_name_or_path: Qwen/Qwen3-8B\n  torch_dtype: bfloat16\noptimizer:\n"
     "  _target_: transformer_engine.pytorch.optimizers.fused_adam.FusedAdam\n  master_weights: true\n"
     "  exp_avg_dtype: torch.float32\n  exp_avg_sq_dtype: torch.float32\n",
     "dtype=bf16 master_weights=1 optimizer_states=fp32 optimizer=adamw"},
    {"batches of tokens",
     "step_scheduler: {global_batch_size: 64, local_batch_size: 8}\ndistributed: {strategy: fsdp2}\n"
     "model: {pretrained_model_name_or_path: Qwen/Qwen3-4B}\ndataset: {seq_length: 4096}\n"
     "dataloader:\n  dynamic_batching: {max_tokens_per_batch: 16384, max_batch_size: 64}\n"
     "optimizer: {_target_: torch.optim.AdamW}\n",
     "micro_batch=4 global_batch=64 seq=4096"},
};

/// NVIDIA/NeMo-Framework-Launcher launcher_scripts/conf/training; NeMo's megatron_gpt_model.py and nlp_overrides.py.
constexpr test::PublicFile nemo_files[] = {
    {"grok/grok1_proxy.yaml: experts, a gate of GELU, and a tokenizer that says how many rows the table has",
     "trainer: {num_nodes: 8, devices: 8, precision: bf16}\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 1024\n"
     "  tensor_model_parallel_size: 2\n  expert_model_parallel_size: 8\n  encoder_seq_length: 8192\n  num_layers: 64\n"
     "  hidden_size: 6144\n  ffn_hidden_size: 32768\n  num_attention_heads: 48\n  bias: false\n"
     "  activation: fast-geglu\n  position_embedding_type: rope\n  moe_router_topk: 2\n  num_moe_experts: 8\n"
     "  num_query_groups: 8\n  tokenizer: {library: huggingface, type: meta-llama/Meta-Llama-3-70B}\n"
     "  megatron_amp_O2: true\n  use_flash_attention: true\n  optim: {name: mcore_distributed_optim}\n",
     "experts=8 top_k=2 mlp=geglu vocab=128256 sharding=zero1 attention=flash gpus=64 ep=8 tp=2 seq=8192"},
    {"gpt3/175b_fp8_performance.yaml: a product of another value, and gradients in the optimizer's type",
     "trainer: {num_nodes: 128, devices: 8, precision: bf16}\nmodel:\n  global_batch_size: 2048\n"
     "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 8\n  virtual_pipeline_model_parallel_size: 12\n"
     "  num_layers: 96\n  hidden_size: 12288\n  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
     "  num_attention_heads: 96\n  fp8: true\n  megatron_amp_O2: true\n"
     "  optim: {name: distributed_fused_adam, grad_sync_dtype: bf16}\n",
     "ffn=49152 grads=bf16 vpp=12 sharding=zero1 compute=fp8-e4m3 gpus=1024"},
    {"baichuan2/baichuan2_13b.yaml: slopes instead of positions",
     "trainer: {num_nodes: 32, devices: 8, precision: bf16}\nmodel: {tensor_model_parallel_size: 2, num_layers: 40,\n"
     "  hidden_size: 5120, num_attention_heads: 40, activation: fast-swiglu, position_embedding_type: ALiBi}\n",
     "position=alibi mlp=swiglu"},
};

/// NVIDIA-NeMo/Megatron-Bridge examples, scripts/training/run_recipe.py and training/config.py; NeMo 2's
/// collections/llm.
constexpr test::PublicFile recipe_files[] = {
    {"nemotron_3/ultra/slurm_pretrain.sh: all of it on the command line",
     "#!/bin/bash\n#SBATCH --nodes=48\n#SBATCH --gpus-per-node=8\nRECIPE_NAME=nemotron_3_ultra_pretrain_config\n"
     "TP=${TP:-4}\nCMD='\nuv run python scripts/training/run_recipe.py --recipe \"$RECIPE_NAME\" \\\n"
     "  dataset.sequence_length=4096 train.train_iters=1000 train.global_batch_size=128 train.micro_batch_size=1 \\\n"
     "  model.tensor_model_parallel_size=\"$TP\" model.pipeline_model_parallel_size=12 \\\n"
     "  model.expert_model_parallel_size=16 model.sequence_parallel=True model.recompute_granularity=full\n'\n"
     "srun --mpi=pmix bash -c \"$CMD\"\n",
     "model=nemotron-3-ultra framework=megatron-bridge gpus=384 tp=4 pp=12 ep=16 sp=1 seq=4096 micro_batch=1 "
     "global_batch=128 recompute=full steps=1000 method=-"},
    {"gemma3_vl/sft.sh: the first of several layouts",
     "#!/bin/bash\nCONFIGS=(\"2,1\" \"1,2\")\nfor config in \"${CONFIGS[@]}\"; do\n"
     "  IFS=',' read -r TP PP <<< \"$config\"\n"
     "  uv run python -m torch.distributed.run --nproc_per_node=8 scripts/training/run_recipe.py \\\n"
     "    --recipe gemma3_vl_4b_sft_config --step_func vlm_step model.seq_length=4096 train.global_batch_size=32 \\\n"
     "    train.micro_batch_size=2 model.tensor_model_parallel_size=$TP model.pipeline_model_parallel_size=$PP\ndone\n",
     "model=gemma-3-4b algorithm=sft gpus=8 tp=2 pp=1 seq=4096 micro_batch=2"},
    {"adapters, by the recipe and by its options",
     "torchrun --nproc_per_node=8 run_recipe.py --recipe llama32_1b_peft_config --peft_scheme dora -tp 1 -pp 1 -mb 1 "
     "-gb 8 -sl 4096 peft.dim=16 'peft.target_modules=[linear_qkv,linear_proj]' "
     "mixed_precision=bf16_with_mxfp8_mixed\n",
     "model=llama-3.2-1b method=dora lora_rank=16 lora_targets=q,k,v,o compute=mxfp8 tp=1 seq=4096 global_batch=8"},
    {"NeMo 2's command",
     "nemo llm pretrain --factory llama3_8b trainer.strategy.tensor_model_parallel_size=2 "
     "trainer.strategy.pipeline_model_parallel_size=1 data.micro_batch_size=4 data.global_batch_size=16 "
     "data.seq_length=8192 trainer.devices=8 trainer.num_nodes=2\n",
     "model=llama3-8b framework=nemo gpus=16 nodes=2 tp=2 micro_batch=4 seq=8192"},
};

/// ray.serve.llm: its builders (llm/_internal/serve/core/ingress/builder.py and serving_patterns).
constexpr test::PublicFile ray_files[] = {
    {"copies that share their experts",
     "applications:\n- import_path: ray.serve.llm:build_dp_openai_app\n  args:\n    llm_config:\n"
     "      model_loading_config: {model_id: Qwen/Qwen2.5-0.5B-Instruct}\n"
     "      engine_kwargs: {data_parallel_size: 4, tensor_parallel_size: 2}\n",
     "model=Qwen/Qwen2.5-0.5B-Instruct attention_dp=4 tp=2"},
    {"prompts and answers on servers of their own",
     "applications:\n- import_path: ray.serve.llm:build_pd_openai_app\n  args:\n    prefill_config:\n"
     "      model_loading_config: {model_id: m, model_source: meta-llama/Llama-3.1-8B-Instruct}\n"
     "      engine_kwargs: {tensor_parallel_size: 2}\n    decode_config:\n"
     "      model_loading_config: {model_id: m, model_source: meta-llama/Llama-3.1-8B-Instruct}\n",
     "model=meta-llama/Llama-3.1-8B-Instruct tp=2"},
    {"a model's file by itself",
     "model_loading_config: {model_id: unique, model_source: Qwen/Qwen2.5-7B-Instruct}\naccelerator_type: L40S\n"
     "engine_kwargs: {max_model_len: 8192, gpu_memory_utilization: 0.9}\n",
     "model=Qwen/Qwen2.5-7B-Instruct gpu=l40s context=8192 memory_fraction=0.9"},
};

}  // namespace

TEST_CASE("Trainings that were drawn blind are read as their trainers take them") {
  test::check_public(prime_files, "run.toml", "prime-rl configuration");
  test::check_public(slime_files, "run.sh", "slime arguments");
  test::check_public(loop_files, "run.sh", "Hugging Face training arguments");
  test::check_public(litgpt_files, "run.yaml", "LitGPT configuration");
  test::check_public(foundry_files, "run.yaml", "llm-foundry configuration");
  test::check_public(primus_files, "run.yaml", "Primus experiment");
  test::check_public(automodel_files, "run.yaml", "NeMo AutoModel recipe");
  test::check_public(nemo_files, "run.yaml", "NeMo configuration");
  test::check_public(recipe_files, "run.sh", "recipe of Megatron-Bridge or NeMo 2");
}

TEST_CASE("What a recipe of Megatron-Bridge says and a command does not is left to options, and said") {
  const auto bare = test::read_alone("python run_recipe.py --recipe qwen3_8b_pretrain_config -tp 2 -mb 1\n", "run.sh");
  test::check_terms(bare, "model=qwen3-8b tp=2 micro_batch=1 pp=- seq=-");
  REQUIRE(bare.open.size() == 3);
  CHECK(bare.open.front().text ==
        "the recipe qwen3_8b_pretrain_config says --pp --global-batch --seq, and is not read");
  const auto file = test::read_alone(
      "model: {num_layers: 8, num_moe_experts: 48, tensor_model_parallel_size: 2, seq_length: 4096}\n"
      "train: {train_iters: 100, global_batch_size: 16, micro_batch_size: 1}\nddp: {grad_reduce_in_fp32: false}\n",
      "kimi.yaml");
  test::check_terms(file, "layers=8 experts=48 tp=2 seq=4096 global_batch=16 grads=- vocab=- model=-");
  REQUIRE_FALSE(file.assumptions.empty());
}

TEST_CASE("NeMo's FSDP around the layers of Megatron-LM is left to an option") {
  const auto reading = test::read_alone(
      "trainer: {devices: 8}\nmodel: {tensor_model_parallel_size: 2, num_layers: 2, hidden_size: 64, fsdp: true}\n",
      "run.yaml");
  test::check_terms(reading, "sharding=-");
  REQUIRE(reading.open.size() == 1);
  CHECK(reading.open.front().term == "sharding");
}

TEST_CASE("Applications of Ray Serve are read by every builder's arguments") {
  test::check_public(ray_files, "serve.yaml", "vLLM command");
  const auto reading = test::read_alone(
      "applications:\n- args:\n    llm_configs:\n    - model_loading_config: {model_id: mistralai/Mixtral-8x7B-v0.1}\n"
      "      server_cls: sglang:build_app\n      engine_kwargs: {tensor_parallel_size: 1}\n",
      "serve.yaml");
  CHECK(reading.kind == "SGLang command");
}

TEST_CASE("A server's configuration in a file of its own is read there, or said to be missing") {
  const std::string serve = "applications:\n- args:\n    llm_configs:\n    - ./model.yaml\n";
  const auto find = [](const std::string& path) -> std::optional<dialects::NamedFile> {
    if (path != "./model.yaml") return std::nullopt;
    return dialects::NamedFile{path, "model_loading_config: {model_id: a/b}\nengine_kwargs: {max_model_len: 512}\n"};
  };
  test::check_terms(dialects::read_launch_file(serve, "serve.yaml", find), "model=a/b context=512");
  const auto alone = test::read_alone(serve, "serve.yaml");
  test::check_terms(alone, "model=- context=-");
  REQUIRE_FALSE(alone.assumptions.empty());
}

TEST_CASE("What a script hands to another machine, to Slurm or to a shell runs as if it stood there") {
  constexpr std::string_view command = "vllm serve Qwen/Qwen3-8B --max-model-len 4096";
  const std::string line(command);
  for (const std::string& script :
       {"ssh -p 22 user@host \"cd /srv && " + line + "\"\n", "sshpass -p x ssh host '" + line + "'\n",
        "ssh host <<EOT\n" + line + "\nEOT\n", "sbatch <<END\n#SBATCH --gres=gpu:1\n" + line + "\nEND\n",
        "cat > run.sh <<END\n" + line + "\nEND\nchmod +x run.sh\nbash ./run.sh\n",
        "ssh host 'bash -s' <<'END'\n" + line + "\nEND\n", "ssh host \"nohup " + line + " > log 2>&1 &\"\n"}) {
    CAPTURE(script);
    test::check_terms(test::read_alone(script, "run.sh"), "model=Qwen/Qwen3-8B context=4096");
  }
}

TEST_CASE("Files that a container's shell writes are read by what it starts") {
  const std::string write = "cat > /tmp/c.yaml <<E\nmodel: a/b\ntensor-parallel-size: 2\nE\n";
  const std::string serve = "vllm serve --config /tmp/c.yaml --max-model-len 64";
  std::string block = "        " + write + serve;  // of YAML
  for (auto at = block.find('\n'); at != block.npos; at = block.find('\n', at + 1)) block.insert(at + 1, "        ");
  const std::string services = "services:\n  s:\n    image: vllm/vllm-openai:v0.11.0\n    entrypoint: [bash, -c]\n";
  for (const std::string& script :
       {write + serve, "docker run --gpus all vllm/vllm-openai:v0.11.0 bash -c '" + write + serve + "'\n",
        "sudo bash -c '" + write + serve + "'\n", services + "    command:\n      - |\n" + block + "\n",
        std::string("D=$1\ncat > \"$D/c.yaml\" <<E\nmodel: a/b\ntensor-parallel-size: 2\nmax-model-len: 64\nE\n"
                    "vllm serve --config=$D/c.yaml\n")}) {
    CAPTURE(script);
    test::check_terms(test::read_alone(script, "run"), "model=a/b tp=2 context=64");
  }
  test::check_terms(test::read_alone("cat > \"$CFG\" <<E\nmodel_name_or_path: a/b\nstage: sft\ndo_train: true\n"
                                     "finetuning_type: lora\ncutoff_len: 64\nE\nllamafactory-cli train \"$CFG\"\n",
                                     "run.sh"),
                    "model=a/b method=lora seq=64");
}

TEST_CASE("A text that was handed on hands nothing on, however deep a script goes") {
  std::string script;
  std::string ends;
  for (int depth = 0; depth < 2000; ++depth) {
    script += "bash <<A" + std::to_string(depth) + "\n";
    ends = "A" + std::to_string(depth) + "\n" + ends;
  }
  CHECK_THROWS_AS(test::read_alone(script + "vllm serve m\n" + ends, "run.sh"), quantity::BadInput);
}

/// tloen/alpaca-lora and AGI-Edgerunners/LLM-Adapters finetune.py, whose model is called as axolotl's.
TEST_CASE("A loop of one's own is no axolotl and no LLaMA-Factory by two keys of theirs") {
  CHECK_THROWS_WITH(test::read_alone("python finetune.py --base_model yahma/llama-7b-hf --data_path d --batch_size 16 "
                                     "--micro_batch_size 4 --cutoff_len 256 --lora_r 16\n",
                                     "run.sh"),
                    Catch::Matchers::Contains("starts no trainer"));
}

TEST_CASE("An MPT of no width is refused at its line") {
  constexpr std::string_view file =
      "max_seq_len: 128\nglobal_train_batch_size: 8\n"
      "model: {name: mpt_causal_lm, d_model: 0, n_heads: 2, n_layers: 2, vocab_size: 512}\n";
  CHECK_THROWS_AS(test::read_alone(std::string(file), "run.yaml"), quantity::BadInput);
}

TEST_CASE("LitGPT is refused what it refuses, and an optimizer that is not modelled") {
  constexpr std::string_view base = "checkpoint_dir: a/b\nlora_r: 8\ntrain: {micro_batch_size: 1}\n";
  for (const char* more :
       {"quantize: bnb.nf4\nprecision: bf16-mixed\n", "quantize: bnb.nf4\nprecision: bf16-true\ndevices: 2\n",
        "precision: bf16-true\noptimizer: {class_path: SOFTAdamW}\n"}) {
    CAPTURE(more);
    CHECK_THROWS_AS(test::read_alone(std::string(base) + more, "run.yaml"), quantity::BadInput);
  }
}
