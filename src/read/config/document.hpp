// A config.json as values asked for by key: it knows where each stands, and what it should have been.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class JsonPlace;

/// Keys for one thing in the order in which they are tried; "attn_config.kv_n_heads" is a key inside an object.
using Keys = std::span<const std::string_view>;

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

/// One object of the file. Every look-up passes over null and over absent keys, and throws quantity::BadInput with
/// the pointer for a value of another type or outside its range.
class ConfigObject {
 public:
  ConfigObject(const nlohmann::json& value, std::string pointer, std::string_view place);

  std::optional<Found<std::int64_t>> integer(Keys keys, Range range) const;
  std::optional<Found<double>> number(Keys keys) const;
  std::optional<Found<bool>> boolean(Keys keys) const;
  std::optional<Found<std::string>> text(Keys keys) const;
  std::optional<Found<std::vector<std::string>>> texts(Keys keys) const;

  /// The value at "attn_config.kv_n_heads", null included; empty where a step is missing.
  std::optional<Found<const nlohmann::json*>> value(std::string_view path) const;

  /// All of it, with its pointer.
  Found<const nlohmann::json*> whole() const { return {value_, pointer_}; }

  /// Whether any of the keys is there with a value other than null.
  bool has(Keys keys) const;
  /// The object under the first of the keys that holds one.
  std::optional<ConfigObject> object(Keys keys) const;

 private:
  friend class ConfigDocument;
  JsonPlace here() const;

  const nlohmann::json* value_;
  std::string pointer_;
  std::string place_;
};

class ConfigDocument {
 public:
  /// \throws quantity::BadInput when the text is not a JSON object
  ConfigDocument(std::string_view json, std::string_view place);
  ConfigDocument(const ConfigDocument&) = delete;
  ConfigDocument& operator=(const ConfigDocument&) = delete;
  ~ConfigDocument();

  /// The whole file: what a multimodal model says outside its text model.
  const ConfigObject& root() const { return root_; }
  /// The text model: the file itself, or its text_config, language_config and the like.
  const ConfigObject& text_model() const { return text_model_; }

  bool is_nested() const { return nested_; }
  /// Another object of the file in the place of the text model: a tower's. Without one, an object that holds nothing.
  ConfigObject part(std::string_view path) const;
  /// Whether the text model has one of the keys of an expression such as "hidden_size ?? n_embd".
  bool has_any(std::string_view keys) const;

  const std::string& place() const { return place_; }
  /// "config.json:/num_hidden_layers" of a pointer.
  std::string at(std::string_view pointer) const { return place_ + ":" + std::string(pointer); }

 private:
  std::string place_;
  std::unique_ptr<const nlohmann::json> value_;
  ConfigObject root_;
  ConfigObject text_model_;
  bool nested_;  ///< the text model is an object inside the file
};

}  // namespace llmcalc::read
