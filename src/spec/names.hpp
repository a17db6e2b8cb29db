// The words of every closed vocabulary: those of the measured-run schema and of the command line. The enumerations
// themselves are declared only, so that what translates words does not depend on the values that a question is made of.
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
std::span<const Named<formats::Dtype>> vocabulary<formats::Dtype>();
template <>
std::span<const Named<Stack>> vocabulary<Stack>();
template <>
std::span<const Named<Mlp>> vocabulary<Mlp>();
template <>
std::span<const Named<Norm>> vocabulary<Norm>();
template <>
std::span<const Named<Position>> vocabulary<Position>();
template <>
std::span<const Named<QkNorm>> vocabulary<QkNorm>();
template <>
std::span<const Named<Method>> vocabulary<Method>();
template <>
std::span<const Named<Algorithm>> vocabulary<Algorithm>();
template <>
std::span<const Named<Reference>> vocabulary<Reference>();
template <>
std::span<const Named<Optimizer>> vocabulary<Optimizer>();
template <>
std::span<const Named<OptimizerImpl>> vocabulary<OptimizerImpl>();
template <>
std::span<const Named<RecomputePolicy>> vocabulary<RecomputePolicy>();
template <>
std::span<const Named<RecomputeLayers>> vocabulary<RecomputeLayers>();
template <>
std::span<const Named<RecomputeModule>> vocabulary<RecomputeModule>();
template <>
std::span<const Named<AttentionKernel>> vocabulary<AttentionKernel>();
template <>
std::span<const Named<TransformerImpl>> vocabulary<TransformerImpl>();
template <>
std::span<const Named<Loss>> vocabulary<Loss>();
template <>
std::span<const Named<Offload>> vocabulary<Offload>();
template <>
std::span<const Named<CudaGraph>> vocabulary<CudaGraph>();
template <>
std::span<const Named<Fp8Scaling>> vocabulary<Fp8Scaling>();
template <>
std::span<const Named<OffloadTarget>> vocabulary<OffloadTarget>();
template <>
std::span<const Named<SaveCheckpoint>> vocabulary<SaveCheckpoint>();
template <>
std::span<const Named<ActivationModel>> vocabulary<ActivationModel>();
template <>
std::span<const Named<Sharding>> vocabulary<Sharding>();
template <>
std::span<const Named<Schedule>> vocabulary<Schedule>();
template <>
std::span<const Named<ContextExchange>> vocabulary<ContextExchange>();
template <>
std::span<const Named<Engine>> vocabulary<Engine>();
template <>
std::span<const Named<CacheType>> vocabulary<CacheType>();
template <>
std::span<const Named<CardSplit>> vocabulary<CardSplit>();
template <>
std::span<const Named<formats::Quant>> vocabulary<formats::Quant>();
template <>
std::span<const Named<Measure>> vocabulary<Measure>();
template <>
std::span<const Named<Step>> vocabulary<Step>();

}  // namespace llmcalc::spec
