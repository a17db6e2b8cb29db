// What can be measured of a run.
#pragma once

namespace llmcalc::spec {

enum class Measure {
  peak_allocated,  ///< torch.cuda.max_memory_allocated
  peak_reserved,   ///< torch.cuda.max_memory_reserved
  nvidia_smi,      ///< what the driver shows for the card
  persistent,      ///< allocated between two steps
  fits,            ///< it ran
  oom,             ///< it ran out of memory
  step_time,
  tokens_per_gpu,
  // Of a server.
  weights,          ///< of one rank
  host_weights,     ///< left in host memory
  activation_peak,  ///< transient peak of the profile run, one rank
  torch_peak,       ///< weights and that peak
  non_torch,        ///< outside the framework's allocator, one rank
  cuda_graphs,      ///< of one rank
  kv_cache,         ///< set aside: of one rank, of llama.cpp on all cards
  kv_bytes_per_token,
  recurrent_state,  ///< of all sequences
  compute_buffer,   ///< llama.cpp's, on one card
  device_total,     ///< in use on the card
  file_size,        ///< of the weight file
  kv_tokens,        ///< positions that fit into the cache
  max_context,
  max_concurrency,
  bits_per_weight,
  ttft,          ///< seconds to the first token
  tpot,          ///< seconds of each later one
  decode_tok_s,  ///< of one request
  prefill_tok_s,
  throughput_tok_s,  ///< of the deployment
};

/// The optimizer step that was watched; the first has no optimizer states before its end.
enum class Step { steady, first };

/// Only whether the run fitted was measured.
constexpr bool is_verdict(Measure measure) { return measure == Measure::fits || measure == Measure::oom; }

/// Only a server has it.
constexpr bool is_of_server(Measure measure) { return measure >= Measure::weights; }

/// How fast a server was.
constexpr bool is_speed_of_server(Measure measure) { return measure >= Measure::ttft; }

/// A number of bytes was measured.
constexpr bool is_memory(Measure measure) {
  return measure <= Measure::persistent || (measure >= Measure::weights && measure <= Measure::file_size);
}

/// A number of seconds was.
constexpr bool is_time(Measure measure) {
  return measure == Measure::step_time || measure == Measure::ttft || measure == Measure::tpot;
}

/// A number of tokens a second was.
constexpr bool is_rate(Measure measure) {
  return measure == Measure::tokens_per_gpu || measure >= Measure::decode_tok_s;
}

}  // namespace llmcalc::spec
