// A command says the same in whatever starts it: a script, a container, a pod, a job, a unit.
#include "catch.hpp"
#include "read.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace llmcalc::wrapped {
namespace {

/// Words of a command line, and the image that holds its program.
struct Command {
  std::string image;
  std::vector<std::string> words;
};

const std::vector<Command> commands{
    {"vllm/vllm-openai:v0.10.2",
     {"vllm", "serve", "Qwen/Qwen3-8B", "--max-model-len", "16384", "--tensor-parallel-size", "2", "--max-num-seqs",
      "48"}},
    {"vllm/vllm-openai:v0.10.2",
     {"vllm", "serve", "meta-llama/Llama-3.1-8B", "--pipeline-parallel-size", "2", "--gpu-memory-utilization", "0.8",
      "--kv-cache-dtype", "fp8", "--enforce-eager"}},
    {"lmsysorg/sglang:v0.5.4",
     {"python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-8B", "--tp", "2", "--context-length", "8192",
      "--mem-fraction-static", "0.8"}},
    {"ghcr.io/ggml-org/llama.cpp:server-cuda",
     {"llama-server", "-hf", "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M", "-c", "8192", "-ngl", "20", "-np",
      "4"}},
    {"nvcr.io/nvidia/pytorch:25.09-py3",
     {"torchrun",
      "--nproc_per_node",
      "8",
      "pretrain_gpt.py",
      "--num-layers",
      "32",
      "--hidden-size",
      "4096",
      "--num-attention-heads",
      "32",
      "--seq-length",
      "4096",
      "--max-position-embeddings",
      "4096",
      "--micro-batch-size",
      "1",
      "--global-batch-size",
      "128",
      "--tensor-model-parallel-size",
      "2",
      "--bf16",
      "--use-distributed-optimizer"}},
    {"nvcr.io/nvidia/pytorch:25.09-py3",
     {"accelerate", "launch", "--num_processes", "4", "run_clm.py", "--model_name_or_path", "Qwen/Qwen3-8B", "--bf16",
      "--per_device_train_batch_size", "2", "--gradient_accumulation_steps", "8", "--gradient_checkpointing", "true"}},
    {"nvcr.io/nvidia/pytorch:25.09-py3",
     {"python", "-m", "torch.distributed.run", "--nproc-per-node", "8", "-m", "torchtitan.train", "--module", "llama3",
      "--config", "llama3_8b", "--training.seq_len", "8192", "--parallelism.tensor_parallel_degree", "2"}}};

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// Each as an item of a list in YAML.
std::string items(const std::vector<std::string>& words, const std::string& indent) {
  std::string text;
  for (const auto& word : words) text += indent + "- \"" + word + "\"\n";
  return text;
}

std::string listed(const std::vector<std::string>& words) { return "[\"" + joined(words, "\", \"") + "\"]"; }

struct Wrapping {
  std::string name;  ///< of the file
  std::function<std::string(const Command&)> text;
};

std::string container(const Command& command, const std::string& indent) {
  return indent + "containers:\n" + indent + "- name: server\n" + indent + "  image: " + command.image + "\n" + indent +
         "  command:\n" + items(command.words, indent + "  ");
}

/// One cell of a Jupyter notebook (nbformat 4), each line of it on one of the file's.
std::string notebook(const std::string& first, const Command& command) {
  const std::string lines = first + joined(command.words, " \\\n  ") + "\n";
  std::string source;
  for (const auto line : quantity::pieces_of(lines, "\n")) {
    if (!line.empty()) source += (source.empty() ? "" : ",\n") + nlohmann::json(std::string(line) + "\n").dump();
  }
  return "{\"cells\": [{\"cell_type\": \"code\", \"metadata\": {}, \"outputs\": [],\n\"source\": [\n" + source +
         "\n]}],\n\"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n";
}

const std::vector<Wrapping> wrappings{
    {"run.ipynb", [](const Command& c) { return notebook("!", c); }},
    {"run.ipynb", [](const Command& c) { return notebook("%%bash\n", c); }},
    {"run.ipynb", [](const Command& c) { return notebook("%%sh\nset -e\n", c); }},
    {"run.sh", [](const Command& c) { return "#!/bin/bash\nset -e\n" + joined(c.words, " \\\n  ") + "\n"; }},
    {"run.sh",
     [](const Command& c) {
       return "ARGS=\"" + joined({c.words.begin() + 3, c.words.end()}, " ") + "\"\nexec " +
              joined({c.words.begin(), c.words.begin() + 3}, " ") + " $ARGS\n";
     }},
    {"run.sh", [](const Command& c) { return "nohup bash -c '" + joined(c.words, " ") + "' > log 2>&1 &\n"; }},
    {"job.sbatch",
     [](const Command& c) { return "#!/bin/bash\n#SBATCH --nodes=1\n\nsrun " + joined(c.words, " ") + "\n"; }},
    {"compose.yml",
     [](const Command& c) {
       return "services:\n  server:\n    image: " + c.image +
              "\n    entrypoint: " + listed({c.words.begin(), c.words.begin() + 1}) +
              "\n    command: " + listed({c.words.begin() + 1, c.words.end()}) + "\n";
     }},
    {"compose.yml",
     [](const Command& c) {
       return "services:\n  server:\n    image: " + c.image +
              "\n    entrypoint: []\n    command: " + joined(c.words, " ") + "\n";
     }},
    {"pod.yaml",
     [](const Command& c) { return "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n" + container(c, "  "); }},
    {"deployment.yaml",
     [](const Command& c) {
       return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 1\n  template:\n    "
              "spec:\n" +
              container(c, "      ");
     }},
    {"job.yaml",
     [](const Command& c) {
       return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      "
              "containers:\n      - name: a\n"
              "        image: " +
              c.image + "\n        command: [sh, -c]\n        args:\n        - |\n          " +
              joined(c.words, " \\\n            ") + "\n";
     }},
    {"task.yaml",
     [](const Command& c) { return "resources:\n  accelerators: A100:2\nrun: |\n  " + joined(c.words, " ") + "\n"; }},
    {"service.dstack.yml",
     [](const Command& c) {
       return "type: service\nname: a\nimage: " + c.image + "\ncommands:\n  - " + joined(c.words, " ") +
              "\nresources:\n  gpu: A100:2\n";
     }},
    {"server.service", [](const Command& c) {
       return "[Unit]\nDescription=a\n\n[Service]\nExecStart=/opt/bin/" + joined(c.words, " \\\n    ") +
              "\nRestart=always\n";
     }}};

std::string as_text(const dialects::Reading& reading) {
  std::vector<std::string> words;
  for (const auto& word : reading.words) {
    const bool is_of_machine =
        word.term == "gpu" || word.term == "gpus" || word.term == "engine_version" || word.term == "nodes";
    if (!is_of_machine) words.push_back(word.term + "=" + word.text);
  }
  std::ranges::sort(words);
  return joined(words, " ");
}

}  // namespace

TEST_CASE("a command says the same in whatever starts it") {
  for (const Command& command : commands) {
    const auto bare = as_text(test::read_alone(joined(command.words, " ") + "\n", "run.sh"));
    CHECK(bare.size() > 30);
    for (const auto& [name, text] : wrappings) {
      const auto file = text(command);
      CAPTURE(name, file);
      CHECK(as_text(test::read_alone(file, name)) == bare);
    }
  }
}

/// Megatron-LM's --yaml-cfg has core's configurations in blocks of their own (training/yaml_arguments.py,
/// examples/gpt3/gpt_config.yaml).
TEST_CASE("Megatron-LM's YAML says what the same options of its command line say") {
  enum Block { language_model, model_parallel, neither };
  struct Line {
    Block block;
    std::string yaml;
    std::string option;
  };
  const std::vector<Line> common{
      {language_model, "num_layers: 24", "--num-layers 24"},
      {language_model, "hidden_size: 1024", "--hidden-size 1024"},
      {language_model, "num_attention_heads: 16", "--num-attention-heads 16"},
      {language_model, "num_query_groups: 4", "--group-query-attention --num-query-groups 4"},
      {model_parallel, "tensor_model_parallel_size: 2", "--tensor-model-parallel-size 2"},
      {model_parallel, "bf16: True", "--bf16"},
      {neither, "micro_batch_size: 2", "--micro-batch-size 2"},
      {neither, "global_batch_size: 128", "--global-batch-size 128"},
      {neither, "seq_length: 4096", "--seq-length 4096"},
      {neither, "max_position_embeddings: 4096", "--max-position-embeddings 4096"}};
  const std::vector<Line> others{
      {language_model, "activation_func: swiglu", "--swiglu"},
      {language_model, "activation_func: squared_relu", "--squared-relu"},
      {language_model, "add_bias_linear: False", "--disable-bias-linear"},
      {language_model, "ffn_hidden_size: 2816", "--ffn-hidden-size 2816"},
      {model_parallel, "sequence_parallel: True", "--sequence-parallel"},
      {model_parallel, "pipeline_model_parallel_size: 2", "--pipeline-model-parallel-size 2"},
      {neither, "position_embedding_type: rope", "--position-embedding-type rope"},
      {neither, "untie_embeddings_and_output_weights: True", "--untie-embeddings-and-output-weights"},
      {neither, "use_distributed_optimizer: True", "--use-distributed-optimizer"}};
  for (const auto& other : others) {
    std::string blocks[] = {"language_model:\n", "model_parallel:\n", ""};
    std::string options = "torchrun --nproc_per_node 8 pretrain_gpt.py";
    auto lines = common;
    lines.push_back(other);
    for (const auto& line : lines) {
      blocks[line.block] += (line.block == neither ? "" : "  ") + line.yaml + "\n";
      options += " " + line.option;
    }
    CAPTURE(other.yaml);
    CHECK(as_text(test::read_alone(blocks[0] + blocks[1] + blocks[2], "gpt.yaml")) ==
          as_text(test::read_alone(options + "\n", "run.sh")));
  }
}

/// SkyPilot takes whichever of several it gets first, and the answer is of the first (docs/from.md).
TEST_CASE("of several accelerators that would do a task is read as one for the first") {
  const auto machine_of = [](const std::string& accelerators) {
    const auto reading = test::read_alone("resources:\n  accelerators: " + accelerators +
                                              "\nrun: |\n  vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2\n",
                                          "task.yaml");
    return test::word_of(reading, "gpu") + " x " + test::word_of(reading, "gpus");
  };
  const auto first = machine_of("L40S:2");
  CHECK(first == "l40s x 2");
  for (const std::string several : {"[L40S:2, A100-80GB:4]", "{L40S: 2, A100-80GB: 4}", "{L40S:2, H100:8}",
                                    "[L40S:2, H100:8, A100:1]", "[{L40S: 2}, {H100: 8}]"}) {
    CAPTURE(several);
    CHECK(machine_of(several) == first);
  }
  CHECK(machine_of("[H100:8, L40S:2]") != first);
}

TEST_CASE("an interpreter that nobody knows runs the module behind it") {
  for (const std::string before : {"\"$PYTHON\" -m ", "nohup $PY -m ", "CUDA_VISIBLE_DEVICES=0 ${PYTHON_BIN} -m "}) {
    const auto command = before + "vllm.entrypoints.openai.api_server --model a/b --tensor-parallel-size 2\n";
    CAPTURE(command);
    const auto reading = test::read_alone(command, "run.sh");
    test::check_terms(reading, "model=a/b tp=2");
    CHECK(reading.unread.empty());
  }
}

TEST_CASE("copies, ranks and stages of a command multiply to its accelerators") {
  const std::map<std::string, bool> starts{{"vllm serve Qwen/Qwen3-8B", true},
                                           {"python -m sglang.launch_server --model-path Qwen/Qwen3-8B", false}};
  for (const auto& [start, shares_experts] : starts) {  // what is copied the model says
    for (const int copies : {2, 4}) {
      for (const int ranks : {1, 2}) {
        for (const int stages : {1, 2}) {
          const auto command = start + " --data-parallel-size " + std::to_string(copies) + " --tensor-parallel-size " +
                               std::to_string(ranks) + " --pipeline-parallel-size " + std::to_string(stages);
          CAPTURE(command);
          test::check_terms(test::read_alone(command + "\n", "run.sh"),
                            (shares_experts ? "attention_dp=" + std::to_string(copies)
                                            : "gpus=" + std::to_string(copies * ranks * stages)) +
                                " tp=" + std::to_string(ranks) + " pp=" + std::to_string(stages));
        }
      }
    }
  }
}

}  // namespace llmcalc::wrapped
