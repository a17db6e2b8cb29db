#include "frameworks/release.hpp"

#include <algorithm>
#include <optional>

namespace llmcalc::frameworks {

using spec::Date;
using spec::Library;
using spec::Release;
using spec::Software;

namespace {

// Dates are those on which PyPI has the release, or else those that the source names.
constexpr ReleaseChange changes[] = {
    {Behaviour::narrow_logits_stay,
     Library::transformers,
     Release{4, 45, 0},
     {2024, 9, 25},
     "16-bit logits stay referenced beside their fp32 copy",
     "transformers models/llama/modeling_llama.py"},
    {Behaviour::adapters_widen_inputs,
     Library::transformers,
     Release{4, 45, 0},
     {2024, 9, 25},
     "inputs of fp32 adapters beside 16-bit weights are cast to fp32",
     "peft tuners/lora/layer.py, Linear.forward, dated by transformers"},
    {Behaviour::operands_made_contiguous,
     Library::transformers,
     Release{4, 48, 0},
     {2025, 1, 10},
     "fused attention reads contiguous copies of queries, keys and values",
     "transformers integrations/sdpa_attention.py"},
    {Behaviour::losses_of_library,
     Library::transformers,
     Release{4, 49, 0},
     {2025, 2, 17},
     "all families widen their logits for the loss, where some had 16-bit ones",
     "transformers models/gpt_bigcode/modeling_gpt_bigcode.py: loss_function"},
    {Behaviour::loss_without_shifted_copy,
     Library::transformers,
     Release{4, 50, 0},
     {2025, 3, 21},
     "the loss shifts labels instead of a copy of the logits",
     "transformers loss/loss_utils.py"},
    {Behaviour::wide_embedding_moments,
     Library::transformers,
     Release{4, 52, 0},
     {2025, 5, 20},
     "8-bit AdamW keeps fp32 moments of embeddings",
     "transformers trainer.py, create_optimizer"},
    {Behaviour::grouped_heads_in_kernel,
     Library::transformers,
     Release{4, 54, 0},
     {2025, 7, 25},
     "grouped keys and values are not expanded before fused attention",
     "transformers integrations/sdpa_attention.py"},
    {Behaviour::operands_left_strided,
     Library::transformers,
     Release{4, 56, 0},
     {2025, 8, 29},
     "fused attention reads its operands where they are",
     "transformers integrations/sdpa_attention.py"},
    {Behaviour::experts_in_one_product,
     Library::transformers,
     Release{5, 0, 0},
     {2026, 1, 26},
     "experts are one grouped product instead of a loop over modules",
     "transformers integrations/moe.py"},
    {Behaviour::checkpoint_dtype,
     Library::transformers,
     Release{5, 0, 0},
     {2026, 1, 26},
     "a model is loaded in its checkpoint's type, where it was fp32",
     "transformers modeling_utils.py, from_pretrained"},
    {Behaviour::capped_scores_written_out,
     Library::transformers,
     Release{5, 0, 0},
     {2026, 1, 26},
     "attention whose scores are capped is written out unless a kernel is asked for",
     "transformers models/gemma2/modeling_gemma2.py, _supports_sdpa"},
    {Behaviour::quantized_inputs_dropped,
     Library::bitsandbytes,
     Release{0, 43, 2},
     {2024, 7, 23},
     "4-bit products do not keep their input",
     "bitsandbytes autograd/_functions.py, MatMul4Bit.forward"},
    {Behaviour::fused_adamw,
     Library::torch,
     Release{2, 8, 0},
     {2025, 8, 6},
     "the Trainer takes the fused AdamW",
     "transformers training_args.py, optim"},
    {Behaviour::cudnn_attention,
     Library::torch,
     Release{2, 11, 0},
     {2026, 3, 23},
     "sdpa is cuDNN's on Hopper and Blackwell, where it was FlashAttention-2",
     "pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, check_prefer_cudnn_attention"},
    {Behaviour::nf4_made_in_chunks,
     Library::torchao,
     Release{0, 2, 0},
     {2024, 5, 20},
     "matrices are quantized to NF4 a chunk at a time",
     "torchao dtypes/nf4tensor.py, CHUNK_SIZE; pull request 196"},
    {Behaviour::torchtune_frees_logits,
     Library::torchtune,
     {},
     {2024, 7, 27},
     "recipes give up the logits before the backward pass",
     "torchtune pull requests 1046 and 1235"},
    {Behaviour::checkpoints_stop_early,
     Library::torch,
     Release{2, 1, 0},
     {2023, 10, 4},
     "checkpoints without reentrance run a layer again as far as something is kept, where it was the whole layer",
     "torch/utils/checkpoint.py, _StopRecomputationError; pytorch pull request 96866"},
    {Behaviour::checkpoints_without_reentrance,
     Library::transformers,
     Release{5, 0, 0},
     {2026, 1, 26},
     "gradient checkpoints are those without reentrance",
     "transformers modeling_utils.py, use_reentrant"},
    {Behaviour::torchtune_whole_logits,
     Library::torchtune,
     Release{0, 3, 0},
     {2024, 9, 18},
     "recipes drop the shifted copies of the logits",
     "torchtune pull request 1390"},
    {Behaviour::torchtune_recipes,
     Library::torchtune,
     Release{0, 6, 0},
     {2025, 3, 25},
     "recipes take the fused AdamW and the chunked loss",
     "torchtune recipes/configs"},
    {Behaviour::torchtitan_frees_logits,
     Library::torchtitan,
     {},
     {2024, 6, 12},
     "the logits are given up before the backward pass",
     "torchtitan train.py, del pred"},
    {Behaviour::torchtitan_widens_in_loss,
     Library::torchtitan,
     {},
     {2024, 10, 22},
     "logits are widened inside the loss, and segments expand",
     "torchtitan train.py, loss_fn; run_train.sh, PYTORCH_CUDA_ALLOC_CONF"},
    {Behaviour::torchtitan_recomputes_whole,
     Library::torchtitan,
     {},
     {2025, 8, 18},
     "checkpoints of layers that are not compiled run the whole layer again",
     "torchtitan distributed/activation_checkpoint.py, early_stop; pull request 1580"},
    {Behaviour::torchtitan_compiled_loss,
     Library::torchtitan,
     Release{0, 1, 0},
     {2025, 2, 1},
     "compiling covers the loss, not the layers alone",
     "torchtitan components/loss.py"},
    {Behaviour::torchtitan_table_apart,
     Library::torchtitan,
     {},
     {2025, 7, 28},
     "the token table is an FSDP unit of its own, and norm and head another",
     "torchtitan models/llama3/infra/parallelize.py, apply_fsdp"},
    {Behaviour::torchtitan_chunked_loss,
     Library::torchtitan,
     Release{0, 3, 0},
     {2026, 9, 3},
     "models take the chunked loss and the fused AdamW",
     "torchtitan models/llama3/config_registry.py"},
    {Behaviour::litgpt_shuffles,
     Library::litgpt,
     {},
     {2024, 1, 1},
     "the first micro-batch is not the longest",
     "litgpt finetune/lora.py, get_batch"},
    {Behaviour::composer_metrics_of_outputs,
     Library::composer,
     Release{0, 14, 0},
     {2023, 5, 3},
     "metrics of training take the outputs at hand, where each micro-batch had a forward pass more",
     "composer trainer/trainer.py, _eval_train_metrics: validate"},
    {Behaviour::megatron_deepspeed_exchange,
     Library::megatron_deepspeed,
     {},
     {2023, 1, 1},
     "tensor-parallel ranks reduce input gradients beside products",
     "Megatron-DeepSpeed core/tensor_parallel/layers.py"},
    {Behaviour::internevo_flash_2,
     Library::internevo,
     {},
     {2024, 1, 1},
     "FlashAttention-2 instead of 1.0.5",
     "InternLM third_party/flash-attention"},
    {Behaviour::internevo_fused_adamw,
     Library::internevo,
     {},
     {2024, 1, 1},
     "the fused AdamW of torch",
     "InternEvo train/pipeline.py"},
    {Behaviour::pax_long_attention,
     Library::pax,
     {},
     {2024, 1, 1},
     "Transformer Engine's fused attention takes more than 512 positions",
     "transformer_engine/jax/flax/transformer.py, fused_attn_supported_seqlen"},
    {Behaviour::fsdp_limits_gathers,
     Library::torch,
     Release{2, 1, 0},
     {2023, 10, 4},
     "FSDP gathers no more layers ahead than two unless told to",
     "torch/distributed/fsdp/fully_sharded_data_parallel.py, limit_all_gathers"},
    {Behaviour::bridge_flexible_dispatch,
     Library::nemo,
     Release{26, 4, 0},
     {2026, 4, 0},
     "recipes of mixtures send a token's copies to a node once",
     "Megatron-Bridge scripts/performance/configs, moe_flex_dispatcher_backend, since 0.4"},
};

constexpr bool is_in_order() {
  if (std::size(changes) != static_cast<std::size_t>(Behaviour::count)) return false;
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    if (changes[i].behaviour != static_cast<Behaviour>(i)) return false;
  }
  return true;
}
static_assert(is_in_order(), "a behaviour of the enumeration has no row");

struct Published {
  Library library;
  Release release;
  Date date;
};

// When PyPI has releases that people name, beside those in the table above.
constexpr Published published[] = {
    {Library::transformers, Release{4, 40, 0}, {2024, 4, 18}},
    {Library::transformers, Release{4, 44, 0}, {2024, 8, 6}},
    {Library::torch, Release{2, 0, 0}, {2023, 3, 15}},
    {Library::torch, Release{2, 1, 0}, {2023, 10, 4}},
    {Library::torch, Release{2, 2, 0}, {2024, 1, 30}},
    {Library::torch, Release{2, 3, 0}, {2024, 4, 24}},
    {Library::torch, Release{2, 4, 0}, {2024, 7, 24}},
    {Library::torch, Release{2, 5, 0}, {2024, 10, 17}},
    {Library::torch, Release{2, 6, 0}, {2025, 1, 29}},
    {Library::torch, Release{2, 7, 0}, {2025, 4, 23}},
    {Library::torch, Release{2, 9, 0}, {2025, 10, 15}},
    {Library::torch, Release{2, 10, 0}, {2026, 1, 21}},
    {Library::torchtune, Release{0, 1, 0}, {2024, 4, 16}},
    {Library::torchtune, Release{0, 2, 0}, {2024, 7, 16}},
    {Library::torchtune, Release{0, 4, 0}, {2024, 11, 14}},
    {Library::torchtune, Release{0, 5, 0}, {2024, 12, 20}},
    {Library::torchtitan, Release{0, 2, 0}, {2025, 10, 18}},
    {Library::composer, Release{0, 12, 0}, {2022, 12, 22}},
    {Library::megatron_core, Release{0, 10, 0}, {2025, 2, 17}},
    {Library::megatron_core, Release{0, 12, 0}, {2025, 5, 6}},
    {Library::megatron_core, Release{0, 14, 0}, {2025, 10, 8}},
    {Library::megatron_core, Release{0, 16, 0}, {2026, 2, 26}},
};

/// The latest day that is known of a release or one before it; NeMo's containers are called by year and month.
std::optional<Date> date_of(const Software::Part& part) {
  constexpr int century = 2000;
  if (!part.release) return std::nullopt;
  if (part.library == Library::nemo) return Date{century + part.release->major, part.release->minor, 0};
  std::optional<Date> latest;
  const auto look = [&](Library library, const Release& release, const Date& date) {
    const bool counts = library == part.library && release <= *part.release;
    if (counts && (!latest || latest->ordinal() < date.ordinal())) latest = date;
  };
  for (const Published& known : published) look(known.library, known.release, known.date);
  for (const ReleaseChange& known : changes) {
    if (known.since) look(known.library, *known.since, known.published);
  }
  return latest;
}

/// When a run was, by what was said of it: a release of that year says more than a year alone.
std::optional<Date> date_of(const Software& software) {
  std::optional<Date> latest;
  for (const auto& part : software.parts) {
    const auto date = date_of(part);
    if (date && (!latest || latest->ordinal() < date->ordinal())) latest = date;
  }
  if (!software.date) return latest;
  const bool says_more = software.date->month == 0 && latest && latest->year == software.date->year;
  return says_more ? latest : software.date;
}

}  // namespace

std::span<const ReleaseChange> release_changes() { return changes; }

bool holds(Behaviour behaviour, const Software& software) {
  const ReleaseChange& row = changes[static_cast<std::size_t>(behaviour)];
  const auto release = software.release_of(row.library);
  if (release && row.since) return *release >= *row.since;
  const auto date = date_of(software);
  return !date || date->ordinal() >= row.published.ordinal();
}

}  // namespace llmcalc::frameworks
