// What single keys of trainers' and servers' files and commands say, term by term: the table of the documentation that
// each names.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };

dialects::Reading read_file(const std::string& text, const std::string& name = "run.yaml") {
  return dialects::read_launch_file(text, name, nothing);
}

dialects::Reading read_command(const std::string& text) {
  return dialects::read_launch_command(text, "command", nothing);
}

/// What is said of a term; "-" where nothing is.
std::string said(const dialects::Reading& reading, std::string_view term) {
  const auto word = std::ranges::find(reading.words, term, &read::Given::term);
  return word == reading.words.end() ? "-" : word->text;
}

std::string trained(const std::string& line, std::string_view term) {
  return said(read_file("model_name_or_path: m\nper_device_train_batch_size: 1\n" + line + "\n"), term);
}

std::string accelerated(const std::string& lines, std::string_view term) { return said(read_file(lines), term); }

/// The sentence that names a key; empty where none does.
std::string assumed(const dialects::Reading& reading, std::string_view key) {
  const auto names = [&](const spec::Assumption& one) { return one.words.starts_with(key); };
  const auto found = std::ranges::find_if(reading.assumptions, names);
  return found == reading.assumptions.end() ? std::string() : found->words;
}

bool is_unread(const dialects::Reading& reading, std::string_view key) {
  return std::ranges::any_of(reading.unread, [&](const std::string& each) { return each.starts_with(key); });
}

}  // namespace

// transformers training_args.py, OptimizerNames.
TEST_CASE("optimizers of TrainingArguments are ours, or refused where their states are not known") {
  for (const auto& [theirs, ours] : {std::pair{"adamw_torch", "adamw"},
                                     {"adamw_torch_fused", "adamw"},
                                     {"adamw_bnb_8bit", "adamw-8bit"},
                                     {"adamw_8bit", "adamw-8bit"},
                                     {"adamw_torch_4bit", "adamw-4bit"},
                                     {"paged_adamw_32bit", "paged-adamw"},
                                     {"paged_adamw_8bit", "paged-adamw-8bit"},
                                     {"adafactor", "adafactor"},
                                     {"lion_32bit", "lion"},
                                     {"galore_adamw_8bit", "galore-adamw-8bit"},
                                     {"apollo_adamw", "apollo"},
                                     {"lomo", "lomo"},
                                     {"adalomo", "adalomo"},
                                     {"muon", "muon"},
                                     {"adagrad", "adagrad"},
                                     {"sgd", "sgd"}}) {
    CAPTURE(theirs);
    CHECK(trained(std::string("optim: ") + theirs, "optimizer") == ours);
  }
  CHECK(trained("optim: adamw_torch", "optimizer_impl") == "foreach");
  CHECK(trained("optim: adamw_torch_fused", "optimizer_impl") == "fused");
  for (const auto* unknown : {"schedule_free_adamw", "ademamix", "paged_ademamix_8bit", "grokadamw", "stable_adamw",
                              "galore_adamw", "lion_8bit", "rmsprop"}) {
    CAPTURE(unknown);
    CHECK_THROWS_WITH(trained(std::string("optim: ") + unknown, "optimizer"),
                      Contains("run.yaml:3") && Contains("none that is modelled") && Contains("--optimizer"));
  }
}

// transformers 5.24 training_args.py, _process_fsdp_args: version 2 where none is said; accelerate
// utils/dataclasses.py, FullyShardedDataParallelPlugin: 1.
TEST_CASE("strategies of FSDP by their names and numbers") {
  CHECK(trained("fsdp: full_shard auto_wrap", "sharding") == "fsdp2");
  CHECK(trained("fsdp: full_shard auto_wrap\nfsdp_config: {version: 1}", "sharding") == "fsdp1");
  CHECK(trained("fsdp: full_shard auto_wrap offload", "offload") == "params+optimizer");
  CHECK(trained("fsdp: shard_grad_op auto_wrap", "reshard") == "0");
  CHECK(trained("fsdp: hybrid_shard auto_wrap", "sharding") == "hsdp");
  CHECK(trained("fsdp: no_shard", "sharding") == "ddp");
  CHECK(trained("fsdp: full_shard\nfsdp_config: {fsdp_version: 2, reshard_after_forward: false}", "sharding") ==
        "fsdp2");
  CHECK(trained("fsdp: full_shard\nfsdp_config: {version: 2, reshard_after_forward: false}", "reshard") == "0");
  const std::string fsdp = "distributed_type: FSDP\nnum_processes: 8\nfsdp_config:\n  fsdp_sharding_strategy: ";
  for (const auto* whole : {"1", "FULL_SHARD"}) CHECK(accelerated(fsdp + whole + "\n", "sharding") == "fsdp1");
  CHECK(accelerated(fsdp + "2\n", "reshard") == "0");
  CHECK(accelerated(fsdp + "3\n", "sharding") == "ddp");
  for (const auto* hybrid : {"4", "HYBRID_SHARD"}) CHECK(accelerated(fsdp + hybrid + "\n", "sharding") == "hsdp");
}

// accelerate commands/config/config_args.py.
TEST_CASE("ways to distribute by accelerate's names") {
  CHECK(accelerated("distributed_type: 'NO'\nnum_processes: 1\nmixed_precision: 'no'\n", "sharding") == "-");
  CHECK(accelerated("distributed_type: 'NO'\nnum_processes: 1\nmixed_precision: 'no'\n", "dtype") == "-");
  CHECK(accelerated("distributed_type: MULTI_GPU\nnum_processes: 4\n", "sharding") == "ddp");
  CHECK(accelerated("distributed_type: MULTI_GPU\nnum_processes: 4\n", "gpus") == "4");
  CHECK(accelerated("distributed_type: TP\nnum_processes: 4\ntp_config: {tp_size: 4}\n", "tp") == "4");
  CHECK(accelerated("distributed_type: MULTI_GPU\nmixed_precision: fp8\n", "compute") == "fp8-e4m3");
  const auto quiet = read_file("distributed_type: MULTI_GPU\ngpu_ids: all\ndowncast_bf16: 'no'\nsame_network: true\n");
  CHECK(quiet.unread.empty());
}

// DeepSpeed runtime/config.py: numbers may be written as floats, 0 is meaningful, comments occur.
TEST_CASE("DeepSpeed's JSON may have comments and floats") {
  const auto reading = read_file(R"({
  // stage 3
  "zero_optimization": {"stage": 3, "reduce_bucket_size": 5e8, "stage3_max_live_parameters": 0},
  "bf16": {"enabled": true},
  "train_micro_batch_size_per_gpu": 2
})",
                                 "ds.json");
  CHECK(said(reading, "sharding") == "zero3");
  CHECK(said(reading, "micro_batch") == "2");
  CHECK_FALSE(assumed(reading, "zero_optimization.stage3_max_live_parameters 0").empty());
}

TEST_CASE("Megatron-LM's stages of a rank by the layers that each has") {
  const std::string model =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 64 "
      "--num-attention-heads 4 --seq-length 8 --micro-batch-size 1 ";
  CHECK(said(read_command(model + "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2"),
             "vpp") == "4");
  CHECK(said(read_command(model + "--num-virtual-stages-per-pipeline-rank 2"), "vpp") == "2");
  CHECK(said(read_command(model + "--tensor-model-parallel-size 1 --sequence-parallel"), "sp") == "-");
}

TEST_CASE("keys that move memory and have no option are assumptions") {
  const auto vllm =
      read_command("vllm serve m --cpu-offload-gb 8 --limit-mm-per-prompt '{\"image\":2}' --swap-space 4");
  CHECK_THAT(assumed(vllm, "cpu_offload_gb 8"), Contains("all weights rest on the accelerator"));
  CHECK(said(vllm, "text_only") == "-");
  CHECK(said(read_command("vllm serve m --limit-mm-per-prompt.image 0 --limit-mm-per-prompt.video 2"), "text_only") ==
        "-");
  for (const char* limits : {"--limit-mm-per-prompt '{\"image\":0,\"video\":0}'", "--limit-mm-per-prompt image=0",
                             "--limit-mm-per-prompt.image 0", "--language-model-only"}) {
    CHECK(said(read_command(std::string("vllm serve m ") + limits), "text_only") == "1");
  }
  const auto cards = [](const std::string& beside) {
    const std::string image = " --device nvidia.com/gpu=0 vllm/vllm-openai --model m -tp 4";
    return said(read_command("podman run" + beside + image), "gpus");
  };
  CHECK(cards("") == "1");
  CHECK(cards(" --gpus 2") == "3");
  CHECK(cards(" --gpus all") == "-");
  CHECK_THROWS_AS(cards(" --gpus 99999999999999999999"), quantity::BadInput);
  for (const char* fitted : {"auto", "-1"}) {
    const auto reading = read_command(std::string("vllm serve m --max-model-len ") + fitted);
    CHECK_THAT(assumed(reading, "max_model_len"), Contains("--find context"));
  }
  CHECK(vllm.unread.empty());
  const auto factory =
      read_file("model_name_or_path: m\nstage: sft\nupcast_layernorm: true\nfreeze_vision_tower: true\n");
  CHECK_FALSE(assumed(factory, "upcast_layernorm true (run.yaml:3)").empty());
  const auto axolotl = read_file("base_model: m\npeft:\n  loftq_config:\n    loftq_bits: 4\nno_such_key: 1\n");
  CHECK_FALSE(assumed(axolotl, "peft.loftq_config.loftq_bits 4").empty());
  CHECK(is_unread(axolotl, "no_such_key"));
  CHECK_FALSE(assumed(read_file("FROM llama3\nADAPTER ./a.gguf\n", "Modelfile"), "adapter ./a.gguf").empty());
}

TEST_CASE("switches that are on without a value, and off by their opposite") {
  CHECK(said(read_command("vllm serve m --no-enable-prefix-caching"), "prefix_cache") == "0");
  CHECK(said(read_command("vllm serve m --enforce-eager"), "graphs") == "0");
  CHECK(said(read_command("vllm serve m --max_model_len=32k"), "context") == "32000");
  CHECK(said(read_command("vllm serve m --max-model-len 32K"), "context") == "32768");
  CHECK(said(read_command("llama-server -m m.gguf -fa -c 4096 -kvu"), "flash") == "1");
  CHECK(said(read_command("llama-server -m m.gguf -fa off"), "flash") == "0");
  CHECK(said(read_command("llama-server -m m.gguf -c 0"), "context") == "0");
  CHECK(said(read_command("llama-server -m m.gguf --fit off"), "context") == "0");
  CHECK(said(read_command("llama-server -m m.gguf --fit off -c 4096"), "context") == "4096");
  CHECK(said(read_command("llama-server -m m.gguf --fit on"), "context") == "-");
  CHECK(said(read_file("model_name_or_path: m\nstage: sft\nneat_packing: true\nmax_samples: 100\n"), "packing") == "1");
}

// LLaMA-Factory hparams/parser.py: packing is what is said of it, and where nothing is, whether the stage is "pt".
TEST_CASE("LLaMA-Factory packs samples when it pretrains, unless its file says not to") {
  for (const std::string stage : {"pt", "sft", "dpo", "kto"}) {
    const auto packs = [&](const std::string& line) {
      return said(read_file("model_name_or_path: m\nstage: " + stage + "\n" + line), "packing") == "1";
    };
    CAPTURE(stage);
    CHECK(packs("") == (stage == "pt"));
    CHECK(packs("packing: null\n") == (stage == "pt"));
    CHECK(packs("packing: true\n"));
    CHECK_FALSE(packs("packing: false\n"));
  }
}

TEST_CASE("a pattern of targets stands for the projections that it ends with") {
  const auto targets = [](const std::string& pattern) {
    return said(read_file("base_model: m\nadapter: lora\nlora_target_modules: '" + pattern + "'\n"), "lora_targets");
  };
  CHECK(targets(".*(q_proj|v_proj)$") == "q,v");
  CHECK(targets("model.layers.[\\d]+.(mlp|self_attn).(up|down|gate)_proj") == "up,down,gate");
  CHECK(targets("^(?!.*visual).*(q_proj|k_proj).*") == "q,k");
  CHECK(targets(".*o_proj") == "o");
  CHECK(targets(".*") == "all-linear");
}

TEST_CASE("what a program, an image or a template is called never beats what it says") {
  const auto refusal = [](const std::string& text, const std::string& name) {
    try {
      read_file(text, name);
    } catch (const quantity::BadInput& error) {
      return error.problem();
    }
    return std::string("accepted");
  };
  const std::string model = " --num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1 ";
  CHECK(said(read_command("torchrun pretrain_gpt.py" + model + "--use-rotary-position-embeddings"), "position") ==
        "rope");
  for (const std::string program :
       {"tools/run_text_generation_server.py", "post_training/quantize.py", "tasks/main.py"}) {
    CHECK_THAT(refusal("#!/bin/sh\npython " + program + model, "run.sh"), Contains("not known to train"));
  }
  for (const std::string program :
       {"pretrain_t5.py", "pretrain_bert.py", "pretrain_vlm.py", "pretrain_vision_dino.py"}) {
    CHECK_THAT(refusal("torchrun " + program + model, "run.sh"), Contains("they say a part"));
  }
  const auto rewards = read_command("python3 train.py" + model + "--advantage-estimator grpo --rollout-batch-size 8");
  CHECK(said(rewards, "algorithm") == "grpo");
  const auto version = [](const std::string& image) {
    return said(read_file("services: {a: {image: '" + image + "', command: vllm serve m}}"), "engine_version");
  };
  CHECK(version("vllm/vllm-openai:v0.11.0") == "0.11.0");
  for (const auto* image : {"nvcr.io/nvidia/vllm:25.11-py3", "ubuntu:22.04", "vllm:1.2.2}"})
    CHECK(version(image) == "-");
  CHECK(
      said(read_file("x-base: {image: vllm, command: --model small}\nservices: {a: {image: vllm, command: --model m}}"),
           "model") == "m");
  CHECK_THAT(refusal("FROM ubuntu:22.04\nRUN apt-get update\n", "Dockerfile"), Contains("builds an image"));
}

/// Compose puts defaults in before anything reads quotes (docs.docker.com, Interpolation); a shell does so outside of
/// single quotes.
TEST_CASE("a variable's default inside of an argument in JSON is its value") {
  const std::string json = R"({"method":"eagle","num_speculative_tokens":${N:-5}})";
  const std::string line =
      "services:\n  a:\n    image: vllm\n    command: >-\n      vllm serve m --speculative-config '";
  CHECK(said(read_file(line + json + "'\n"), "draft") == "eagle:5");
  const std::string list = "services:\n  a:\n    image: vllm\n    command: [vllm, serve, m, --speculative-config, '";
  CHECK(said(read_file(list + json + "', --max-model-len, '${LEN-8192}']\n"), "draft") == "eagle:5");
  CHECK(said(read_file(list + json + "', --max-model-len, '${LEN-8192}']\n"), "context") == "8192");
  const std::string script =
      R"(vllm serve m --speculative-config "{\"method\":\"eagle\",\"num_speculative_tokens\":${N:-5}}")";
  CHECK(said(read_file("#!/bin/bash\n" + script, "run.sh"), "draft") == "eagle:5");
  CHECK(said(read_file("#!/bin/bash\nN=3\n" + script, "run.sh"), "draft") == "eagle:3");
  CHECK_THROWS_WITH(read_file("#!/bin/bash\nvllm serve m --speculative-config '" + json + "'", "run.sh"),
                    Contains("is not JSON"));
}

TEST_CASE("scripts are read past what surrounds their command") {
  const auto model = [](const std::string& text) { return said(read_file("#!/bin/bash\n" + text, "run.sh"), "model"); };
  const std::string serves = "vllm serve m --max-model-len 8192";
  CHECK(model("python - <<'PY'\nimport os\nPY\n" + serves) == "m");
  CHECK(said(read_file("python - <<PY\nimport os\nPY\n" + serves, "run.sh"), "model") == "m");
  CHECK(model("ray symmetric-run --address h:6379 --min-nodes 2 -- " + serves) == "m");
  CHECK(model("ray job submit --working-dir . -- " + serves) == "m");
  CHECK(model("tmux new-session -d -s a '" + serves + "'") == "m");
  CHECK(model("tmux send-keys -t a \"" + serves + "\" C-m") == "m");
  CHECK(model("uvx " + serves) == "m");
  CHECK(model("for i in 0 1; do\n  CUDA_VISIBLE_DEVICES=$i " + serves + " --port 800$i &\ndone") == "m");
  const dialects::FindFile beside = [](const std::string& path) {
    return path == ".env" ? std::optional(dialects::NamedFile{path, "# of the machine\nexport MODEL=m\n"})
                          : std::nullopt;
  };
  CHECK(said(dialects::read_launch_file("#!/bin/bash\nsource .env\nvllm serve $MODEL\n", "run.sh", beside), "model") ==
        "m");
  const auto recipe = read_command("tune run --nproc_per_node 4 lora_finetune_distributed --config llama3_1/8B_qlora");
  CHECK(said(recipe, "model") == "llama-3.1-8b");
  CHECK(said(recipe, "method") == "qlora");
  const std::string kept =
      "wandb_version: 1\nmodel_name_or_path: {desc: null, value: m}\nper_device_train_batch_size: {value: 4}\n";
  CHECK(said(read_file(kept, "config.yaml"), "micro_batch") == "4");
}

// Slurm's srun takes the machines of the allocation that it runs in.
TEST_CASE("tasks of a step run on every machine of the job, whatever other steps say") {
  const std::string job = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:h100:8\n";
  const std::string train = "python train.py --model_name_or_path m --per_device_train_batch_size 1\n";
  const auto gpus = [&](const std::string& steps) { return said(read_file(job + steps, "job.sh"), "gpus"); };
  CHECK(gpus("srun --ntasks-per-node=8 " + train) == "16");
  CHECK(gpus("srun --nodes=1 --ntasks=1 hostname\nsrun --ntasks-per-node=8 " + train) == "16");
  CHECK(gpus("srun --nodes=1 --ntasks-per-node=4 " + train) == "4");
}

// What docs/from.md promises of a DeepSpeed file that cannot be read: its name counts, where nothing else says more.
TEST_CASE("what a file says counts more than what another file's name does, in either order") {
  const std::string named =
      "model_name_or_path: m\nstage: sft\nfinetuning_type: full\ndeepspeed: /x/ds_z2_config.json\n";
  const std::string written = R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}})";
  CHECK(said(read_file(named), "sharding") == "zero2");
  CHECK(said(dialects::merge({read_file(named), read_file(written, "ds.json")}), "sharding") == "zero3");
  CHECK(said(dialects::merge({read_file(written, "ds.json"), read_file(named)}), "sharding") == "zero3");
}

// transformers 5.23 modeling_utils.py, from_pretrained: dtype="auto"; accelerate 1.15 accelerator.py, prepare_model:
// autocast leaves weights as they are.
TEST_CASE("weights rest in the checkpoint's type whether or not a file of transformers asks for bf16") {
  CHECK(trained("bf16: true", "dtype") == "bf16");
  CHECK(trained("bf16: true\ntorch_dtype: float32", "dtype") == "mixed-bf16");
  CHECK(trained("fp16: true", "dtype") == "mixed-fp16");
  const auto run = read_file("model_name_or_path: m\nper_device_train_batch_size: 1\nbf16: true\n");
  const auto shards = read_file("distributed_type: FSDP\nmixed_precision: bf16\nfsdp_config: {fsdp_version: 2}\n");
  CHECK(said(dialects::merge({shards, run}), "dtype") == "mixed-bf16");
  CHECK(trained("bf16: true\nmax_length: 512", "dtype") == "mixed-bf16");
}

TEST_CASE("an option answers what a server's script leaves to the machine") {
  const auto reading = read_command("TP=$(nvidia-smi -L | wc -l); vllm serve m --tensor-parallel-size $TP");
  CHECK_THROWS_WITH(dialects::with_options(reading, {}), Contains("nvidia-smi"));
  const auto words = dialects::with_options(reading, {{"tp", "4", {read::Source::flag, "--tp"}}});
  CHECK(std::ranges::count(words, "tp", &read::Given::term) == 1);
  CHECK(std::ranges::find(words, "tp", &read::Given::term)->text == "4");
}
