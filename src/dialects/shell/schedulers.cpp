

#include "dialects/shell/containers.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <cctype>

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

}  // namespace llmcalc::dialects
