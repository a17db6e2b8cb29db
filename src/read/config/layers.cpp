#include "read/config/layers.hpp"

#include "read/config/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

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

/// A list of the file that names the kind of each layer has as many words as there are layers, and of those that the
/// family knows.
void check_layer_list(ConfigReader& reader) {
  constexpr std::array<std::string_view, 1> key = {"layer_types"};
  const auto types = reader.text_model().texts(key);
  if (!types) return;
  reader.came_from("full_every", types->pointer);
  const auto words = reader.field_value("layer_words");
  const auto layers = reader.shape().layers;
  if (std::ssize(types->value) != layers) {
    reader.refuse("full_every", fmt::format("lists {} layers, expected {}", types->value.size(), layers));
  }
  for (const auto& type : types->value) {
    if (words.value == nullptr || std::find(words.value->begin(), words.value->end(), type) != words.value->end()) continue;
    reader.refuse("full_every", fmt::format("holds '{}', expected one of {}", type, words.value->dump()));
  }
}

std::vector<bool> marked_layers(ConfigReader& reader, std::string_view what) {
  std::vector<bool> marked;
  for (std::int64_t i = 0; i < reader.shape().layers; ++i) marked.push_back(reader.layer_value(what, i).is_true());
  return marked;
}

}  // namespace

void read_windows(ConfigReader& reader) {
  spec::Shape& shape = reader.shape();
  const bool reaches_everything = shape.window.window >= shape.max_position && shape.max_position > 0;
  if (shape.window.window == 0 || reaches_everything) {
    shape.window = {};
    return;
  }
  if (!reader.describes_layers("windowed")) return;
  check_layer_list(reader);
  auto sees_all = marked_layers(reader, "windowed");
  sees_all.flip();
  if (std::ranges::find(sees_all, true) == sees_all.end()) return;
  const auto period = period_of(sees_all);
  if (!period || period->leading != 0) {
    reader.refuse("full_every", "mixes windowed and full attention without a period, which is not supported");
  }
  shape.window.full_every = period->every;
  if (period->every == 1) shape.window = {};
}

void read_expert_layers(ConfigReader& reader) {
  if (!reader.describes_layers("experts")) return;
  const auto period = period_of(marked_layers(reader, "experts"));
  if (!period) reader.refuse("dense_layers", "leaves no layer with experts, or places them without a period");
  reader.shape().moe.dense_layers = period->leading;
  reader.shape().moe.every = period->every;
}

void read_linear_layers(ConfigReader& reader) {
  if (!reader.describes_layers("linear")) return;
  check_layer_list(reader);
  auto full = marked_layers(reader, "linear");
  full.flip();
  const auto period = period_of(full);
  if (!period || period->leading != 0) {
    reader.refuse("full_every", "mixes linear and full attention without a period, which is not supported");
  }
  reader.shape().linear.full_every = period->every;
}

}  // namespace llmcalc::read
