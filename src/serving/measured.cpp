#include "serving/answer.hpp"

#include <initializer_list>

namespace llmcalc::serving {

using quantity::Bytes;
using spec::Measure;

namespace {

double number(Bytes size) { return static_cast<double>(quantity::in_bytes(size)); }

/// The lines of the ledger whose names begin so.
Bytes held(const RankMemory& memory, std::initializer_list<std::string_view> names) {
  auto sum = quantity::bytes(0);
  for (const MemoryLine& holding : memory.holdings) {
    for (const std::string_view name : names) {
      if (holding.id.starts_with(name)) sum += holding.size;
    }
  }
  return sum;
}

/// Cache that paged engines set aside on a rank, or that the sequences of the context take on all cards; llama.cpp logs
/// the states of recurrent layers apart (src/llama-memory-recurrent.cpp, "RS buffer size").
double cache_size(const ServingAnswer& answer) {
  const EngineRow& row = row_of(answer.deployment.question.serving.engine);
  if (reserves(answer.deployment)) return number(answer.memory.pool);
  auto sum = quantity::bytes(0);
  for (std::size_t rank = 0; rank < rank_count(answer.deployment); ++rank) {
    sum += row.memory(answer.deployment, rank, {answer.deployment.setup.context, 1}).needed;
  }
  return number(spec::reads_gguf(answer.deployment.question.serving.engine) ? sum - answer.state : sum);
}

std::optional<double> size_of(const ServingAnswer& answer, Measure measure, Scope scope) {
  const RankMemory& memory = answer.memory;
  switch (measure) {
    case Measure::weights: return number(held(memory, {"weights", "rotary"}));
    case Measure::host_weights: return number(memory.host);
    case Measure::activation_peak: return number(held(memory, {"profile_run"}));
    case Measure::torch_peak: return number(held(memory, {"weights", "rotary", "profile_run"}));
    case Measure::non_torch: return number(held(memory, {"non_torch", "nccl"}));
    case Measure::cuda_graphs: return number(held(memory, {"cuda_graphs"}));
    case Measure::kv_cache: return cache_size(answer);
    case Measure::kv_bytes_per_token: return number(answer.bytes_per_token);
    case Measure::recurrent_state: return number(answer.state);
    case Measure::compute_buffer: return number(held(memory, {"compute"}));
    case Measure::device_total:
      return number(scope == Scope::one_card ? device_total(answer) : device_total_of_all(answer));
    case Measure::file_size: return number(answer.file);
    default: return std::nullopt;
  }
}

std::optional<double> count_of(const ServingAnswer& answer, Measure measure) {
  switch (measure) {
    case Measure::kv_tokens: return static_cast<double>(answer.capacity.cache_tokens);
    case Measure::max_context: return static_cast<double>(answer.capacity.max_context);
    case Measure::max_concurrency: return static_cast<double>(answer.capacity.max_concurrency);
    case Measure::bits_per_weight: return 8.0 * number(answer.model) / static_cast<double>(answer.parameters);
    default: return std::nullopt;
  }
}

/// Pace that llama-bench shows of one request: tokens a second of its prompt, or of its answer.
std::optional<double> measured_pace(const ServingAnswer& answer, Measure measure) {
  if (!answer.speed) return std::nullopt;
  const Speed& speed = *answer.speed;
  switch (measure) {
    case Measure::ttft: return quantity::in_seconds(speed.ttft);
    case Measure::tpot: return quantity::in_seconds(speed.tpot);
    case Measure::decode_tok_s: return speed.tokens_per_s_per_user;
    case Measure::prefill_tok_s:
      return static_cast<double>(answer.deployment.question.serving.load.prompt) / quantity::in_seconds(speed.prefill);
    case Measure::throughput_tok_s: return compared(answer.deployment.question.serving.load, speed);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<double> predicted(const ServingAnswer& answer, Measure measure, Scope scope) {
  const bool needs_card = answer.memory.capacity > quantity::bytes(0);
  const bool of_card = measure == Measure::kv_cache || measure == Measure::device_total ||
                       measure == Measure::kv_tokens || measure == Measure::max_context ||
                       measure == Measure::max_concurrency || measure == Measure::activation_peak ||
                       measure == Measure::torch_peak;
  if (of_card && !needs_card && reserves(answer.deployment)) return std::nullopt;
  const auto size = size_of(answer, measure, scope);
  const auto counted = size ? size : count_of(answer, measure);
  const auto value = counted ? counted : measured_pace(answer, measure);
  return value && *value > 0.0 ? value : std::nullopt;
}

}  // namespace llmcalc::serving
