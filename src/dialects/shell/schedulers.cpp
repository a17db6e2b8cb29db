

#include "dialects/shell/command.hpp"
#include "dialects/shell/containers.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

/// "gpu:h100:8", "h100:8", "gpu:8", "8": a type, or none, and a count.
struct Resource {
  std::string type;
  std::string count;
};

Resource resource_of(std::string text) {
  constexpr std::string_view prefix = "gpu:";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  text = text.substr(0, text.find_first_of("(,"));
  const auto colon = text.rfind(':');
  Resource resource{colon == std::string::npos ? std::string() : text.substr(0, colon),
                    colon == std::string::npos ? text : text.substr(colon + 1)};
  const bool digits = quantity::is_number(resource.count);
  return digits ? resource : Resource{};
}

struct Counted {
  std::string_view name;
  std::string_view key;
};

constexpr Counted counted_options[] = {{"gres", "slurm.gpus_per_node"},
                                       {"gpus_per_node", "slurm.gpus_per_node"},
                                       {"gpus_per_task", "slurm.gpus_per_task"},
                                       {"ntasks_per_node", "slurm.tasks_per_node"},
                                       {"gpus", "slurm.gpus"},
                                       {"G", "slurm.gpus"}};

void take(const Setting& option, Settings& settings) {
  if (option.key == "nodes" || option.key == "N") {
    const auto dash = option.text.find('-');  // "2-4" machines: at least the first
    settings.put({"slurm.nodes", option.text.substr(0, dash), {}, option.where, {}});
    return;
  }
  const auto* row = std::ranges::find(counted_options, option.key, &Counted::name);
  if (row == std::end(counted_options)) return;
  const Resource resource = resource_of(option.text);
  if (!resource.count.empty()) settings.put({std::string(row->key), resource.count, {}, option.where, {}});
  if (!resource.type.empty()) settings.put({"slurm.gpu", resource.type, {}, option.where, {}});
}

/// Accelerators of each task, of which a machine runs one where nobody says.
void take_tasks(Settings& settings) {
  const Setting* each = settings.find("slurm.gpus_per_task");
  if (each == nullptr || settings.has("slurm.gpus_per_node")) return;
  const Setting* tasks = settings.find("slurm.tasks_per_node");
  Setting all = *each;
  all.key = "slurm.gpus_per_node";
  if (tasks != nullptr && tasks->text != "1") {
    const auto product = shell_arithmetic(each->text + " * " + tasks->text, {});
    if (!product.known) return;
    all.text = std::to_string(product.value);
  }
  settings.put(std::move(all));
}

}  // namespace

Settings slurm_settings(const std::vector<ShellWord>& directives, std::string_view place) {
  Settings settings;
  for (const ShellWord& directive : directives) {
    Script line = parse_shell(directive.text, place);
    if (line.commands.empty()) continue;
    auto words = std::move(line.commands.front().words);
    for (ShellWord& word : words) word.line = directive.line;
    const Options options = options_of(words, 0, place);
    for (const Setting& option : options.settings.all()) take(option, settings);
  }
  take_tasks(settings);
  return settings;
}

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
