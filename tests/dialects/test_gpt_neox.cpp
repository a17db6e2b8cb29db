// Files of GPT-NeoX (EleutherAI/gpt-neox, configs): what of them decides, and what the program takes for it.

#include "../answer/asking.hpp"
#include "answer/figures.hpp"
#include "dialects/read.hpp"
#include "read/vocabulary.hpp"

#include <optional>
#include <string>
#include <string_view>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

dialects::Reading read_neox(std::string_view text) { return test::read_alone(text, "neox.yml"); }

/// Files below configs, with their commits, expected by hand after megatron/neox_arguments/arguments.py
/// (calculate_derived), megatron/model/transformer.py and megatron/tokenizer (vocab_size padded to 128 times the
/// tensor-parallel ranks).
constexpr test::PublicFile neox_files[] = {
    {"20B.yml 252ddc52",
     R"({"vocab-file": "./20B_checkpoints/20B_tokenizer.json", "pipe-parallel-size": 4, "model-parallel-size": 2,
 "num-layers": 44, "hidden-size": 6144, "num-attention-heads": 64, "seq-length": 2048, "max-position-embeddings": 2048,
 "norm": "layernorm", "pos-emb": "rotary", "no-weight-tying": true, "gpt_j_residual": true,
 "optimizer": {"type": "Adam"}, "zero_optimization": {"stage": 1, "overlap_comm": True},
 "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 32, "checkpoint-activations": true,
 "checkpoint-num-layers": 1, "hidden-dropout": 0, "fp16": {"fp16": true, "enabled": true}, "train-iters": 150000})",
     "framework=megatron-deepspeed pp=4 tp=2 layers=44 hidden=6144 heads=64 seq=2048 norm=layernorm position=rope "
     "tied=0 "
     "parallel_residual=1 optimizer=adamw sharding=zero1 micro_batch=4 grad_accum=32 recompute=uniform-1 dropout=0 "
     "dtype=fp16 steps=150000 vocab=50432 bias=all mlp=gelu attention=eager"},
    {"1-3B-transformer-engine.yml 2ed84de1",
     R"({"pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 24, "hidden_size": 2048,
 "num_attention_heads": 16, "seq_length": 2048, "max_position_embeddings": 2048, "norm": "layernorm",
 "pos_emb": "rotary", "no_weight_tying": true, "gpt_j_residual": false, "te_fp8_format": "hybrid", "te_mha": true,
 "zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 16, "checkpoint_activations": true,
 "fp16": {"enabled": true}, "hidden_dropout": 0, "train_iters": 320000})",
     "pp=- tp=1 layers=24 vocab=50304 micro_batch=16 grad_accum=1 sharding=zero1 dtype=fp16 parallel_residual=0"},
    {"125M-dmoe.yml 3388c515",
     R"({"pipe_parallel_size": 2, "model_parallel_size": 2, "num_layers": 12, "hidden_size": 1024,
 "num_attention_heads": 16, "seq_length": 2048, "max_position_embeddings": 2048, "pos_emb": "rotary",
 "no_weight_tying": true, "moe_num_experts": 8, "zero_optimization": {"stage": 0}, "train_micro_batch_size_per_gpu": 4,
 "checkpoint_activations": true, "precision": "bfloat16", "fp32_allreduce": True, "train_iters": 5})",
     "pp=2 tp=2 experts=8 top_k=1 sharding=ddp dtype=bf16 vocab=50432 dropout=0.1"},
    {"llama/7B.yml 1de1b1e6",
     R"({"pipe-parallel-size": 1, "model-parallel-size": 1, "make_vocab_size_divisible_by": 1, "num-layers": 32,
 "hidden-size": 4096, "num-attention-heads": 32, "seq-length": 2048, "max-position-embeddings": 2048,
 "pos-emb": "rotary", "no-weight-tying": true, "norm": "rmsnorm", "use_bias_in_attn_linear": false,
 "mlp_type": "llama", "activation": "silu"})",
     "mlp=swiglu ffn=11008 norm=rmsnorm bias=none tied=0 vocab=50257 sharding=- dtype=fp32"},
    {"mistral/7B.yml 11a2e9b1",
     R"({"pipe_parallel_size": 1, "model_parallel_size": 1, "make_vocab_size_divisible_by": 1, "num_layers": 32,
 "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_kv_heads": 8, "seq_length": 8192,
 "sliding_window_width": 4096, "max_position_embeddings": 131072, "pos_emb": "rotary", "no_weight_tying": true,
 "norm": "rmsnorm", "attention_config": [[["flash"], 32]], "use_bias_in_attn_linear": false, "mlp_type": "llama",
 "activation": "silu", "tokenizer_type": "SPMTokenizer"})",
     "mlp=swiglu ffn=14336 kv_heads=8 max_position=131072 attention=flash bias=none seq=8192"},
    {"OLMo/7B.yml cfc73c25: two thirds of 11,008 in two halves, to the next 256",
     R"({"pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 32, "hidden_size": 4096,
 "intermediate_size": 11008, "num_attention_heads": 32, "seq_length": 4096, "max_position_embeddings": 4096,
 "pos_emb": "rotary", "no_weight_tying": true, "norm": "non_parametric_layernorm", "use_bias_in_attn_linear": false,
 "activation": "swiglu", "mlp_multiple_of": 256})",
     "mlp=swiglu ffn=3840 norm=nonparametric"},
    {"13B-ZeRO3.yml 4c6eb850",
     R"({"pipe-parallel-size": 0, "model-parallel-size": 1, "num-layers": 40, "hidden-size": 5120,
 "num-attention-heads": 40, "seq-length": 2048, "max-position-embeddings": 2048, "norm": "rmsnorm", "pos-emb": "none",
 "no-weight-tying": true, "zero_optimization": {"stage": 3, "cpu_offload": true, "cpu_offload_params": true},
 "train_micro_batch_size_per_gpu": 4, "checkpoint-activations": true, "fp16": {"enabled": true}})",
     "pp=- position=none norm=rmsnorm sharding=zero3 offload=optimizer"},
    {"175B.yml 058f7d24",
     R"({"pipe-parallel-size": 1, "model-parallel-size": 1, "num-layers": 96, "hidden-size": 12288,
 "num-attention-heads": 96, "seq-length": 2048, "max-position-embeddings": 2048, "norm": "rmsnorm", "pos-emb": "none",
 "zero_optimization": {"stage": 1, "cpu_offload": False}, "train_micro_batch_size_per_gpu": 4,
 "fp16": {"enabled": true}})",
     "layers=96 tied=1 offload=- sharding=zero1 recompute=-"},
    {"bf16_125M.yml 4065730a",
     R"({"pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 12, "hidden_size": 768,
 "num_attention_heads": 12, "seq_length": 2048, "max_position_embeddings": 2048, "pos_emb": "rotary",
 "no_weight_tying": true, "zero_optimization": {"stage": 0}, "train_micro_batch_size_per_gpu": 4,
 "precision": "bfloat16"})",
     "dtype=bf16 sharding=ddp layers=12"},
    {"125M-json.yml 07dd65b7",
     R"({"pipe-parallel-size": 1, "model-parallel-size": 1, "num-layers": 12, "hidden-size": 768,
 "num-attention-heads": 12, "seq-length": 2048, "max-position-embeddings": 2048, "pos-emb": "rotary",
 "no-weight-tying": true, "optimizer": {"type": "Adam", "params": {"eps": 1.0e-8,}}, "zero_optimization": {"stage": 1,
 "allgather_partitions": True,
}, "train_micro_batch_size_per_gpu": 4, "fp16": {"enabled": true}, "hidden-dropout": 0.0})",
     "optimizer=adamw dropout=0.0 sharding=zero1"},
    {"bnb_125M.yml 4065730a",
     R"({"pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 12, "hidden_size": 768,
 "num_attention_heads": 12, "seq_length": 2048, "max_position_embeddings": 2048, "use_bnb_optimizer": true,
 "zero_optimization": {"stage": 0}, "train_micro_batch_size_per_gpu": 4, "fp16": {"enabled": true}})",
     "position=learned tied=1 dtype=fp16"},
    {"adafactor2-7B.yml 0c44df57",
     R"({"pipe-parallel-size": 1, "model-parallel-size": 1, "num-layers": 32, "hidden-size": 2560,
 "num-attention-heads": 32, "seq-length": 2048, "max-position-embeddings": 2048, "pos-emb": "rotary",
 "no-weight-tying": true, "optimizer": {"type": "Adafactor"}, "zero_optimization": {"stage": 1},
 "train_micro_batch_size_per_gpu": 4, "fp16": {"enabled": true}})",
     "optimizer=adafactor hidden=2560"},
    {"10M.yml 49d1a4b0: gradient_accumulation_steps takes the place of gas",
     R"({"pipe-parallel-size": 1, "model-parallel-size": 4, "num-layers": 3, "hidden-size": 512,
 "num-attention-heads": 16, "seq-length": 2048, "max-position-embeddings": 2048, "pos-emb": "rotary",
 "no-weight-tying": true, "gas": 64, "train_micro_batch_size_per_gpu": 8, "fp16": {"enabled": true},
 "train-iters": 300000})",
     "tp=4 grad_accum=1 vocab=50688 steps=300000"},
    {"95b.yml 8b114fe4",
     R"({"pipe-parallel-size": 0, "model-parallel-size": 8, "num-layers": 80, "hidden-size": 10240,
 "num-attention-heads": 80, "seq-length": 4096, "max-position-embeddings": 4096, "pos-emb": "rotary",
 "no-weight-tying": true, "gpt_j_residual": true, "attention-config": [[["flash"], 80]],
 "zero_optimization": {"stage": 3}, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1,
 "fp16": {"enabled": true}, "train-iters": 10})",
     "tp=8 sharding=zero3 attention=flash vocab=51200 grad_accum=1 steps=10"},
    {"1-3B-8k.yml a001467b",
     R"({"pipe_parallel_size": 1, "model_parallel_size": 1, "num_layers": 24, "hidden_size": 2048,
 "num_attention_heads": 16, "seq_length": 8192, "max_position_embeddings": 8192, "pos_emb": "rotary",
 "no_weight_tying": true, "profile": true, "attention_config": [[["flash"], 24]],
 "zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 1, "checkpoint_activations": true,
 "checkpoint_num_layers": 1, "fp16": {"enabled": true}, "train_iters": 10})",
     "seq=8192 attention=flash micro_batch=1 recompute=uniform-1"}};

}  // namespace

TEST_CASE("GPT-NeoX's own files are read as its program takes them") {
  test::check_public(neox_files, "neox.yml", "GPT-NeoX configuration");
}

/// Parameters as the Hub counts them: GPT-NeoX-20B 20,554,567,680 (its safetensors index), Llama 7B 6,738,415,616 with
/// 32,000 tokens, Mistral 7B 7,241,732,096.
TEST_CASE("Models that GPT-NeoX's files describe have the published number of parameters") {
  const auto parameters = [](std::string_view text, std::string_view vocabulary) {
    std::string line = "--gpu a100-40:96";
    for (const auto& word : read_neox(text).words) {
      const auto* term = read::find_term(word.term);
      const bool shapes = term != nullptr && term->group == read::TermGroup::model;
      if (shapes && word.term != "vocab") line += " --" + read::option_name(word.term) + " " + word.text;
    }
    return quantity::in_parameters(
        answer::model_size(test::question(line + " --vocab " + std::string(vocabulary)).model.shape).total);
  };
  CHECK(parameters(neox_files[0].text, "50432") == 20'554'567'680);
  CHECK(parameters(neox_files[3].text, "32000") == 6'738'415'616);
  CHECK(parameters(neox_files[4].text, "32000") == 7'241'732'096);
}

TEST_CASE("What GPT-NeoX says that no term holds is an assumption") {
  std::string all;
  for (const auto& each : read_neox(neox_files[12].text).assumptions) all += each.words + "\n";
  CHECK_THAT(all, Contains("gas 64 (neox.yml:3)"));
  CHECK_THAT(all, Contains("GPT-2's, padded to 50688"));
}

/// deepy.py and neox_args.py, consume_deepy_args: `-d` names a folder, and the files in it may leave out their ending.
TEST_CASE("GPT-NeoX's command names its files in a folder") {
  const auto find = [](const std::string& path) -> std::optional<dialects::NamedFile> {
    if (path == "configs/125M.yml") return dialects::NamedFile{path, std::string(neox_files[8].text)};
    if (path == "configs/local.yml") return dialects::NamedFile{path, R"({"train-iters": 7, "num_gpus": 4})"};
    return std::nullopt;
  };
  const auto reading =
      dialects::read_launch_command("python ./deepy.py train.py -d configs 125M.yml local", "command", find);
  CHECK(test::word_of(reading, "layers") == "12");
  CHECK(test::word_of(reading, "steps") == "7");
  CHECK(test::word_of(reading, "gpus") == "4");
  CHECK(reading.unread.empty());
}
