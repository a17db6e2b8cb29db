#include "dialects/shell/shell_variables.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

constexpr std::array<std::string_view, 5> read_variables{"CUDA_VISIBLE_DEVICES", "NPROC_PER_NODE", "NNODES", "NGPU",
                                                         "CONFIG_FILE"};
constexpr std::array<std::string_view, 2> read_prefixes{"LLAMA_ARG_", "OLLAMA_"};

struct JobVariable {
  std::string_view option;
  std::string_view name;
};
constexpr JobVariable told_of_directives[] = {{"--nodes", "SLURM_NNODES"},
                                              {"--nodes", "SLURM_JOB_NUM_NODES"},
                                              {"-N", "SLURM_NNODES"},
                                              {"-N", "SLURM_JOB_NUM_NODES"},
                                              {"--gres", "SLURM_GPUS_ON_NODE"},
                                              {"--gpus-per-node", "SLURM_GPUS_ON_NODE"},
                                              {"--gpus-per-node", "SLURM_GPUS_PER_NODE"},
                                              {"--ntasks-per-node", "SLURM_NTASKS_PER_NODE"}};

/// "4" of "--nodes=4", "8" of "--gres=gpu:h100:8".
std::string count_behind(std::string_view directive, std::string_view option) {
  const auto at = directive.find(option);
  if (at == std::string_view::npos || (at > 0 && directive[at - 1] != ' ')) return {};
  auto value = directive.substr(at + option.size());
  if (value.empty() || (value.front() != '=' && value.front() != ' ')) return {};
  value.remove_prefix(1);
  value = value.substr(0, value.find_first_of(" ,("));
  if (option == "--gres" && !value.starts_with("gpu")) return {};
  value.remove_prefix(value.rfind(':') + 1);
  return std::string(value.substr(0, value.find_first_not_of("0123456789")));
}

}  // namespace

bool is_read_by_launchers(std::string_view variable) {
  return std::ranges::find(read_variables, variable) != read_variables.end() ||
         std::ranges::any_of(read_prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::vector<std::pair<std::string, std::string>> job_variables(std::string_view directive) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [option, name] : told_of_directives) variables.emplace_back(name, count_behind(directive, option));
  std::erase_if(variables, [](const auto& variable) { return variable.second.empty(); });
  return variables;
}

}  // namespace llmcalc::dialects
