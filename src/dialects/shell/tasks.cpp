// Tasks of those who rent machines for a script (SkyPilot, dstack), the directives of Slurm, and the commands that
// llama-swap starts in turns.
#include "dialects/shell/containers.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

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

void take_accelerators(const Node& file, Task& task) {
  const auto found = accelerators_in(below(&file, {"resources", "accelerators"}));
  if (!found) return;
  const std::string type(gpu_of_label("accelerator", "skypilot-" + found->type));
  task.machines.put({"slurm.gpu", type.empty() ? quantity::to_lower(found->type) : type, {}, found->where, {}});
  task.machines.put({"slurm.gpus_per_node", found->count, {}, found->where, {}});
  if (found->several) {
    task.assumed.push_back(fmt::format("accelerators ({}): {}:{}, the first of those that will do", found->where,
                                       found->type, found->count));
  }
}

/// Puts a text of the file on its own line of the script; that of a block begins behind its key.
void add_text(const Node& node, std::string_view text, std::string& script) {
  const auto lines = static_cast<int>(std::ranges::count(script, '\n'));
  const int block = node.text.find('\n') == std::string::npos ? 0 : 1;
  const int line = line_of(node.where) - 1 + block;
  const int apart = script.empty() || script.ends_with('\n') ? 0 : 1;
  script.append(static_cast<std::size_t>(std::max({0, line - lines, apart})), '\n').append(text);
}

/// Variables that the script finds set: the task's own variables, and SkyPilot's.
std::string variables(const Node& file, const Task& task, const std::string& nodes) {
  std::string text;
  const auto set = [&](std::string_view name, std::string_view value) { text += assignment(name, value, ';'); };
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
void take_release(const Node* setup, Task& task) {
  constexpr std::string_view name = "vllm==";
  const auto at = setup == nullptr ? std::string::npos : setup->text.find(name);
  if (at == std::string::npos) return;
  const auto release = std::string_view(setup->text).substr(at + name.size());
  auto number = release.substr(0, std::min(release.find_first_not_of("0123456789."), release.size()));
  while (number.ends_with('.')) number.remove_suffix(1);  // of "0.4.0.post1"
  if (!number.empty()) task.machines.put({"container.version", std::string(number), {}, setup->where, {}});
}

std::optional<Task> sky_task(const Node& file) {
  const Node* run = file.find("run");
  const bool task = run != nullptr && run->kind == Node::Kind::value &&
                    std::ranges::any_of(std::array{"resources", "envs", "num_nodes", "setup", "workdir"},
                                        [&](const char* key) { return file.find(key) != nullptr; });
  if (!task) return std::nullopt;
  Task found;
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
  found.script = variables(file, found, nodes == nullptr ? "1" : nodes->text);
  add_text(*run, run->text, found.script);
  return found;
}

/// Cards that are rented: a type, or none, how much memory at least, and how many.
struct Resource {
  std::string type;
  std::string memory;
  std::string count = "1";
};

/// "A100:80GB:2", whose parts stand in any order, or a table of them: dstack core/models/resources.py, GPUSpec.parse.
Resource rented(const Node& gpu) {
  Resource found;
  const auto take = [&](std::string_view part) {
    const auto least = part.substr(0, part.find(".."));
    if (quantity::is_number(least))
      found.count = least;
    else if (!least.empty() && quantity::is_digit(least[0]))
      found.memory = quantity::to_lower(least);
    else if (found.type.empty())
      found.type = quantity::to_lower(least.substr(0, least.find(',')));
  };
  for (const auto part : quantity::pieces_of(gpu.text, ":")) take(part);
  for (const auto key : {"name", "memory", "count"}) {
    const Node* part = gpu.find(key);
    if (part != nullptr) take(part->items.empty() ? part->text : part->items.front().text);
  }
  return found;
}

/// "nvidia" of "nvidia:80GB:8" (the same, AcceleratorVendor).
bool is_vendor(std::string_view name) {
  return quantity::contains(Catalogue().accelerators(), name,
                            [](const auto& each) { return quantity::to_lower(each.accelerator.vendor); });
}

void take_rented(const Node* gpu, Task& task) {
  if (gpu == nullptr) return;
  const Resource found = rented(*gpu);
  const std::string label = found.memory.empty() ? found.type : found.type + "-" + found.memory;
  const std::string type(gpu_of_label("accelerator", label));
  task.machines.put({"slurm.gpus_per_node", found.count, {}, gpu->where, {}});
  if (!found.type.empty() && type.empty() && is_vendor(found.type)) {
    task.assumed.push_back(fmt::format("gpu ({}): any accelerator of {}'s{} will do, say --gpu", gpu->where, found.type,
                                       found.memory.empty() ? std::string() : " with " + found.memory));
  } else if (!found.type.empty()) {
    task.machines.put({"slurm.gpu", type.empty() ? found.type : type, {}, gpu->where, {}});
  } else if (!found.memory.empty()) {
    task.assumed.push_back(fmt::format("gpu ({}): any accelerator of {} will do, say --gpu", gpu->where, found.memory));
  }
}

/// dstack core/models/configurations.py: a task or a service is a list of commands and what is rented for them. Its
/// documentation of configurations calls DSTACK_GPUS_NUM "the total number of GPUs in the run".
std::optional<Task> dstack_task(const Node& file) {
  const Node* type = file.find("type");
  const Node* commands = file.find("commands");
  if (type == nullptr || commands == nullptr || (type->text != "task" && type->text != "service")) return std::nullopt;
  Task found;
  take_rented(below(&file, {"resources", "gpu"}), found);
  const Node* nodes = file.find("nodes");
  const std::string count = nodes == nullptr ? "1" : nodes->text;
  if (nodes != nullptr) found.machines.put({"slurm.nodes", count, {}, nodes->where, {}});
  const Node* image = file.find("image");
  LaunchCommand around;
  if (image != nullptr) around = container_launch({image->text, line_of(image->where), {}}, {}, {});
  if (const Setting* release = around.launcher.find("container.version")) {
    found.machines.put({release->key, release->text, {}, image->where, {}});
  }
  found.script = assignments(file, ';') + assignment("DSTACK_NODES_NUM", count, ';');
  if (const Setting* each = found.machines.find("slurm.gpus_per_node")) {
    found.script += assignment("DSTACK_GPUS_PER_NODE", each->text, ';');
    if (quantity::is_number(count) && quantity::is_number(each->text))
      found.script += fmt::format("DSTACK_GPUS_NUM=$(({}*{}));", count, each->text);
  }
  for (const Node& command : commands->items) add_text(command, command.text, found.script);
  return found;
}

std::string reference_to(std::string_view macro) { return fmt::format("${{{}}}", macro); }

/// A text with the values of macros, of which later ones may name earlier ones; a model's own stand for those of the
/// same name around it.
void expand_macros(std::string& text, const Node* macros, const Node* own) {
  if (macros == nullptr) return;
  for (auto each = macros->members.rbegin(); each != macros->members.rend(); ++each) {
    const Node* nearer = own == nullptr ? nullptr : own->find(each->key);
    text = with_value(text, reference_to(each->key), quantity::trim((nearer == nullptr ? each->value : *nearer).text));
  }
}

/// One command, whose lines need no backslashes and may be remarks (llama-swap internal/config, SanitizeCommand).
std::string one_command(std::string_view text) {
  std::string all;
  for (const auto line : quantity::pieces_of(quantity::without_end(text, "\n"), "\n")) {
    const auto words = quantity::trim(line);
    if (!words.starts_with('#')) all += quantity::trim(quantity::without_end(words, "\\"));
    all += " \\\n";
  }
  return all + "\n";
}

/// Each model's server in the order of the file (config.example.yaml of llama-swap).
std::optional<Task> swapped_models(const Node& file) {
  const Node* models = file.find("models");
  if (models == nullptr) return std::nullopt;
  Task found;
  for (const auto& [name, model] : models->members) {
    const Node* command = model.find("cmd");
    if (command == nullptr || command->kind != Node::Kind::value) continue;
    std::string text = command->text;
    const Node* own = model.find("macros");
    expand_macros(text, own, own);
    expand_macros(text, file.find("macros"), own);
    text = with_value(with_value(text, reference_to("MODEL_ID"), name), "${env.", "${");
    add_text(*command, assignments(model, ' ') + one_command(text), found.script);
  }
  return found.script.empty() ? std::nullopt : std::optional(std::move(found));
}

/// "gpu:h100:8", "h100:8", "gpu:8", "8": a type, or none, and a count.
struct SlurmResource {
  std::string type;
  std::string count;
};

SlurmResource resource_of(std::string text) {
  constexpr std::string_view prefix = "gpu:";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  text = text.substr(0, text.find_first_of("(,"));
  const auto colon = text.rfind(':');
  SlurmResource resource{colon == std::string::npos ? std::string() : text.substr(0, colon),
                         colon == std::string::npos ? text : text.substr(colon + 1)};
  const bool digits = quantity::is_number(resource.count);
  return digits ? resource : SlurmResource{};
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
  const SlurmResource resource = resource_of(option.text);
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

std::vector<std::string> places_of(const std::string& path, const Task& task) {
  std::vector<std::string> places{path};
  if (!task.folder.empty()) places.push_back(task.folder + "/" + path);
  for (const auto& [there, here] : task.mounts) {
    if (path.starts_with(there + "/")) places.push_back(here + path.substr(there.size()));
  }
  return places;
}

std::optional<Task> task_of(const Node& file) {
  for (const auto read : {sky_task, dstack_task, swapped_models}) {
    if (auto task = read(file)) return task;
  }
  return std::nullopt;
}

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

}  // namespace llmcalc::dialects
