// The best way to run a model: a search over every legal layout of a question.
//
// A space is cut into units, each of which shares the prices of its blocks and weights. Units may be searched in any
// order: of two runs one is always better, by the objective, then by step time, by what stays on the accelerator,
// memory and the choice itself.
#pragma once

#include "frameworks/layout_rules.hpp"
#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/stage_blocks.hpp"
#include "spec/run_choices.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace llmcalc::search {

enum class Objective { step_time, cost, energy, memory, gpus, micro_batch };

struct PlanLimits : spec::MemoryLimits {
  std::optional<quantity::Seconds> time;  ///< of the whole run
  std::optional<quantity::Money> cost;

  bool stated() const { return memory || margin || margin_share || time || cost; }
};

struct PlanQuestion {
  /// Questions as far as the search does not choose: model, accelerator, their number, sequence, global batch,
  /// precision. Where several are given, each is searched.
  std::vector<spec::Question> bases;
  spec::RunChoices choices = {};
  std::vector<spec::RunChoices> startable = {};  ///< of each base, the choices that a command can say; none: all
  /// Texts, one a base, that bases share which ask the same of another accelerator; none: nothing is the same.
  std::vector<std::string> kinds = {};
  Objective objective = Objective::step_time;
  PlanLimits limits = {};
  bool strict = false;    ///< a fit inside the error bar is none
  std::size_t best = 10;  ///< how many of the best to keep
  bool prunes = true;     ///< leaves out what cannot be among the best or on the front; otherwise all is walked
};

/// One way to run a base.
struct Choice {
  std::uint32_t base = 0;
  spec::Layout layout;  ///< the base's, with what is chosen of it
  std::int64_t micro_batch = 1;
  std::uint32_t recompute = 0;  ///< index into PlanSpace::recomputes()
  spec::Offload offload = spec::Offload::none;
  spec::CudaGraph cuda_graph = spec::CudaGraph::none;

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Parts that tell one choice from another, as references: of two runs that are equally good the one is better in which
/// the first of these that differs is smaller.
/// \param choice  a Choice or a const one
template <class SomeChoice>
auto chosen(SomeChoice& choice) {
  auto& l = choice.layout;
  return std::tie(choice.base, l.tp, l.pp, l.vpp, l.cp, l.ep, l.etp, l.dp, choice.micro_batch, l.sp, l.schedule,
                  l.cp_exchange, l.sharding, choice.recompute, choice.offload, l.node_dispatch, l.expert_overlap,
                  choice.cuda_graph);
}

struct PlannedRun {
  Choice choice;
  quantity::Bytes memory;  ///< of one accelerator: what nvidia-smi shows
  quantity::Seconds step;
  quantity::Seconds total;                 ///< of the run
  std::optional<quantity::Money> cost;     ///< of the run
  std::optional<quantity::Energy> energy;  ///< of the run, servers and building included

  friend bool operator==(const PlannedRun&, const PlannedRun&) = default;
};

/// Findings of a search so far.
struct Findings {
  std::int64_t looked_at = 0;      ///< legal layouts, those among them that were ruled out together
  std::int64_t fitting = 0;        ///< of those that were priced as well, the ones within all limits
  std::int64_t unanswered = 0;     ///< times that something in the way of the search could not be walked or priced
  std::string obstacle;            ///< why, of the alphabetically first
  std::vector<PlannedRun> best;    ///< in order
  std::vector<PlannedRun> each;    ///< the best of each base that has one, in order
  std::vector<PlannedRun> front;   ///< no other run takes less memory, time and cost; by time
  std::optional<PlannedRun> sure;  ///< the best beyond the error bar, where a tight fit is one as well

  friend bool operator==(const Findings&, const Findings&) = default;
};

/// Layouts that differ in micro-batch, pipeline, sharding, sequence parallelism, recompute, offload and the like only.
struct PlanUnit {
  std::uint32_t base = 0;
  std::int64_t tp = 1, cp = 1, ep = 1, etp = 1;
  spec::ContextExchange cp_exchange = spec::ContextExchange::ring;
  bool whole_graph = false;  ///< graphs of a whole iteration

  void shard(spec::Layout& layout) const;
  bool is_alike(const PlanUnit& other) const;  ///< but for the base
};

/// Everything that can be chosen, and what all choices share.
class PlanSpace {
 public:
  /// \throws quantity::BadInput when the objective or a limit needs what is not known
  explicit PlanSpace(PlanQuestion question);
  ~PlanSpace();
  PlanSpace(PlanSpace&&) noexcept;

  const PlanQuestion& question() const;
  std::span<const PlanUnit> units() const;
  std::span<const spec::Recompute> recomputes() const;

  /// Where no number of pipeline stages is legal for any base, a rule that all of them break; otherwise nullptr.
  const frameworks::LayoutRule* barrier() const;

  /// The run as a question of its own: what `fit` would be asked.
  spec::Question question_of(const Choice& choice) const;

  /// Whether a run is the better one of two; never neither is.
  bool is_better(const PlannedRun& a, const PlannedRun& b) const;

  struct Base;
  const Base& base(std::uint32_t index) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Searches units one after another; keeps its storage between them.
class PlanSearch {
 public:
  explicit PlanSearch(const PlanSpace& space);
  ~PlanSearch();
  PlanSearch(PlanSearch&&) noexcept;

  void search(const PlanUnit& unit);
  Findings findings() const;
  std::int64_t fitting() const;  ///< of the findings

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// All units, one after another.
Findings plan(const PlanSpace& space);

}  // namespace llmcalc::search
