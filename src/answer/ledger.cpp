#include "answer/inner/ledger.hpp"

#include "layers/widths.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

using memory::Holding;
using quantity::Bytes;
using quantity::in_bytes;

std::string exact_bytes(Bytes size) { return quantity::format_count(in_bytes(size)) + " B"; }

std::string per_parameter(Bytes size, std::int64_t parameters, std::int64_t width) {
  if (parameters > 0 && in_bytes(size) % parameters == 0) {
    return fmt::format("{} x {} B", quantity::format_count(parameters), in_bytes(size) / parameters);
  }
  if (width > 0 && in_bytes(size) % width == 0 && in_bytes(size) / width < parameters) {
    return fmt::format("{} on this rank x {} B", quantity::format_count(in_bytes(size) / width), width);
  }
  return exact_bytes(size);
}

void Ledger::textbook(const MemoryAnswer& memory) {
  const Bytes rest = memory.peak_allocated - walks_.memory.persistent.states();
  add({Holding::activations,
       "activations and temporaries (rule of thumb)",
       rest,
       {"parameters x 8 B, whatever the batch", per_parameter(rest, walks_.size.total),
        "Hugging Face, Anatomy of model's memory: 4 + 4 + 8 + 8 B per fp32 parameter"},
       true});
}

std::vector<LedgerLine> Ledger::lines(const MemoryAnswer& memory) {
  if (question_.training.activations != spec::ActivationModel::program) {
    states(walks_.memory.persistent);
    textbook(memory);
    return lines_;
  }
  const auto& alive = walks_.memory.peak().alive;
  states(alive);
  step(alive);
  runtime(memory);
  return lines_;
}

quantity::Bytes engine_weights(std::int64_t parameters) {
  return quantity::bytes(quantity::product(parameters, layers::half_width));
}

std::vector<LedgerLine> ledger(const spec::Question& question, const Walks& walks, const MemoryAnswer& memory) {
  return Ledger(question, walks).lines(memory);
}

}  // namespace llmcalc::answer
