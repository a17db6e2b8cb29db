// The Hub's files over HTTP: /{id}/resolve/{revision}/{file}, of weights only the headers by range requests.
#include "cli/hub.hpp"
#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

constexpr std::uint64_t largest_config = std::uint64_t{5} << 20U;
constexpr std::uint64_t largest_index = std::uint64_t{50} << 20U;
constexpr std::uint64_t first_header = 100'000;    // holds the header of most shards, and an octet count in front
constexpr std::uint64_t first_split = 64U << 10U;  // tensors alone
constexpr std::uint64_t first_gguf = std::uint64_t{8} << 20U;  // vocabulary included
constexpr std::uint64_t largest_header = std::uint64_t{64} << 20U;

const std::string index_name = "model.safetensors.index.json";

class Repository {
 public:
  Repository(const HubName& name, const HubEnvironment& hub) : name_(name), hub_(hub) {}

  std::optional<std::string> text(const std::string& file, std::uint64_t most) const {
    if (is_known_absent(name_, file, hub_)) return std::nullopt;
    auto response = get(file, {.most = most});
    return response.status == not_found ? std::nullopt : std::optional(std::move(response.body));
  }

  /// A weight file's header, read further where it turns out to be longer; empty where there is no such file.
  std::optional<read::Checkpoint> header(const std::string& file, std::uint64_t count) const {
    for (;;) {
      const auto response = get(file, {.most = count, .range = true});
      if (response.status == not_found) return std::nullopt;
      const std::uint64_t size = response.size == 0 ? response.body.size() : response.size;
      if (size < response.body.size()) throw BadInput(at(file), "is longer than the server says");
      const read::FileHead head{response.body, size};
      auto result = file.ends_with(".safetensors") ? read_safetensors(head, at(file)) : read_gguf(head, at(file));
      if (result.checkpoint) return std::move(result.checkpoint);
      if (response.body.size() < count || result.needs > largest_header) {
        throw BadInput(at(file), "ends inside its header");
      }
      count = std::max(result.needs, 2 * count);
    }
  }

  /// Names of files, from the Hub's list of them, which has pages of a thousand.
  std::vector<std::string> files() const {
    std::string url = hub_.endpoint + "/api/models/" + name_.id + "/tree/" + escaped(name_.revision) + "?recursive=1";
    std::vector<std::string> names;
    for (int pages = 0; !url.empty(); ++pages) {
      if (pages == most_pages) throw BadInput(name_.id, "the Hub's list of files does not end");
      const auto response = checked(http_get(url, hub_, {.most = largest_index}), "the list of files");
      add_names(response.body, names);
      url = response.next;
    }
    return names;
  }

  std::string at(const std::string& file) const { return name_.id + "/" + file; }

 private:
  static constexpr long not_found = 404;
  static constexpr int most_pages = 100;

  void add_names(const std::string& page, std::vector<std::string>& names) const {
    const auto list = nlohmann::json::parse(page, nullptr, false);
    if (!list.is_array()) throw BadInput(name_.id, "the Hub's list of files is none");
    const auto has_path = [](const auto& e) { return e.is_object() && e.contains("path") && e["path"].is_string(); };
    const auto path = [](const auto& e) { return e["path"].template get<std::string>(); };
    quantity::append(names, quantity::mapped_if(list, path, has_path));
  }

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

read::Checkpoint shard_of(const Repository& repository, const std::string& file) {
  if (auto shard = repository.header(file, first_header)) return *std::move(shard);
  throw BadInput(repository.at(file), "is not there");
}

read::Checkpoint indexed(const Repository& repository, const std::string& text) {
  const auto index = read::read_shard_index(text, repository.at(index_name));
  if (index.total_size) {
    read::Checkpoint weights;
    weights.kind = "safetensors";
    weights.tensors = index.tensors;
    weights.bytes = *index.total_size;
    weights.counts_all = false;
    weights.shards = index.files.size();
    return weights;
  }
  constexpr std::size_t most_shards = 400;
  if (index.files.size() > most_shards) throw BadInput(repository.at(index_name), "names too many files");
  return join(quantity::mapped(index.files, [&](const auto& file) { return shard_of(repository, file); }));
}

/// The size of all weights where the index says it, and of a single file from its header. Other formats say no more
/// than the configuration does, and a header that lies is named and not used.
void add_weights(const Repository& repository, dialects::Reading& reading) {
  if (const auto text = repository.text(index_name, largest_index)) {
    reading.weights = indexed(repository, *text);
    return;
  }
  const std::string file = "model.safetensors";
  try {
    reading.weights = repository.header(file, first_header);
  } catch (const BadInput& error) {
    if (!error.place().starts_with(repository.at(file))) throw;
    reading.assumptions.push_back({error.place() + " " + error.problem() + ": its weights are not compared"});
  }
}

/// NVIDIA's quantized models say so beside their configuration, and in their names.
void add_modelopt(const Repository& repository, const HubName& name, dialects::Reading& reading) {
  const std::string id = quantity::to_lower(name.id);
  const bool named = id.find("fp8") != std::string::npos || id.find("fp4") != std::string::npos;
  const bool said = read::has_word(reading.words, "quant");
  if (!named || said) return;
  constexpr const char* file = "hf_quant_config.json";
  if (const auto text = repository.text(file, largest_config)) {
    dialects::add_stored_quant(*text, repository.at(file), reading);
  }
}

std::vector<std::string> gguf_files(const std::vector<std::string>& files, const HubName& name) {
  return quantity::mapped_if(files, std::identity(),
                             [&](const std::string& file) { return is_gguf_of(file, name.quant); });
}

dialects::Reading gguf_reading(const Repository& repository, const HubName& name) {
  const auto all = repository.files();
  const auto has = [&](std::string_view file) { return quantity::contains(all, file); };
  if (has("model_index.json")) throw BadInput(name.id, "holds a diffusion pipeline, which is not modelled");
  const auto files = gguf_files(all, name);
  if (files.empty()) throw BadInput(name.id, "holds no config.json and no GGUF that is asked for");
  if (files.size() > 1 && name.quant.empty()) {
    throw BadInput(name.id, fmt::format("holds {} GGUF files: name one", files.size()), name.id + ":Q4_K_M");
  }
  const std::string& file = files.front();
  auto first = repository.header(file, first_gguf);
  if (!first) throw BadInput(repository.at(file), "is not there");
  const auto split = [&](const std::string& part) -> std::optional<read::Checkpoint> {
    if (part == file) return first;
    return has(part) ? repository.header(part, first_split) : std::nullopt;
  };
  return dialects::weights_alone(with_splits(*first, file, split), repository.at(file));
}

}  // namespace

dialects::Reading fetch(const HubName& name, const HubEnvironment& hub) {
  const Repository repository(name, hub);
  if (!name.quant.empty()) return gguf_reading(repository, name);
  if (const auto config = repository.text("config.json", largest_config)) {
    auto reading = read_alone(*config, repository.at("config.json"));
    add_modelopt(repository, name, reading);
    add_weights(repository, reading);
    return reading;
  }
  if (const auto adapter = repository.text("adapter_config.json", largest_config)) {
    return read_alone(*adapter, repository.at("adapter_config.json"));
  }
  return gguf_reading(repository, name);
}

dialects::Reading read_hub(const HubName& name, const HubEnvironment& hub) {
  if (auto cached = read_cached(name, hub)) return *std::move(cached);
  if (hub.offline) {
    throw BadInput(name.id, "is not in the cache, and the network is switched off",
                   "HF_HUB_OFFLINE=0, or --config FILE");
  }
  return fetch(name, hub);
}

}  // namespace llmcalc::cli
