// What it costs a host to launch the kernels of a step one by one.
#include "llmcalc/spec/question.hpp"
#include "serving/inner/step_time.hpp"
#include "serving/inner/vllm_releases.hpp"

namespace llmcalc::serving {

/// Steps of vLLM 0.8 take 1.1 to 1.3 ms longer than those of later releases (vllm pulls 16035 and 16937: 7.5 and 7.8 ms
/// of Llama 8B on H100 with one request), and its EAGLE ran without graphs (v1/spec_decode/eagle.py). Graphs are of
/// decoding, but those of vLLM's first engine V1 and later also of mixed steps up to the largest captured size
/// (config/compilation.py, CUDAGraphMode.FULL_AND_PIECEWISE); TensorRT-LLM and SGLang launch the kernels of a prompt.
Launching launching_of(const Deployment& deployment) {
  const Setup& setup = deployment.setup;
  const bool vllm = deployment.question.serving.engine == spec::Engine::vllm;
  const bool early = vllm && setup.release < of_vllm::leaner_steps;
  const bool piecewise = vllm && setup.release >= of_vllm::first_engine_v1;
  return {setup.graph_batch == 0, early || setup.graph_batch == 0, early ? 1200.0 : 0.0,
          piecewise ? static_cast<double>(setup.graph_batch) : 0.0};
}

}  // namespace llmcalc::serving
