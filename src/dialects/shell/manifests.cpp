#include "dialects/shell/manifests.hpp"

#include "dialects/shell/accelerator_labels.hpp"
#include "dialects/shell/container_words.hpp"
#include "dialects/shell/containers.hpp"
#include "dialects/shell/kserve.hpp"
#include "dialects/shell/ray.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

void take_label(const Node& selector, LaunchCommand& launch) {
  for (const auto& [key, value] : selector.members) {
    const auto gpu = gpu_of_label(key, value.text);
    if (!gpu.empty()) return put(launch, "container.gpu", std::string(gpu), value.where);
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

/// The machines of Kubeflow's PyTorchJob (spec.pytorchReplicaSpecs: one Master, and Workers), of a LeaderWorkerSet (its
/// size counts the leader) and of an indexed Job.
const Node* workers_of(const Node& node) {
  if (const Node* worker = below(&node, {"pytorchReplicaSpecs", "Worker", "replicas"})) return worker;
  if (const Node* size = below(&node, {"leaderWorkerTemplate", "size"})) return size;
  if (const Node* nodes = node.find("numNodes")) return nodes;  // Kubeflow's TrainJob
  const Node* mode = node.find("completionMode");
  return mode != nullptr && mode->text == "Indexed" ? node.find("completions") : nullptr;
}

/// A LeaderWorkerSet tells its containers how many they are (leaderworkerset.x-k8s.io, LWS_GROUP_SIZE).
Node with_group_size(Node container, const Surroundings& around) {
  if (around.replicas == nullptr) return container;
  Node variable{Node::Kind::table, {}, around.replicas->where, {}, {}};
  variable.members.push_back({"name", {Node::Kind::value, "LWS_GROUP_SIZE", around.replicas->where, {}, {}}});
  variable.members.push_back({"value", *around.replicas});
  const auto own = std::ranges::find(container.members, "env", &Member::key);
  if (own != container.members.end()) {
    own->value.items.push_back(std::move(variable));
  } else {
    container.members.push_back({"env", {Node::Kind::list, {}, around.replicas->where, {std::move(variable)}, {}}});
  }
  return container;
}

void find_containers(const Node& node, Surroundings around, std::string_view place, std::vector<LaunchCommand>& found) {
  take_nodes(node, around);
  const Node* image = node.find("image");
  const bool runs = std::ranges::any_of(std::array{"entrypoint", "command", "args", "environment"},
                                        [&](const char* key) { return node.find(key) != nullptr; });
  if (image != nullptr && image->kind == Node::Kind::value && runs) {
    const ShellWord name{image->text, line_of(image->where), {}};
    LaunchCommand launch = container_launch(name, container_words(with_group_size(node, around), place), place);
    take_variables(node, launch);
    take_accelerators(node, launch);
    add_surroundings(around, launch);
    found.push_back(std::move(launch));
  }
  for (const Node& item : node.items) find_containers(item, around, place, found);
  for (const auto& [key, member] : node.members) {
    if (!key.starts_with("x-")) find_containers(member, around, place, found);  // compose's templates start nothing
  }
}

}  // namespace

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

std::map<std::string, std::string> files_in(const Node& manifests) {
  std::map<std::string, std::string> files;
  const auto take = [&](const Node& object) {
    const Node* kind = object.find("kind");
    const Node* data = object.find("data");
    if (kind == nullptr || kind->text != "ConfigMap" || data == nullptr) return;
    for (const auto& [name, text] : data->members) files[name] = text.text;
  };
  take(manifests);
  for (const Node& object : manifests.items) take(object);
  return files;
}

bool is_manifest(const Node& node) {
  constexpr std::string_view keys[] = {"services", "kind", "applications"};
  return std::ranges::any_of(keys, [&](std::string_view key) { return node.find(key) != nullptr; });
}

bool describes_containers(const Node& file) {
  return is_manifest(file) || std::ranges::any_of(file.items, is_manifest);
}

std::vector<LaunchCommand> containers_in(const Node& file, std::string_view place) {
  if (!describes_containers(file)) return {};
  std::vector<LaunchCommand> found = kserve_launches(file, place);
  if (found.empty()) found = ray_launches(file, place);
  if (found.empty()) find_containers(file, {}, place, found);
  return found;
}

}  // namespace llmcalc::dialects
