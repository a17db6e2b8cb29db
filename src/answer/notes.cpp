// What the model of a run leaves out, and what its figures rest on.
#include "answer/inner/parts.hpp"
#include "frameworks/profile.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "spec/names.hpp"
#include "timing/kernels.hpp"
#include "timing/network.hpp"
#include "timing/step_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

/// What products are priced by, where no MFU says the time.
Lines about_products(const spec::Question& question) {
  if (question.pricing.mfu) return {};
  Lines lines{timing::matrix_source(*question.gpu)};
  const auto stand_in = timing::stand_in_source(*question.gpu);
  if (!stand_in.empty()) lines.push_back(stand_in);
  return lines;
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

/// What experts that are spread over ranks leave open.
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

/// What PyTorch's own parallelism and torchao can do in another way than was priced.
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

/// What a run keeps elsewhere than on the accelerator.
Lines kept_elsewhere(const memory::StepMemory& memory) {
  if (memory.paged == quantity::bytes(0)) return {};
  return {fmt::format("paged optimizer states, not counted above because the driver may move them to the host: {}",
                      quantity::format_gib(memory.paged))};
}

Lines about_accelerators(const spec::Question& question) {
  Lines lines;
  if (!question.gpu) return lines;
  for (const auto about : {about_products, about_links, about_experts, about_jitter, about_drives, about_torch}) {
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

}  // namespace

std::vector<std::string> notes(const spec::Question& question, const Walks& walks) {
  Lines lines = kept_elsewhere(walks.memory);
  for (const auto about : {about_recurrence, about_servers, about_accelerators, about_algorithm, about_samples}) {
    quantity::append(lines, about(question));
  }
  return lines;
}

}  // namespace llmcalc::answer
