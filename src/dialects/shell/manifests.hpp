// What the objects around a container say of the machines that it runs on.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/shell/command.hpp"
#include "read/node.hpp"

#include <map>
#include <string>

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

}  // namespace llmcalc::dialects
