#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/config/reader.hpp"
#include "spec/names.hpp"
#include "spec/roles.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace llmcalc::read {
namespace {

/// After `leading` layers, every n-th layer.
struct Period {
  std::int64_t leading = 0;
  std::int64_t every = 1;
};

bool fits(const std::vector<bool>& marked, Period period) {
  if (period.leading < 0 || period.every < 1) return false;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    const auto beyond = static_cast<std::int64_t>(i) - period.leading;
    if (marked[i] != (beyond >= 0 && (beyond + 1) % period.every == 0)) return false;
  }
  return true;
}

/// The period of the marked layers; empty when they have none, or none is marked.
std::optional<Period> period_of(const std::vector<bool>& marked) {
  const auto first = std::ranges::find(marked, true) - marked.begin();
  if (first == std::ssize(marked)) return std::nullopt;
  const auto second = std::find(marked.begin() + first + 1, marked.end(), true) - marked.begin();
  const bool alone = second == std::ssize(marked);
  const std::int64_t every = alone ? first + 1 : second - first;
  const Period period{first + 1 - every, every};
  if (fits(marked, period)) return period;
  const Period last_only{first, 1};
  return alone && fits(marked, last_only) ? std::optional(last_only) : std::nullopt;
}

/// A list of the file that names the kind of each layer has as many words as there are layers, of a decoder behind an
/// encoder its own, or as the file says that it has where some run again, and of those that the family knows. Those
/// that predict may stand behind them (stepfun-ai/Step-3.5-Flash config.json: 45 layers, 48 words).
void check_layer_list(ConfigReader& reader) {
  const auto types = reader.object().texts("layer_types");
  if (!types) return;
  reader.came_from("full_every", types->pointer);
  const auto known = reader.field_value("layer_words");
  const auto refuse = [&](const std::string& problem) { reader.refuse("full_every", problem); };
  const spec::Shape& shape = reader.shape();
  const auto layers = shape.stack == spec::Stack::encoder_decoder ? shape.decoder_layers : shape.layers;
  const auto written = reader.object().number("num_hidden_layers");
  const bool runs_again = reader.family().layer_field("repeated") != nullptr;
  const bool as_written = runs_again && written && written->value == static_cast<double>(types->value.size());
  const auto predicting = reader.object().number("num_nextn_predict_layers");
  const auto more = static_cast<double>(std::ssize(types->value) - layers);
  if (more != 0 && !(predicting && predicting->value == more) && !as_written) {
    refuse(fmt::format("lists {} layers, expected {}", types->value.size(), layers));
  }
  if (known.value == nullptr) return;
  for (const auto& type : types->value) {
    const bool found = std::find(known.value->begin(), known.value->end(), type) != known.value->end();
    if (!found) refuse(fmt::format("holds '{}', expected one of {}", type, known.value->dump()));
  }
}

spec::MixerWord mixer_of(ConfigReader& reader, std::int64_t layer) {
  const Amount amount = reader.layer_value("mixer", layer);
  if (amount.is_absent()) return spec::MixerWord::attention;
  if (const auto* known = spec::find_name<spec::MixerWord>(amount.word)) return known->value;
  throw quantity::BadInput(reader.family().at("layer", "mixer"), fmt::format("'{}' is no mixer", amount.word));
}

std::int64_t whole_of(ConfigReader& reader, const Amount& amount, std::string_view name, std::int64_t layer) {
  constexpr double largest = 1e12;
  if (amount.is_absent()) return 0;
  const bool whole = amount.kind == Amount::Kind::number && amount.number == std::floor(amount.number);
  if (!whole || amount.number < 0 || amount.number > largest) {
    throw quantity::BadInput(reader.document().place(),
                             fmt::format("makes {} of layer {} no whole number", name, layer));
  }
  return static_cast<std::int64_t>(amount.number);
}

std::int64_t size_of(ConfigReader& reader, std::string_view name, std::int64_t layer) {
  return whole_of(reader, reader.layer_value(name, layer), name, layer);
}

spec::Role role_of(const std::string& word) {
  const auto* known = quantity::find_or_null(spec::all_roles(), std::string_view(word), &spec::RoleFacts::word);
  if (known != nullptr) return known->role;
  throw quantity::BadInput("beside", "'" + word + "' is no role", "presets/roles lists them");
}

/// Each matrix as [role, inputs, outputs] or [role, inputs, outputs, bias]; one without inputs or outputs is not there.
std::vector<spec::Projection> matrices_beside(ConfigReader& reader, std::int64_t layer) {
  std::vector<spec::Projection> found;
  const nlohmann::json* described = reader.family().layer_field("beside");
  if (described == nullptr) return found;
  for (const auto& matrix : *described) {
    const auto size = [&](std::size_t i) {
      return whole_of(reader, reader.layer_computed(matrix.at(i), layer), "beside", layer);
    };
    const bool bias = matrix.size() > 3 && reader.layer_computed(matrix.at(3), layer).is_true();
    const spec::Projection one{role_of(matrix.at(0).get<std::string>()), size(1), size(2), bias};
    if (one.inputs > 0 && one.outputs > 0) found.push_back(one);
  }
  return found;
}

struct SizeField {
  std::string_view name;
  std::int64_t spec::LayerPlan::*size;
};
constexpr SizeField size_fields[] = {
#include "shape/layer_sizes.inc"
};

struct MarkField {
  std::string_view name;
  bool spec::LayerPlan::*mark;
};
constexpr MarkField mark_fields[] = {
#include "shape/layer_marks.inc"
};

std::vector<std::string_view> all_layer_fields() {
  std::vector<std::string_view> names{"mixer", "windowed", "experts", "mlp", "beside"};
  quantity::append(names, quantity::mapped(mark_fields, &MarkField::name));
  quantity::append(names, quantity::mapped(size_fields, &SizeField::name));
  return names;
}

}  // namespace

std::span<const std::string_view> layer_field_names() {
  static const std::vector<std::string_view> names = all_layer_fields();
  return names;
}

namespace {

spec::LayerPlan planned(ConfigReader& reader, std::int64_t layer) {
  const spec::Shape& shape = reader.shape();
  const auto is_true = [&](std::string_view name) { return reader.layer_value(name, layer).is_true(); };
  spec::LayerPlan plan;
  plan.mixer = mixer_of(reader, layer);
  plan.windowed = shape.window.window > 0 && (!reader.describes_layers("windowed") || is_true("windowed"));
  plan.experts = shape.moe.experts > 0 && is_true("experts");
  plan.mlp = !reader.describes_layers("mlp") || is_true("mlp");
  for (const auto& [name, mark] : mark_fields) plan.*mark = is_true(name);
  for (const auto& [name, size] : size_fields) plan.*size = size_of(reader, name, layer);
  plan.beside = matrices_beside(reader, layer);
  return plan;
}

template <class Predicate>
std::vector<bool> marked(const std::vector<spec::LayerPlan>& plans, Predicate predicate) {
  std::vector<bool> result;
  for (const auto& plan : plans) result.push_back(predicate(plan));
  return result;
}

bool any(const std::vector<bool>& marks) { return std::ranges::find(marks, true) != marks.end(); }

/// Every n-th of all layers, which is how a shape says which see everything; 0: none.
std::optional<std::int64_t> every_nth(const std::vector<bool>& marks) {
  if (!any(marks)) return 0;
  const auto period = period_of(marks);
  return period && period->leading == 0 ? std::optional(period->every) : std::nullopt;
}

/// Says by periods which layers are windowed, linear and with experts, as presets do; false where that cannot be said.
bool say_by_periods(const std::vector<spec::LayerPlan>& plans, spec::Shape& shape) {
  const auto said = [](const spec::LayerPlan& plan) {
    spec::LayerPlan other = plan;
    other.windowed = other.experts = false;
    if (other.mixer == spec::MixerWord::linear) other.mixer = spec::MixerWord::attention;
    return other == spec::LayerPlan{};
  };
  if (!std::ranges::all_of(plans, said)) return false;
  const auto softmax = marked(plans, [](const auto& plan) { return plan.mixer != spec::MixerWord::linear; });
  const auto full = every_nth(marked(plans, [](const auto& plan) { return !plan.windowed; }));
  const auto attends = every_nth(softmax);
  const auto experts = marked(plans, [](const auto& plan) { return plan.experts; });
  const auto routed = period_of(experts);
  if (!full || !attends || *attends == 0 || (any(experts) && !routed)) return false;
  if (shape.window.window > 0) shape.window.full_every = *full;
  if (*full == 1) shape.window = {};
  if (*attends > 1) shape.linear.full_every = *attends;
  if (!any(experts)) shape.moe = {};
  if (any(experts)) shape.moe.dense_layers = routed->leading;
  if (any(experts)) shape.moe.every = routed->every;
  return true;
}

}  // namespace

void read_layers(ConfigReader& reader) {
  spec::Shape& shape = reader.shape();
  const bool reaches_everything = shape.window.window >= shape.max_position && shape.max_position > 0;
  if (reaches_everything) shape.window.window = 0;
  if (shape.window.window == 0) shape.window = {};
  if (shape.window.window > 0 || reader.describes_layers("mixer")) check_layer_list(reader);
  std::vector<spec::LayerPlan> plans;
  const bool two_stacks = shape.stack == spec::Stack::encoder_decoder;
  const std::int64_t layers = shape.layers + (two_stacks ? shape.decoder_layers : 0);
  for (std::int64_t i = 0; i < layers; ++i) plans.push_back(planned(reader, i));
  if (!say_by_periods(plans, shape)) shape.plan = std::move(plans);
}

}  // namespace llmcalc::read
