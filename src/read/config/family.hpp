// A family of models as a description in data: what a model_type says without saying it.
//
// A description is an entry of presets/families/*.json or of the user's folder (presets/README.md lists its parts). One
// that is "like" another says only what differs. Only the entries that a file needs are parsed.
#pragma once

#include "llmcalc/spec/shape.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class ConfigDocument;
class JsonPlace;

class Family {
 public:
  /// \param description  the entry with all that it inherits
  Family(std::string id, std::string file, nlohmann::json description)
      : id_(std::move(id)), file_(std::move(file)), description_(std::move(description)) {}

  const std::string& id() const { return id_; }
  /// "presets/families/llama.json: qwen3 /shape/heads", for messages about the description itself.
  std::string at(std::string_view part, std::string_view name) const;

  std::string source() const { return description_.value("source", std::string()); }
  /// The description of a field of the shape; null where the family has none.
  const nlohmann::json* field(std::string_view name) const { return inside("shape", name); }
  /// Rules of each layer: its mixer, its reach, its experts.
  const nlohmann::json* layer_field(std::string_view name) const { return inside("layer", name); }
  /// A name for something computed once.
  const nlohmann::json* helper(std::string_view name) const { return inside("let", name); }
  /// Values for keys that the file leaves out.
  const nlohmann::json* default_of(std::string_view key) const { return inside("defaults", key); }
  /// Values for keys that a configuration nested in the file leaves out, which then holds only what differs.
  const nlohmann::json* class_default_of(std::string_view key) const { return inside("class", key); }
  const nlohmann::json& description() const { return description_; }
  /// This family with the fields that another description, of what stands around it, says of it.
  Family with(const Family& around) const;

 private:
  const nlohmann::json* inside(std::string_view part, std::string_view name) const;

  std::string id_;
  std::string file_;
  nlohmann::json description_;
};

/// The families that ship and those that a user adds, found without parsing the others.
class Families {
 public:
  /// One entry, parsed; `value` is what it says itself.
  struct Entry {
    std::string id;
    std::vector<std::string> aliases;
    std::string file;
    nlohmann::json value;
  };

  /// \throws quantity::BadInput with file and JSON pointer for an entry that is none
  explicit Families(const std::vector<PresetFile>& users = {});

  /// The family of a model_type, or of another name of it; empty where it is not known.
  std::optional<Family> named(std::string_view model_type) const;

  /// Entries of a description on top of the family that it is like.
  Family inheriting(const nlohmann::json& description, std::string id, std::string file) const;

  /// The description of what stands around the text model of a file; empty where the file is a text model alone.
  std::optional<Family> wrapper_of(const ConfigDocument& document) const;

  /// The family of a file by its text model's model_type, by the file's own, or by its architecture.
  /// \param as  a model_type that is to be read in place of the file's own; may be empty
  /// \throws quantity::BadInput when none is known: names the nearest and the keys that a Llama-like decoder lacks
  Family of(const ConfigDocument& document, std::string_view as) const;

 private:
  std::optional<Entry> entry(std::string_view name) const;

  std::vector<Entry> users_;
};

/// One entry, its parts checked, not its expressions.
/// \throws quantity::BadInput with file and JSON pointer for an unknown part or field
Families::Entry read_family_entry(const JsonPlace& entry);

/// How the public code of a family writes its layers, as far as no file decides.
spec::Writing writing_of(const Family& family);

}  // namespace llmcalc::read
