// Commands inside containers (docker run, compose files, Kubernetes manifests), and what schedulers say of the
// machines: the directives of Slurm, tasks of SkyPilot and dstack, the commands of llama-swap.
#pragma once

#include "dialects/reading.hpp"
#include "dialects/shell/command.hpp"
#include "dialects/shell/shell.hpp"
#include "read/settings.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

/// The command that an image runs, with "container.gpus", "container.gpu" and "container.version" among the
/// launcher's settings.
/// \param given  the command given to it, or its arguments alone where the image has a command of its own
LaunchCommand container_launch(const ShellWord& image, LaunchCommand given, std::string_view place);

/// "/bin/sh -c 'text'": the command of the text that starts a known program, or else its last, and the files that the
/// text writes. Any other words stay as they are.
LaunchCommand without_shell(std::vector<ShellWord> words, std::string_view place);

/// The words of "docker run [options] image [command]" from behind the verb.
LaunchCommand docker_launch(const std::vector<ShellWord>& words, std::size_t from, std::string_view place);

/// True for a compose file and for Kubernetes manifests.
bool describes_containers(const Node& file);

/// The containers of a compose file or of Kubernetes manifests; none where a file is neither.
std::vector<LaunchCommand> containers_in(const Node& file, std::string_view place, const FindFile& find);

/// The servers that a configuration of Ray Serve starts, by itself or inside a RayService; none where it is neither.
std::vector<LaunchCommand> ray_launches(const Node& file, std::string_view place, const FindFile& find);

/// Below a table, key by key; nullptr where one is missing.
const Node* below(const Node* node, std::initializer_list<std::string_view> keys);

/// A text with a value in the place of each such reference to it, up to the size of a file of settings.
std::string with_value(std::string_view text, std::string_view reference, std::string_view value);

/// "NAME='value'" for a shell, and what ends it; empty where that would need other quotes.
std::string assignment(std::string_view name, std::string_view value, char end);

/// Assignments that a shell finds made: the variables of a container.
std::string assignments(const Node& container, char end);

/// The line in "deploy.yaml:12"; 0 where there is none.
int line_of(const std::string& where);

/// Words of a command, from a place of the file.
void add_words(LaunchCommand& launch, const Node& because, std::initializer_list<std::string_view> words);

/// A setting of the machines, unless the text is empty.
void put(LaunchCommand& launch, std::string_view key, std::string text, const std::string& where);

/// The words of `entrypoint`, `command` and `args`, with the container's variables in the place of "$(NAME)". Of a text
/// for a shell the words of the program that is known, or else of its last command.
LaunchCommand container_words(const Node& container, std::string_view place);

/// Variables as "NAME=value" in a list, as a table, or as Kubernetes' tables of name and value.
void take_variables(const Node& container, LaunchCommand& launch);

/// compose: deploy.resources.reservations.devices; Kubernetes: resources.limits, or else requests; a TrainJob's
/// resourcesPerNode.
void take_accelerators(const Node& container, LaunchCommand& launch);

struct Surroundings {
  const Node* selector = nullptr;
  const Node* affinity = nullptr;
  const Node* replicas = nullptr;  ///< of a job whose workers train together
  const Node* cards = nullptr;     ///< of a service of Dynamo's, beside its container
  bool has_master = false;         ///< which is one more machine
  const Node* copies = nullptr;    ///< of what stands below, each for itself
};

/// The files that ConfigMaps hold, which containers find in folders of their own.
Files files_in(const Node& manifests);

/// Those of an object on top of those around it.
void take_nodes(const Node& node, Surroundings& around);

void add_surroundings(const Surroundings& around, LaunchCommand& launch);

/// A variable of a container, behind its own; nothing where it has no value.
void add_variable(std::string_view name, const Node* value, Node& container);

/// The accelerator that a label of a node names; empty for labels that are about something else or name none that is
/// known.
std::string_view gpu_of_label(std::string_view key, std::string_view value);

/// Says of one of several servers that it is one.
void assume_one_of(const Node* copies, LaunchCommand& launch);

/// The number that a value begins with; 0 where it begins with none.
std::int64_t number_in(const Node* node);

/// The servers of KAITO's workspaces, sets and roles; none where a file holds none.
std::vector<LaunchCommand> kaito_launches(const Node& file, std::string_view place);

/// The servers of a chart's values; none where a file is none of vLLM's production stack.
std::vector<LaunchCommand> helm_launches(const Node& file, std::string_view place);

/// The server of a recipe of vLLM's; none where a file is none.
std::vector<LaunchCommand> recipe_launches(const Node& file);

/// The servers that the services of a file start, with what its ServingRuntime says; none where it holds no service.
std::vector<LaunchCommand> kserve_launches(const Node& file, std::string_view place);

/// "slurm.nodes", "slurm.gpus_per_node", "slurm.gpus", "slurm.gpu".
Settings slurm_settings(const std::vector<ShellWord>& directives, std::string_view place);

/// A script, and the machines that are rented for it where it says any.
struct Task {
  std::string script;  ///< on the lines of the file
  Settings machines;   ///< "slurm.gpu", "slurm.gpus_per_node", "slurm.nodes": the words of a job
  std::string folder;  ///< in which it runs, below that of the file
  std::vector<std::pair<std::string, std::string>> mounts;  ///< folders of its machines, and where they come from
  std::vector<std::string> assumed;                         ///< which accelerator, where several will do
};

/// A task of SkyPilot or dstack, or the commands of llama-swap; nothing where a file is none.
std::optional<Task> task_of(const Node& file);

/// Where a file that the script names may lie, from the folder of the task.
std::vector<std::string> places_of(const std::string& path, const Task& task);

}  // namespace llmcalc::dialects
