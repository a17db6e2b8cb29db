// What a parameter is in its model: everything else about it is looked up by this.
#pragma once

#include <cstdint>

namespace llmcalc::spec {

enum class Role : std::uint8_t {
  vector,  ///< norms, biases, scalars and what convolves: no matrix that anything narrows
  token_table,
  position_table,
  layer_input_table,  ///< embeddings that each layer has for itself
  layer_inputs,       ///< from the hidden state to those
  layer_input_gate,
  layer_input_out,
  head,  ///< from hidden state to vocabulary
  query,
  query_up,  ///< from the queries' latent
  query_down,
  key,
  value,
  fused_heads,  ///< queries, keys and values in one
  key_value_down,
  key_value_up,
  attention_out,
  attention_out_down,  ///< of outputs in groups, to a latent
  attention_gate,
  attention_position,     ///< what heads make of positions
  attention_convolution,  ///< what makes or feeds kernels that convolve beside heads
  key_compressor,         ///< several positions to one key
  attention_low_rank,     ///< added beside weights that layers share
  index_query,
  index_key,
  index_weight,
  delta_fused,  ///< queries, keys, values and gate of a delta rule in one
  delta_beta_decay,
  delta_heads,  ///< its queries, keys and values in one
  delta_gate,
  delta_beta,
  delta_decay,
  delta_out,
  state_in,
  state_out,
  state_parameters,  ///< time steps, B and C of a scan
  state_steps,
  state_head_parameters,  ///< a slice a head, which no linear layer multiplies by
  state_head_steps,
  recurrent_x,
  recurrent_y,
  recurrent_gates,  ///< a square a head, which no linear layer multiplies by
  lightning_heads,
  lightning_gate,
  receptance,
  memory_output_gate,
  memory_gates,  ///< input and forget gates of each head
  gate,
  gate_up,
  up,
  down,
  mlp_low_rank,  ///< added beside weights that layers share
  experts_in,    ///< to the width that experts read
  experts_out,
  router,
  shared_expert_gate,
  stream_router,
  stream_predictions,
  stream_corrections,
  stream_mix,  ///< how several residual streams become one and are written again
  residual_low_rank,
  behind_layer,   ///< what a layer has of its own behind layers that it shares
  layer_change,   ///< a square or bottleneck on the hidden state within a layer
  embedding_in,   ///< from the tables' width to the layers'
  embedding_out,  ///< and back before the head
  remainder,      ///< what an assumed shape lacks of its stated size
  pooler,
  head_transform,
  score,  ///< of a reward or value model
  patches,
  projector,  ///< from a tower to the text model
};

}  // namespace llmcalc::spec
