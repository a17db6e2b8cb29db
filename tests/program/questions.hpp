// Questions for tests, written as the worked examples state them.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "program/build.hpp"

#include <cstdint>

namespace llmcalc::test {

/// A GPT-3-like decoder: MHA, GELU of width 4h, learned positions, biases, LayerNorm, tied, dropout 0.1.
inline spec::Shape gpt_shape(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t vocab,
                             std::int64_t positions) {
  spec::Shape s;
  s.layers = layers;
  s.hidden = hidden;
  s.heads = s.kv_heads = heads;
  s.head_dim = hidden / heads;
  s.ffn = 4 * hidden;
  s.vocab = vocab;
  s.max_position = positions;
  s.mlp = spec::Mlp::gelu;
  s.norm = spec::Norm::layernorm;
  s.position = spec::Position::learned;
  s.qkv_bias = s.out_bias = s.mlp_bias = true;
  s.tied = true;
  s.dropout = 0.1;
  return s;
}

/// Llama 2 7B (Touvron et al. 2023): MHA, SwiGLU, RMSNorm, untied.
inline spec::Shape llama2_7b_shape() {
  spec::Shape s;
  s.layers = 32;
  s.hidden = 4096;
  s.heads = s.kv_heads = 32;
  s.head_dim = 128;
  s.ffn = 11008;
  s.vocab = 32000;
  s.max_position = 4096;
  return s;
}

inline spec::Question ask(spec::Shape shape, std::int64_t seq, std::int64_t batch) {
  spec::Question q;
  q.model = spec::build_model(std::move(shape));
  q.training.seq = seq;
  q.training.micro_batch = batch;
  q.training.global_batch = batch;
  return q;
}

inline program::Program program_of(const spec::Question& q) {
  return program::build_program(q, frameworks::make_profile(q.training, q.gpu));
}

}  // namespace llmcalc::test
