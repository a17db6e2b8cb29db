// A snapshot of PyTorch's memory, as torch.cuda.memory._dump_snapshot writes it: what was measured, which no option
// says, and which stands beside what is predicted.
#include "dialects/machine/texts.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "read/settings.hpp"

#include <fmt/format.h>

namespace llmcalc::dialects {
namespace {

std::string gib_of(std::int64_t amount) { return quantity::format_gib(quantity::bytes(amount)); }

std::string measured(const read::RecordedMemory& memory) {
  const char* const when = memory.is_recorded ? "at the most of what was recorded" : "when it was taken";
  return fmt::format(
      "measured on accelerator {}: {} allocated and {} reserved by PyTorch {}; its CUDA context is beside",
      memory.device, gib_of(memory.most_allocated), gib_of(memory.most_reserved), when);
}

}  // namespace

std::optional<Reading> read_memory_snapshot(std::string_view bytes, std::string_view place) {
  if (!read::is_memory_snapshot(bytes)) return std::nullopt;
  const auto all = read::parse_memory_snapshot(bytes, place);
  if (all.empty()) {
    throw quantity::BadInput(std::string(place), "is a snapshot of PyTorch's memory in which nothing is held",
                             "torch.cuda.memory._record_memory_history() before the step has it recorded");
  }
  Reading reading;
  reading.kind = "snapshot of PyTorch's memory";
  reading.place = place;
  for (const auto& memory : all) reading.assumptions.push_back({measured(memory)});
  return reading;
}

}  // namespace llmcalc::dialects
