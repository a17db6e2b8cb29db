// The smallest use of the installed library: does a run fit, and how long does a step of it take?
#include <llmcalc/llmcalc.h>
#include <llmcalc/llmcalc.hpp>

#include <iostream>

int main() {
  const auto answer = llmcalc::ask({{"model", "llama-3-8b"}, {"method", "qlora"}, {"gpu", "a100-80"}});
  std::cout << (answer.fits() ? "fits" : "does not fit") << ", a step takes "
            << in_seconds(answer.estimate.compute.step) << " s\n";

  char* json = nullptr;
  const int code = llmcalc_fit(R"({"params": "70B", "dtype": "bf16", "gpu": "rtx-4090"})", &json);
  std::cout << "70B: " << code << ", " << std::string(json).size() << " bytes of JSON, " << llmcalc_version() << '\n';
  llmcalc_free(json);

  try {
    llmcalc::ask("fit", {{"model", "llama-3-8c"}});
  } catch (const llmcalc::quantity::BadInput& error) {
    std::cout << error.what() << '\n';
  }
}
