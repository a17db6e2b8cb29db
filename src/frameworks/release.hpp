// What a release changed in what a run allocates, runs, or does unasked: the one place that knows since when.
#pragma once

#include "llmcalc/spec/serving.hpp"
#include "llmcalc/spec/software.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::frameworks {

/// Changes that a release brought.
enum class Behaviour {
  narrow_logits_stay,
  adapters_widen_inputs,
  operands_made_contiguous,
  losses_of_library,
  loss_without_shifted_copy,
  wide_embedding_moments,
  grouped_heads_in_kernel,
  operands_left_strided,
  experts_in_one_product,
  checkpoint_dtype,
  capped_scores_written_out,
  quantized_inputs_dropped,
  fused_adamw,
  cudnn_attention,
  cuda_13,
  nf4_made_in_chunks,
  torchtune_frees_logits,
  checkpoints_stop_early,
  checkpoints_without_reentrance,
  torchtune_whole_logits,
  torchtune_recipes,
  torchtitan_frees_logits,
  torchtitan_widens_in_loss,
  torchtitan_recomputes_whole,
  torchtitan_compiled_loss,
  torchtitan_table_apart,
  torchtitan_chunked_loss,
  litgpt_shuffles,
  composer_metrics_of_outputs,
  megatron_deepspeed_exchange,
  internevo_flash_2,
  internevo_fused_adamw,
  pax_long_attention,
  fsdp_limits_gathers,
  bridge_flexible_dispatch,
  core_gathers_heads,
  trl_chunked_loss,
  trl_tiled_head,
  axolotl_adds_by_product,
  count  ///< how many there are
};

struct ReleaseChange {
  Behaviour behaviour;
  spec::Library library;
  std::optional<spec::Release> since;  ///< empty: it goes by the date alone
  spec::Date published;                ///< decides where a date is known and the release is not
  std::string_view what;               ///< from then on
  std::string_view source;
};

std::span<const ReleaseChange> release_changes();

/// Whether a run behaves so. Where nothing is said it is the present.
bool holds(Behaviour behaviour, const spec::Software& software);

/// A key or a program of printed commands that a release brought.
struct ReleaseWord {
  std::string_view frameworks;  ///< whose commands say it, apart by blanks
  std::string_view word;
  std::string_view before;  ///< how it is called earlier; empty: not at all
  spec::Library library;
  spec::Release since;
  spec::Date published;  ///< decides where a date is known and the release is not
  std::string_view source;
};

std::span<const ReleaseWord> release_words();

/// Those that a framework's command does not know in a run of that software.
std::vector<ReleaseWord> words_to_come(std::string_view framework, const spec::Software& software);

/// Families that an engine has no code for, or has none any more.
struct Unserved {
  std::string_view families;  ///< as their files call them, apart by blanks
  spec::Engine engine;
  spec::Release last;  ///< that served them; zeros: none did
  std::string_view source;
};

/// Row of a family under an engine; null where nothing says that the engine lacks it.
const Unserved* find_unserved(spec::Engine engine, std::string_view family);

}  // namespace llmcalc::frameworks
