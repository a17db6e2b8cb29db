#include "cli/hub_environment.hpp"

#include "cli/files.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_yes(const char* name) {
  constexpr std::array<std::string_view, 4> yes{"1", "on", "yes", "true"};
  return quantity::contains(yes, quantity::to_lower(variable(name)));
}

/// "$NAME" and "${NAME}" as Python's os.path.expandvars reads them: what nobody set stays as it is.
std::string with_variables(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const bool braces = text.starts_with("${");
    const std::size_t begin = braces ? 2 : text.starts_with('$') ? 1 : 0;
    std::size_t end = begin;
    while (begin > 0 && end < text.size() && quantity::is_name_char(text[end])) ++end;
    const char* value = end > begin ? std::getenv(std::string(text.substr(begin, end - begin)).c_str()) : nullptr;
    const bool closed = !braces || (end < text.size() && text[end] == '}');
    const bool known = value != nullptr && closed;
    const std::size_t taken = known ? end + (braces ? 1 : 0) : 1;
    result.append(known ? std::string_view(value) : text.substr(0, 1));
    text.remove_prefix(taken);
  }
  return result;
}

/// "~/cache" and "/data/$USER", as huggingface_hub expands both (constants.py).
fs::path expanded(std::string path) {
  if (path == "~" || path.starts_with("~/")) path.replace(0, 1, variable("HOME"));
  return with_variables(path);
}

fs::path home() {
  if (const auto said = variable("HF_HOME"); !said.empty()) return expanded(said);
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return expanded(cache) / "huggingface";
  const auto user = variable("HOME");
  return user.empty() ? fs::path() : fs::path(user) / ".cache" / "huggingface";
}

fs::path cache_folder() {
  for (const auto& said : {variable("HF_HUB_CACHE"), variable("HUGGINGFACE_HUB_CACHE")}) {
    if (!said.empty()) return expanded(said);
  }
  return home().empty() ? fs::path() : home() / "hub";
}

/// One that holds anything but printable letters would break out of its header.
std::string cleaned(std::string_view token) {
  const auto text = quantity::trim(token);
  const bool plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; });
  return plain ? std::string(text) : std::string();
}

std::string token() {
  if (is_yes("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return {};
  for (const auto* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (const auto said = variable(name); !said.empty()) return cleaned(said);
  }
  const auto said = variable("HF_TOKEN_PATH");
  const auto path = said.empty() ? home() / "token" : expanded(said);
  std::error_code error;
  return fs::is_regular_file(path, error) ? cleaned(read_file(path, "HF_TOKEN_PATH")) : std::string();
}

long seconds(const char* name, long otherwise) {
  constexpr long longest = 3600;
  const std::string said = variable(name);
  std::string_view text = said;
  const long value = quantity::take_number<long>(text).value_or(0);
  return value > 0 && value <= longest ? value : otherwise;
}

}  // namespace

HubEnvironment read_hub_environment(bool offline) {
  HubEnvironment hub;
  hub.cache = cache_folder();
  hub.offline = offline || is_yes("HF_HUB_OFFLINE") || is_yes("TRANSFORMERS_OFFLINE");
  if (auto endpoint = variable("HF_ENDPOINT"); !endpoint.empty()) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    hub.endpoint = endpoint;
  }
  hub.timeout = seconds("HF_HUB_DOWNLOAD_TIMEOUT", seconds("HF_HUB_ETAG_TIMEOUT", hub.timeout));
  if (!hub.offline) hub.token = token();
  return hub;
}

}  // namespace llmcalc::cli
