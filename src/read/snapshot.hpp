// What a snapshot of PyTorch's caching allocator holds (torch.cuda.memory._dump_snapshot): how much was allocated and
// reserved, now and at the most since its recording began.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Bytes of one accelerator.
struct RecordedMemory {
  std::int64_t device = 0;
  std::int64_t allocated = 0;  ///< when the snapshot was taken
  std::int64_t reserved = 0;
  std::int64_t most_allocated = 0;  ///< of what was recorded, and now where nothing was
  std::int64_t most_reserved = 0;
  bool is_recorded = false;  ///< whether there is a history of it
};

/// Whether bytes are a pickle with the keys of such a snapshot.
bool is_memory_snapshot(std::string_view bytes);

/// Accelerators with memory of which something is reserved or recorded. Nothing is executed, and stacks of calls, which
/// are most of a file, are passed over.
/// \throws quantity::BadInput at `place` where it is none as PyTorch writes it
std::vector<RecordedMemory> parse_memory_snapshot(std::string_view bytes, std::string_view place);

}  // namespace llmcalc::read
