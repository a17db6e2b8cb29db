// The Hub's files over HTTP: /{id}/resolve/{revision}/{file}, of weights only the headers by range requests.
#include "cli/http.hpp"
#include "cli/hub.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/text.hpp"
#include "llmcalc/read/checkpoint.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

constexpr std::uint64_t largest_config = std::uint64_t{5} << 20U;
constexpr std::uint64_t largest_index = std::uint64_t{50} << 20U;
constexpr std::uint64_t first_header = 100'000;  // holds the header of most shards, and an octet count in front
constexpr std::uint64_t first_gguf = std::uint64_t{8} << 20U;  // vocabulary included
constexpr std::uint64_t largest_header = std::uint64_t{64} << 20U;

class Repository {
 public:
  Repository(const HubName& name, const HubEnvironment& hub) : name_(name), hub_(hub) {}

  std::optional<std::string> text(const std::string& file, std::uint64_t most) const {
    if (is_known_absent(name_, file, hub_)) return std::nullopt;
    const auto response = get(file, {.most = most});
    if (response.status == not_found) return std::nullopt;
    return response.body;
  }

  /// A weight file's header, read further where it turns out to be longer.
  read::Checkpoint header(const std::string& file, bool is_gguf) const {
    std::uint64_t count = is_gguf ? first_gguf : first_header;
    for (;;) {
      const auto response = get(file, {.most = count, .range = true});
      if (response.status == not_found) throw BadInput(at(file), "is not there");
      const std::uint64_t size = response.size == 0 ? response.body.size() : response.size;
      if (size < response.body.size()) throw BadInput(at(file), "is longer than the server says");
      const read::FileHead head{response.body, size};
      auto result = is_gguf ? read_gguf(head, file) : read_safetensors(head, file);
      if (result.checkpoint) return *std::move(result.checkpoint);
      if (response.body.size() < count || result.needs > largest_header) {
        throw BadInput(at(file), "ends inside its header");
      }
      count = std::max(result.needs, 2 * count);
    }
  }

  /// Names of files, from the Hub's list of them.
  std::vector<std::string> files() const {
    const std::string url =
        hub_.endpoint + "/api/models/" + name_.id + "/tree/" + escaped(name_.revision) + "?recursive=1";
    const auto response = checked(http_get(url, hub_, {.most = largest_index}), "the list of files");
    std::vector<std::string> names;
    const auto list = nlohmann::json::parse(response.body, nullptr, false);
    if (!list.is_array()) throw BadInput(name_.id, "the Hub's list of files is none");
    for (const auto& entry : list) {
      if (entry.is_object() && entry.contains("path") && entry["path"].is_string()) names.push_back(entry["path"]);
    }
    return names;
  }

  std::string at(const std::string& file) const { return name_.id + "/" + file; }

 private:
  static constexpr long not_found = 404;

  /// A revision is one step of a path, whatever slashes it holds.
  static std::string escaped(const std::string& revision) {
    std::string result;
    for (const char c : revision) result += c == '/' ? std::string("%2F") : std::string(1, c);
    return result;
  }

  HttpResponse get(const std::string& file, const HttpRequest& request) const {
    const std::string url = hub_.endpoint + "/" + name_.id + "/resolve/" + escaped(name_.revision) + "/" + file;
    auto response = http_get(url, hub_, request);
    if (response.status == not_found && response.error_code == "EntryNotFound") return response;
    return checked(std::move(response), file);
  }

  HttpResponse checked(HttpResponse response, const std::string& what) const {
    constexpr long unauthorized = 401;
    constexpr long forbidden = 403;
    constexpr long too_many = 429;
    constexpr long redirects = 300;
    if (response.status < redirects) return response;
    if (response.status == unauthorized || response.status == forbidden) {
      throw BadInput(name_.id, "is gated or private, or there is no such model on the Hub",
                     hub_.token.empty() ? "HF_TOKEN names the account that may read it"
                                        : "the account behind HF_TOKEN may not read it");
    }
    if (response.status == not_found) {
      throw BadInput(name_.id, fmt::format("the Hub has no model of that name with a revision {}", name_.revision));
    }
    if (response.status == too_many) {
      throw BadInput(name_.id, "the Hub answers that too much was asked of it (429)", "try again later");
    }
    throw BadInput(name_.id, fmt::format("the Hub answered {} with status {}", what, response.status));
  }

  const HubName& name_;
  const HubEnvironment& hub_;
};

/// The size of all weights where the index says it, and of a single file from its header.
std::optional<read::Checkpoint> weights_of(const Repository& repository) {
  if (const auto text = repository.text("model.safetensors.index.json", largest_index)) {
    const auto index = read::read_shard_index(*text, repository.at("model.safetensors.index.json"));
    if (index.total_size) {
      read::Checkpoint weights;
      weights.kind = "safetensors";
      weights.tensors = index.tensors;
      weights.bytes = *index.total_size;
      weights.counts_all = false;
      weights.shards = index.files.size();
      return weights;
    }
    std::vector<read::Checkpoint> shards;
    constexpr std::size_t most_shards = 400;
    if (index.files.size() > most_shards)
      throw BadInput(repository.at("model.safetensors.index.json"), "names too many files");
    for (const auto& file : index.files) shards.push_back(repository.header(file, false));
    return join(std::move(shards));
  }
  try {
    return repository.header("model.safetensors", false);
  } catch (const BadInput&) {
    return std::nullopt;  // other formats say as much as the configuration does
  }
}

/// NVIDIA's quantized models say so beside their configuration, and in their names.
void add_modelopt(const Repository& repository, const HubName& name, read::Reading& reading) {
  const std::string id = quantity::to_lower(name.id);
  const bool named = id.find("fp8") != std::string::npos || id.find("fp4") != std::string::npos;
  const bool said = std::ranges::find(reading.words, "quant", &read::Given::term) != reading.words.end();
  if (!named || said) return;
  constexpr const char* file = "hf_quant_config.json";
  if (const auto text = repository.text(file, largest_config)) {
    read::add_stored_quant(*text, repository.at(file), reading);
  }
}

read::Reading gguf_reading(const Repository& repository, const HubName& name) {
  std::vector<std::string> files;
  for (auto& file : repository.files()) {
    std::string lower = file;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool first = lower.find("-of-") == std::string::npos || lower.find("-00001-of-") != std::string::npos;
    const bool asked = name.quant.empty() || lower.find(name.quant) != std::string::npos;
    if (lower.ends_with(".gguf") && first && asked && lower.find("mmproj") == std::string::npos) files.push_back(file);
  }
  if (files.empty()) throw BadInput(name.id, "holds no config.json and no GGUF that is asked for");
  if (files.size() > 1 && name.quant.empty()) {
    throw BadInput(name.id, fmt::format("holds {} GGUF files: name one", files.size()), name.id + ":Q4_K_M");
  }
  read::Reading reading;
  auto weights = repository.header(files.front(), true);
  reading.kind = weights.kind;
  reading.place = repository.at(files.front());
  reading.config = weights.config;
  reading.words = weights.words;
  if (weights.shards <= 1) reading.weights = std::move(weights);
  return reading;
}

}  // namespace

read::Reading fetch(const HubName& name, const HubEnvironment& hub) {
  const Repository repository(name, hub);
  if (!name.quant.empty()) return gguf_reading(repository, name);
  if (const auto config = repository.text("config.json", largest_config)) {
    auto reading = read::read_launch_file(*config, repository.at("config.json"),
                                          [](const std::string&) { return std::optional<read::NamedFile>(); });
    add_modelopt(repository, name, reading);
    reading.weights = weights_of(repository);
    return reading;
  }
  if (const auto adapter = repository.text("adapter_config.json", largest_config)) {
    return read::read_launch_file(*adapter, repository.at("adapter_config.json"),
                                  [](const std::string&) { return std::optional<read::NamedFile>(); });
  }
  return gguf_reading(repository, name);
}

read::Reading read_hub(const HubName& name, const HubEnvironment& hub) {
  if (auto cached = read_cached(name, hub)) return *std::move(cached);
  if (hub.offline) {
    throw BadInput(name.id, "is not in the cache, and the network is switched off",
                   "HF_HUB_OFFLINE=0, or --config FILE");
  }
  return fetch(name, hub);
}

}  // namespace llmcalc::cli
