// Where two shapes differ, in words: what a failing test prints.
#pragma once

#include "llmcalc/spec/shape.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc {

/// Every structural field of a shape as a number; the name and the run's dropout are not structure.
inline std::vector<std::pair<std::string_view, std::int64_t>> structure_of(const spec::Shape& s) {
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  return {{"stack", number(s.stack)},
          {"layers", s.layers},
          {"decoder_layers", s.decoder_layers},
          {"hidden", s.hidden},
          {"heads", s.heads},
          {"kv_heads", s.kv_heads},
          {"head_dim", s.head_dim},
          {"ffn", s.ffn},
          {"vocab", s.vocab},
          {"max_position", s.max_position},
          {"mlp", number(s.mlp)},
          {"norm", number(s.norm)},
          {"position", number(s.position)},
          {"norms_per_layer", s.norms_per_layer},
          {"final_norm", s.final_norm},
          {"qkv_bias", s.qkv_bias},
          {"out_bias", s.out_bias},
          {"mlp_bias", s.mlp_bias},
          {"head_bias", s.head_bias},
          {"tied", s.tied},
          {"parallel_residual", s.parallel_residual},
          {"qk_norm", number(s.qk_norm)},
          {"output_gate", s.output_gate},
          {"attention_sinks", s.attention_sinks},
          {"xl_projection", s.xl_projection},
          {"window.window", s.window.window},
          {"window.full_every", s.window.full_every},
          {"window.chunked", s.window.chunked},
          {"latent.q_rank", s.latent.q_rank},
          {"latent.kv_rank", s.latent.kv_rank},
          {"latent.qk_nope_dim", s.latent.qk_nope_dim},
          {"latent.qk_rope_dim", s.latent.qk_rope_dim},
          {"latent.v_dim", s.latent.v_dim},
          {"linear.full_every", s.linear.full_every},
          {"linear.key_heads", s.linear.key_heads},
          {"linear.value_heads", s.linear.value_heads},
          {"linear.key_dim", s.linear.key_dim},
          {"linear.value_dim", s.linear.value_dim},
          {"linear.conv_kernel", s.linear.conv_kernel},
          {"moe.experts", s.moe.experts},
          {"moe.top_k", s.moe.top_k},
          {"moe.expert_ffn", s.moe.expert_ffn},
          {"moe.shared_ffn", s.moe.shared_ffn},
          {"moe.dense_layers", s.moe.dense_layers},
          {"moe.every", s.moe.every},
          {"moe.router_bias", s.moe.router_bias},
          {"moe.expert_bias", s.moe.expert_bias},
          {"moe.correction_bias", s.moe.correction_bias},
          {"moe.shared_gate", s.moe.shared_gate},
          {"position_rows", s.position_rows},
          {"relative_buckets", s.relative_buckets},
          {"token_types", s.token_types},
          {"embedding_width", s.embedding_width},
          {"embedding_norm", s.embedding_norm},
          {"pooler", s.pooler}};
}

/// "heads 32 != 64; tied 0 != 1; ", empty when the structures are equal.
inline std::string difference(const spec::Shape& a, const spec::Shape& b) {
  const auto left = structure_of(a);
  const auto right = structure_of(b);
  std::string text;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].second == right[i].second) continue;
    text += std::string(left[i].first) + " " + std::to_string(left[i].second) +
            " != " + std::to_string(right[i].second) + "; ";
  }
  return text;
}

}  // namespace llmcalc
