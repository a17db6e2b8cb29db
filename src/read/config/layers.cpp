#include "read/config/layers.hpp"

#include "read/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::read {
namespace {

/// The words of layer_types (transformers configuration_utils.py, ALLOWED_LAYER_TYPES); the first sees everything.
constexpr std::array<std::string_view, 4> layer_words = {"full_attention", "sliding_attention", "chunked_attention",
                                                         "linear_attention"};

bool fits(const std::vector<bool>& marked, Period period) {
  if (period.leading < 0 || period.every < 1) return false;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    const auto beyond = static_cast<std::int64_t>(i) - period.leading;
    if (marked[i] != (beyond >= 0 && (beyond + 1) % period.every == 0)) return false;
  }
  return true;
}

/// The layers that layer_types calls full attention; empty when the file does not list its layers.
std::optional<std::vector<bool>> listed_full_layers(ConfigReader& reader, const spec::Shape& shape) {
  auto types = reader.text_model().texts(keys::layer_types);
  if (!types) return std::nullopt;
  reader.came_from("full_every", types->pointer);
  if (std::ssize(types->value) != shape.layers) {
    reader.refuse("full_every", fmt::format("lists {} layers, expected {}", types->value.size(), shape.layers));
  }
  std::vector<bool> full;
  for (const auto& type : types->value) {
    if (std::ranges::find(layer_words, type) == layer_words.end()) {
      reader.refuse("full_every", fmt::format("holds '{}', expected one of {}", type, fmt::join(layer_words, ", ")));
    }
    full.push_back(type == layer_words.front());
  }
  return full;
}

/// Qwen2's windows begin after max_window_layers layers that see everything.
bool begins_late(ConfigReader& reader, const spec::Shape& shape) {
  const auto first = reader.text_model().integer(keys::max_window_layers, {0, concepts::most_layers});
  if (!first || first->value == 0) return false;
  if (first->value < shape.layers) {
    reader.note(fmt::format("only layers from {} on are windowed; all are counted as seeing everything", first->value));
  }
  return true;
}

/// Marks the mixture-of-experts layers as transformers does for every family that mixes them with dense ones.
std::vector<bool> expert_layers(ConfigReader& reader, const spec::Shape& shape) {
  const Range stride{1, concepts::most_layers};
  const std::int64_t dense = reader.value_or(concepts::dense_layers, 0);
  const auto from_zero = reader.text_model().integer(keys::moe_every_from_zero, stride);
  const auto from_one = reader.text_model().integer(keys::moe_every, stride);
  const auto listed = reader.text_model().integers(keys::dense_list, {0, concepts::most_layers});
  std::vector<bool> moe;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    moe.push_back(i >= dense && (!from_zero || i % from_zero->value == 0) &&
                  (!from_one || (i + 1) % from_one->value == 0) &&
                  (!listed || std::ranges::find(listed->value, i) == listed->value.end()));
  }
  return moe;
}

}  // namespace

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

void set_window_layers(ConfigReader& reader, spec::Shape& shape, const std::vector<bool>& sees_all) {
  const auto period = period_of(sees_all);
  const bool any = std::ranges::find(sees_all, true) != sees_all.end();
  if (any && (!period || period->leading != 0)) {
    reader.refuse("full_every", "mixes windowed and full attention without a period, which is not supported");
  }
  if (any && period->every == 1) {
    shape.window = {};
  } else {
    shape.window.full_every = any ? period->every : 0;
  }
}

void read_windows(ConfigReader& reader, spec::Shape& shape) {
  const Windows& windows = reader.family().windows;
  if (!windows.possible || !reader.flag(windows.switched_on)) return;
  // A key that is there and null means no window; one that is left out means the family's.
  const bool switched_off = reader.text_model().null_at(concepts::window.keys).has_value();
  const std::int64_t width = reader.value_or(concepts::window, switched_off ? 0 : windows.width);
  const bool reaches_everything = width >= shape.max_position && shape.max_position > 0;
  if (width == 0 || reaches_everything || begins_late(reader, shape)) return;
  shape.window.window = width;
  if (const auto full = listed_full_layers(reader, shape)) {
    set_window_layers(reader, shape, *full);
  } else {
    shape.window.full_every = reader.value_or(concepts::full_every, windows.full_every);
  }
}

void read_expert_layers(ConfigReader& reader, spec::Shape& shape) {
  const auto period = period_of(expert_layers(reader, shape));
  if (!period) {
    reader.refuse("dense_layers", "leaves no layer with experts, or places them without a period");
  }
  shape.moe.dense_layers = period->leading;
  shape.moe.every = period->every;
}

void read_linear_layers(ConfigReader& reader, spec::Shape& shape) {
  constexpr std::int64_t qwen3_next_default = 4;
  if (const auto full = listed_full_layers(reader, shape)) {
    const auto period = period_of(*full);
    if (!period || period->leading != 0) {
      reader.refuse("full_every", "mixes linear and full attention without a period, which is not supported");
    }
    shape.linear.full_every = period->every;
  } else {
    shape.linear.full_every = reader.value_or(concepts::full_every, qwen3_next_default);
  }
}

}  // namespace llmcalc::read
