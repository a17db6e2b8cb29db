// The nonlinearity of the MLP: the word of the file and the family's gate make one.
#pragma once

namespace llmcalc::read {

class ConfigReader;

/// \throws quantity::BadInput at the key of an activation that no kernel is known for
void read_activation(ConfigReader& reader);

}  // namespace llmcalc::read
