// The step program of one rank: what it holds, and what it executes for one micro-batch, in order.
//
// A run is described here once. Parameters, FLOPs, memory and time are walks over this value; none of them knows a
// formula of a layer. Parallelism, recompute, attention kernel, precision and framework only change which operations
// and tensors are listed and how large they are.
//
// The program is made of blocks (embedding, one per kind of layer, head with loss). Each block lists its
// operations in forward order; `sequence` says in which order the blocks run. Equal layers are one block.
#pragma once

#include "layers/block.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::program {

/// A run of blocks that one pipeline stage executes without a break: positions [first, last) of the sequence.
struct Chunk {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Why a run has a model beside the trained one, or a pass before its training.
enum class CompanionRole {
  reference,  ///< a frozen model's log-probabilities of the same samples
  reward,     ///< a frozen model's score of each sample
  value,      ///< a trained model's estimate of the score, from each position
  generation  ///< the trained model makes the samples
};

/// A model that runs as many layers on the same samples as the trained one.
struct Companion {
  CompanionRole role = CompanionRole::reference;
  bool owns_weights = true;         ///< otherwise they are the trained model's
  std::int64_t micro_batches = 1;   ///< that it runs at once
  std::vector<std::uint16_t> runs;  ///< for each block of the trained model the one that runs in its place

  bool is_trained() const { return role == CompanionRole::value; }
};

struct Program {
  std::vector<layers::Block> blocks;
  std::vector<std::uint16_t> sequence;  ///< blocks of the whole model in forward order
  std::vector<Chunk> chunks;            ///< the sequence cut into pieces; chunk i belongs to stage i modulo `stages`
  std::int64_t stages = 1;              ///< pipeline ranks; with virtual stages each has several chunks
  std::int64_t tokens = 0;              ///< of one micro-batch on this rank
  std::vector<Companion> companions;    ///< of algorithms that need more than the trained model's own pass
};

}  // namespace llmcalc::program
