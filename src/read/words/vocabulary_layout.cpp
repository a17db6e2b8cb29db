// The terms that describe the hardware and how a run is spread over it.
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

using spec::Layout;

using Degree = Whole<1>;
using StageLayers = Whole<1, max_layers>;

/// The accelerator is looked up by resolve(); what is echoed is its id.
std::string show_gpu(const spec::Question& question) { return question.gpu ? question.gpu->id : std::string(); }

/// Completed together with the nodes, so nothing else holds it.
std::string show_gpus_per_node(const spec::Question& question) {
  return std::to_string(question.layout.gpus / question.layout.nodes);
}

constexpr Term rows[] = {
    {"gpu", TermGroup::hardware, "name, name:count or local", nullptr, "accelerator preset, see `llmcalc gpu list`",
     nullptr, show_gpu},
    term<Degree, InLayout<&Layout::gpus>>("gpus", TermGroup::layout, "accelerators of the run"),
    term<Degree, InLayout<&Layout::nodes>>("nodes", TermGroup::layout, "machines they sit in"),
    {"gpus_per_node", TermGroup::layout, Degree::values, nullptr, "accelerators of one machine; default: the preset's",
     nullptr, show_gpus_per_node},
    term<Degree, InLayout<&Layout::dp>>("dp", TermGroup::layout,
                                        "data-parallel replicas; default: what the rest leaves"),
    term<Degree, InLayout<&Layout::tp>>("tp", TermGroup::layout, "tensor parallelism"),
    term<Switch, InLayout<&Layout::sp>>("sp", TermGroup::layout, "Megatron sequence parallelism"),
    term<Degree, InLayout<&Layout::pp>>("pp", TermGroup::layout, "pipeline stages"),
    term<Degree, InLayout<&Layout::vpp>>("vpp", TermGroup::layout, "virtual stages a rank; 1: none"),
    term<Word<spec::Schedule>, InLayout<&Layout::schedule>>("schedule", TermGroup::layout,
                                                            "in which order a stage runs its micro-batches"),
    term<Maybe<StageLayers>, InLayout<&Layout::first_stage_layers>>(
        "first_stage_layers", TermGroup::layout, "layers of the first stage; default: as many as the others"),
    term<Maybe<StageLayers>, InLayout<&Layout::last_stage_layers>>(
        "last_stage_layers", TermGroup::layout, "layers of the last stage; default: as many as the others"),
    term<Degree, InLayout<&Layout::cp>>("cp", TermGroup::layout, "context parallelism"),
    term<Word<spec::ContextExchange>, InLayout<&Layout::cp_exchange>>(
        "cp_exchange", TermGroup::layout, "how context-parallel ranks see each other's keys and values"),
    term<Degree, InLayout<&Layout::ep>>("ep", TermGroup::layout, "expert parallelism"),
    term<Degree, InLayout<&Layout::etp>>("etp", TermGroup::layout, "tensor parallelism inside an expert"),
    term<Switch, InLayout<&Layout::node_dispatch>>(
        "node_dispatch", TermGroup::layout,
        "a token travels once to each node of its experts, as DeepEP and HybridEP do"),
    term<Switch, InLayout<&Layout::expert_overlap>>("expert_overlap", TermGroup::layout,
                                                    "experts' exchanges run beside another micro-batch's work"),
    term<Word<spec::Sharding>, InLayout<&Layout::sharding>>("sharding", TermGroup::layout,
                                                            "how states are spread over data-parallel ranks"),
    term<Degree, InLayout<&Layout::sharding_group>>("sharding_group", TermGroup::layout,
                                                    "ranks states are spread over; default: all data-parallel ranks"),
    term<Switch, InLayout<&Layout::reshard>>(
        "reshard", TermGroup::layout,
        "FSDP drops gathered weights behind the forward pass; 0: SHARD_GRAD_OP keeps them"),
    term<Maybe<Switch>, InLayout<&Layout::data_overlap>>(
        "data_overlap", TermGroup::layout,
        "gradients and weights of data parallelism travel beside the passes; default: the framework's way"),
    term<Maybe<Rate>, InLayout<&Layout::inter_node_gbps>>(
        "inter_node_gbps", TermGroup::layout, "network of one node, gigabits per second; default: the preset's"),
};

}  // namespace

std::span<const Term> layout_terms() { return rows; }

}  // namespace llmcalc::read
