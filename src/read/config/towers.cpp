#include "llmcalc/quantity/error.hpp"
#include "read/config/reader.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <cmath>

namespace llmcalc::read {
namespace {

using nlohmann::json;

[[noreturn]] void refuse_tower(const ConfigReader& text, const std::string& pointer, const std::string& problem) {
  throw quantity::BadInput(text.document().at(pointer), problem,
                           "--as " + text.family().id() + " reads the text model alone");
}

/// A tower of whatever type the file names, as AutoModel builds it, says no "like"; its own object says it.
json of_its_type(json part, const Families& families, const ConfigReader& text) {
  if (part.contains("like")) return part;
  const auto at = part.value("at", std::string());
  const auto type = text.document().part(at).text("model_type");
  if (!type) refuse_tower(text, "/" + at, "names no model_type, which says what tower it is");
  const auto family = families.named(type->value);
  const bool is_tower = family && family->description().contains("positions");
  if (!is_tower) refuse_tower(text, type->pointer, "'" + type->value + "' is a tower that no family describes");
  part["like"] = type->value;
  return part;
}

/// Evaluates what a description says of one tower.
class TowerReader {
 public:
  TowerReader(const Families& families, const Family& wrapper, const json& part, ConfigReader& text)
      : name_(part.at("name").get<std::string>()),
        text_(text),
        family_(families.inheriting(of_its_type(part, families, text), wrapper.id() + " " + name_, wrapper.id())),
        reader_(text.document(), family_, text.document().part(part.value("at", std::string())), &text) {}

  bool exists() { return !says("when") || value("when").is_true(); }

  spec::Tower read() {
    spec::Tower tower;
    tower.name = name_;
    read_shape(reader_);
    tower.layers = reader_.shape();
    tower.layers.name = name_;
    tower.positions = number("positions", 1);
    tower.patch_inputs = number("patch_inputs", 0);
    tower.patch_bias = says("patch_bias") && value("patch_bias").is_true();
    tower.merged = number("merged", 1);
    tower.extra = tower.layers.extra;
    tower.layers.extra = 0;
    if (says("projector")) read_projector(tower);
    if (says("left_out")) note_left_out();
    return tower;
  }

  /// Tokens that an image becomes in front of the tower, once that is read.
  spec::ImageRule image_rule() {
    return says("image") ? described_rule(family_.description().at("image")) : spec::ImageRule{};
  }

 private:
  bool says(std::string_view what) const { return family_.description().contains(what); }
  std::string place(std::string_view what) const { return family_.at("towers", what); }

  Amount value(std::string_view what) {
    return reader_.computed(family_.description().at(std::string(what)), place(what));
  }

  std::int64_t whole(const Amount& amount, std::string_view what) const {
    constexpr double largest = 1e12;
    const bool fits = amount.kind == Amount::Kind::number && amount.number == std::floor(amount.number) &&
                      amount.number >= 0 && amount.number <= largest;
    if (!fits) {
      throw quantity::BadInput(reader_.document().place(),
                               fmt::format("gives no whole number for the {} of the {} tower", what, name_));
    }
    return static_cast<std::int64_t>(amount.number);
  }

  std::int64_t number(std::string_view what, std::int64_t otherwise) {
    return says(what) ? whole(value(what), what) : otherwise;
  }

  /// Sizes that no processor has, as a patch of no pixels, make no rule.
  spec::ImageRule described_rule(const json& described) {
    constexpr std::int64_t largest = 1'000'000;
    const auto size = [&](std::string_view name, std::int64_t otherwise) {
      const auto field = described.find(name);
      return field == described.end() ? otherwise : whole(reader_.computed(*field, place("image")), name);
    };
    for (const std::string_view divides : {"patch", "merge", "edge"}) {
      const std::int64_t pixels = size(divides, 1);
      if (pixels == 0 || pixels > largest) return {};
    }
    if (size("tokens", 0) > largest) return {};
    const auto word = described.value("fit", std::string());
    const auto* known = spec::find_name<spec::ImageFit>(word);
    if (known == nullptr) throw quantity::BadInput(place("image"), "'" + word + "' is no fit of images");
    return {known->value,           size("patch", 0), size("merge", 1),      size("least_pixels", 0),
            size("most_pixels", 0), size("edge", 0),  size("most_tiles", 1), size("tokens", 0)};
  }

  /// Each matrix as [inputs, outputs] or [inputs, outputs, bias]; one without inputs is not there.
  void read_projector(spec::Tower& tower) {
    for (const json& matrix : family_.description().at("projector")) {
      const auto size = [&](std::size_t i) {
        return whole(reader_.computed(matrix.at(i), place("projector")), "projector");
      };
      const bool bias = matrix.size() > 2 && reader_.computed(matrix.at(2), place("projector")).is_true();
      if (size(0) > 0) tower.projector.push_back({spec::Role::projector, size(0), size(1), bias});
    }
  }

  /// Facts of the description of a tower that its figures do not hold.
  void note_left_out() {
    const auto what = family_.description().at("left_out").get<std::string>();
    text_.note(fmt::format("of the {} tower are not counted: {}", name_, what));
  }

  std::string name_;
  ConfigReader& text_;
  Family family_;
  ConfigReader reader_;
};

}  // namespace

void read_towers(const Families& families, const Family& wrapper, ConfigReader& text) {
  for (const json& part : wrapper.description().at("towers")) {
    TowerReader reader(families, wrapper, part, text);
    if (!reader.exists()) continue;
    auto& tower = text.shape().towers.emplace_back(reader.read());
    const auto& rule = text.images().emplace_back(reader.image_rule());
    const spec::SeenImage image = spec::largest(tower, rule);
    tower.most_positions = image.tiles * image.positions;
    tower.most_tokens = image.tokens;
  }
}

}  // namespace llmcalc::read
