// The simplest walks: parameters and FLOPs are sums over the program.
#pragma once

#include "program/program.hpp"

namespace llmcalc::program {

/// Parameters of the whole model, tied tables once.
struct Size {
  std::int64_t total = 0;
  std::int64_t active = 0;  ///< a token passes through: of the experts, top_k
  std::int64_t trainable = 0;
  std::int64_t tables = 0;  ///< token, position and type tables and an untied head
};

Size count_parameters(const Program& program);

/// Recompute runs the operation's forward pass a second time.
bool runs_again(const layers::Block& block, const layers::Op& op);

/// FLOPs of one micro-batch on this rank, one multiply-add counting as two.
struct Work {
  quantity::Flops forward;
  quantity::Flops backward;          ///< gradients of activations and of trained weights
  quantity::Flops recompute;         ///< forward work repeated because of the recompute policy
  quantity::Flops kernel_recompute;  ///< repeated inside fused attention kernels
  quantity::Flops beside;            ///< forward passes of frozen models and of generation
  quantity::Flops masked;            ///< forward work that masks save; three times that with the backward pass

  quantity::Flops model() const { return forward + backward; }
  quantity::Flops hardware() const { return model() + recompute + kernel_recompute + beside; }
  /// Attention counted as a full square, as papers before 2024 do (Narayanan et al. 2021, Chowdhery et al. 2022 app.
  /// B).
  quantity::Flops full_square() const { return model() + 3.0 * masked; }
};

Work count_work(const Program& program);

}  // namespace llmcalc::program
