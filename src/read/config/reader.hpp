// Evaluates the description of a family over a file, and remembers where each value came from.
#pragma once

#include "read/config.hpp"
#include "read/config/document.hpp"
#include "read/config/expression.hpp"
#include "read/config/family.hpp"
#include "read/config/fields.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class ConfigReader : private Names {
 public:
  ConfigReader(const ConfigDocument& document, const Family& family)
      : ConfigReader(document, family, document.text_model()) {}
  /// \param object  that keys are looked up in: the text model, or a tower's configuration
  /// \param text    of the text model, where the object is another's
  ConfigReader(const ConfigDocument& document, const Family& family, ConfigObject object, ConfigReader* text = nullptr)
      : document_(document), family_(family), object_(std::move(object)), text_(text) {}

  const Family& family() const { return family_; }
  const ConfigDocument& document() const { return document_; }
  const ConfigObject& object() const { return object_; }
  spec::Shape& shape() { return shape_; }

  /// The family's value of a field: absent where it says nothing, or where the keys that it names are.
  Amount field_value(std::string_view name);
  /// An expression of the description beside its fields: of towers and projectors.
  Amount computed(const nlohmann::json& expression, const std::string& place) { return described(expression, place); }
  /// The family's value of a field of one layer.
  Amount layer_value(std::string_view name, std::int64_t layer);
  Amount layer_computed(const nlohmann::json& expression, std::int64_t layer);
  bool describes_layers(std::string_view name) const { return family_.layer_field(name) != nullptr; }

  /// Reads a field into the shape; one that the family does not describe stays.
  void read(const NumberField& field);
  void read(const SwitchField& field);
  void read(const WordField& field);

  /// \throws quantity::BadInput that lists every key that read() asked for in vain
  void refuse_missing() const;
  /// \throws quantity::BadInput at the key that gave `term`, or at the file
  [[noreturn]] void refuse(std::string_view term, std::string problem) const;

  void came_from(std::string_view term, std::string pointer);
  void by_default(std::string_view term);
  void note(std::string text) { notes_.push_back(std::move(text)); }

  std::vector<KeyOrigin> take_origins() { return std::move(origins_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }
  /// How the processor in front of each tower fits images to it.
  std::vector<spec::ImageRule>& images() { return images_; }
  std::vector<spec::ImageRule> take_images() { return std::move(images_); }

 private:
  Amount key(std::string_view path) override;
  bool is_null(std::string_view path) override;
  Amount own(std::string_view key) override;
  Amount field(std::string_view name) override;
  std::int64_t layer() const override { return layer_; }
  std::string place_of(const std::string& pointer) const override { return document_.at(pointer); }

  /// The object that a path begins at: the file where it says "root.".
  const ConfigObject& object_of(std::string_view& path) const;
  Amount described(const nlohmann::json& description, const std::string& place);
  void remember_origin(std::string_view term, const Amount& amount);
  void ask_in_vain(std::string_view term, const nlohmann::json& description);
  std::int64_t whole(const NumberField& field, const Amount& amount) const;

  const ConfigDocument& document_;
  const Family& family_;
  ConfigObject object_;
  ConfigReader* text_ = nullptr;
  spec::Shape shape_;
  std::int64_t layer_ = 0;
  std::string first_pointer_;  ///< of the first key of the file that the last description used
  std::string null_pointer_;   ///< of a key of it that is there and null
  std::vector<std::string> missing_;
  std::vector<KeyOrigin> origins_;
  std::vector<std::string> notes_;
  std::vector<spec::ImageRule> images_;
};

}  // namespace llmcalc::read
