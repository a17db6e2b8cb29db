#include "frameworks/inner/profiles.hpp"
#include "frameworks/release.hpp"

namespace llmcalc::frameworks {

/// The textbook keeps what Korthikanti et al. 2022 count: no statistics, no scratch, one gradient buffer.
Profile textbook_profile(const Run&) {
  Profile p;
  p.norm.keeps_statistics = false;
  p.attention.keeps_log_sum_exp = false;
  p.kernels.have_workspace = false;
  p.attention.library = AttentionLibrary::native;
  return p;
}

/// XLA drops what nothing reads, of a layer that runs again its end (jax/_src/ad_checkpoint.py, remat_dce).
Profile maxtext_profile(const Run& run) {
  Profile p = textbook_profile(run);
  p.kernels.stops_recompute = true;
  return p;
}

/// Praxis writes attention as two einsums and a softmax (praxis/layers/attentions.py, DotProductAttention), unless
/// Transformer Engine takes its place, whose fused kernels took 512 positions and heads of 64 at most in 2023
/// (transformer_engine/jax/flax/transformer.py, fused_attn_supported_seqlen). Layers run in a loop (praxis
/// layers/repeats.py), and XLA's scheduler hides latency within its body alone: nothing moves exchanges across
/// iterations unless collectives are pipelined, which Pax's flags do not ask for (JAX-Toolbox
/// rosetta/projects/pax/xla_flags/gpt-5b.env).
Profile pax_profile(const Run& run) {
  Profile p = maxtext_profile(run);
  const bool takes_long = holds(Behaviour::pax_long_attention, run.training.software);
  p.attention.writes_out_scores = !run.training.fused_kernels || !takes_long;
  p.exchange.overlaps_within_layer = true;
  return p;
}

}  // namespace llmcalc::frameworks
