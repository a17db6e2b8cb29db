#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/config/reader.hpp"
#include "read/config/steps.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace llmcalc::read {
namespace {

using spec::Mlp;

/// An activation by the names of transformers activations.py, as a plain MLP and as one with a gate.
struct Activation {
  std::string_view name;
  std::optional<Mlp> plain;
  std::optional<Mlp> gated;
};

constexpr std::array activations = {
    Activation{"silu", std::nullopt, Mlp::swiglu},      Activation{"swish", std::nullopt, Mlp::swiglu},
    Activation{"swigluoai", std::nullopt, Mlp::swiglu}, Activation{"gelu", Mlp::gelu, Mlp::geglu},
    Activation{"gelu_new", Mlp::gelu, Mlp::geglu},      Activation{"gelu_fast", Mlp::gelu, Mlp::geglu},
    Activation{"gelu_python", Mlp::gelu, Mlp::geglu},   Activation{"gelu_pytorch_tanh", Mlp::gelu, Mlp::geglu},
    Activation{"quick_gelu", Mlp::gelu, Mlp::geglu},    Activation{"gegelu", std::nullopt, Mlp::geglu},
    Activation{"relu", Mlp::relu, Mlp::reglu},          Activation{"relu2", Mlp::squared_relu, std::nullopt},
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

}  // namespace llmcalc::read
