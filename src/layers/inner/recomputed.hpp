// A part of a layer that is run again in the backward pass.
#pragma once

#include "layers/inner/builder.hpp"

#include <cstdint>
#include <initializer_list>

namespace llmcalc::layers {

/// While it lives, what is appended belongs to one recompute group, if the run recomputes `module` and no group is open
/// already: a checkpoint inside another one changes nothing that outlives the forward pass.
class Recomputed {
 public:
  /// \param inputs  kept for running the group again, whether or not one of its operations keeps them
  Recomputed(BlockBuilder& b, spec::RecomputeModule module, std::initializer_list<Value> inputs = {});
  /// The same of what a framework always runs again.
  Recomputed(BlockBuilder& b, bool covered, std::initializer_list<Value> inputs = {});
  ~Recomputed() { end(); }
  Recomputed(const Recomputed&) = delete;
  Recomputed& operator=(const Recomputed&) = delete;

  /// Ends the group; its results are given up after their last forward use, though later operations save them
  /// (Megatron-LM core/tensor_parallel/random.py, CheckpointWithoutOutput).
  void discard(std::initializer_list<Value> results);
  /// The results are made again right before the backward pass of the operation appended last (the same file,
  /// discard_output_and_register_recompute).
  void remake();

 private:
  void end();

  BlockBuilder& b_;
  std::uint8_t group_ = 0;  ///< 0: nothing is run again
  bool open_ = false;
};

}  // namespace llmcalc::layers
