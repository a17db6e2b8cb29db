// What a trainer takes where nobody says it is its documented default: said aloud it changes nothing, and another value
// is another question.
#include "catch.hpp"
#include "dialects/read.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::trainer_defaults {
namespace {

/// A key's default, where a trainer documents it, and a value that is none.
struct Default {
  std::string_view said, other;
};

/// A file of a trainer's with a place for one more key, "@".
struct Trainer {
  std::string_view whose;  ///< where the defaults stand
  std::string_view name, text;
  std::vector<Default> defaults;
};

const std::vector<Trainer> trainers{
    {"Megatron-LM megatron/training/arguments.py",
     "run.sh",
     "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
     "--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 4 --train-iters 10 --num-experts 8 @\n",
     {{"--normalization LayerNorm", "--normalization RMSNorm"},
      {"--position-embedding-type learned_absolute", "--position-embedding-type rope"},
      {"--hidden-dropout 0.1", "--hidden-dropout 0.0"},
      {"--tensor-model-parallel-size 1", "--tensor-model-parallel-size 2"},
      {"--pipeline-model-parallel-size 1", "--pipeline-model-parallel-size 2"},
      {"--expert-model-parallel-size 1", "--expert-model-parallel-size 2"},
      {"--moe-router-topk 2", "--moe-router-topk 4"},
      {"--ffn-hidden-size 4096", "--ffn-hidden-size 2048"},
      {"--kv-channels 64", "--kv-channels 128"},
      {"", "--bf16"}}},
    {"MaxText src/MaxText/configs/base.yml",
     "run.sh",
     "python3 -m MaxText.train src/MaxText/configs/base.yml run_name=a steps=10 base_num_kv_heads=16 @\n",
     {{"base_emb_dim=2048", "base_emb_dim=4096"},
      {"base_num_query_heads=16", "base_num_query_heads=32"},
      {"base_mlp_dim=7168", "base_mlp_dim=8192"},
      {"base_num_decoder_layers=16", "base_num_decoder_layers=32"},
      {"head_dim=128", "head_dim=64"},
      {"vocab_size=32000", "vocab_size=64000"},
      {"per_device_batch_size=12", "per_device_batch_size=4"},
      {"max_target_length=2048", "max_target_length=4096"},
      {"remat_policy=full", "remat_policy=minimal"},
      {"ici_tensor_parallelism=1", "ici_tensor_parallelism=2"}}},
    {"llm-foundry llmfoundry/models/mpt/configuration_mpt.py",
     "mpt.yaml",
     "max_seq_len: 2048\nglobal_train_batch_size: 8\ndevice_train_microbatch_size: 1\nprecision: amp_bf16\n"
     "max_duration: 10ba\nmodel:\n  name: mpt_causal_lm\n  d_model: 2048\n  n_heads: 16\n  n_layers: 24\n  vocab_size: "
     "50368\n  @\n",
     {{"expansion_ratio: 4", "expansion_ratio: 2"},
      {"tie_word_embeddings: true", "tie_word_embeddings: false"},
      {"no_bias: false", "no_bias: true"}}},
    {"verl verl/trainer/config/ppo_trainer.yaml and its parts",
     "run.sh",
     "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_files=a data.train_batch_size=1024 "
     "actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.rollout.name=vllm "
     "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.n_gpus_per_node=8 @\n",
     {{"actor_rollout_ref.actor.ppo_mini_batch_size=256", "actor_rollout_ref.actor.ppo_mini_batch_size=64"},
      {"data.max_prompt_length=512", "data.max_prompt_length=2048"},
      {"data.max_response_length=512", "data.max_response_length=2048"},
      {"actor_rollout_ref.rollout.n=1", "actor_rollout_ref.rollout.n=8"},
      {"actor_rollout_ref.actor.strategy=fsdp", "actor_rollout_ref.actor.strategy=fsdp2"},
      {"trainer.nnodes=1", "trainer.nnodes=2"}}},
    {"verl verl/trainer/config/sft_trainer.yaml",
     "run.sh",
     "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.train_files=a "
     "model.partial_pretrain=Qwen/Qwen2.5-7B-Instruct @\n",
     {{"data.train_batch_size=256", "data.train_batch_size=64"},
      {"data.micro_batch_size_per_gpu=4", "data.micro_batch_size_per_gpu=2"},
      {"data.max_length=1024", "data.max_length=4096"},
      {"model.enable_gradient_checkpointing=True", "model.enable_gradient_checkpointing=False"},
      {"model.strategy=fsdp", "model.strategy=fsdp2"}}},
    {"OpenRLHF openrlhf/cli/train_sft.py",
     "run.sh",
     "deepspeed --module openrlhf.cli.train_sft --pretrain meta-llama/Meta-Llama-3-8B --dataset a "
     "--gradient_checkpointing @\n",
     {{"--micro_train_batch_size 8", "--micro_train_batch_size 2"},
      {"--train_batch_size 128", "--train_batch_size 64"},
      {"--max_len 2048", "--max_len 4096"},
      {"--zero_stage 2", "--zero_stage 3"},
      {"--lora_rank 0", "--lora_rank 16"}}},
    {"OpenRLHF openrlhf/cli/train_ppo_ray.py",
     "run.sh",
     "python3 -m openrlhf.cli.train_ppo_ray --pretrain meta-llama/Meta-Llama-3-8B --actor_num_nodes 1 "
     "--actor_num_gpus_per_node 8 --gradient_checkpointing @\n",
     {{"--prompt_max_len 1024", "--prompt_max_len 2048"},
      {"--generate_max_len 1024", "--generate_max_len 4096"},
      {"--micro_train_batch_size 4", "--micro_train_batch_size 2"},
      {"--train_batch_size 128", "--train_batch_size 64"},
      {"--zero_stage 2", "--zero_stage 3"}}},
    {"LLaMA-Factory src/llamafactory/hparams",
     "llama.yaml",
     "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\ndo_train: true\ndataset: identity\n"
     "template: llama3\noutput_dir: a\nbf16: true\n@\n",
     {{"finetuning_type: lora", "finetuning_type: full"},
      {"lora_rank: 8", "lora_rank: 16"},
      {"lora_target: all", "lora_target: q_proj,v_proj"},
      {"cutoff_len: 2048", "cutoff_len: 4096"},
      {"per_device_train_batch_size: 8", "per_device_train_batch_size: 2"},
      {"gradient_accumulation_steps: 1", "gradient_accumulation_steps: 4"},
      {"disable_gradient_checkpointing: false", "disable_gradient_checkpointing: true"},
      {"packing: false", "packing: true"}}},
    {"ms-swift docs/source_en/Instruction/Command-line-parameters.md",
     "run.sh",
     "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a --torch_dtype bfloat16 @\n",
     {{"--train_type lora", "--train_type full"},
      {"--lora_rank 8", "--lora_rank 16"},
      {"--target_modules all-linear", "--target_modules q_proj v_proj"},
      {"--per_device_train_batch_size 1", "--per_device_train_batch_size 4"},
      {"--gradient_checkpointing true", "--gradient_checkpointing false"},
      {"--packing false", "--packing true"}}},
    {"trl trl/trainer/sft_config.py and model_config.py",
     "run.sh",
     "trl sft --model_name_or_path Qwen/Qwen2.5-7B-Instruct --dataset_name a --use_peft @\n",
     {{"--per_device_train_batch_size 8", "--per_device_train_batch_size 2"},
      {"--gradient_accumulation_steps 1", "--gradient_accumulation_steps 4"},
      {"--max_length 1024", "--max_length 4096"},
      {"--lora_r 16", "--lora_r 64"},
      {"--packing false", "--packing true"}}},
    {"unsloth unsloth-cli.py",
     "run.sh",
     "python unsloth-cli.py --model_name unsloth/llama-3-8b --dataset a --load_in_4bit @\n",
     {{"--r 16", "--r 64"},
      {"--max_seq_length 2048", "--max_seq_length 4096"},
      {"--per_device_train_batch_size 2", "--per_device_train_batch_size 4"},
      {"--gradient_accumulation_steps 4", "--gradient_accumulation_steps 1"}}},
    {"axolotl docs/config-reference.qmd",
     "axolotl.yaml",
     "base_model: NousResearch/Meta-Llama-3-8B\ndatasets:\n  - path: a\n    type: alpaca\nmicro_batch_size: 2\n"
     "sequence_len: 2048\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n@\n",
     {{"gradient_accumulation_steps: 1", "gradient_accumulation_steps: 4"},
      {"sample_packing: false", "sample_packing: true"},
      {"gradient_checkpointing: false", "gradient_checkpointing: true"},
      {"load_in_4bit: false", "load_in_8bit: true"}}},
    {"LitGPT litgpt/finetune/lora.py",
     "run.sh",
     "litgpt finetune_lora meta-llama/Meta-Llama-3-8B --data Alpaca --precision bf16-true @\n",
     {{"--lora_r 8", "--lora_r 32"},
      {"--train.micro_batch_size 1", "--train.micro_batch_size 4"},
      {"--train.global_batch_size 16", "--train.global_batch_size 64"},
      {"--devices 1", "--devices 2"},
      {"--lora_query true", "--lora_query false"},
      {"--lora_key false", "--lora_key true"}}},
    {"torchtitan torchtitan/config/job_config.py",
     "titan.toml",
     "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nsteps = 10\n@\n",
     {{"local_batch_size = 8", "local_batch_size = 2"},
      {"seq_len = 2048", "seq_len = 4096"},
      {"mixed_precision_param = \"bfloat16\"", "mixed_precision_param = \"float32\""}}}};

/// What is asked; "refused" with the reason where nothing is.
struct Asked {
  std::optional<spec::Question> question;
  std::string why;
};

Asked asked(const Trainer& trainer, std::string_view key) try {
  std::string text(trainer.text);
  text.replace(text.find('@'), 1, key);
  std::vector<read::Given> beside;
  for (const auto& [term, value] : {std::pair{"gpu", "h100-sxm"}, {"samples", "1000"}}) {
    beside.push_back({term, value, {read::Source::flag, std::string("--") + term}});
  }
  const auto reading = test::read_alone(text, trainer.name);
  return {read::resolve(with_options(reading, beside), std::nullopt, read::Catalogue()).question, {}};
} catch (const quantity::BadInput& error) {
  return {std::nullopt, error.what()};
}

std::string apart(const spec::Question& one, const spec::Question& other) {
  std::string terms;
  for (const auto& word : read::differences(one, other)) terms += word.term + '=' + word.text + ' ';
  return terms;
}

}  // namespace

TEST_CASE("a trainer's default said aloud is what it takes where nobody says it, and another value is not") {
  for (const auto& trainer : trainers) {
    CAPTURE(trainer.whose);
    const auto usual = asked(trainer, "");
    INFO(usual.why);
    CHECK(usual.question.has_value());
    if (!usual.question) continue;
    for (const auto& each : trainer.defaults) {
      CAPTURE(each.said, each.other);
      const auto said = asked(trainer, each.said), other = asked(trainer, each.other);
      INFO(said.why);
      CHECK(said.question.has_value());
      if (said.question) CHECK(apart(*said.question, *usual.question) == "");
      CHECK((!other.question || apart(*other.question, *usual.question) != ""));
    }
  }
}

}  // namespace llmcalc::trainer_defaults
