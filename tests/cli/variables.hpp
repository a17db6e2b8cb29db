// The environment that huggingface_hub's variables say, for one test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::test {

/// Variables of the environment for one test, without those that this machine has.
class Variables {
 public:
  explicit Variables(const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto* name :
         {"HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN",
          "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_ENDPOINT", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE",
          "HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_DISABLE_IMPLICIT_TOKEN"}) {
      set(name, nullptr);
    }
    for (const auto& [name, value] : values) set(name, value.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (auto each = before_.rbegin(); each != before_.rend(); ++each) {
      put(each->first, each->second ? each->second->c_str() : nullptr);
    }
  }

 private:
  void set(const std::string& name, const char* value) {
    const char* before = std::getenv(name.c_str());
    before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
    put(name, value);
  }
  static void put(const std::string& name, const char* value) {
    if (value == nullptr) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value, 1);
    }
  }

  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace llmcalc::test
