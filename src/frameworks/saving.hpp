// How a framework writes a checkpoint: what of it is where at once.
#pragma once

#include "llmcalc/spec/training.hpp"

#include <cstdint>
#include <string_view>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::frameworks {

/// What of a rank's part is in host memory at once while it is written.
enum class CheckpointWriting {
  by_tensor,  ///< one tensor on its way to the disk (pytorch torch/serialization.py, _save; distributed/checkpoint/
              ///< filesystem.py, _OverlappingCpuLoader)
  by_buffer,  ///< the largest flat buffer of the optimizer's states (DeepSpeed's partitions are one tensor each)
  by_file,    ///< all tensors of a file (safetensors/torch.py, _flatten_as_ptr)
  whole       ///< all of it
};

/// One way to write a checkpoint.
struct Saving {
  spec::SaveCheckpoint way = spec::SaveCheckpoint::none;
  std::string_view source;
  bool (*holds)(const spec::Question& question) = nullptr;  ///< of the framework's own choice; empty: always
  CheckpointWriting writing = CheckpointWriting::by_tensor;
  std::int64_t file_bytes = 0;     ///< of a file, at most
  bool gathers_optimizer = false;  ///< the optimizer's states too come to the first rank, when the weights have gone
  bool leaves_out_frozen = false;  ///< of a run with adapters only these are gathered
  bool spreads_replicas = false;   ///< of what several ranks have alike, each writes a part
};

/// How a run writes its checkpoints, or nullptr where nobody asks.
/// \pre the framework can (unable_to())
const Saving* saving_of(const spec::Question& question);

}  // namespace llmcalc::frameworks
