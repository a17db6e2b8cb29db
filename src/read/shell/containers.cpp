#include "read/shell/containers.hpp"

#include "llmcalc/quantity/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace llmcalc::read {
namespace {

/// What an image runs where nothing else is said, by a part of its name.
struct Image {
  std::string_view name;
  std::string_view program;
};

constexpr Image images[] = {{"vllm-openai", "vllm serve"},        {"vllm", "vllm serve"},
                            {"llama.cpp:server", "llama-server"}, {"llama.cpp", "llama-server"},
                            {"sglang", "sglang serve"},           {"tensorrt-llm", "trtllm-serve"},
                            {"ollama/ollama", "ollama serve"}};

/// Options of docker run that take no value (docs.docker.com/reference/cli/docker/container/run).
constexpr std::array<std::string_view, 11> bare_options{
    "-d", "--detach", "--rm", "-it", "-i", "-t", "--init", "--tty", "--privileged", "--interactive", "-ti"};

std::vector<ShellWord> words_of(std::string_view text, int line) {
  std::vector<ShellWord> words;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    words.push_back({std::string(word), line, {}});
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return words;
}

/// "v0.7.2" behind the colon is a release; "latest" is none.
std::string version_of(const std::string& image) {
  const auto colon = image.rfind(':');
  if (colon == std::string::npos) return {};
  std::string tag = image.substr(colon + 1);
  if (tag.starts_with('v')) tag.erase(0, 1);
  const bool digit = !tag.empty() && tag.front() >= '0' && tag.front() <= '9';
  return digit && tag.find('.') != std::string::npos ? tag.substr(0, tag.find('-')) : std::string();
}

/// "2", "device=0,1", "'\"device=0,1\"'"; "all" says nothing.
std::string count_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  constexpr std::string_view devices = "device=";
  if (text.starts_with(devices)) return std::to_string(1 + std::ranges::count(text, ','));
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos ? text : std::string();
}

/// An accelerator by the words of node labels (cloud.google.com/gke-accelerator, nvidia.com/gpu.product).
struct Label {
  std::string_view part;
  std::string_view gpu;
};
constexpr Label labels[] = {
    {"h200", "h200"},    {"h100", "h100-sxm"}, {"a100-80gb", "a100-80"}, {"a100-sxm4-80gb", "a100-80"},
    {"a100", "a100-40"}, {"b200", "b200"},     {"l40s", "l40s"},         {"l4", "l4"},
    {"t4", "t4"},        {"v100", "v100-16"},  {"a10g", "a10g"}};

int line_of(const std::string& where) {
  const auto colon = where.rfind(':');
  int line = 0;
  if (colon != std::string::npos) std::from_chars(where.data() + colon + 1, where.data() + where.size(), line);
  return line;
}

/// Items of a command: a list of words, or a line for a shell.
std::vector<ShellWord> command_of(const Node* node, std::string_view place) {
  std::vector<ShellWord> words;
  if (node == nullptr) return words;
  const auto add = [&](const Node& text, bool one_word) {
    const bool expands = text.text.find('$') != std::string::npos;
    const std::string line = one_word && expands ? '"' + text.text + '"' : text.text;
    if (one_word && !expands) {
      words.push_back({text.text, line_of(text.where), {}});
      return;
    }
    for (auto& command : parse_shell(line, place).commands) {
      for (auto& word : command.words)
        words.push_back({std::move(word.text), line_of(text.where), std::move(word.unknown)});
    }
  };
  for (const Node& item : node->items) add(item, true);
  if (node->kind == Node::Kind::value) add(*node, false);
  return words;
}

void put(LaunchCommand& launch, std::string_view key, std::string text, const std::string& where) {
  if (!text.empty()) launch.launcher.put({std::string(key), std::move(text), {}, where, {}});
}

/// Variables as "NAME=value" in a list, as a table, or as Kubernetes' tables of name and value.
void take_variables(const Node* node, LaunchCommand& launch) {
  if (node == nullptr) return;
  const auto take = [&](const std::string& name, const Node& value) {
    put(launch, "environment." + name, value.text, value.where);
  };
  for (const auto& [name, value] : node->members) take(name, value);
  for (const Node& item : node->items) {
    const Node* name = item.find("name");
    const Node* value = item.find("value");
    if (name != nullptr && value != nullptr) take(name->text, *value);
    const auto equals = item.text.find('=');
    if (equals != std::string::npos) {
      Node rest = item;
      rest.text = item.text.substr(equals + 1);
      take(item.text.substr(0, equals), rest);
    }
  }
}

const Node* below(const Node* node, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) node = node == nullptr ? nullptr : node->find(key);
  return node;
}

/// compose: deploy.resources.reservations.devices; Kubernetes: resources.limits.
void take_accelerators(const Node& container, LaunchCommand& launch) {
  const Node* limit = below(&container, {"resources", "limits", "nvidia.com/gpu"});
  const Node* devices = below(&container, {"deploy", "resources", "reservations", "devices"});
  if (limit != nullptr) put(launch, "container.gpus", count_of(limit->text), limit->where);
  if (devices == nullptr) return;
  for (const Node& device : devices->items) {
    if (const Node* count = device.find("count")) put(launch, "container.gpus", count_of(count->text), count->where);
    if (const Node* ids = device.find("device_ids")) {
      put(launch, "container.gpus", std::to_string(ids->items.size()), ids->where);
    }
  }
}

void take_label(const Node& selector, LaunchCommand& launch) {
  for (const auto& [key, value] : selector.members) {
    if (key.find("gpu") == std::string::npos && key.find("accelerator") == std::string::npos) continue;
    const std::string text = quantity::to_lower(value.text);
    const auto* found =
        std::ranges::find_if(labels, [&](const Label& label) { return text.find(label.part) != text.npos; });
    if (found != std::end(labels)) return put(launch, "container.gpu", std::string(found->gpu), value.where);
  }
}

/// Node affinity names labels with the values that will do (nodeSelectorTerms, matchExpressions); the first decides.
void take_affinity(const Node& node, LaunchCommand& launch) {
  const Node* key = node.find("key");
  const Node* values = node.find("values");
  if (key != nullptr && values != nullptr && !values->items.empty()) {
    Node selector;
    selector.members.push_back({key->text, values->items.front()});
    return take_label(selector, launch);
  }
  for (const Node& item : node.items) take_affinity(item, launch);
  for (const auto& [name, member] : node.members) take_affinity(member, launch);
}

/// What the objects around a container say of the machines that it runs on.
struct Surroundings {
  const Node* selector = nullptr;
  const Node* affinity = nullptr;
  const Node* replicas = nullptr;  ///< of a job whose workers train together
  bool has_master = false;         ///< which is one more machine
};

/// The machines of Kubeflow's PyTorchJob (spec.pytorchReplicaSpecs: one Master, and Workers), of a LeaderWorkerSet (its
/// size counts the leader) and of an indexed Job.
const Node* workers_of(const Node& node) {
  if (const Node* worker = below(&node, {"pytorchReplicaSpecs", "Worker", "replicas"})) return worker;
  if (const Node* size = below(&node, {"leaderWorkerTemplate", "size"})) return size;
  const Node* mode = node.find("completionMode");
  return mode != nullptr && mode->text == "Indexed" ? node.find("completions") : nullptr;
}

void take_nodes(const Node& node, Surroundings& around) {
  if (const Node* own = node.find("nodeSelector")) around.selector = own;
  if (const Node* own = node.find("affinity")) around.affinity = own;
  if (const Node* own = workers_of(node)) around.replicas = own;
  if (below(&node, {"pytorchReplicaSpecs", "Master"}) != nullptr) around.has_master = true;
}

void add_surroundings(const Surroundings& around, LaunchCommand& launch) {
  if (around.affinity != nullptr) take_affinity(*around.affinity, launch);
  if (around.selector != nullptr) take_label(*around.selector, launch);
  std::int64_t workers = 0;
  if (around.replicas == nullptr) return;
  const std::string& text = around.replicas->text;
  std::from_chars(text.data(), text.data() + text.size(), workers);
  constexpr std::int64_t most = 1'000'000;
  if (workers < 1 || workers > most) return;
  put(launch, "container.nodes", std::to_string(workers + (around.has_master ? 1 : 0)), around.replicas->where);
}

void find_containers(const Node& node, Surroundings around, std::string_view place, std::vector<LaunchCommand>& found) {
  take_nodes(node, around);
  const Node* image = node.find("image");
  const bool runs =
      node.find("command") != nullptr || node.find("args") != nullptr || node.find("environment") != nullptr;
  if (image != nullptr && image->kind == Node::Kind::value && runs) {
    auto words = command_of(node.find("command"), place);
    for (auto& word : command_of(node.find("args"), place)) words.push_back(std::move(word));
    const ShellWord name{image->text, line_of(image->where), {}};
    LaunchCommand launch = container_launch(name, without_shell(std::move(words), place), place);
    take_variables(node.find("environment"), launch);
    take_variables(node.find("env"), launch);
    take_accelerators(node, launch);
    add_surroundings(around, launch);
    found.push_back(std::move(launch));
  }
  for (const Node& item : node.items) find_containers(item, around, place, found);
  for (const auto& [key, member] : node.members) find_containers(member, around, place, found);
}

}  // namespace

LaunchCommand container_launch(const ShellWord& image, std::vector<ShellWord> words, std::string_view place) {
  LaunchCommand launch;
  const auto* known =
      std::ranges::find_if(images, [&](const Image& each) { return image.text.find(each.name) != std::string::npos; });
  const bool is_program =
      !words.empty() && !words.front().text.starts_with('-') && words.front().text.find('/') == std::string::npos;
  const bool named = !words.empty() && (is_program || words.front().text.starts_with("/"));
  if (known != std::end(images) && !named) {
    for (auto& word : words_of(known->program, image.line)) launch.words.push_back(std::move(word));
  }
  for (auto& word : words) launch.words.push_back(std::move(word));
  put(launch, "container.version", version_of(image.text), place_of(place, image, image.text));
  return launch;
}

std::vector<ShellWord> without_shell(std::vector<ShellWord> words, std::string_view place) {
  if (words.size() < 3 || !base_name(words[0].text).ends_with("sh") || !words[1].text.starts_with("-")) return words;
  const int line = words[2].line;
  auto script = parse_shell(words[2].text, place);
  if (script.commands.empty()) return words;
  auto last = std::move(script.commands.back().words);
  for (auto& word : last) word.line = line;
  return last;
}

LaunchCommand docker_launch(const std::vector<ShellWord>& words, std::size_t from, std::string_view place) {
  Settings options;
  std::size_t at = from;
  while (at < words.size() && words[at].text.starts_with('-')) {
    const std::string flag = words[at].text.substr(0, words[at].text.find('='));
    const std::string where = place_of(place, words[at], flag);
    const bool bare = std::ranges::find(bare_options, words[at].text) != bare_options.end();
    std::string value;
    if (flag.size() < words[at].text.size()) {
      value = words[at].text.substr(flag.size() + 1);
    } else if (!bare && at + 1 < words.size()) {
      value = words[++at].text;
    }
    const bool sets = (flag == "-e" || flag == "--env") && value.find('=') != std::string::npos;
    if (sets)
      options.put(
          {"environment." + value.substr(0, value.find('=')), value.substr(value.find('=') + 1), {}, where, {}});
    if (flag == "--gpus") options.put({"container.gpus", count_of(value), {}, where, {}});
    ++at;
  }
  if (at >= words.size()) return {};
  LaunchCommand launch =
      container_launch(words[at], {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()}, place);
  for (const Setting& option : options.all()) {
    if (!option.text.empty()) launch.launcher.put(option);
  }
  return launch;
}

std::vector<LaunchCommand> containers_in(const Node& file, std::string_view place) {
  std::vector<LaunchCommand> found;
  const auto is_manifest = [](const Node& node) {
    return node.find("services") != nullptr || node.find("kind") != nullptr;
  };
  if (!is_manifest(file) && std::ranges::none_of(file.items, is_manifest)) return found;
  find_containers(file, {}, place, found);
  return found;
}

}  // namespace llmcalc::read
