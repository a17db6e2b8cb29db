// The command that an answer prints to start its server, read back with --from, has the same answer.
#include "catch.hpp"
#include "cli/run.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json answer_to(const Words& arguments) {
  return nlohmann::json::parse(cli::run(joined(arguments, {"--format", "json"}), cli::Environment{}).answer);
}

/// What no command of a server says.
const Words load{"--concurrency", "8", "--prompt", "1024", "--output", "256", "--price", "2"};

/// The answer to a question, and that to the command it prints; the command names the model as engines do.
/// \param model  where the command alone says it
void check_read_back(const Words& machine, const Words& options, const Words& model = {}) {
  const Words around = joined(machine, load);
  auto asked = answer_to(joined(joined(joined({"serve"}, model), around), options));
  const std::string command = asked["launch"];
  CAPTURE(command);
  REQUIRE_FALSE(command.empty());
  auto read = answer_to(joined({"serve", "--from", command}, around));
  for (auto* answer : {&asked, &read}) {
    for (const auto* key : {"question", "assumptions", "notes", "launch_notes"}) answer->erase(key);
  }
  CHECK(read == asked);
}

}  // namespace

TEST_CASE("vLLM's command read back has the same answer") {
  const Words dense{"--model", "llama-3.1-8b", "--gpu", "h100-sxm:2"};
  check_read_back(dense, {"--engine", "vllm", "--tp", "2", "--context", "32768", "--max-seqs", "64"});
  check_read_back(dense, {"--engine", "vllm", "--tp", "2", "--context", "8192", "--kv-dtype", "fp8", "--graphs", "0",
                          "--memory-fraction", "0.85", "--batched-tokens", "4096"});
  check_read_back({"--model", "qwen3-30b-a3b", "--gpu", "h100-sxm:4"},
                  {"--engine", "vllm", "--tp", "4", "--ep", "4", "--context", "8192"});
  check_read_back({"--model", "llama-3.1-8b", "--gpu", "l40s"},
                  {"--engine", "vllm", "--quant", "fp8", "--context", "8192"});
}

TEST_CASE("SGLang's command read back has the same answer") {
  check_read_back({"--model", "llama-3.1-8b", "--gpu", "h100-sxm:2"},
                  {"--engine", "sglang", "--tp", "2", "--context", "16384", "--memory-fraction", "0.85"});
  check_read_back({"--model", "deepseek-v3", "--gpu", "h200:8"},
                  {"--engine", "sglang", "--tp", "1", "--attention-dp", "8", "--ep", "8", "--context", "8192",
                   "--max-seqs", "128", "--batched-tokens", "8192"});
}

TEST_CASE("trtllm-serve's command read back has the same answer") {
  check_read_back({"--model", "llama-3.1-70b", "--gpu", "h100-sxm:4"},
                  {"--engine", "trtllm", "--tp", "4", "--context", "8192", "--max-seqs", "64", "--batched-tokens",
                   "4096", "--memory-fraction", "0.8"});
}

TEST_CASE("quantized weights and caches are read back, by an option or by the name of the checkpoint") {
  const Words machine{"--gpu", "b200"};
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    for (const std::string quant : {"fp8", "awq", "gptq", "nvfp4", "mxfp4", "int8", "int4", "bf16"}) {
      for (const std::string cache : {"fp8", "nvfp4", "bf16", "auto"}) {
        check_read_back(machine, {"--engine", engine, "--quant", quant, "--kv-dtype", cache, "--context", "8192"},
                        {"--model", "llama-3.1-8b"});
      }
    }
  }
  check_read_back(machine, {"--engine", "trtllm", "--quant", "bf16", "--context", "8192"}, {"--model", "gpt-oss-20b"});
}

TEST_CASE("llama-server's command read back has the same answer") {
  const Words file{"--model", "llama-3.1-8b", "--gpu", "rtx-4090", "--quant", "q4_k_m"};
  check_read_back(file, {"--engine", "llama.cpp", "--context", "32768", "--slots", "4", "--kv-dtype", "q8_0"});
  check_read_back(file, {"--engine", "llama.cpp", "--context", "8192", "--gpu-layers", "20", "--ubatch", "1024"});
}

TEST_CASE("the type of a GGUF is read back from the name of its file or from its tag") {
  for (const std::string quant : {"q8_0", "q4_k_m", "iq2_xs", "f16"}) {
    for (const std::string engine : {"llama.cpp", "ollama"}) {
      CAPTURE(quant, engine);
      check_read_back({"--model", "llama-3.1-8b", "--gpu", "rtx-4090"},
                      {"--engine", engine, "--quant", quant, "--context", "8192"});
    }
  }
  check_read_back({"--model", "gpt-oss-20b", "--gpu", "rtx-4090"}, {"--engine", "ollama", "--context", "8192"});
}

TEST_CASE("Ollama's command read back has the same answer") {
  check_read_back({"--model", "llama-3.1-8b", "--gpu", "rtx-4090", "--quant", "q4_k_m"},
                  {"--engine", "ollama", "--context", "16384", "--slots", "2", "--kv-dtype", "q8_0"});
  check_read_back({"--model", "llama-3.1-8b", "--gpu", "rtx-4090", "--quant", "q8_0"},
                  {"--engine", "ollama", "--context", "8192", "--gpu-layers", "20", "--ubatch", "256"});
}

// vLLM docs/serving/data_parallel_deployment: "By default, expert layers form a tensor parallel group of size DP x TP";
// SGLang's --dp-size copies the whole model (docs/advanced_features/server_arguments).
TEST_CASE("one line starts several copies of a model, but of a mixture only where it copies its experts") {
  const auto launch = [](const std::string& model, const std::string& engine) {
    return answer_to({"serve", model, "--gpu", "h100-sxm:4", "--tp", "2", "--engine", engine})["launch"]
        .get<std::string>();
  };
  CHECK(launch("llama-3.1-8b", "vllm").find("--data-parallel-size 2") != std::string::npos);
  CHECK(launch("qwen3-30b-a3b", "vllm").find("--data-parallel-size") == std::string::npos);
  CHECK(launch("qwen3-30b-a3b", "sglang").find("--dp-size 2") != std::string::npos);
}
