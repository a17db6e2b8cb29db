// The words of every closed vocabulary (presets/names). The enumerations themselves are declared only, so that what
// translates words does not depend on the values that a question is made of.
#pragma once

#include "spec/named.hpp"

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
enum class Sharding;
enum class Stack;
enum class Step;
enum class TransformerImpl;

template <>
std::span<const Named<formats::Quant>> vocabulary<formats::Quant>();

}  // namespace llmcalc::spec
