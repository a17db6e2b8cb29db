// A config.json as values asked for by key: it knows where each stands, and what it should have been.
#pragma once

#include "read/checkpoint.hpp"
#include "read/presets/fields.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// The integers that a key may hold, both ends included.
struct Range {
  std::int64_t least = 1;
  std::int64_t most = 0;
};

template <class T>
struct Found {
  T value;
  std::string pointer;  ///< JSON pointer of the key that held it
};

/// One object of the file. It is asked for one thing by keys in the order in which they are tried, "hidden_size ??
/// n_embd"; "attn_config.kv_n_heads" is a key inside an object. Every look-up passes over null and over absent keys,
/// and throws quantity::BadInput with the pointer for a value of another type or outside its range.
class ConfigObject {
 public:
  explicit ConfigObject(JsonPlace place) : place_(std::move(place)) {}

  std::optional<Found<std::int64_t>> integer(std::string_view keys, Range range) const;
  std::optional<Found<double>> number(std::string_view keys) const;
  std::optional<Found<bool>> boolean(std::string_view keys) const;
  std::optional<Found<std::string>> text(std::string_view keys) const;
  std::optional<Found<std::vector<std::string>>> texts(std::string_view keys) const;

  /// The value at "attn_config.kv_n_heads", null included; empty where a step is missing.
  std::optional<Found<const nlohmann::json*>> value(std::string_view path) const;

  /// All of it, with its pointer.
  Found<const nlohmann::json*> whole() const { return {&place_.value(), place_.pointer()}; }

  /// The first value of the keys other than null.
  std::optional<Found<const nlohmann::json*>> any(std::string_view keys) const;
  bool has(std::string_view keys) const { return any(keys).has_value(); }
  /// The object under the first of the keys that holds one.
  std::optional<ConfigObject> object(std::string_view keys) const;

 private:
  JsonPlace place_;
};

class ConfigDocument {
 public:
  /// \throws quantity::BadInput when the text is not a JSON object
  ConfigDocument(std::string_view json, std::string_view place);
  ConfigDocument(const ConfigDocument&) = delete;
  ConfigDocument& operator=(const ConfigDocument&) = delete;

  /// The whole file: what a multimodal model says outside its text model.
  const ConfigObject& root() const { return root_; }
  /// The text model: the file itself, or its text_config, language_config and the like.
  const ConfigObject& text_model() const { return text_model_; }

  bool is_nested() const { return nested_; }
  /// Another object of the file in the place of the text model: a tower's. Without one, an object that holds nothing.
  ConfigObject part(std::string_view path) const;

  const std::string& place() const { return place_; }
  /// "config.json:/num_hidden_layers" of a pointer.
  std::string at(std::string_view pointer) const { return place_ + ":" + std::string(pointer); }

 private:
  std::string place_;
  nlohmann::json value_;
  ConfigObject root_;
  ConfigObject text_model_;
  bool nested_;  ///< the text model is an object inside the file
};

/// The block of a config.json or hf_quant_config.json that says how its weights are quantized.
std::optional<ConfigObject> quantization_of(const ConfigDocument& document);

/// Its keys, as readers of checkpoints ask for them. \param model  what has a key that stands beside the block
/// \throws quantity::BadInput at a key that holds something else, when it is asked for
KeyText keys_of(const ConfigObject& block, const ConfigObject& model);

}  // namespace llmcalc::read
