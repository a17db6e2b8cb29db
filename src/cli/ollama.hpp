// Ollama's models on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace llmcalc::cli {

/// The GGUF behind "name:tag" (docs: registry manifests, an OCI index whose layer of the model's type is the file), in
/// OLLAMA_MODELS or ~/.ollama/models; empty where it is not there.
std::optional<std::filesystem::path> ollama_model(const std::string& name);

}  // namespace llmcalc::cli
