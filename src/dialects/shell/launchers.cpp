

#include "dialects/shell/command.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace llmcalc::dialects {
namespace {

constexpr Launcher all[] = {
#include "dialects/launchers.inc"
};

/// A whole number above zero; words such as "gpu" and "auto" say nothing.
const Setting* counted(const Sheet& sheet, std::initializer_list<std::string_view> keys) {
  const Setting* setting = sheet.find(keys);
  const bool is_number = setting != nullptr && quantity::is_number(setting->text);
  return is_number && sheet.count(keys).value_or(0) > 0 ? setting : nullptr;
}

const std::initializer_list<std::string_view> processes_of_node = {
    "torchrun.nproc_per_node", "torchrun.nproc-per-node", "deepspeed.num_gpus",   "environment.NPROC_PER_NODE",
    "environment.NGPU",        "srun.gpus_per_node",      "srun.ntasks_per_node", "composer.n"};
const std::initializer_list<std::string_view> machines = {"torchrun.nnodes", "deepspeed.num_nodes",
                                                          "environment.NNODES", "srun.nodes", "srun.N"};

std::int64_t value_of(const Setting& setting) { return quantity::parse_count(setting.text, setting.where); }

/// "0,1,2" names three.
void take_visible(Sheet& sheet) {
  const auto names = [&](std::string_view key) { return sheet.settings().find(key); };
  const Setting* list = names("deepspeed.include");
  if (list == nullptr) list = names("environment.CUDA_VISIBLE_DEVICES");
  if (list == nullptr) list = names("environment.NVIDIA_VISIBLE_DEVICES");
  if (list == nullptr || !list->unknown.empty()) return;  // "$i" of a loop, which starts several
  const auto colon = list->text.rfind(':');
  const auto devices = colon == std::string::npos ? list->text : list->text.substr(colon + 1);
  if (devices.find_first_not_of("0123456789,") != std::string::npos && devices.find("GPU-") == std::string::npos)
    return;
  if (devices.empty()) return;
  const auto visible = 1 + std::ranges::count(devices, ',');
  const Setting* held = counted(sheet, {"container.gpus"});
  if (held != nullptr && value_of(*held) < visible) return;  // a container sees no more than it is given
  const Setting* nodes = counted(sheet, {"slurm.nodes"});    // on each of which a training runs
  const auto ranks = nodes == nullptr || sheet.reading().serves ? 1 : value_of(*nodes);
  sheet.say("gpus", std::to_string(quantity::checked_multiply(std::int64_t{visible}, ranks)), *list);
}

/// Kubeflow tells torchrun how many machines there are, where its own options do not (PET_NNODES).
void take_workers(Sheet& sheet) {
  const Setting* workers = counted(sheet, {"container.nodes"});
  const Given* gpus = sheet.word("gpus");
  if (workers == nullptr || gpus == nullptr || sheet.find("torchrun.nnodes") != nullptr) return;
  const auto each = quantity::parse_count(gpus->text, gpus->origin.where);
  sheet.say("gpus", std::to_string(quantity::checked_multiply(each, value_of(*workers))), *workers);
}

constexpr Starter starters[] = {
#include "dialects/starters.inc"
};

/// Algorithms by which names of programs are called, as examples/scripts of trl have them.
constexpr std::string_view preferences[] = {"dpo", "kto", "orpo", "cpo", "grpo", "rloo", "ppo"};

/// "swift/cli/sft.py" is the end of a path, "sft.py" its last part, "llama-server-*" how that begins.
bool is_called(std::string_view word, std::string_view name) {
  if (name.ends_with('*')) return base_name(word).starts_with(name.substr(0, name.size() - 1));
  if (name.find('/') == std::string_view::npos) return base_name(word) == name;
  return word == name || (word.ends_with(name) && word[word.size() - name.size() - 1] == '/');
}

/// Names that several sizes of memory have, as Ray's A100 and Slurm's: the catalogue tells them apart by a number
/// behind the name, and gives the name alone to one of them.
void assume_memory(const Setting& gpu, Sheet& sheet) {
  const std::string beginning = quantity::to_lower(gpu.text) + "-";
  const auto is_size = [&](std::string_view name) {
    return name.starts_with(beginning) && quantity::is_digit(name.substr(beginning.size())[0]);
  };
  std::set<std::int64_t> sizes;
  std::string taken;
  for (const auto& preset : Catalogue().accelerators_beginning(gpu.text)) {
    const auto gib = std::llround(quantity::in_gib(preset.accelerator.memory_nominal));
    if (is_size(preset.accelerator.id) || std::ranges::any_of(preset.aliases, is_size)) sizes.insert(gib);
    if (quantity::contains(preset.aliases, quantity::to_lower(gpu.text))) taken = std::to_string(gib);
  }
  if (sizes.size() < 2 || taken.empty()) return;
  const auto listed = quantity::joined(sizes, " or ", [](std::int64_t gib) { return std::to_string(gib); });
  sheet.assume(gpu, gpu.text + " has " + listed + " GiB, " + taken + " is taken", "gpu");
}

}  // namespace

std::span<const Launcher> launchers() { return all; }

void take_processes(const Settings& launcher, Reading& reading) {
  const Reader reader(no_files);
  Sheet sheet(launcher, reading, reader);
  if (sheet.leaves_open("gpus", processes_of_node) || sheet.leaves_open("gpus", machines)) return;
  const Setting* per_node = counted(sheet, processes_of_node);
  const Setting* nodes = counted(sheet, machines);
  const bool of_allocation = nodes == nullptr && per_node != nullptr && per_node->key.starts_with("srun.");
  if (of_allocation) nodes = counted(sheet, {"slurm.nodes"});
  const Setting* all = counted(sheet, {"mpirun.np", "mpirun.n"});
  if (nodes != nullptr && value_of(*nodes) > 1) sheet.say("nodes", nodes->text, *nodes);
  if (per_node != nullptr) {
    const auto count = nodes == nullptr ? 1 : value_of(*nodes);
    sheet.say("gpus", std::to_string(quantity::checked_multiply(value_of(*per_node), count)), *per_node);
  } else if (all != nullptr) {
    sheet.say("gpus", all->text, *all);
  } else {
    take_visible(sheet);
  }
}

void take_machines(const Settings& launcher, Reading& reading) {
  const Reader reader(no_files);
  Sheet sheet(launcher, reading, reader);
  if (const Setting* gpu = sheet.find({"container.gpu", "slurm.gpu"})) {
    sheet.say("gpu", gpu->text, *gpu);
    assume_memory(*gpu, sheet);
  }
  if (const Setting* version = sheet.find("container.version"); version != nullptr && reading.serves) {
    sheet.say("engine_version", version->text, *version);
  }
  const Setting* nodes = counted(sheet, {"slurm.nodes", "container.nodes"});
  const Setting* per_node = counted(sheet, {"container.gpus", "slurm.gpus_per_node"});
  const Setting* all = counted(sheet, {"slurm.gpus"});
  if (nodes != nullptr && value_of(*nodes) > 1 && !sheet.has("nodes")) sheet.say("nodes", nodes->text, *nodes);
  take_workers(sheet);
  if (sheet.has("gpus")) return;
  if (per_node != nullptr) {
    const Given* said = sheet.word("nodes");  // by the server's own --nnodes
    const auto node_count = nodes != nullptr  ? value_of(*nodes)
                            : said != nullptr ? quantity::parse_count(said->text, said->origin.where)
                                              : 1;
    sheet.say("gpus", std::to_string(quantity::checked_multiply(value_of(*per_node), node_count)), *per_node);
  } else if (all != nullptr) {
    sheet.say("gpus", all->text, *all);
  }
}

Settings accelerate_settings(const Settings& launcher) {
  constexpr std::string_view prefix = "accelerate.";
  Settings settings;
  for (const Setting& option : launcher.all()) {
    if (!option.key.starts_with(prefix)) continue;
    Setting setting = option;
    setting.key = option.key.substr(prefix.size());
    const bool of_fsdp = setting.key.starts_with("fsdp_");
    const bool of_deepspeed = setting.key.starts_with("offload_") || setting.key.starts_with("zero") ||
                              setting.key == "deepspeed_config_file" || setting.key == "gradient_accumulation_steps";
    if (of_fsdp) setting.key = "fsdp_config." + setting.key;
    if (of_deepspeed) setting.key = "deepspeed_config." + setting.key;
    if (setting.key.starts_with("parallelism_config_")) setting.key = "parallelism_config." + setting.key;
    const bool says_type = setting.key == "use_fsdp" || setting.key == "use_deepspeed" || setting.key == "multi_gpu";
    if (says_type) {
      setting.text = setting.key == "use_fsdp" ? "FSDP" : setting.key == "multi_gpu" ? "MULTI_GPU" : "DEEPSPEED";
      setting.key = "distributed_type";
    }
    settings.put(std::move(setting));
  }
  return settings;
}

Started starter_of(const std::vector<ShellWord>& words) {
  for (const Starter& starter : starters) {
    auto name = starter.name;
    std::size_t count = 0;
    while (!name.empty() && count < words.size()) {
      const auto part = name.substr(0, name.find(' '));
      if (!is_called(words[count].text, part)) break;
      ++count;
      name.remove_prefix(std::min(part.size() + 1, name.size()));
    }
    if (name.empty()) return {&starter, count};
  }
  return {};
}

std::string_view algorithm_named_in(std::string_view program) {
  const std::string name = quantity::to_lower(base_name(program));
  if (name.find('.') == name.npos) return {};  // "dpo.py", and "-m project.dpo"
  const auto parts = quantity::pieces_of(name, "_-.");
  const auto named = std::ranges::find_first_of(parts, preferences);
  return named == parts.end() ? std::string_view() : *std::ranges::find(preferences, *named);
}

}  // namespace llmcalc::dialects
