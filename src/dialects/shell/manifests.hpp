// What the objects around a container say of the machines that it runs on.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/command.hpp"
#include "read/settings.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

struct Surroundings {
  const Node* selector = nullptr;
  const Node* affinity = nullptr;
  const Node* replicas = nullptr;  ///< of a job whose workers train together
  bool has_master = false;         ///< which is one more machine
};

/// The files that ConfigMaps hold, which containers find in folders of their own.
std::map<std::string, std::string> files_in(const Node& manifests);

/// Those of an object on top of those around it.
void take_nodes(const Node& node, Surroundings& around);

void add_surroundings(const Surroundings& around, LaunchCommand& launch);

/// The accelerator that a label of a node names; empty for labels that are about something else or name none that is
/// known.
std::string_view gpu_of_label(std::string_view key, std::string_view value);

/// The servers that a configuration of Ray Serve starts, by itself or inside a RayService; none where it is neither.
std::vector<LaunchCommand> ray_launches(const Node& file, std::string_view place);

/// The servers of a chart's values; none where a file is none of vLLM's production stack.
std::vector<LaunchCommand> helm_launches(const Node& file, std::string_view place);

/// The servers that the services of a file start, with what its ServingRuntime says; none where it holds no service.
std::vector<LaunchCommand> kserve_launches(const Node& file, std::string_view place);

}  // namespace llmcalc::dialects
