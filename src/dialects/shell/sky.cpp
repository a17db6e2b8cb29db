#include "dialects/shell/sky.hpp"

#include "dialects/shell/accelerator_labels.hpp"
#include "dialects/shell/container_words.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace llmcalc::dialects {
namespace {

/// "A100-80GB:8", a table {L4: 8, A100: 4} or a list of both; the first of several.
struct Accelerators {
  std::string type;
  std::string count = "1";
  std::string where;
  bool several = false;
};

std::optional<Accelerators> accelerators_in(const Node* node) {
  if (node == nullptr) return std::nullopt;
  if (!node->items.empty()) {
    auto first = accelerators_in(&node->items.front());
    if (first) first->several = node->items.size() > 1;
    return first;
  }
  if (!node->members.empty()) {
    const auto& [type, count] = node->members.front();
    const auto colon = type.find(':');  // "{L4:8, A10:8}" has keys without values
    const bool joined = colon != std::string::npos;
    return Accelerators{type.substr(0, colon),
                        joined               ? type.substr(colon + 1)
                        : count.text.empty() ? "1"
                                             : count.text,
                        node->where, node->members.size() > 1};
  }
  if (node->text.empty()) return std::nullopt;
  const auto colon = node->text.find(':');
  return Accelerators{node->text.substr(0, colon), colon == std::string::npos ? "1" : node->text.substr(colon + 1),
                      node->where};
}

void take_accelerators(const Node& file, SkyTask& task) {
  const auto found = accelerators_in(below(&file, {"resources", "accelerators"}));
  if (!found) return;
  const std::string type(gpu_of_label("accelerator", found->type));
  task.machines.put({"slurm.gpu", type.empty() ? quantity::to_lower(found->type) : type, {}, found->where, {}});
  task.machines.put({"slurm.gpus_per_node", found->count, {}, found->where, {}});
  if (found->several) {
    task.assumed.push_back(fmt::format("accelerators ({}): {}:{}, the first of those that will do", found->where,
                                       found->type, found->count));
  }
}

bool is_plain(std::string_view name, std::string_view value) {
  const bool letters =
      !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return letters && !quantity::is_digit(name.front()) && value.find_first_of("'\n") == value.npos;
}

/// What the script finds set: the task's own variables, and SkyPilot's.
std::string variables(const Node& file, const SkyTask& task, const std::string& nodes) {
  std::string text;
  const auto set = [&](std::string_view name, std::string_view value) {
    if (is_plain(name, value)) text += fmt::format("{}='{}';", name, value);
  };
  for (const auto key : {"envs", "secrets"}) {
    const Node* own = file.find(key);
    if (own == nullptr) continue;
    for (const auto& [name, value] : own->members) {
      if (!value.text.empty()) set(name, value.text);
    }
  }
  if (const Setting* count = task.machines.find("slurm.gpus_per_node")) set("SKYPILOT_NUM_GPUS_PER_NODE", count->text);
  set("SKYPILOT_NUM_NODES", nodes);
  return text;
}

/// The release in "pip install vllm==0.4.0".
void take_release(const Node* setup, SkyTask& task) {
  constexpr std::string_view name = "vllm==";
  const auto at = setup == nullptr ? std::string::npos : setup->text.find(name);
  if (at == std::string::npos) return;
  const auto release = std::string_view(setup->text).substr(at + name.size());
  auto number = release.substr(0, std::min(release.find_first_not_of("0123456789."), release.size()));
  while (number.ends_with('.')) number.remove_suffix(1);  // of "0.4.0.post1"
  if (!number.empty()) task.machines.put({"container.version", std::string(number), {}, setup->where, {}});
}

}  // namespace

std::vector<std::string> places_of(const std::string& path, const SkyTask& task) {
  std::vector<std::string> places{path};
  if (!task.folder.empty()) places.push_back(task.folder + "/" + path);
  for (const auto& [there, here] : task.mounts) {
    if (path.starts_with(there + "/")) places.push_back(here + path.substr(there.size()));
  }
  return places;
}

std::optional<SkyTask> sky_task(const Node& file) {
  const Node* run = file.find("run");
  const bool task = run != nullptr && run->kind == Node::Kind::value &&
                    std::ranges::any_of(std::array{"resources", "envs", "num_nodes", "setup", "workdir"},
                                        [&](const char* key) { return file.find(key) != nullptr; });
  if (!task) return std::nullopt;
  SkyTask found;
  take_accelerators(file, found);
  const Node* nodes = file.find("num_nodes");
  if (nodes != nullptr) found.machines.put({"slurm.nodes", nodes->text, {}, nodes->where, {}});
  take_release(file.find("setup"), found);
  const Node* folder = file.find("workdir");
  if (folder != nullptr && folder->kind == Node::Kind::value) found.folder = folder->text;
  if (const Node* mounts = file.find("file_mounts")) {
    for (const auto& [there, here] : mounts->members) {
      if (here.kind == Node::Kind::value) found.mounts.emplace_back(there, here.text);
    }
  }
  found.script = variables(file, found, nodes == nullptr ? "1" : nodes->text) +
                 std::string(static_cast<std::size_t>(std::max(0, line_of(run->where))), '\n') + run->text;
  return found;
}

}  // namespace llmcalc::dialects
