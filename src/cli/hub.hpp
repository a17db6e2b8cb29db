// Models of the Hugging Face Hub: its cache on this machine, then the network, by libcurl where the program was built
// with it.
#pragma once

#include "api/surroundings.hpp"
#include "dialects/reading.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

class Notice;

/// Where the Hub is and where its cache lies, by the variables of huggingface_hub (constants.py, utils/_auth.py).
struct HubEnvironment {
  std::filesystem::path cache;  ///< HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, $HF_HOME/hub; empty without a home
  std::string endpoint = "https://huggingface.co";  ///< HF_ENDPOINT, without a slash at its end
  std::string token;                                ///< goes to that endpoint alone, and into no message
  bool offline = false;                             ///< HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE, --offline
  std::shared_ptr<Notice> notice = {};              ///< for whoever waits; empty: nobody is told
  long timeout = 10;                                ///< seconds: HF_HUB_DOWNLOAD_TIMEOUT, HF_HUB_ETAG_TIMEOUT
  /// Seconds for all that is asked of it: 400 shards of half a second each, and half as much again.
  long whole = 30 * timeout;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

/// Read when it is needed: the token may be a file.
HubEnvironment read_hub_environment(bool offline);

/// "org/name", "org/name@revision", "hf:org/name", "org/name:Q4_K_M"
struct HubName {
  std::string id;  ///< "org/name"
  std::string revision = "main";
  std::string quant;  ///< of a GGUF file in the repository; empty where none is asked for
};

/// The name without what says whose it is: "hf.co/org/name:Q4_K_M" is how Ollama's users type one.
std::string_view without_hub(std::string_view text);

/// Empty where a text is no such name.
std::optional<HubName> hub_name(std::string_view text);

/// Whether a file is a model's GGUF of a quantization as file names say it, the first of each split; a projector that
/// lies beside it is none. \param quant  empty: of any
bool is_gguf_of(std::string_view file, std::string_view quant);

/// A model as the cache holds it: its configuration and the headers of its weights; empty where it holds neither.
std::optional<dialects::Reading> read_cached(const HubName& name, const HubEnvironment& hub);

/// Whether the cache says that a revision has no such file: it need not be asked for.
bool is_known_absent(const HubName& name, const std::string& file, const HubEnvironment& hub);

/// Its configuration and headers over the network. Nothing is written.
/// \throws quantity::BadInput for a model that is not there, is gated, or cannot be reached
dialects::Reading fetch(const HubName& name, const HubEnvironment& hub);

/// The cache, or else the network unless that is switched off.
dialects::Reading read_hub(const HubName& name, const HubEnvironment& hub);

/// The model that a file names is looked for in the Hub's cache, among presets, on the Hub. Puts the preset's name, or
/// the configuration that was found, in the place of a name that is no preset's. Nothing is looked up where an option
/// names the model.
void find_model(dialects::Reading& reading, const std::vector<read::Given>& options, const read::Catalogue& catalogue,
                api::Lookup lookup);

struct HttpRequest {
  std::uint64_t most = 0;  ///< bytes of the body; more end the transfer, or are an error where no range was asked for
  bool range = false;      ///< asks for the first `most` bytes only
};

struct HttpResponse {
  long status = 0;
  std::string body;
  std::uint64_t size = 0;  ///< of the whole file, where a range says it
  std::string error_code;  ///< the Hub's own, X-Error-Code
  std::string next;        ///< of a list in pages, where the next one is (RFC 8288)
};

/// The token goes to the endpoint's host alone: redirects are followed without it.
/// \throws quantity::BadInput when nothing answers, in time and in bounds
HttpResponse http_get(const std::string& url, const HubEnvironment& hub, const HttpRequest& request);

}  // namespace llmcalc::cli
