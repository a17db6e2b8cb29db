// What every block builder knows of the run: local sizes and choices, computed once a program.
#pragma once

#include "frameworks/profile.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/roles.hpp"

#include <cstdint>

namespace llmcalc::layers {

struct Context {
  const spec::Model& model;
  const spec::Training& training;
  frameworks::Profile profile;

  std::int64_t batch;           ///< samples in a micro-batch
  std::int64_t prompt;          ///< learned positions in front of each sample (prompt tuning)
  std::int64_t prefix;          ///< learned keys and values in front of each sample's own (prefix tuning)
  std::int64_t seq;             ///< positions of a sample on this rank
  std::int64_t attended;        ///< positions that a query may see: the whole sample, wherever its parts are
  bool pads;                    ///< samples of a micro-batch are of several lengths
  std::int64_t tokens;          ///< batch * seq
  std::int64_t width;           ///< bytes of an activation element
  std::int64_t product_width;   ///< ... of what matrix products read and write; quantized ones may narrow it themselves
  bool lacks_flash;             ///< PyTorch has no FlashAttention for heads in 32 bits and accelerators before Ampere
  std::int64_t tp;              ///< ranks over which matrices are cut
  std::int64_t sp;              ///< ranks over which the positions between cut matrices are spread: tp or 1
  std::int64_t cp;              ///< ranks over which the positions of a sample are spread
  bool spreads_heads;           ///< in attention those ranks have all positions of some heads instead
  std::int64_t ep;              ///< ranks over which experts are spread
  bool node_dispatch;           ///< of a token's copies for several experts one is sent to a node
  std::int64_t etp;             ///< ranks over which one expert's matrices are cut
  std::int64_t stages;          ///< pipeline ranks
  bool shares_table;            ///< the output head is the token table
  bool autocast;                ///< weights rest in fp32, products run in 16 bits
  bool differentiates;          ///< a backward pass follows
  bool selects_operations;      ///< recompute spares attention and every second matrix product
  bool trains_base;             ///< the model's own weights receive gradients
  formats::Dtype matrix_type;   ///< in which the matrices of the layers rest
  formats::Dtype expert_type;   ///< in which those of experts rest
  formats::Dtype other_type;    ///< in which norms, biases, tables, router and head rest
  bool narrow_products;         ///< of 8- and 4-bit floats
  bool dequantizes;             ///< each product makes a 16-bit copy of its matrix first
  std::int64_t adapter_rank;    ///< 0: no adapters
  formats::Dtype adapter_type;  ///< in which adapters rest

  spec::RoleSet adapted;             ///< which of its matrices a module with adapters stands for
  spec::RoleSet converted;           ///< and which parameters in the place of such modules
  spec::RoleSet adapted_parameters;  ///< and which parameters as such
  spec::RoleSet saved;               ///< modules that are trained whole

  Context(const spec::Question& question, const frameworks::Profile& chosen);

  bool adapts(spec::Role role) const { return adapted[static_cast<std::size_t>(role)]; }
  /// A layer that runs again keeps the result.
  bool keeps(spec::KeptResult result) const;
  bool saves(spec::Role role) const { return saved[static_cast<std::size_t>(role)]; }
  std::int64_t rank_of(spec::Role role) const;
  /// Context of a layer that carries no adapters.
  Context without_adapters() const;
  /// Context of an encoder's layer: of positions of its own where it reads always as many.
  Context of_encoder() const;
  std::int64_t encoder_tokens() const { return shape().encoder_positions > 0 ? of_encoder().tokens : tokens; }
  const spec::Shape& shape() const { return model.shape; }
  std::int64_t row_copies() const { return node_dispatch ? model.shape.moe.top_k : 1; }
  double dropout() const { return model.shape.dropout; }
  /// Layers run as the family's class in transformers is written, and it is written so.
  bool writes(bool spec::Writing::*way) const { return profile.kernels.transformers_modules && shape().writing.*way; }
};

}  // namespace llmcalc::layers
