#include "search/inner/plan_units.hpp"

#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"

#include <algorithm>
#include <tuple>

namespace llmcalc::search {

namespace {

using spec::CudaGraph;

/// DeepEP and HybridEP, exchanges beside other work, and graphs are Megatron Core's.
bool is_core(const spec::Question& question) {
  return frameworks::row_of(question.training.framework).engine == frameworks::TrainingEngine::megatron_core;
}

bool is_whole(CudaGraph graph) { return graph == CudaGraph::full; }

/// Graphs of parts of a layer leave out the experts, whose tokens the host has to count; of a whole iteration they ask
/// for experts of a fixed capacity (Megatron-LM core/transformer/transformer_config.py), which somebody has to say.
std::vector<CudaGraph> graphs(const spec::Question& question, const spec::RunChoices& choices) {
  if (!choices.cuda_graph.empty()) return choices.cuda_graph;
  const CudaGraph said = question.training.cuda_graph;
  const bool open = is_core(question) && question.model.shape.moe.experts > 0 && said == CudaGraph::none;
  return open ? std::vector{said, CudaGraph::scoped} : std::vector{said};
}

/// The stated values; both where the framework has both ways and nobody says.
std::vector<bool> switches(const std::vector<bool>& stated, bool usual, bool open) {
  if (!stated.empty()) return stated;
  return open ? std::vector<bool>{false, true} : std::vector<bool>{usual};
}

/// Every loop fixes one part of the unit; the innermost appends it.
class UnitList {
 public:
  UnitList(std::uint32_t base, const spec::Question& question, const spec::RunChoices& choices,
           std::vector<PlanUnit>& units)
      : question_(question), choices_(choices), units_(units) {
    unit_.base = base;
  }

  void add() {
    for (const std::int64_t tp : degrees(choices_.tp, question_.layout.gpus)) {
      unit_.tp = tp;
      for (const std::int64_t cp : degrees(choices_.cp, question_.layout.gpus / tp)) {
        unit_.cp = cp;
        add_exchanges();
      }
    }
  }

 private:
  void add_exchanges() {
    using spec::ContextExchange;
    auto exchanges = choices_.cp_exchange;
    if (exchanges.empty()) exchanges = {ContextExchange::ring, ContextExchange::all_to_all};
    if (unit_.cp == 1) exchanges = {ContextExchange::ring};
    for (const auto exchange : exchanges) {
      unit_.cp_exchange = exchange;
      add_experts();
    }
  }

  void add_experts() {
    const auto& moe = question_.model.shape.moe;
    for (const std::int64_t ep : degrees(choices_.ep, std::max<std::int64_t>(1, moe.experts))) {
      for (const std::int64_t etp : degrees(choices_.etp, moe.experts > 0 ? unit_.tp : 1)) {
        unit_.ep = ep;
        unit_.etp = etp;
        if (moe.expert_ffn % etp == 0 && can_be_cut()) add_graphs();
      }
    }
  }

  /// A graph of the whole iteration has other kernels, which keep other tensors.
  void add_graphs() {
    for (const bool whole : {false, true}) {
      unit_.whole_graph = whole;
      if (std::ranges::any_of(graphs(question_, choices_), [&](auto graph) { return is_whole(graph) == whole; })) {
        units_.push_back(unit_);
      }
    }
  }

  /// Layouts that no rule allows without a pipeline none allows with one, where there are fewer replicas.
  bool can_be_cut() const {
    spec::Layout layout;
    layout.gpus = question_.layout.gpus;
    layout.nodes = question_.layout.nodes;
    unit_.shard(layout);
    layout.dp = layout.gpus / (unit_.tp * unit_.cp);
    return frameworks::broken_rule({question_.model.shape, question_.training, layout}, frameworks::LooksAt::ranks) ==
           nullptr;
  }

  const spec::Question& question_;
  const spec::RunChoices& choices_;
  std::vector<PlanUnit>& units_;
  PlanUnit unit_;  ///< that is being put together
};

}  // namespace

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= n / i; ++i) {
    if (n % i == 0) found.push_back(i);
    if (n % i == 0 && i != n / i) found.push_back(n / i);
  }
  std::ranges::sort(found);
  return found;
}

/// The stated values that divide `n`, or all divisors.
std::vector<std::int64_t> degrees(std::vector<std::int64_t> stated, std::int64_t n) {
  if (stated.empty()) return divisors(n);
  std::ranges::sort(stated);
  std::erase_if(stated, [&](std::int64_t value) { return n % value != 0; });
  return stated;
}

void PlanUnit::shard(spec::Layout& layout) const {
  layout.tp = tp;
  layout.cp = cp;
  layout.cp_exchange = cp_exchange;
  layout.ep = ep;
  layout.etp = etp;
}

bool PlanUnit::is_alike(const PlanUnit& other) const {
  const auto parts = [](const PlanUnit& unit) {
    return std::tie(unit.tp, unit.cp, unit.ep, unit.etp, unit.cp_exchange, unit.whole_graph);
  };
  return parts(*this) == parts(other);
}

void add_units(std::uint32_t base, const spec::Question& question, const spec::RunChoices& choices,
               std::vector<PlanUnit>& units) {
  UnitList(base, question, choices, units).add();
}

/// How tokens reach their experts makes a difference where these are spread, by node where over several.
void list_variants(const PlanUnit& unit, const spec::Question& question, const spec::RunChoices& choices,
                   std::vector<Variant>& variants) {
  const spec::Layout& layout = question.layout;
  const bool spread = is_core(question) && unit.ep > 1;
  const bool over_nodes = spread && unit.ep * unit.etp > layout.gpus / layout.nodes;
  variants.clear();
  for (const bool by_node : switches(choices.node_dispatch, layout.node_dispatch, over_nodes)) {
    for (const auto graph : graphs(question, choices)) {
      if (is_whole(graph) != unit.whole_graph) continue;
      for (const bool overlap : switches(choices.expert_overlap, layout.expert_overlap, spread)) {
        variants.push_back({by_node, overlap, graph});
      }
    }
  }
}

}  // namespace llmcalc::search
