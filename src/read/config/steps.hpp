// The steps in which a configuration is read, each in a source of its name.
#pragma once

#include "read/config/family.hpp"
#include "read/config/reader.hpp"

#include <array>
#include <string_view>

namespace llmcalc::read {

/// Everything that the description of a family says of a shape.
/// \throws quantity::BadInput that names every missing key, or at the key of a value that does not fit
void read_shape(ConfigReader& reader);

/// The nonlinearity of the MLP: the word of the file and the family's gate make one.
/// \throws quantity::BadInput at the key of an activation that no kernel is known for
void read_activation(ConfigReader& reader);

/// Which layers differ from the others: windowed, mixture of experts, linear attention, state space, and in their
/// sizes. As periods where the family says it so and one by one where it does not.
void read_layers(ConfigReader& reader);

/// Where files keep encoders of images and sound.
constexpr std::array<std::string_view, 4> tower_keys = {"vision_config", "audio_config", "vision_tower",
                                                        "mm_vision_tower"};

/// The encoders of images and sound that a file describes beside its text model.
/// \param text  whose shape gets the towers
/// \throws quantity::BadInput when a tower's configuration lacks a key
void read_towers(const Families& families, const Family& wrapper, ConfigReader& text);

/// The keys of a file, of its text model and of its towers that say something which no expression of a family names and
/// no size is known not to follow from: pointers, those of the text model first.
std::vector<std::string> unread_keys(const Families& families, const ConfigReader& reader,
                                     const std::optional<Family>& wrapper);

}  // namespace llmcalc::read
