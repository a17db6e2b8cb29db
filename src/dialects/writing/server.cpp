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

}  // namespace llmcalc::dialects
