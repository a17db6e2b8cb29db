#include "render/inner/model_layers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

using spec::LayerPlan;
using spec::MixerWord;

template <class Predicate>
std::ptrdiff_t layers_that(const spec::Shape& shape, Predicate holds) {
  return std::ranges::count_if(shape.plan, holds);
}

std::string_view word_of(MixerWord mixer) {
  switch (mixer) {
    case MixerWord::attention: return "softmax attention";
    case MixerWord::linear: return "linear attention";
    case MixerWord::state_space: return "state space";
    case MixerWord::attention_and_state: return "attention beside state space";
    case MixerWord::none: return "no mixer";
  }
  return "";
}

}  // namespace

std::string windows_text(const spec::Shape& shape) {
  const spec::WindowPattern& pattern = shape.window;
  if (pattern.window == 0) return {};
  if (!shape.plan.empty()) {
    const auto windowed = layers_that(shape, [](const LayerPlan& layer) { return layer.windowed; });
    return fmt::format("{} in {} of {} layers", pattern.window, windowed, shape.plan.size());
  }
  if (pattern.full_every == 0) return fmt::format("{} in every layer", pattern.window);
  return fmt::format("{}, but every {}. layer sees everything", pattern.window, pattern.full_every);
}

std::string mixers_text(const spec::Shape& shape) {
  std::string text;
  for (const auto mixer : {MixerWord::attention, MixerWord::linear, MixerWord::state_space,
                           MixerWord::attention_and_state, MixerWord::none}) {
    const auto layers = layers_that(shape, [mixer](const LayerPlan& layer) { return layer.mixer == mixer; });
    if (layers > 0) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", layers, word_of(mixer));
  }
  return text;
}

std::string borrowed_text(const spec::Shape& shape) {
  const auto borrowing = layers_that(shape, [](const LayerPlan& layer) { return layer.borrows_keys; });
  return borrowing == 0 ? std::string() : fmt::format("keys and values of earlier layers in {} layers", borrowing);
}

std::string towers_text(const spec::Shape& shape) {
  std::string text;
  for (const auto& tower : shape.towers) {
    text += fmt::format("{}{}: {} layers, {} wide", text.empty() ? "" : "; ", tower.name, tower.layers.layers,
                        tower.layers.hidden);
  }
  return text;
}

}  // namespace llmcalc::render
