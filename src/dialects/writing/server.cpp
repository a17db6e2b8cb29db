#include "dialects/server.hpp"

#include "dialects/writing/servers.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::dialects {

std::string server_command(const serving::Deployment& deployment, const ServedNames& names) {
  using spec::Engine;
  switch (deployment.question.serving.engine) {
    case Engine::vllm: return vllm_command(deployment, names);
    case Engine::sglang: return sglang_command(deployment, names);
    case Engine::trtllm: return trtllm_command(deployment, names);
    case Engine::llama_cpp: return llama_command(deployment, names);
    case Engine::ollama: return ollama_command(deployment, names);
    case Engine::hf: break;
  }
  return {};
}

std::int64_t servers_to_start(const spec::Question& question) {
  const bool one_line_starts_all = question.layout.ep == 1 || spec::reads_gguf(question.serving.engine);
  return one_line_starts_all ? 1 : question.layout.dp;
}

}  // namespace llmcalc::dialects
