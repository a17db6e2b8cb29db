#include "llmcalc/quantity/error.hpp"
#include "read/config.hpp"
#include "read/config/steps.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace llmcalc::read {
namespace {

/// The text model's family, with what the description of its wrapper says on top.
Family family_of(const Families& families, const ConfigDocument& document, const std::optional<Family>& wrapper,
                 std::string_view as) {
  Family family = families.of(document, as);
  return wrapper ? family.with(*wrapper) : family;
}

[[noreturn]] void refuse_wrapper(const ConfigReader& reader, const std::string& pointer, std::string_view problem) {
  throw quantity::BadInput(reader.document().at(pointer), std::string(problem),
                           "--as " + reader.family().id() + " reads the text model alone");
}

/// What no description covers is not left out in silence: a tower, or whatever stands around the text model.
void refuse_unknown_wrapper(const Families& families, const ConfigReader& reader) {
  static constexpr std::array<std::string_view, 1> type_key = {"model_type"};
  const ConfigObject& root = reader.document().root();
  for (const std::string_view key : tower_keys) {
    const auto found = root.value(key);
    if (!found || found->value->is_null()) continue;
    refuse_wrapper(reader, found->pointer, "is a tower that no description of a family covers");
  }
  const auto type = root.text(type_key);
  if (reader.document().is_nested() && type && !families.named(type->value)) {
    refuse_wrapper(reader, type->pointer, "'" + type->value + "' is not a model type we know, only its text model is");
  }
}

}  // namespace

ConfigShape read_config(std::string_view json, std::string_view place, const ConfigReading& reading) {
  const ConfigDocument document(json, place);
  const Families families(reading.families);
  const auto wrapper = reading.as.empty() ? families.wrapper_of(document) : std::nullopt;
  const Family family = family_of(families, document, wrapper, reading.as);
  ConfigReader reader(document, family);
  read_shape(reader);
  if (wrapper) read_towers(families, *wrapper, reader);
  if (!wrapper && reading.as.empty()) refuse_unknown_wrapper(families, reader);
  note_what_is_left_out(reader);
  if (!reading.as.empty()) reader.note("the file was read as " + reading.as + ", whatever model_type it names");

  spec::Shape shape = reader.shape();
  static constexpr std::array<std::string_view, 1> name_key = {"_name_or_path"};
  const auto name = document.root().text(name_key);
  shape.name = name && !name->value.empty() ? name->value : family.id();
  auto origins = reader.take_origins();
  const auto quant = published_quant(reader);
  if (quant) origins.push_back({"quant", quant->pointer});
  return {std::move(shape),    quant ? std::optional(quant->value) : std::nullopt,
          std::move(origins),  reader.take_images(),
          reader.take_notes(), unread_keys(families, reader, wrapper)};
}

}  // namespace llmcalc::read
