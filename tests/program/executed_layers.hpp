// Layers of small models as transformers ran them, from the file that scripts/execute-families wrote, beside what the
// program says of the same ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::test {

/// Of the layers in which two models differ.
struct LayersCost {
  std::int64_t kept = 0;     ///< bytes behind the forward pass
  std::int64_t forward = 0;  ///< floating-point operations of products, as torch counts them: masks save none
  std::int64_t both = 0;     ///< of the forward and the backward pass
};

struct ExecutedMethod {
  std::string name;
  LayersCost executed;
  LayersCost predicted;

  double kept_error() const { return static_cast<double>(predicted.kept) / static_cast<double>(executed.kept) - 1.0; }
  /// torch's checkpoints stop running a layer again where it keeps nothing more, so that only its forward pass
  /// compares.
  bool same_flops() const {
    return predicted.forward == executed.forward && (name == "checkpointed" || predicted.both == executed.both);
  }
};

struct ExecutedFamily {
  std::string type;
  std::string attention;  ///< the kernel that its class runs unasked
  bool refused = false;   ///< no description reads it
  std::vector<ExecutedMethod> methods;
};

/// \param path  of a file with a JSON object a line: the types in its order, without those that could not be run
std::vector<ExecutedFamily> executed_families(const std::string& path);

}  // namespace llmcalc::test
