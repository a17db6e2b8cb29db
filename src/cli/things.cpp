#include "cli/things.hpp"

#include "cli/files.hpp"
#include "cli/hub.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::cli {
namespace {

namespace fs = std::filesystem;
using dialects::Reading;
using quantity::BadInput;

/// Whether a path lies in a folder once links are followed.
bool is_below(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const auto root = fs::weakly_canonical(folder, error);
  const auto target = fs::weakly_canonical(path, error);
  const auto relative = target.lexically_relative(root);
  return !error && !relative.empty() && *relative.begin() != "..";
}

Reading read_text_file(const fs::path& path) {
  const auto folder = folder_of(path).string();
  return dialects::read_launch_file(read_file(path, "--from"), path.filename().string(), files_below(folder));
}

/// The one GGUF of a folder, or the first of a split one.
std::optional<fs::path> gguf_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    const bool beside = name.starts_with("mmproj") || name.starts_with("mtp-");
    const bool later = name.find("-of-") != std::string::npos && name.find("-00001-of-") == std::string::npos;
    if (entry.path().extension() == ".gguf" && !beside && !later) files.push_back(entry.path());
  }
  if (files.size() > 1) {
    std::ranges::sort(files);
    throw BadInput("--from", "'" + folder.string() + "' holds several GGUF files: name one", files.front().string());
  }
  return files.empty() ? std::nullopt : std::optional(files.front());
}

/// Files beside a model's config.json.
void add_model_folder(const fs::path& folder, const fs::path& config, Reading& reading) {
  reading.config->path = config.string();
  const auto quantization = folder / "hf_quant_config.json";
  if (!read::has_word(reading.words, "quant") && is_file(quantization)) {
    dialects::add_stored_quant(read_file(quantization, "--from"), quantization.filename().string(), reading);
  }
  reading.weights = read_weight_folder(folder);
}

/// The one text of a project's folder that starts something, which is what it is about; weights lie elsewhere.
std::optional<Reading> launch_in(const fs::path& folder) {
  constexpr std::string_view extensions[] = {".sh", ".yaml", ".yml", ".toml", ".json"};
  constexpr std::uintmax_t largest = 1U << 20U;
  std::error_code error;
  std::vector<fs::path> known;
  std::optional<Reading> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const bool is_text = quantity::contains(extensions, entry.path().extension().string());
    if (!is_text || !is_file(entry.path()) || entry.file_size(error) > largest) continue;
    try {
      found = read_text_file(entry.path());
      known.push_back(entry.path());
    } catch (const BadInput&) {
      continue;  // of a project most files are about something else
    }
  }
  if (known.size() < 2) return found;
  std::ranges::sort(known);
  throw BadInput("--from", "'" + folder.string() + "' holds several files that start something: name one",
                 quantity::joined(known, ", ", [](const fs::path& path) { return path.filename().string(); }));
}

Reading read_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "model_index.json", error)) {
    throw BadInput("--from", "'" + folder.string() + "' holds a diffusion pipeline, which is not modelled");
  }
  for (const auto* name : {"config.json", "adapter_config.json"}) {
    if (!is_file(folder / name)) continue;
    Reading reading = read_text_file(folder / name);
    if (reading.config) add_model_folder(folder, folder / name, reading);
    return reading;
  }
  if (const auto file = gguf_in(folder))
    return dialects::weights_alone(read_weight_file(*file, WeightFile::gguf), file->filename().string());
  if (auto weights = read_weight_folder(folder))
    return dialects::weights_alone(*std::move(weights), folder.filename().string());
  if (auto launch = launch_in(folder)) return *std::move(launch);
  throw BadInput("--from", "'" + folder.string() +
                               "' holds no config.json, no weights, no adapter_config.json and nothing "
                               "that starts a trainer or a server that is known");
}

/// A safetensors file lies beside the configuration that says what its tensors are.
Reading read_weights(const fs::path& path, WeightFile kind) {
  auto weights = read_weight_file(path, kind);
  const auto config = path.parent_path() / "config.json";
  if (kind == WeightFile::gguf || !is_file(config))
    return dialects::weights_alone(std::move(weights), path.filename().string());
  Reading reading = read_text_file(config);
  if (reading.config) reading.config->path = config.string();
  reading.weights = std::move(weights);
  return reading;
}

/// The place of a server's model: a file or a folder beside the one that names it, or a file of Ollama's own.
std::optional<Reading> model_beside(const std::string& name, const fs::path& folder) {
  std::error_code error;
  std::optional<fs::path> file = (folder / name).lexically_normal();
  const bool below = is_below(folder, *file) && !fs::equivalent(folder, *file, error);
  if (below && is_folder(*file) && holds_model(*file)) return read_folder(*file);
  if (!below || !is_file(*file)) file = ollama_model(name);
  if (!file || weight_file(*file) != WeightFile::gguf) return std::nullopt;
  return read_weights(*file, WeightFile::gguf);
}

Reading with_model_file(Reading reading, const fs::path& folder) {
  const auto word = std::ranges::find(reading.words, "model", &read::Given::term);
  if (word == reading.words.end()) return reading;
  auto beside = model_beside(word->text, folder);
  if (!beside) return reading;
  Reading found = *std::move(beside);
  found.place = word->text;
  reading.words.erase(word);
  reading.config = std::move(found.config);
  reading.weights = std::move(found.weights);
  for (auto& said : found.words) {
    std::erase_if(reading.words, [&](const read::Given& each) { return each.term == said.term; });
    reading.words.push_back(std::move(said));
  }
  return reading;
}

bool is_of_model(const fs::directory_entry& entry) {
  const auto name = entry.path().filename().string();
  return name == "config.json" || name == "adapter_config.json" || name.ends_with(".gguf");
}

}  // namespace

Reading read_alone(std::string_view text, std::string_view name) {
  return dialects::read_launch_file(text, name,
                                    [](const std::string&) { return std::optional<dialects::NamedFile>(); });
}

dialects::FindFile files_below(const std::string& folder) {
  return [folder](const std::string& name) -> std::optional<dialects::NamedFile> {
    for (fs::path root = folder;; root = root.has_parent_path() ? root.parent_path() : fs::path(".")) {
      for (const auto& path : {root / name, (fs::path(folder) / name).lexically_normal()}) {
        if (is_file(path) && is_below(root, path)) {
          return dialects::NamedFile{fs::path(name).filename().string(), read_file(path, "--from")};
        }
      }
      if (root.is_absolute() || root == "." || *root.begin() == "..") return std::nullopt;
    }
  };
}

bool is_thing(const std::string& word) {
  const bool has_blank = word.find(' ') != std::string::npos;
  const bool is_command = has_blank && (word.find("--") != std::string::npos || dialects::is_launch_command(word));
  return word.find('/') != std::string::npos || is_command || is_file(word);
}

bool holds_model(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return !error && std::any_of(begin(entries), end(entries), is_of_model);
}

Reading read_path(const fs::path& path) {
  if (is_folder(path)) return read_folder(path);
  if (is_shard_index(path)) return read_folder(folder_of(path));
  if (const auto kind = weight_file(path); kind != WeightFile::none) return read_weights(path, kind);
  return with_model_file(read_text_file(path), folder_of(path));
}

Reading read_thing(const std::string& thing) {
  std::error_code error;
  if (fs::exists(thing, error)) return read_path(thing);
  if (dialects::is_launch_command(thing)) {
    return with_model_file(dialects::read_launch_command(thing, "command", files_below(".")), ".");
  }
  if (hub_name(thing)) {
    Reading reading;
    reading.kind = api::hub_kind;
    reading.place = thing;
    reading.words.push_back({"model", std::string(without_hub(thing)), {read::Source::file, thing}});
    return reading;
  }
  throw BadInput("--from",
                 quantity::quoted(thing) + " is no file, no folder and no command that starts a trainer or a server",
                 "a path, a command in quotes, or org/name of the Hub");
}

// Launch files and models at an address of the web (things.hpp).

namespace {

constexpr std::string_view github = "https://github.com/";
constexpr std::string_view shown = "/blob/";

/// Where the text of a file is that a page of GitHub or of the Hub shows.
std::string address_of_text(std::string address, const HubEnvironment& hub) {
  const auto at = address.find(shown);
  if (at == address.npos) return address;
  if (address.starts_with(hub.endpoint + "/")) return address.replace(at, shown.size(), "/resolve/");
  if (!address.starts_with(github)) return address;
  address.replace(at, shown.size(), "/");
  return address.replace(0, github.size(), "https://raw.githubusercontent.com/");
}

bool is_repository(std::string_view address) {
  const bool is_page = address.starts_with(github) && address.find(shown) == address.npos;
  return is_page || address.starts_with("git@") || address.ends_with(".git");
}

/// The model of a page of the Hub, "org/name".
std::optional<HubName> model_of_page(std::string_view address, const HubEnvironment& hub) {
  auto name = quantity::without_start(address, hub.endpoint + "/");
  if (name.size() == address.size()) return std::nullopt;
  while (name.ends_with('/')) name.remove_suffix(1);
  return std::ranges::count(name, '/') == 1 ? hub_name(name) : std::nullopt;
}

dialects::Reading file_at(const std::string& address, const HubEnvironment& hub) {
  constexpr std::uint64_t largest = 1U << 20U;
  constexpr long redirects = 300;
  if (hub.offline) throw BadInput(address, "is not asked for: the network is switched off");
  const auto response = http_get(address_of_text(address, hub), hub, {.most = largest});
  if (response.status >= redirects) {
    throw BadInput(address, "cannot be read: the server answers " + std::to_string(response.status));
  }
  const std::string path = address.substr(0, address.find_first_of("?#"));
  return read_alone(response.body, path.substr(path.rfind('/') + 1));
}

}  // namespace

bool is_address(std::string_view thing) {
  const bool is_web = thing.starts_with("https://") || thing.starts_with("http://") || thing.starts_with("git@");
  return is_web && thing.find_first_of(" \n") == thing.npos;
}

dialects::Reading read_address(const std::string& address, const HubEnvironment& hub) {
  if (is_repository(address)) {
    throw BadInput(address, "is a repository and no file",
                   std::string(github) + "OWNER/NAME/blob/main/FILE names one of its files");
  }
  const auto model = model_of_page(address, hub);
  if (!model) return file_at(address, hub);
  dialects::Reading reading;
  reading.kind = api::hub_kind;
  reading.place = address;
  reading.words.push_back({"model", model->id, {read::Source::file, address}});
  return reading;
}

}  // namespace llmcalc::cli
