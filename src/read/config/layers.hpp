// Which layers differ from the others: windowed, mixture of experts, linear attention.
#pragma once

namespace llmcalc::read {

class ConfigReader;

void read_windows(ConfigReader& reader);
void read_expert_layers(ConfigReader& reader);
void read_linear_layers(ConfigReader& reader);

}  // namespace llmcalc::read
