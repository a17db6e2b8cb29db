// Hugging Face config.json -> shape.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/shape.hpp"
#include "read/presets.hpp"
#include "spec/file_tensors.hpp"
#include "spec/image.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Which key of the file gave a value: term "layers" from pointer "/text_config/num_hidden_layers".
struct KeyOrigin {
  std::string term;
  std::string pointer;  ///< JSON pointer, or "transformers default" where the family's default applies
};

struct ConfigShape {
  spec::Shape shape;
  std::optional<formats::Quant> quant;  ///< of the checkpoint's weights, where they are quantized and the file says how
  std::vector<KeyOrigin> origins;
  std::vector<spec::ImageRule> images;  ///< of each tower
  std::vector<std::string>
      notes;  ///< what the file says that the text model leaves out (vision tower, MTP, quantization)
  std::vector<std::string> unread;  ///< pointers of keys that nobody knows
};

/// How a file is to be read.
struct ConfigReading {
  std::string as{};                    ///< a model_type to read it by in place of its own; empty: its own
  std::vector<PresetFile> families{};  ///< a user's descriptions, beside those that ship
};

/// Reads the text of a config.json by the description of its family (presets/families), with the key aliases that
/// transformers and its neighbours use, nested text configurations and the defaults of its class.
/// \param place  the file's name, for messages
/// \throws quantity::BadInput with byte offset or JSON pointer; an unknown architecture names the keys that were
/// missing
ConfigShape read_config(std::string_view json, std::string_view place, const ConfigReading& reading = {});

/// Schemes of single modules that the quantization in a config.json or hf_quant_config.json states; nullptr where none.
/// \throws quantity::BadInput as read_config() does
std::shared_ptr<const spec::FileTensors> stored_modules(std::string_view json, std::string_view place);

}  // namespace llmcalc::read
