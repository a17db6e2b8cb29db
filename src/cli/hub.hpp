// Models of the Hugging Face Hub: its cache on this machine, then the network.
#pragma once

#include "cli/hub_environment.hpp"
#include "dialects/reading.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::cli {

/// "org/name", "org/name@revision", "hf:org/name", "org/name:Q4_K_M"
struct HubName {
  std::string id;  ///< "org/name"
  std::string revision = "main";
  std::string quant;  ///< of a GGUF file in the repository; empty where none is asked for
};

/// Empty where a text is no such name.
std::optional<HubName> hub_name(std::string_view text);

/// What the cache holds of a model: its configuration and the headers of its weights; empty where it holds neither.
std::optional<dialects::Reading> read_cached(const HubName& name, const HubEnvironment& hub);

/// Whether the cache says that a revision has no such file: it need not be asked for.
bool is_known_absent(const HubName& name, const std::string& file, const HubEnvironment& hub);

/// The same over the network. Nothing is written.
/// \throws quantity::BadInput for a model that is not there, is gated, or cannot be reached
dialects::Reading fetch(const HubName& name, const HubEnvironment& hub);

/// The cache, or else the network unless that is switched off.
dialects::Reading read_hub(const HubName& name, const HubEnvironment& hub);

}  // namespace llmcalc::cli
