// A command says the same in whatever starts it: a script, a container, a pod, a job, a unit.
#include "catch.hpp"
#include "read.hpp"

#include <algorithm>
#include <functional>
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

const std::vector<Wrapping> wrappings{
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
  const std::vector<std::string> starts{"vllm serve Qwen/Qwen3-8B",
                                        "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"};
  for (const auto& start : starts) {
    for (const int copies : {2, 4}) {
      for (const int ranks : {1, 2}) {
        for (const int stages : {1, 2}) {
          const auto command = start + " --data-parallel-size " + std::to_string(copies) + " --tensor-parallel-size " +
                               std::to_string(ranks) + " --pipeline-parallel-size " + std::to_string(stages);
          CAPTURE(command);
          test::check_terms(test::read_alone(command + "\n", "run.sh"),
                            "gpus=" + std::to_string(copies * ranks * stages) + " tp=" + std::to_string(ranks) +
                                " pp=" + std::to_string(stages));
        }
      }
    }
  }
}

}  // namespace llmcalc::wrapped
