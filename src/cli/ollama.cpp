#include "cli/ollama.hpp"

#include "cli/files.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;

fs::path models_folder() {
  if (const char* said = std::getenv("OLLAMA_MODELS"); said != nullptr && *said != '\0') return said;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? fs::path() : fs::path(home) / ".ollama" / "models";
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.find("..") == std::string_view::npos && text.front() != '/' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
             std::string_view::npos;
}

/// "sha256:abc" of the layer that is the model.
std::string model_digest(const std::string& manifest) {
  const auto json = nlohmann::json::parse(manifest, nullptr, false);
  if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array()) return {};
  for (const auto& layer : json["layers"]) {
    if (!layer.is_object()) continue;
    const auto type = layer.value("mediaType", nlohmann::json());
    const auto digest = layer.value("digest", nlohmann::json());
    if (type == "application/vnd.ollama.image.model" && digest.is_string()) return digest;
  }
  return {};
}

}  // namespace

std::optional<fs::path> ollama_model(const std::string& name) {
  const auto colon = name.find(':');
  const std::string path = name.substr(0, colon);
  const std::string tag = colon == std::string::npos ? "latest" : name.substr(colon + 1);
  const auto folder = models_folder();
  if (folder.empty() || !is_plain_name(path) || !is_plain_name(tag)) return std::nullopt;
  const auto owner = path.find('/') == std::string::npos ? fs::path("library") / path : fs::path(path);
  const auto manifest = folder / "manifests" / "registry.ollama.ai" / owner / tag;
  std::error_code error;
  if (!fs::is_regular_file(manifest, error)) return std::nullopt;
  std::string digest = model_digest(read_file(manifest, "--from"));
  constexpr std::string_view prefix = "sha256:";
  if (!digest.starts_with(prefix) || !is_plain_name(digest.substr(prefix.size()))) return std::nullopt;
  digest[prefix.size() - 1] = '-';
  const auto blob = folder / "blobs" / digest;
  return fs::is_regular_file(blob, error) ? std::optional(blob) : std::nullopt;
}

}  // namespace llmcalc::cli
