// What several words of a vocabulary have in common, for rules that ask for a kind of word and not for one.
#pragma once

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/model.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/training.hpp"

namespace llmcalc::spec {

/// Whether the checkpoint holds towers, of which the shape may be the text model alone.
inline bool sees(const Question& question) {
  return !question.model.shape.towers.empty() || question.serving.beside_text != nullptr;
}

/// Kinds of layers are counted in the order in which layers first have them, an encoder's first.
inline bool is_of_encoder(const Model& model, std::size_t kind) {
  return model.encoder_layers > 0 && kind < model.layers[static_cast<std::size_t>(model.encoder_layers)];
}

/// States spread over the data-parallel ranks, as a stage of ZeRO (Rajbhandari et al. 2020, arXiv:1910.02054 section
/// 5): 0 nothing, 1 optimizer states, 2 gradients as well, 3 weights as well. FSDP spreads what stage 3 does.
constexpr int zero_stage(Sharding sharding) {
  switch (sharding) {
    case Sharding::none:
    case Sharding::ddp: return 0;
    case Sharding::zero1: return 1;
    case Sharding::zero2: return 2;
    case Sharding::zero3:
    case Sharding::fsdp1:
    case Sharding::fsdp2:
    case Sharding::hsdp: return 3;
  }
  return 0;
}

/// Gathers the weights of a layer at a time from flat shards (torch FSDP).
constexpr bool is_fsdp(Sharding sharding) {
  return sharding == Sharding::fsdp1 || sharding == Sharding::fsdp2 || sharding == Sharding::hsdp;
}

constexpr bool offloads_weights(Offload offload) {
  return offload == Offload::params || offload == Offload::params_optimizer;
}

constexpr bool offloads_optimizer(Offload offload) {
  return offload == Offload::optimizer || offload == Offload::optimizer_gradients ||
         offload == Offload::params_optimizer;
}

/// States are in CUDA managed memory, which the driver moves to the host (bitsandbytes optim/optimizer.py,
/// get_state_buffer).
constexpr bool is_paged(Optimizer optimizer) {
  return optimizer == Optimizer::paged_adamw || optimizer == Optimizer::paged_adamw_8bit;
}

/// The update happens as soon as a gradient exists: nothing accumulates.
constexpr bool updates_in_backward(Optimizer optimizer) {
  return optimizer == Optimizer::lomo || optimizer == Optimizer::adalomo;
}

/// Gradients of several micro-batches add up before an update.
constexpr bool accumulates(const Training& training) {
  return !updates_in_backward(training.optimizer) && !training.optimizer_in_backward;
}

/// LoRA and its kin: two thin matrices beside a frozen one.
constexpr bool has_low_rank(Method method) {
  return method == Method::lora || method == Method::qlora || method == Method::dora || method == Method::adalora;
}

/// Adapters of which the frozen matrix is bitsandbytes' in few bits: QLoRA's, and DoRA's over such weights.
inline bool rests_quantized(Method method, formats::Dtype weights) {
  return method == Method::qlora || (method == Method::dora && formats::is_quantized(weights));
}
inline bool rests_quantized(const Training& training) {
  return rests_quantized(training.method, training.precision.weights);
}

/// The head multiplies by the table of tokens: what predicts none has no head that could.
inline bool shares_table(const Shape& shape) { return shape.tied && !shape.headless; }

constexpr bool has_backward_pass(Method method) {
  return method != Method::inference && method != Method::forward_only;
}

/// A model beside the one that is served, which proposes tokens to it.
struct DraftModel {
  Model model;
  formats::Quant quant = formats::Quant::bf16;  ///< of its weights
};

}  // namespace llmcalc::spec
