// Evaluates the description of a family over a file, and remembers where each value came from.
#pragma once

#include "llmcalc/spec/shape.hpp"
#include "read/config.hpp"
#include "read/config/document.hpp"
#include "read/config/expression.hpp"
#include "read/config/family.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

// The fields of a shape that a family describes, in the order in which they are read: a description may use `$name` of
// those before it.

/// Fields that are only read where the model has what they belong to.
enum class FieldGroup { always, latent, experts, linear, state };

/// A whole number of the shape. Upper bounds lie well above every published model (Llama 3.1: 126 layers, 16,384 wide;
/// MT-NLG: 20,480 wide; Kimi K2: 384 experts) and keep any parameter count inside 63 bits.
struct NumberField {
  std::string_view name;
  std::string_view term;  ///< of the vocabulary, for its origin
  FieldGroup group;
  Range range;
  std::int64_t& (*member)(spec::Shape& shape);
};

struct SwitchField {
  std::string_view name;
  bool& (*member)(spec::Shape& shape);
};

/// A word of a closed vocabulary.
struct WordField {
  std::string_view name;
  bool (*set)(spec::Shape& shape, std::string_view word);  ///< false for a word that is not of the vocabulary
};

std::span<const NumberField> number_fields();
std::span<const SwitchField> switch_fields();
std::span<const WordField> word_fields();
const NumberField* number_field(std::string_view name);
const SwitchField* switch_field(std::string_view name);

/// Every field that a description may have under "shape", those that are no member of a shape too.
std::span<const std::string_view> shape_field_names();
/// Keys that a description may say of each layer.
std::span<const std::string_view> layer_field_names();

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

// The steps in which a configuration is read.

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
constexpr std::string_view tower_keys = "vision_config ?? audio_config ?? vision_tower ?? mm_vision_tower";

/// The encoders of images and sound that a file describes beside its text model.
/// \param text  whose shape gets the towers
/// \throws quantity::BadInput when a tower's configuration lacks a key
void read_towers(const Families& families, const Family& wrapper, ConfigReader& text);

/// The keys of a file, of its text model and of its towers that say something which no expression of a family names and
/// no size is known not to follow from: pointers, those of the text model first.
std::vector<std::string> unread_keys(const Families& families, const ConfigReader& reader,
                                     const std::optional<Family>& wrapper);

}  // namespace llmcalc::read
