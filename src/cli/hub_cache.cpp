// The cache that huggingface_hub keeps (constants.py, file_download.py): models--org--name/refs/<revision> holds a
// commit, snapshots/<commit>/<file> links to a blob, .no_exist/<commit>/<file> says that there is none.
#include "cli/files.hpp"
#include "cli/hub.hpp"
#include "cli/things.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;

std::string folder_name(std::string id) {
  const auto slash = id.find('/');
  return "models--" + id.replace(slash, 1, "--");
}

bool is_commit(std::string_view text) {
  constexpr std::size_t length = 40;
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The commit of a revision, which may be one itself.
std::optional<std::string> commit_of(const fs::path& repository, const std::string& revision) {
  const auto reference = repository / "refs" / revision;
  std::string commit = revision;
  if (is_file(reference)) commit = quantity::trim(read_file(reference, "--from"));
  return is_commit(commit) ? std::optional(commit) : std::nullopt;
}

std::optional<fs::path> snapshot(const fs::path& repository, const std::string& revision) {
  const auto commit = commit_of(repository, revision);
  if (!commit) return std::nullopt;
  const auto folder = repository / "snapshots" / *commit;
  return is_folder(folder) ? std::optional(folder) : std::nullopt;
}

/// The GGUF of that quantization, as file names say it.
std::optional<fs::path> gguf_of(const fs::path& folder, const std::string& quant) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = quantity::to_lower(entry.path().filename().string());
    const bool first = name.find("-of-") == std::string::npos || name.find("-00001-of-") != std::string::npos;
    if (name.ends_with(".gguf") && first && name.find(quant) != std::string::npos) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files.empty() ? std::nullopt : std::optional(files.front());
}

}  // namespace

bool is_known_absent(const HubName& name, const std::string& file, const HubEnvironment& hub) {
  if (hub.cache.empty()) return false;
  std::error_code error;
  const auto repository = hub.cache / folder_name(name.id);
  const auto commit = commit_of(repository, name.revision);
  return commit && fs::exists(repository / ".no_exist" / *commit / file, error);
}

std::optional<dialects::Reading> read_cached(const HubName& name, const HubEnvironment& hub) {
  if (hub.cache.empty()) return std::nullopt;
  const auto folder = snapshot(hub.cache / folder_name(name.id), name.revision);
  if (!folder) return std::nullopt;
  if (!name.quant.empty()) {
    const auto file = gguf_of(*folder, name.quant);
    return file ? std::optional(read_path(*file)) : std::nullopt;
  }
  if (!holds_model(*folder)) return std::nullopt;
  auto reading = read_path(*folder);
  reading.place = name.id;
  if (reading.config) reading.config->path = name.id + "/config.json";
  return reading;
}

}  // namespace llmcalc::cli
