// What the model of a run leaves out, what its figures rest on, and what the person who asked should look at.

#include "answer/inner/parts.hpp"
#include "frameworks/release.hpp"
#include "frameworks/table.hpp"
#include "layers/blocks.hpp"
#include "memory/communicators.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "spec/names.hpp"
#include "timing/kernels.hpp"
#include "timing/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmcalc::answer {
namespace {

using Lines = std::vector<std::string>;

Lines line_if(bool holds, std::string_view sentence) { return holds ? Lines{std::string(sentence)} : Lines(); }

/// Nobody knows the other traffic of a cluster, so that much is said beside what the prices rest on.
Lines about_links(const spec::Question& question) {
  if (question.layout.gpus == 1) return {};
  const auto source = timing::network_source(*question.gpu, question.layout);
  return {fmt::format("communication {}; congestion is not modelled", source)};
}

/// The curves that products are priced by, where no MFU says the time.
Lines about_products(const spec::Question& question) {
  if (question.pricing.mfu) return {};
  return {timing::matrix_source(*question.gpu)};
}

/// On what an answer rests where nobody measured a run on such parts.
Lines about_unmeasured(const spec::Question& question) {
  const auto& gpu = *question.gpu;
  const auto stand_in = question.pricing.mfu ? std::string() : timing::stand_in_source(gpu);
  if (gpu.generation.can(spec::Ability::measured_runs)) return line_if(!stand_in.empty(), stand_in);
  if (!stand_in.empty()) return {stand_in + ", memory as on NVIDIA's cards"};
  return {fmt::format("nothing was measured of a run's memory on {}: as on NVIDIA's cards", gpu.arch)};
}

bool is_delta_net(const spec::LayerKind& kind) { return std::holds_alternative<spec::GatedDeltaNet>(kind.mixer); }

/// The recurrence of a linear attention is passed on between the ranks of a sample; the program has no tensors for it.
Lines about_recurrence(const spec::Question& question) {
  const bool passes_on = question.layout.cp > 1 && std::ranges::any_of(question.model.kinds, is_delta_net);
  return line_if(passes_on, "not modelled: what context-parallel ranks exchange in linear attention");
}

Lines about_servers(const spec::Question& question) {
  return line_if(question.training.method == spec::Method::inference,
                 "not modelled: the pools, blocks and batches of a server, which llmcalc serve answers for");
}

/// Questions that experts leave open where they are spread over ranks.
Lines about_experts(const spec::Question& question) {
  Lines lines;
  if (question.layout.ep == 1) return lines;
  const double overload = frameworks::make_profile(question.training, question.gpu).measured.router_overload;
  if (!question.training.moe_imbalance) {
    lines.emplace_back(overload > 0.0 ? "the time is of a balanced router, the peak of one that has yet to learn it; "
                                        "--moe-imbalance states one factor"
                                      : "the router is taken to be balanced; --moe-imbalance states a factor");
  }
  const timing::Network network(*question.gpu, question.layout);
  if (!question.layout.node_dispatch && network.span(layers::RankGroup::expert).nodes() > 1) {
    lines.emplace_back("experts are sent a copy of a token each; --node-dispatch 1 sends a node one, as DeepEP does");
  }
  return lines;
}

/// How much slower than its mean a large run is because it waits for the slowest of its accelerators.
Lines about_jitter(const spec::Question& question) {
  constexpr double noticed = 0.03;
  const double slower = timing::pace_of_slowest(question.layout.gpus) - 1.0;
  if (question.pricing.mfu || slower < noticed) return {};
  return {
      fmt::format("the slowest of {} accelerators is taken to be {:.1f} % slower than their mean "
                  "(Sinha et al. 2022, arXiv:2208.11035)",
                  quantity::format_count(question.layout.gpus), 100.0 * slower)};
}

/// How fast what is offloaded to drives comes back, where nobody said.
Lines about_drives(const spec::Question& question) {
  if (question.training.offload_to != spec::OffloadTarget::nvme || question.runtime.nvme) return {};
  return {"drives are taken to be one a node, at 3 GB/s; --nvme-bandwidth states more"};
}

/// Ways of PyTorch's own parallelism and of torchao other than what was priced.
Lines about_torch(const spec::Question& question) {
  const auto& training = question.training;
  const frameworks::Profile profile = frameworks::make_profile(training, question.gpu);
  const bool casts = formats::is_narrow_float(training.precision.compute) &&
                     frameworks::row_of(training.framework).states != frameworks::StateRecipe::textbook;
  Lines lines;
  if (question.pricing.mfu) return lines;
  const bool by_row = training.fp8_scaling == spec::Fp8Scaling::row;
  if (casts && !profile.narrow.keeps_inputs && !profile.narrow.casts_in_one_pass && !by_row) {
    lines.emplace_back(
        profile.narrow.scales_rows
            ? "narrow products are cast by one scale a tensor; --fp8-scaling row casts by a scale a row, "
              "which is slower"
            : "narrow products are cast by one scale a tensor");
  }
  if (profile.exchange.overlaps_tensor_if_asked && question.layout.tp > 1) {
    lines.emplace_back("tensor-parallel exchanges are waited for; not modelled: asynchronous ones, beside products");
  }
  return lines;
}

/// States that a run keeps elsewhere than on the accelerator.
Lines kept_elsewhere(const memory::StepMemory& memory) {
  if (memory.paged == quantity::bytes(0)) return {};
  return {fmt::format("paged optimizer states, not counted above because the driver may move them to the host: {}",
                      quantity::format_gib(memory.paged))};
}

Lines about_accelerators(const spec::Question& question) {
  Lines lines;
  if (!question.gpu) return lines;
  for (const auto about :
       {about_products, about_unmeasured, about_links, about_experts, about_jitter, about_drives, about_torch}) {
    quantity::append(lines, about(question));
  }
  return lines;
}

Lines about_algorithm(const spec::Question& question) {
  if (question.training.algorithm == spec::Algorithm::sft) return {};
  return {fmt::format("the error bar is of runs that learn the next token; none of algorithm {} was measured",
                      spec::name_of(question.training.algorithm))};
}

Lines about_samples(const spec::Question& question) {
  return line_if(question.training.makes_samples(),
                 "not modelled: the time that samples take to make, and an inference engine with weights of its own");
}

using Warning = std::optional<std::string>;

/// "We do not recommend training a LLM for less than 200B tokens": Anthony et al. 2023, Transformer Math 101
/// (blog.eleuther.ai/transformer-math).
constexpr double fewest_pretraining_tokens = 200e9;

/// A run of four times as many micro-batches as stages waits a fifth of its step.
constexpr double loud_bubble = 0.2;

/// Products of a type that the accelerator does not have run, if at all, in the next wider one.
bool lacks_products(const spec::Accelerator& gpu, formats::Dtype compute) {
  if (compute == formats::Dtype::nvfp4) return !gpu.peaks.fp4;
  if (formats::is_narrow_float(compute)) return !gpu.peaks.fp8;
  return compute == formats::Dtype::bf16 && !gpu.peaks.bf16;
}

double bubble_share(const TimeAnswer& time) {
  const auto bubble = std::ranges::find(time.step_parts, "bubble", &StepPart::id);
  return bubble == time.step_parts.end() ? 0.0 : bubble->time / time.step;
}

/// A stage that was chosen says nothing of the others.
Warning about_other_stages(const spec::Question& question, const Estimate& estimate) {
  const auto& memory = estimate.memory;
  const auto highest = std::ranges::max_element(memory.stages, {}, &memory::StagePeak::allocated);
  const bool fits =
      estimate.verdict.kind == trust::VerdictKind::fits || estimate.verdict.kind == trust::VerdictKind::tight;
  if (!fits || highest == memory.stages.end() || highest->stage == memory.stage) return std::nullopt;
  const auto needed = needed_level(profile_of(question), highest->allocated, memory::beside_trainer(question));
  if (needed <= estimate.verdict.capacity) return std::nullopt;
  return fmt::format("pipeline stage {} does not fit: it needs {}; the verdict is of stage {} alone (--rank)",
                     highest->stage, quantity::format_gib(needed), memory.stage);
}

/// Rotary embedding computes any position, but the model has seen none beyond those it was built for.
Warning about_positions(const spec::Question& question, const Estimate&) {
  const auto& shape = question.model.shape;
  if (shape.position != spec::Position::rope || question.training.seq <= shape.max_position) return std::nullopt;
  return fmt::format("--seq {} is beyond the {} positions that the model is built for", question.training.seq,
                     shape.max_position);
}

Warning about_data(const spec::Question& question, const Estimate& estimate) {
  const auto& data = question.pricing.data;
  const bool stated = data.tokens || data.tokens_per_parameter || data.samples;
  const auto tokens = estimate.compute.tokens;
  return frameworks::pretrains(question) && stated ? too_few_tokens(tokens) : std::nullopt;
}

/// Twice the largest published step, of 128M tokens (MiniMax-01, arXiv:2501.08313, by an index of papers).
Warning about_batch(const spec::Question& question, const Estimate&) {
  constexpr double most = 256e6;
  const auto& training = question.training;
  const auto seq = static_cast<double>(training.seq);
  const double tokens = static_cast<double>(training.global_batch) * seq;
  const double own = static_cast<double>(training.micro_batch) * seq;
  if (own > most)
    return fmt::format("--micro-batch {} counts sequences of one accelerator, {} tokens", training.micro_batch,
                       quantity::format_tokens(quantity::tokens(own)));
  // Without accumulation the ranks make the batch, not its writer.
  if (tokens <= most || training.grad_accum == 1) return std::nullopt;
  return fmt::format("--global-batch {} counts sequences, {} tokens a step; '4M tokens' counts tokens",
                     training.global_batch, quantity::format_tokens(quantity::tokens(tokens)));
}

Warning about_failures(const spec::Question&, const Estimate& estimate) {
  std::string sentence = never_finishes(estimate);
  return sentence.empty() ? std::nullopt : Warning(std::move(sentence));
}

Warning about_bubble(const spec::Question& question, const Estimate& estimate) {
  const double waiting = bubble_share(estimate.compute);
  if (waiting <= loud_bubble) return std::nullopt;
  return fmt::format(
      "the pipeline waits {:.0f} % of each step: more micro-batches (--global-batch, {} a step now) fill it",
      100.0 * waiting, question.training.grad_accum);
}

Warning about_products(const spec::Question& question, const Estimate&) {
  const auto compute = question.training.precision.compute;
  if (!question.gpu || !lacks_products(*question.gpu, compute)) return std::nullopt;
  const bool takes_fp16 = compute == formats::Dtype::bf16 && question.gpu->peaks.fp16;
  return fmt::format("{} has no products in {}: they are priced in the next wider type that it has{}", question.gpu->id,
                     spec::name_of(compute), takes_fp16 ? ", --dtype fp16 runs on its matrix units" : "");
}

Warning about_attention(const spec::Question& question, const Estimate&) {
  const layers::Context run(question, profile_of(question));
  const auto lacks = [&](const spec::LayerKind& kind) { return layers::lacks_kernel(run, kind); };
  if (std::ranges::none_of(question.model.kinds, lacks)) return std::nullopt;
  return "attention keeps its scores, in fp32: transformers hands grouped heads to PyTorch, whose only kernel for them "
         "is FlashAttention's, in 16 bits from Ampere on";
}

/// No accelerator does more than its peak: either the MFU was given and leaves no room for what runs again, or the rate
/// that products were measured at is above the peak that is published.
Warning about_peak(const spec::Question& question, const Estimate& estimate) {
  constexpr std::string_view measured[] = {"model", "hardware"};
  for (const FlopFigure& figure : estimate.compute.flops) {
    if (!quantity::contains(measured, figure.id) || figure.utilization <= 1.0) continue;
    const auto why = question.pricing.mfu
                         ? std::string("no run does that: --mfu is too high for it")
                         : fmt::format("products were measured beyond the published peak ({})",
                                       question.gpu->matmul_ceiling ? question.gpu->matmul_ceiling_source
                                                                    : question.gpu->rates.measured);
    return fmt::format("{} come to {:.0f} % of the peak of {}: {}", figure.label, 100.0 * figure.utilization,
                       question.gpu->id, why);
  }
  return std::nullopt;
}

/// Why a run that likely fits may not. FSDP before torch 2.1 gathered without a limit unless told so, and retried every
/// allocation (torch/distributed/fsdp/fully_sharded_data_parallel.py, limit_all_gathers).
Warning about_tightness(const spec::Question& question, const Estimate& estimate) {
  const Verdict& verdict = estimate.verdict;
  const bool retries = question.layout.sharding == spec::Sharding::fsdp1 &&
                       !frameworks::holds(frameworks::Behaviour::fsdp_limits_gathers, question.training.software);
  switch (verdict.doubt) {
    case trust::Doubt::none: break;
    case trust::Doubt::error_bar:
      return fmt::format("tight: the room left is inside the error bar of {:.0f} %", 100.0 * verdict.error.above);
    case trust::Doubt::cached:
      return fmt::format(
          "tight: what the allocator caches of sharded layers reaches the capacity, where runs have died{}",
          retries ? "; before torch 2.1, without limit_all_gathers, they ran at a third of the speed" : "");
    case trust::Doubt::host:
      return fmt::format(
          "tight: what is offloaded or saved takes {} of the {} of a machine, and frameworks need up to half as "
          "much again for buffers",
          quantity::format_gib(verdict.host_needed), quantity::format_gib(verdict.host_capacity));
  }
  return std::nullopt;
}

/// vLLM ends with "No available memory for the cache blocks" (vllm v1/core/kv_cache_utils.py), unless it shares its
/// weights out over several accelerators (vllm_tensor_parallel_size).
Warning about_engine(const spec::Question& question, const Estimate& estimate) {
  const auto engine = memory::colocated_engine(question);
  const auto weights = engine_weights(quantity::in_parameters(estimate.size.total));
  if (engine == quantity::Bytes{} || weights < engine) return std::nullopt;
  return fmt::format(
      "the colocated engine does not start unless {} accelerators or more share its weights: they take {}, "
      "--colocate-fraction {} gives it {} of each",
      quantity::in_bytes(weights) / quantity::in_bytes(engine) + 1, quantity::format_gib(weights),
      question.training.colocate_fraction, quantity::format_gib(engine));
}

/// All notes, in the order in which they are read.
constexpr Warning (*all_warnings[])(const spec::Question&, const Estimate&) = {
    about_data,     about_batch,     about_positions, about_failures,     about_bubble,   about_peak,
    about_products, about_attention, about_engine,    about_other_stages, about_tightness};

}  // namespace

std::vector<std::string> notes(const spec::Question& question, const Walks& walks) {
  Lines lines = kept_elsewhere(walks.memory);
  for (const auto about : {about_recurrence, about_servers, about_accelerators, about_algorithm, about_samples}) {
    quantity::append(lines, about(question));
  }
  return lines;
}

std::string never_finishes(const Estimate& estimate) {
  const auto& goodput = estimate.compute.goodput;
  if (!goodput || goodput->makes_progress()) return {};
  return fmt::format("the run never finishes: something fails every {}, and a restart takes {}",
                     quantity::format_duration(goodput->mtbf), quantity::format_duration(goodput->restart));
}

std::optional<std::string> too_few_tokens(quantity::Tokens tokens) {
  if (quantity::in_tokens(tokens) >= fewest_pretraining_tokens) return std::nullopt;
  return fmt::format("{} tokens is little for pre-training; the field's rule of thumb is at least 200B",
                     quantity::format_tokens(tokens));
}

std::vector<std::string> warnings(const spec::Question& question, const Estimate& estimate) {
  std::vector<std::string> lines;
  for (const auto about : all_warnings) {
    if (auto line = about(question, estimate)) lines.push_back(std::move(*line));
  }
  return lines;
}

}  // namespace llmcalc::answer
