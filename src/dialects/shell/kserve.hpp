// KServe's services of models (kserve pkg/apis/serving): an InferenceService says a model's format and the arguments of
// its server, an LLMInferenceService the model and how it is spread.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/command.hpp"
#include "read/node.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// The servers that the services of a file start, with what its ServingRuntime says; none where it holds no service.
std::vector<LaunchCommand> kserve_launches(const Node& file, std::string_view place);

}  // namespace llmcalc::dialects
