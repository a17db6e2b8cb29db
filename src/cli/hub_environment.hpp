// Where the Hub is and where its cache lies, by the variables of huggingface_hub (constants.py, utils/_auth.py).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace llmcalc::cli {

class Notice;

struct HubEnvironment {
  std::filesystem::path cache;  ///< HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, $HF_HOME/hub; empty without a home
  std::string endpoint = "https://huggingface.co";  ///< HF_ENDPOINT, without a slash at its end
  std::string token;                                ///< goes to that endpoint alone, and into no message
  bool offline = false;                             ///< HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE, --offline
  std::shared_ptr<Notice> notice = {};              ///< for whoever waits; empty: nobody is told
  long timeout = 10;                                ///< seconds: HF_HUB_DOWNLOAD_TIMEOUT, HF_HUB_ETAG_TIMEOUT
};

/// Read when it is needed: the token may be a file.
HubEnvironment read_hub_environment(bool offline);

}  // namespace llmcalc::cli
