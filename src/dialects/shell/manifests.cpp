

#include "dialects/shell/containers.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::dialects {
namespace {

struct Label {
  std::string_view part;  ///< of the value
  std::string_view gpu;
};

/// cloud.google.com/gke-accelerator, nvidia.com/gpu.product (NVIDIA's feature discovery), amd.com/gpu.product-name: the
/// longer names first.
constexpr Label products[] = {
#include "dialects/gpu_labels.inc"
};

void take_label(const Node& selector, LaunchCommand& launch) {
  for (const auto& [key, value] : selector.members) {
    const auto gpu = gpu_of_label(key, value.text);
    if (gpu.empty()) continue;
    const Setting* slice = launch.launcher.find("container.gpu");  // "nvidia.com/mig-3g.40gb", which its resource names
    const std::string of_resource = slice == nullptr ? std::string() : slice->text.substr(slice->text.find('/') + 1);
    const std::string label =
        quantity::to_lower(value.text);  // or the label itself, "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb"
    const auto mig = label.find("-mig-");
    const std::string profile = mig != label.npos ? label.substr(mig) : of_resource.empty() ? "" : "-" + of_resource;
    return put(launch, "container.gpu", std::string(gpu) + profile, value.where);
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
  if (const Node* nodes = node.find("numNodes")) return nodes;                     // Kubeflow's TrainJob
  if (const Node* nodes = below(&node, {"multinode", "nodeCount"})) return nodes;  // Dynamo
  const Node* mode = node.find("completionMode");
  return mode != nullptr && mode->text == "Indexed" ? node.find("completions") : nullptr;
}

/// The image that a container runs; without a name in patches of others and in compose's services that build theirs,
/// which have to say the command.
std::optional<ShellWord> image_run_by(const Node& node) {
  const auto says = [&](const char* key) { return node.find(key) != nullptr; };
  const Node* image = node.find("image");
  if (image == nullptr && says("command") && (says("name") || says("build")))
    return ShellWord{{}, line_of(node.find("command")->where), {}};
  const bool runs = std::ranges::any_of(std::array{"entrypoint", "command", "args", "environment"}, says);
  if (image == nullptr || image->kind != Node::Kind::value || !runs) return std::nullopt;
  return ShellWord{image->text, line_of(image->where), {}};
}

void find_containers(const Node& node, Surroundings around, std::string_view place, std::vector<LaunchCommand>& found) {
  take_nodes(node, around);
  if (const auto image = image_run_by(node)) {
    Node container = node;  // a LeaderWorkerSet tells its containers how many they are (leaderworkerset.x-k8s.io)
    add_variable("LWS_GROUP_SIZE", around.replicas, container);
    LaunchCommand launch = container_launch(*image, container_words(container, place), place);
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

/// Baseten's Truss (docs.baseten.co/reference/truss-configuration, docker_server): an image, a line that starts a
/// server in it, and "H100:2".
std::vector<LaunchCommand> truss_launches(const Node& file, std::string_view place) {
  const Node* start = below(&file, {"docker_server", "start_command"});
  const Node* image = below(&file, {"base_image", "image"});
  if (start == nullptr || image == nullptr) return {};
  Node container{Node::Kind::table, {}, start->where, {}, {}};
  container.members.push_back({"command", *start});
  const ShellWord name{image->text, line_of(image->where), {}};
  LaunchCommand launch = container_launch(name, container_words(container, place), place);
  if (const Node* said = below(&file, {"resources", "accelerator"})) {
    std::string_view cards = said->text;
    put(launch, "container.gpu", std::string(gpu_of_label("accelerator", quantity::take_until(cards, ":"))),
        said->where);
    put(launch, "container.gpus", cards.empty() ? "1" : std::string(cards), said->where);
  }
  return {std::move(launch)};
}

}  // namespace

void add_variable(std::string_view name, const Node* value, Node& container) {
  if (value == nullptr) return;
  Node variable{Node::Kind::table, {}, value->where, {}, {}};
  variable.members.push_back({"name", {Node::Kind::value, std::string(name), value->where, {}, {}}});
  variable.members.push_back({"value", *value});
  const auto own = std::ranges::find(container.members, "env", &Member::key);
  if (own != container.members.end()) return own->value.items.push_back(std::move(variable));
  container.members.push_back({"env", {Node::Kind::list, {}, value->where, {std::move(variable)}, {}}});
}

std::string_view gpu_of_label(std::string_view key, std::string_view value) {
  if (key.find("instance-type") != key.npos) return find_instance(value).value_or(Instance{}).gpu;
  const bool about_gpu = key.find("gpu") != key.npos || key.find("accelerator") != key.npos;
  if (!about_gpu) return {};
  const std::string text = quantity::to_lower(value);
  const auto* found =
      std::ranges::find_if(products, [&](const Label& label) { return text.find(label.part) != text.npos; });
  return found == std::end(products) ? std::string_view() : found->gpu;
}

void take_nodes(const Node& node, Surroundings& around) {
  if (const Node* own = node.find("nodeSelector")) around.selector = own;
  if (const Node* own = node.find("affinity")) around.affinity = own;
  if (const Node* own = workers_of(node)) around.replicas = own;
  if (const Node* own = below(&node, {"resources", "limits", "gpu"})) around.cards = own;
  if (const Node* own = node.find("replicas"); around.replicas == nullptr && own != nullptr) around.copies = own;
  if (below(&node, {"pytorchReplicaSpecs", "Master"}) != nullptr) around.has_master = true;
}

void add_surroundings(const Surroundings& around, LaunchCommand& launch) {
  if (around.affinity != nullptr) take_affinity(*around.affinity, launch);
  if (around.selector != nullptr) take_label(*around.selector, launch);
  if (around.cards != nullptr) put(launch, "container.gpus", around.cards->text, around.cards->where);
  assume_one_of(around.copies, launch);
  const std::int64_t workers = number_in(around.replicas);
  constexpr std::int64_t most = 1'000'000;
  if (workers < 1 || workers > most) return;
  put(launch, "container.nodes", std::to_string(workers + (around.has_master ? 1 : 0)), around.replicas->where);
}

void assume_one_of(const Node* copies, LaunchCommand& launch) {
  const auto joins = [](const ShellWord& word) { return word.text.starts_with("--nnodes"); };
  if (number_in(copies) < 2 || std::ranges::any_of(launch.words, joins)) return;
  launch.assumed.push_back(
      fmt::format("one of {} replicas ({}): each is a server of its own", copies->text, copies->where));
}

Files files_in(const Node& manifests) {
  Files files;
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

std::int64_t number_in(const Node* node) {
  std::string_view text = node == nullptr ? std::string_view() : std::string_view(node->text);
  return quantity::take_number<std::int64_t>(text).value_or(0);
}

bool is_manifest(const Node& node) {
  constexpr std::string_view keys[] = {"services",
                                       "kind",
                                       "applications",
                                       "servingEngineSpec",
                                       "docker_server",
                                       "model_loading_config",
                                       "compatible_strategies",
                                       "modelArtifacts",
                                       "catalog"};
  return std::ranges::any_of(keys, [&](std::string_view key) { return node.find(key) != nullptr; }) ||
         below(&node, {"decode", "containers"}) != nullptr;
}

bool describes_containers(const Node& file) {
  return is_manifest(file) || std::ranges::any_of(file.items, is_manifest);
}

std::vector<LaunchCommand> containers_in(const Node& file, std::string_view place, const FindFile& find) {
  if (!describes_containers(file)) return {};
  std::vector<LaunchCommand> found = kaito_launches(file, place);
  if (found.empty()) found = kserve_launches(file, place);
  if (found.empty()) found = ray_launches(file, place, find);
  if (found.empty()) found = helm_launches(file, place);
  if (found.empty()) found = truss_launches(file, place);
  if (found.empty()) found = recipe_launches(file);
  if (found.empty()) find_containers(file, {}, place, found);
  return found;
}

}  // namespace llmcalc::dialects
