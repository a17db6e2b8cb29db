// Accelerators by the labels of a cluster's nodes.
#pragma once

#include <string_view>

namespace llmcalc::dialects {

/// The accelerator that a label of a node names; empty for labels that are about something else or name none that is
/// known.
std::string_view gpu_of_label(std::string_view key, std::string_view value);

}  // namespace llmcalc::dialects
