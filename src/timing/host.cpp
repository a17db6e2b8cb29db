#include "timing/host.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::timing {

using quantity::Seconds;
using quantity::seconds;

namespace {

/// Host of Megatron-LM's operations on routed rows, over that of others: counts are waited for, modules go through each
/// expert's tensors and quantizers (TransformerEngine issues 1499 and 2897). Empirical: 9.2 ms a layer of 16 experts,
/// Qwen3 30B without graphs on B200 (Megatron-Bridge 25.11 and 26.02).
constexpr double routed_host = 2.9;

/// Host of a product that makes one gradient, over that of one that makes both: a frozen weight has no second product
/// and nothing to add it to. With all matrices of its layers frozen a backward pass takes 0.77 to 0.79 of its time
/// (executed as scripts/measure-host does), two fifths of which are its products.
constexpr double one_gradient = 0.5;

/// Time that hooks of a checkpoint take beside an operation's own: they see what autograd saves of a call, however much
/// there is in it. Shares of the forward pass as executed (tests/timing/host.csv, weights and adapters of 16 bits).
constexpr double hooks_forward = 0.5;
constexpr double hooks_again = 0.8;

/// Eager operations that the host could hand over while FSDP has a unit gathered and sharded again, and backward its
/// gradients reduced; and while it sees to one more tensor of the unit (executed: tests/timing/host.csv, units of nine
/// tensors, and of one where adapters are units).
struct CallsOfUnit {
  double forward;
  double of_tensor;
  double backward;
  double of_gradient;
};

constexpr std::array calls_of_units{CallsOfUnit{15.0, 3.0, 12.0, 5.0}, CallsOfUnit{32.0, 2.0, 49.0, 1.5}};

bool is_product(const layers::Op& op) { return op.product.m > 0; }

bool is_of_frozen_weight(const layers::Op& op) {
  return op.kind == layers::OpKind::linear && op.backward_weight == quantity::flops(0);
}

bool makes_gradients_alone(const layers::Op& op) {
  return !is_product(op) && op.moved_forward == quantity::bytes(0) && op.moved_backward > quantity::bytes(0);
}

/// Seconds for one operation, as the framework hands it over. Launches from C++ take the time in which a kernel starts.
double eager_seconds(const spec::HostRates& rates, const spec::Training& training, const frameworks::Profile& profile,
                     Seconds operation) {
  if (profile.host.compiled) return 0.0;
  return (training.compile ? rates.compiled : 1.0) * quantity::in_seconds(operation);
}

}  // namespace

HostPrices::HostPrices(const spec::HostRates& rates, const spec::Training& training, const frameworks::Profile& profile)
    : operation_(eager_seconds(rates, training, profile, rates.operation)),
      uncompiled_(profile.host.compiled ? 0.0 : quantity::in_seconds(rates.operation)),
      module_(eager_seconds(rates, training, profile, profile.host.heavy_modules ? rates.heavy_module : rates.module)),
      launch_(quantity::in_seconds(rates.launch)),
      backward_(rates.backward),
      routed_(profile.host.heavy_modules ? routed_host : 1.0),
      hands_over_ahead_(!profile.host.waits_for_kernels),
      hooks_checkpoints_(profile.host.hooks_checkpoints),
      units_of_adapters_(profile.adapters.own_units),
      graphs_(training.cuda_graph) {}

/// Operations of a graph need no host; a partial one leaves out what depends on how many rows each expert gets.
/// Loops of the library launch further kernels from C++, those of a framework one operation after another.
Seconds HostPrices::dispatch(const layers::Op& op, bool backward) const {
  if (graphs_ == spec::CudaGraph::full || (graphs_ == spec::CudaGraph::scoped && !op.routed)) return {};
  const double routed = op.routed ? routed_ : 1.0;
  const double call = routed * (is_product(op) ? module_ : operation_) * static_cast<double>(op.calls);
  const double further = op.eager ? call : routed * launch_;
  if (!backward) {
    if (makes_gradients_alone(op)) return {};
    return seconds(call + further * static_cast<double>(op.kernels - 1));
  }
  const bool frozen = is_of_frozen_weight(op);
  const double gradients = is_product(op) && !frozen ? 2.0 : 1.0;
  return seconds((frozen ? one_gradient : 1.0) * backward_ * call +
                 gradients * further * static_cast<double>(op.kernels_backward - 1));
}

Seconds HostPrices::checkpointed(const layers::Op& op, bool again) const {
  const Seconds handed_over = dispatch(op, false);
  if (!hooks_checkpoints_) return handed_over;
  return handed_over + ((again ? hooks_again : hooks_forward) / static_cast<double>(op.calls)) * handed_over;
}

Seconds HostPrices::hooks(Units units, std::int64_t tensors, bool backward) const {
  const CallsOfUnit& calls = calls_of_units[static_cast<std::size_t>(units)];
  const double of_unit = backward ? calls.backward : calls.forward;
  const double of_each = backward ? calls.of_gradient : calls.of_tensor;
  return seconds((of_unit + of_each * static_cast<double>(tensors)) * uncompiled_);
}

/// A host that is ahead of the accelerator is waited for only where it needs longer.
Seconds HostPrices::waiting(Seconds dispatch, Seconds busy) const {
  return hands_over_ahead_ ? std::max(seconds(0), dispatch - busy) : dispatch;
}

}  // namespace llmcalc::timing
