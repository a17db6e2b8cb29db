#include "read/config/fields.hpp"

#include "quantity/lists.hpp"
#include "spec/names.hpp"

#include <array>
#include <vector>

namespace llmcalc::read {
namespace {

using spec::LatentShape;
using spec::LinearAttentionShape;
using spec::MoeShape;
using spec::Shape;
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

/// spec::NormForm in descriptions.
constexpr spec::Named<spec::NormForm> norm_forms[] = {
    {spec::NormForm::plain, "plain"},           {spec::NormForm::offset, "offset"},
    {spec::NormForm::widened, "widened"},       {spec::NormForm::chained, "chained"},
    {spec::NormForm::unweighted, "unweighted"}, {spec::NormForm::narrow_product, "narrow-product"},
};

constexpr spec::Named<spec::StateForm> state_forms[] = {
    {spec::StateForm::selective_scan, "selective-scan"},
    {spec::StateForm::duality, "duality"},
    {spec::StateForm::gated_recurrence, "gated-recurrence"},
    {spec::StateForm::short_convolution, "short-convolution"},
    {spec::StateForm::wkv, "wkv"},
    {spec::StateForm::matrix_memory, "matrix-memory"},
    {spec::StateForm::lightning, "lightning"},
};

constexpr spec::Named<spec::DeltaProjections> delta_projections[] = {
    {spec::DeltaProjections::joined, "joined"},
    {spec::DeltaProjections::parts, "parts"},
    {spec::DeltaProjections::apart, "apart"},
};

/// Sets the member to the value of the word; false if there is no such word.
template <class E>
bool set(E& member, const spec::Named<E>* known) {
  if (known != nullptr) member = known->value;
  return known != nullptr;
}

template <class E>
bool set(E& member, std::span<const spec::Named<E>> names, std::string_view word) {
  return set(member, quantity::find_or_null(names, word, &spec::Named<E>::name));
}

bool set_form(Shape& shape, std::string_view word) { return set<spec::NormForm>(shape.writing.norm, norm_forms, word); }

bool set_state_form(Shape& shape, std::string_view word) {
  return set<spec::StateForm>(shape.state.form, state_forms, word);
}

bool set_projections(Shape& shape, std::string_view word) {
  return set<spec::DeltaProjections>(shape.writing.projections, delta_projections, word);
}

template <auto member>
bool set_word(Shape& shape, std::string_view word) {
  return set(shape.*member, spec::find_name<std::remove_reference_t<decltype(shape.*member)>>(word));
}

using enum FieldGroup;

constexpr NumberField numbers[] = {
#include "shape/numbers.inc"
};

constexpr SwitchField switches[] = {
#include "shape/switches.inc"
};

constexpr WordField words[] = {
    {"stack", set_word<&Shape::stack>},      {"norm", set_word<&Shape::norm>}, {"position", set_word<&Shape::position>},
    {"qk_norm", set_word<&Shape::qk_norm>},  {"writes_norm", set_form},        {"state_form", set_state_form},
    {"writes_projections", set_projections},
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
