// What the layers of a rank do for each token of a step, read off the step program's own operations, so that steps of
// any size are priced without building the program again.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"
#include "serving/cache.hpp"
#include "serving/weights.hpp"
#include "timing/serving_kernels.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace llmcalc::serving {

/// A matrix that every token of a step meets.
struct MatrixWork {
  double n = 0;
  double k = 0;
  double bytes = 0;  ///< at rest
  timing::Operands operands = timing::Operands::half;
  Use role = Use::up;
  double copies = 1;       ///< of the attention, whose tokens all meet it
  bool of_memory = false;  ///< makes keys and values of what an encoder read, once a request

  /// Matrix that leads up from latents, which decoding applies to queries and results instead of to the cache.
  bool absorbed() const { return role == Use::latent_up; }
};

/// Mixer of a layer's positions.
struct MixerWork {
  LayerCache kept;
  double flops_per_read = 0;        ///< of one query position with one cached position
  double flops_per_pair = 0;        ///< of the same in a prompt, where latents are expanded
  double flops_per_choice = 0;      ///< and where an indexer chose the cached ones, whose latents are read as they are
  double moved_per_position = 0;    ///< bytes of q, k, v and output of a prompt's position
  double state_bytes = 0;           ///< of a recurrence, of a sequence
  bool gated_delta = false;         ///< of a gated delta rule
  double scanned_per_position = 0;  ///< bytes that it reads of a prompt's position
  double index_elements = 0;        ///< that an indexer reads of each cached position
  double index_flops = 0;           ///< of it, of one query position with one cached position
  std::int64_t head_dim = 128;
  bool causal = true;  ///< positions see those before them alone
};

/// The routed experts of a layer.
struct ExpertWork {
  double experts = 0;   ///< of the whole layer
  double local = 0;     ///< on this rank
  double chosen = 0;    ///< by each token
  double elements = 0;  ///< of one expert on this rank
  double bytes = 0;     ///< of one expert on this rank
  timing::Operands operands = timing::Operands::half;
};

/// Tokens of a request that pass a layer: of two stacks the encoder is passed by what it reads alone, and the decoder
/// by what it writes (Vaswani et al. 2017, arXiv:1706.03762 section 3.1).
enum class Passed { by_all, by_read, by_written };

struct LayerWork {
  Passed passed = Passed::by_all;
  std::int64_t layers = 0;
  std::vector<MatrixWork> matrices;
  MixerWork mixer;
  std::optional<ExpertWork> experts;
  double activation_bytes = 0;  ///< that kernels between the matrices move for a token
  int activations = 0;          ///< such kernels
  double passed_bytes = 0;      ///< and that norms and sums do, which a prompt is long enough to see
  double operations = 0;        ///< that the host launches
  double read = 0;              ///< positions of a sequence that an encoder reads; 0: those of the prompt
  int residuals = 2;            ///< sums over the ranks, behind what mixes positions and behind the MLP
  bool norms_heads = false;     ///< queries and keys have norms of their own
};

struct StageWork {
  std::vector<LayerWork> layers;
  std::optional<MatrixWork> head;  ///< applied to the last position of each sequence
  double hidden_bytes = 0;         ///< of one token's hidden state, in 16 bits
};

/// Every pipeline stage of a copy of the model. \pre the question was resolved
std::vector<StageWork> step_work(const spec::Question& question);

}  // namespace llmcalc::serving
