#include "cli/hub.hpp"

#include "cli/files.hpp"
#include "cli/things.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace llmcalc::cli {

namespace {

namespace fs = std::filesystem;

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
  const long times = hub.whole / hub.timeout;
  hub.timeout = seconds("HF_HUB_DOWNLOAD_TIMEOUT", seconds("HF_HUB_ETAG_TIMEOUT", hub.timeout));
  hub.whole = times * hub.timeout;
  if (!hub.offline) hub.token = token();
  return hub;
}

namespace {

bool is_plain(std::string_view text) {
  const auto plain = [](char c) { return quantity::is_name_char(c) || c == '-' || c == '.'; };
  const bool apart = text.starts_with('.') || text.starts_with('-') || text.find("..") != std::string_view::npos;
  return !text.empty() && std::ranges::all_of(text, plain) && !apart;
}

/// A branch, a tag (which may hold slashes) or a commit.
bool is_revision(std::string_view text) {
  const auto parts = quantity::pieces_of(text, "/");
  return !parts.empty() && !text.ends_with('/') && std::ranges::all_of(parts, is_plain);
}

/// Ends of what is a file in a folder, there or not, and no repository.
constexpr std::string_view file_endings[] = {".sh",   ".bash", ".yaml", ".yml", ".json",       ".jsonl",
                                             ".toml", ".py",   ".csv",  ".txt", ".safetensors"};

}  // namespace

std::string_view without_hub(std::string_view text) {
  for (const std::string_view prefix : {"hf:", "hf.co/", "huggingface.co/", "https://huggingface.co/"}) {
    if (text.starts_with(prefix)) return text.substr(prefix.size());
  }
  return text;
}

std::optional<HubName> hub_name(std::string_view text) {
  if (std::ranges::any_of(file_endings, [&](std::string_view ending) { return text.ends_with(ending); })) return {};
  text = without_hub(text);
  HubName name;
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    name.revision = text.substr(at + 1);
    if (!is_revision(name.revision)) return std::nullopt;
    text = text.substr(0, at);
  }
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    name.quant = quantity::to_lower(text.substr(colon + 1));
    if (!is_plain(name.quant)) return std::nullopt;
    text = text.substr(0, colon);
  }
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || !is_plain(text.substr(0, slash)) || !is_plain(text.substr(slash + 1))) {
    return std::nullopt;
  }
  name.id = text;
  return name;
}

// The cache that huggingface_hub keeps (constants.py, file_download.py): models--org--name/refs/<revision> holds a
// commit, snapshots/<commit>/<file> links to a blob, .no_exist/<commit>/<file> says that there is none.

namespace {

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

/// The GGUF of that quantization.
std::optional<fs::path> gguf_of(const fs::path& folder, const std::string& quant) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (is_gguf_of(entry.path().filename().string(), quant)) files.push_back(entry.path());
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

bool is_gguf_of(std::string_view file, std::string_view quant) {
  const auto name = quantity::to_lower(file);
  const auto says = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return name.ends_with(".gguf") && says(quant) && !says("mmproj") && (!says("-of-") || says("-00001-of-"));
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
