// The words of every closed vocabulary (presets/names). The enumerations themselves are declared only, so that what
// translates words does not depend on the values that a question is made of.
#pragma once

#include "quantity/lists.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::spec {

/// One word of a vocabulary. Several words may stand for one value; the first is the canonical one.
template <class E>
struct Named {
  E value;
  std::string_view name;
};

/// The vocabulary of an enumeration, of which there is one for each that names.hpp declares.
template <class E>
std::span<const Named<E>> vocabulary();

/// The canonical word of a value.
/// \pre the vocabulary names every value
template <class E>
std::string_view name_of(E value) {
  const auto words = vocabulary<E>();
  return std::ranges::find(words, value, &Named<E>::value)->name;
}

/// The value of a word, or nullptr when the vocabulary does not have it.
template <class E>
const Named<E>* find_name(std::string_view name) {
  return quantity::find_or_null(vocabulary<E>(), name, &Named<E>::name);
}

/// All words of a vocabulary, for messages and help.
template <class E>
std::vector<std::string_view> all_names() {
  return quantity::mapped(vocabulary<E>(), &Named<E>::name);
}

}  // namespace llmcalc::spec

namespace llmcalc::formats {
enum class Dtype;
enum class Quant;
}  // namespace llmcalc::formats

namespace llmcalc::spec {

enum class ActivationModel;
enum class Algorithm;
enum class AttentionKernel;
enum class CacheType;
enum class CardSplit;
enum class ContextExchange;
enum class CudaGraph;
enum class Engine;
enum class Fp8Scaling;
enum class KeptResult;
enum class Loss;
enum class Measure;
enum class Method;
enum class Mlp;
enum class Norm;
enum class Offload;
enum class OffloadTarget;
enum class Optimizer;
enum class OptimizerImpl;
enum class Position;
enum class QkNorm;
enum class RecomputeLayers;
enum class RecomputeModule;
enum class RecomputePolicy;
enum class Reference;
enum class SaveCheckpoint;
enum class Schedule;
enum class ServerRole;
enum class Sharding;
enum class Stack;
enum class Step;
enum class TransformerImpl;

template <>
std::span<const Named<formats::Quant>> vocabulary<formats::Quant>();

/// The type that is nearest to a file whose publisher mixes types: q4_k_m of "q4_k_xl"; empty of any other name.
std::optional<formats::Quant> nearest_type(std::string_view mixture);

}  // namespace llmcalc::spec
