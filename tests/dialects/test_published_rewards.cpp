// What trainers by rewards and MaxText's launches say of their engines, in files as people publish them.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "read.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace llmcalc;

/// verl 0.9.1 trainer/config/engine, workers/engine; 0.5.0 trainer/fsdp_sft_trainer.py.
constexpr test::PublicFile engine_files[] = {
    {"DeepSeek-V3 on 256 cards: stages of their own lengths, layers that run again one by one", R"(
python3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer' algorithm.adv_estimator=grpo \
    actor_rollout_ref.model.path=deepseek-ai/DeepSeek-V3 actor_rollout_ref.model.use_fused_kernels=True \
    +actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_first_pipeline_stage=4 \
    +actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_last_pipeline_stage=1 \
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=16 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=1 \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \
    +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1
)",
     "pp=16 first_stage_layers=4 last_stage_layers=1 recompute=uniform-1 sharding=zero1 loss=- sp=-"},
    {"gradients that are reduced as they are, and sequence parallelism unasked", R"(
python -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer.yaml algorithm.adv_estimator=grpo \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \
    +actor_rollout_ref.actor.megatron.override_ddp_config.grad_reduce_in_fp32=False \
    +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload=True
)",
     "tp=2 sp=1 grads=bf16 offload=optimizer dtype=bf16"},
    {"VeOmni's engine", R"(
python -m verl.trainer.main_ppo model_engine=veomni actor_rollout_ref.model.path=deepseek-ai/DeepSeek-V4-Flash \
    actor_rollout_ref.actor.veomni.enable_fsdp_offload=True actor_rollout_ref.actor.veomni.expert_parallel_size=8 \
    actor_rollout_ref.actor.veomni.ulysses_parallel_size=8 actor_rollout_ref.actor.veomni.attn_implementation=eager
)",
     "sharding=fsdp2 offload=params+optimizer ep=8 cp=8 cp_exchange=all-to-all attention=eager"},
    {"the trainer of samples before verl 0.6: a length, a batch and a type of its own", R"(
torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer model.partial_pretrain=Qwen/Qwen2.5-7B \
    model.fsdp_config.model_dtype=bf16 model.fsdp_config.cpu_offload=true model.fsdp_config.offload_params=true
)",
     "seq=1024 micro_batch=4 global_batch=256 dtype=bf16 offload=params+optimizer gpus=8"},
    {"the one since: micro-batches of 8,192 tokens unasked", R"(
torchrun --nproc_per_node=8 -m verl.trainer.sft_trainer model.path=Qwen/Qwen2.5-7B data.max_length=2048
)",
     "seq=2048 micro_batch=4 dtype=mixed-bf16 sharding=fsdp1"},
};

/// NeMo-RL examples/configs/grpo_math_1B.yaml, recipes/llm; nemo_rl/models/policy/lm_policy.py.
constexpr test::PublicFile worker_files[] = {
    {"Megatron's worker in FP8, whose stages have their own lengths; DTensor's block says nothing", R"(
grpo: {max_num_steps: 5}
policy:
  model_name: meta-llama/Llama-3.1-8B-Instruct
  dtensor_cfg: {enabled: false, cpu_offload: true, tensor_parallel_size: 8}
  megatron_cfg:
    enabled: true
    activation_checkpointing: true
    tensor_model_parallel_size: 1
    sequence_parallel: true
    pipeline_model_parallel_size: 4
    num_layers_in_first_pipeline_stage: 7
    num_layers_in_last_pipeline_stage: 6
    optimizer: {optimizer: adam, optimizer_cpu_offload: false}
    distributed_data_parallel_config: {grad_reduce_in_fp32: false}
    fp8_cfg: {enabled: true, fp8: e4m3, fp8_recipe: blockwise}
)",
     "framework=nemo tp=1 sp=- pp=4 first_stage_layers=7 last_stage_layers=6 recompute=full compute=fp8-e4m3 "
     "grads=bf16 offload=- sharding=zero1"},
    {"some modules run again", R"(
grpo: {max_num_steps: 5}
policy:
  model_name: Qwen/Qwen3-30B-A3B
  megatron_cfg: {enabled: true, activation_checkpointing: true, recompute_granularity: selective,
                 recompute_modules: [moe], tensor_model_parallel_size: 4, sequence_parallel: false}
)",
     "recompute=selective recompute_modules=moe tp=4 sp=0"},
    {"a granularity that nobody switched on, and adapters under Megatron", R"(
sft: {max_num_steps: 5}
policy:
  model_name: Qwen/Qwen3-30B-A3B
  megatron_cfg: {enabled: true, activation_checkpointing: false, recompute_granularity: full,
                 peft: {enabled: true, dim: 8, target_modules: []}}
)",
     "recompute=- method=lora lora_rank=8"},
    {"narrow moments under DTensor", R"(
grpo: {max_num_steps: 5}
policy:
  model_name: Qwen/Qwen3-30B-A3B
  optimizer: {name: FusedAdam, kwargs: {master_weights: true, exp_avg_dtype: torch.bfloat16}}
  dtensor_cfg: {enabled: true, expert_parallel_size: 16, tensor_parallel_size: 1}
  megatron_cfg: {enabled: false, tensor_model_parallel_size: 2}
)",
     "optimizer_states=bf16 ep=16 tp=1 sharding=fsdp2 framework=torch"},
};

/// MaxText 0.2.5 configs, trainers/pre_train.
constexpr test::PublicFile tpu_files[] = {
    {"a file of base.yml's for samples", "base_config: base.yml\nuse_sft: true\nper_device_batch_size: 2\n",
     "micro_batch=2"},
    {"gcluster on a torus of 64 chips", R"(
gcluster job submit --skip-prereqs --compute-type=tpu7x --topology=4x4x4 --num-slices=2 --verbose \
  --command="set -e && python3 -m maxtext.trainers.pre_train.train configs/base.yml model_name=llama3.1-70b \
  per_device_batch_size=2 quantization=fp8_full"
)",
     "model=llama3.1-70b micro_batch=2 compute=fp8-e4m3 gpu=tpu-v7 gpus=128 nodes=2"},
};

std::string left_open_of(std::string_view text, std::string_view name) {
  const auto reading = test::read_alone(text, name);
  return reading.open.empty() ? "" : reading.open.front().text;
}

bool says_that(const dialects::Reading& reading, std::string_view words) {
  return std::ranges::any_of(reading.assumptions,
                             [&](const auto& said) { return said.sentence().find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("Published launches of verl, NeMo-RL and MaxText ask what their engines do") {
  test::check_public(engine_files, "run.sh", "verl configuration");
  test::check_public(worker_files, "grpo.yaml", "NeMo-RL configuration");
  test::check_public(tpu_files, "run", "MaxText configuration");
}

/// OmegaConf's merge: nothing in a file takes out what the one below says.
TEST_CASE("Nothing in a file of NeMo-RL's takes back what the file below it says") {
  const auto find = [](const std::string& path) -> std::optional<dialects::NamedFile> {
    if (path != "base.yaml") return std::nullopt;
    return dialects::NamedFile{"base.yaml",
                               "grpo: {max_num_steps: 5}\npolicy:\n  model_name: a/b\n  megatron_cfg: {enabled: true, "
                               "num_layers_in_first_pipeline_stage: 7, pipeline_model_parallel_size: 8}\n"};
  };
  const auto reading = dialects::read_launch_file(
      "defaults: base.yaml\npolicy: {megatron_cfg: {num_layers_in_first_pipeline_stage: null, "
      "pipeline_model_parallel_size: 4}}\n",
      "top.yaml", find);
  test::check_terms(reading, "pp=4 first_stage_layers=- model=a/b");
}

TEST_CASE("What is not read of an engine, a configuration or a block is left to an option") {
  for (const std::string engine : {"torchtitan", "automodel", "deepspeed", "mindspeedllm", "hyperparallel"}) {
    CAPTURE(engine);
    CHECK(
        left_open_of("python3 -m verl.trainer.main_ppo model_engine=" + engine + " actor_rollout_ref.model.path=a/b\n",
                     "run.sh")
            .find(engine) != std::string::npos);
  }
  CHECK(left_open_of("base_config: base.yml\nbase_emb_dim: 2880\ndecoder_block: gpt_oss\nper_device_batch_size: 16\n",
                     "t.yml")
            .find("decoder_block") != std::string::npos);
  const auto own = test::read_alone(
      "python3 -m verl.trainer.main_ppo --config-name=mine actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1\n",
      "r.sh");
  CHECK(says_that(own, "was not read"));
  REQUIRE(own.open.size() == 1);
  CHECK(own.open.front().term == "model");
  CHECK(says_that(test::read_alone("per_device_batch_size: 1\nmax_target_length: 64\nstudent_overrides: {model_name: "
                                   "qwen3-0.6b}\nteacher_overrides: {model_name: qwen3-8b}\n",
                                   "d.yml"),
                  "teacher"));
}
