// The units of a search, every way to cut tensors, sequences and experts, and the ways to run what is cut.
#pragma once

#include "answer/figures.hpp"
#include "frameworks/profile.hpp"
#include "search/plan.hpp"
#include "timing/network.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::search {

/// One way to cut the layers into stages.
struct StageCut {
  std::int64_t vpp = 1;
  std::vector<std::uint32_t> stages;  ///< for each recompute policy, an index into the pipeline's
};

/// The cuts of one number of pipeline stages that have the same blocks.
struct Pipeline {
  std::int64_t pp = 1;
  std::int64_t vpp = 1;      ///< with which their programs are built
  std::uint32_t blocks = 0;  ///< the same number as of another pipeline that has the same blocks
  std::vector<StageCut> cuts;
  std::vector<std::vector<program::StageGroup>> stages;  ///< that cuts have, each once: equal layers in more chunks are
                                                         ///< the same stages
};

struct PlanSpace::Base {
  std::uint32_t kind = 0;   ///< the first base with the same layouts, programs and memory
  spec::Question question;  ///< without a layout
  spec::RunChoices choices;
  /// For each recompute policy; where the type of gradients follows the sharding first those without sharding, then as
  /// many with all states sharded.
  std::vector<frameworks::Profile> profile;
  std::vector<Pipeline> pipelines;
  const frameworks::LayoutRule* barrier = nullptr;  ///< where there are no pipelines, a rule that they would break
  timing::Links links;
  quantity::Bytes capacity;
  double steps = 0;                                ///< of the whole run
  std::optional<answer::WallClock> clock;          ///< where something is trained
  std::optional<quantity::Money> dollars_an_hour;  ///< of all accelerators
  std::optional<quantity::Power> power;            ///< of all accelerators, with servers and building
};

std::vector<std::int64_t> divisors(std::int64_t n);

/// The stated values that divide `n`, or all divisors, in ascending order.
std::vector<std::int64_t> degrees(std::vector<std::int64_t> stated, std::int64_t n);

/// How tokens reach their experts and who hands kernels over: it changes the time of a layout and not its memory.
struct Variant {
  bool node_dispatch = false;
  bool expert_overlap = false;
  spec::CudaGraph cuda_graph = spec::CudaGraph::none;
};

/// Appends the units of one base.
void add_units(std::uint32_t base, const spec::Question& question, const spec::RunChoices& choices,
               std::vector<PlanUnit>& units);

/// The ways to run a unit; no more than 12, and those that share kernels stand together.
void list_variants(const PlanUnit& unit, const spec::Question& question, const spec::RunChoices& choices,
                   std::vector<Variant>& variants);

}  // namespace llmcalc::search
