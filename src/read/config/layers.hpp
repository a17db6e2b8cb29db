// Which layers differ from the others: windowed, mixture of experts, linear attention, state space, and in their sizes.
#pragma once

namespace llmcalc::read {

class ConfigReader;

/// Reads what the family says of each layer, as periods where they say it and one by one where they do not.
void read_layers(ConfigReader& reader);

}  // namespace llmcalc::read
