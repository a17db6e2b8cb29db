#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/config/reader.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace llmcalc::read {
namespace {

using spec::Mlp;

/// An activation by the names of transformers activations.py, as a plain MLP and as one with a gate.
struct Activation {
  std::string_view name;
  std::optional<Mlp> plain;
  std::optional<Mlp> gated;
};

constexpr Activation activations[] = {
#include "shape/activations.inc"
};

/// transformers activations.py, NewGELUActivation; gelu_pytorch_tanh is the same function in one kernel.
constexpr std::string_view chained_gelu = "gelu_new";
constexpr std::string_view gate_prefix = "gated-";  // T5's feed_forward_proj

std::string names_of_activations(bool gated) {
  const auto can = [&](const Activation& one) { return (gated ? one.gated : one.plain).has_value(); };
  return quantity::joined(quantity::mapped_if(activations, &Activation::name, can), ", ");
}

}  // namespace

void read_activation(ConfigReader& reader) {
  const Amount amount = reader.field_value("activation");
  if (amount.pointer.empty()) {
    reader.by_default("mlp");
  } else {
    reader.came_from("mlp", amount.pointer);
  }
  const auto name = quantity::without_start(amount.word, gate_prefix);
  const bool gated = reader.field_value("gated").is_true();
  const auto* known = quantity::find_or_null(activations, name, &Activation::name);
  const auto mlp = known == nullptr ? std::nullopt : gated ? known->gated : known->plain;
  if (!mlp) {
    reader.refuse("mlp", fmt::format("is '{}', expected an activation for {} MLP: {}", amount.word,
                                     gated ? "a gated" : "an ungated", names_of_activations(gated)));
  }
  reader.shape().mlp = *mlp;
  reader.shape().writing.chained_gelu = name == chained_gelu;
}
namespace {

using spec::Shape;

/// Whether the model has what a group of fields belongs to; the field that says so comes first in it.
bool belongs(const NumberField& field, const Shape& shape) {
  if (field.group == FieldGroup::latent) return field.name == "kv_rank" || shape.latent.kv_rank > 0;
  if (field.group == FieldGroup::experts) return field.name == "experts" || shape.moe.experts > 0;
  return true;
}

/// The trained length: YaRN's factor counts from the original length (Peng et al. 2023, arXiv:2309.00071).
void stretch_positions(ConfigReader& reader) {
  constexpr std::string_view kinds = "rope_scaling.rope_type ?? rope_scaling.type ?? rope_parameters.rope_type";
  constexpr std::string_view originals =
      "rope_scaling.original_max_position_embeddings ?? rope_parameters.original_max_position_embeddings";
  const Range positions = number_field("max_position")->range;
  const auto kind = reader.object().text(kinds);
  if (!kind || kind->value != "yarn") return;
  const auto factor = reader.object().number("rope_scaling.factor ?? rope_parameters.factor");
  const auto original = reader.object().integer(originals, positions);
  if (!factor || !original) return;
  const double stretched = std::round(factor->value * static_cast<double>(original->value));
  if (!(stretched >= 1.0 && stretched <= static_cast<double>(positions.most))) {
    throw quantity::BadInput(
        reader.document().at(factor->pointer),
        fmt::format("is {}, which stretches {} positions out of range", factor->value, original->value));
  }
  auto& longest = reader.shape().max_position;
  longest = std::max(longest, static_cast<std::int64_t>(stretched));
}

void check_head_split(ConfigReader& reader, const Amount& head_dim) {
  if (head_dim.kind != Amount::Kind::number || head_dim.number == std::floor(head_dim.number)) return;
  reader.refuse("heads", fmt::format("is {}, which does not divide the hidden size, and there is no head_dim",
                                     reader.shape().heads));
}

void check_experts(ConfigReader& reader) {
  const spec::MoeShape& moe = reader.shape().moe;
  if (moe.top_k <= moe.experts || moe.experts == 0) return;
  reader.refuse("top_k", fmt::format("is {}, expected at most the {} experts", moe.top_k, moe.experts));
}

/// Latent attention has no heads of its own width; what needs every size that a file must say comes behind them.
void read_numbers(ConfigReader& reader) {
  Shape& shape = reader.shape();
  for (const auto& field : number_fields()) {
    if (field.name == "kv_heads") reader.refuse_missing();
    if (field.name == "head_dim" && shape.latent.kv_rank > 0) {
      shape.head_dim = std::max<std::int64_t>(1, shape.hidden / std::max<std::int64_t>(1, shape.heads));
      shape.kv_heads = shape.heads;
      continue;
    }
    if (field.name == "head_dim") check_head_split(reader, reader.field_value(field.name));
    if (belongs(field, shape)) reader.read(field);
    if (field.name == "max_position") stretch_positions(reader);
  }
  reader.refuse_missing();
  if (const Amount norms = reader.field_value("norms_per_layer"); !norms.is_absent()) {
    shape.norms_per_layer = static_cast<int>(norms.number);
  }
  if (const Amount head = reader.field_value("classifier"); !head.is_absent()) {
    shape.extra += static_cast<std::int64_t>(head.number);
  }
  if (shape.kv_heads < 1 || shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    reader.refuse("kv_heads", fmt::format("is {}, expected a divisor of the {} heads", shape.kv_heads, shape.heads));
  }
  check_experts(reader);
}

/// Refuses switches of classes that no kind of layer describes: each a condition and its name.
void refuse_what_is_not_described(ConfigReader& reader) {
  const auto& description = reader.family().description();
  const auto refused = description.find("refuses");
  if (refused == description.end()) return;
  for (const auto& [name, condition] : refused->items()) {
    if (!reader.computed(condition, reader.family().at("refuses", name)).is_true()) continue;
    reader.refuse(name, fmt::format("{} of model_type '{}' is not described", name, reader.family().id()));
  }
}

}  // namespace

void read_shape(ConfigReader& reader) {
  refuse_what_is_not_described(reader);
  for (const auto& field : word_fields()) reader.read(field);
  for (const auto& field : switch_fields()) reader.read(field);
  read_numbers(reader);
  for (const auto term : {"norm", "position", "bias"}) reader.by_default(term);
  read_activation(reader);
  read_layers(reader);
}

namespace {

using spec::LatentShape;
using spec::LinearAttentionShape;
using spec::MoeShape;
using spec::StateShape;
using spec::Writing;

constexpr std::int64_t most_layers = 2048;
constexpr std::int64_t most_width = std::int64_t{1} << 17;
constexpr std::int64_t most_ffn = std::int64_t{1} << 20;
constexpr std::int64_t most_heads = std::int64_t{1} << 14;
constexpr std::int64_t most_experts = std::int64_t{1} << 12;
constexpr std::int64_t most_words = std::int64_t{1} << 28;
constexpr std::int64_t most_positions = std::int64_t{1} << 32;

template <auto... members>
auto& part_of(Shape& shape) {
  return (shape.*....*members);
}

/// False where there is no such word.
template <auto... members>
bool set_word(Shape& shape, std::string_view word) {
  auto& member = part_of<members...>(shape);
  const auto* known = spec::find_name<std::remove_reference_t<decltype(member)>>(word);
  if (known != nullptr) member = known->value;
  return known != nullptr;
}

using enum FieldGroup;

constexpr NumberField numbers[] = {
#include "shape/numbers.inc"
};

constexpr SwitchField switches[] = {
#include "shape/switches.inc"
};

constexpr WordField words[] = {
#include "shape/words.inc"
};

/// Read by functions of their own: norms_per_layer is no int64, a classifier is added to what else is extra, the
/// activation and the gate make one word, and positions may be stretched.
constexpr std::array<std::string_view, 5> others = {"norms_per_layer", "activation", "gated", "layer_words",
                                                    "classifier"};

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names(others.begin(), others.end());
  quantity::append(names, quantity::mapped(numbers, &NumberField::name));
  quantity::append(names, quantity::mapped(switches, &SwitchField::name));
  quantity::append(names, quantity::mapped(words, &WordField::name));
  return names;
}

}  // namespace

std::span<const NumberField> number_fields() { return numbers; }
std::span<const SwitchField> switch_fields() { return switches; }
std::span<const WordField> word_fields() { return words; }

const NumberField* number_field(std::string_view name) {
  return quantity::find_or_null(numbers, name, &NumberField::name);
}

const SwitchField* switch_field(std::string_view name) {
  return quantity::find_or_null(switches, name, &SwitchField::name);
}

std::span<const std::string_view> shape_field_names() {
  static const std::vector<std::string_view> names = all_names();
  return names;
}

}  // namespace llmcalc::read
