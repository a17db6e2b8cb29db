#include "timing/block_time.hpp"

#include "program/count.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace llmcalc::timing {

using layers::Op;
using layers::OpKind;
using layers::RankGroup;
using quantity::seconds;
using quantity::Seconds;

namespace {

bool is_matrix_work(const Op& op) { return op.product.m > 0; }

/// The router and the head multiply in 16 bits beside narrow products, and in fp32 what nothing narrows.
formats::Dtype type_of(const Op& op, formats::Dtype compute) {
  if (op.wide) return formats::Dtype::fp32;
  return formats::is_narrow_float(compute) && !op.narrow ? formats::Dtype::bf16 : compute;
}

Seconds& part(PassTime& pass, RankGroup group) {
  switch (group) {
    case RankGroup::tensor: return pass.tensor;
    case RankGroup::context: return pass.context;
    case RankGroup::expert:
    case RankGroup::expert_tensor: return pass.expert;
  }
  return pass.tensor;
}

/// Cost of a collective beside a product, since it takes units, bandwidth and power from it: between nothing
/// and all of it. Half errs least over the tensor-parallel runs of Llama 405B (SimuMax) and of NeMo on H100; the
/// recipes with user buffers (Megatron-Bridge) are nearer to nothing, plain Megatron-LM (FlagPerf, vTrain's A100 nodes)
/// nearer to all.
constexpr double cost_beside_work = 0.5;

/// Passes that an operation is a part of in one direction.
using PartOf = std::span<PassTime* const>;

/// Adds the messages of one direction; those beside the operation's own work as far as they slow it or outlast it.
void add_messages(const Op& op, bool backward, Seconds own_work, const Network& network, PartOf passes) {
  Seconds beside;
  const auto add = [&](layers::RankGroup group, Seconds time) {
    for (PassTime* pass : passes) part(*pass, group) += time;
  };
  for (const layers::Message& m : op.messages) {
    if (m.backward != backward) continue;
    const Seconds time = network.collective(m.kind, m.size, network.span(m.group), m.copies);
    if (m.overlapped) {
      beside += time;
    } else {
      add(m.group, time);
    }
  }
  if (beside > seconds(0)) add(op.messages[0].group, std::max(cost_beside_work * beside, beside - own_work));
}

class OpTimer {
 public:
  OpTimer(const layers::Block& block, const Prices& prices) : block_(block), prices_(prices) {}

  void forward(const Op& op, PartOf passes) const {
    Seconds work;
    auto kind = &PassTime::streams;
    if (op.kind == OpKind::attention) {
      kind = &PassTime::attention;
      work = prices_.kernels.attention(op, false);
    } else if (is_matrix_work(op)) {
      kind = &PassTime::products;
      work = product(op, Pass::forward);
    } else if (op.moved_forward > quantity::bytes(0)) {
      work = moving(op, op.moved_forward, op.forward) + prices_.kernels.further_starts(op.kernels - 1);
    }
    for (PassTime* pass : passes) pass->*kind += work;
    add_messages(op, false, work, prices_.network, passes);
  }

  void backward(const Op& op, BlockTime& time) const {
    Seconds work;
    if (op.kind == OpKind::attention) {
      time.backward.attention += work = prices_.kernels.attention(op, true);
    } else if (is_matrix_work(op)) {
      time.backward.products += work = gradients(op, time.weight_gradients);
    } else if (op.moved_backward > quantity::bytes(0)) {
      time.backward.streams += work = moving(op, op.moved_backward, op.backward_input + op.backward_weight) +
                                      prices_.kernels.further_starts(op.kernels_backward - 1);
    }
    PassTime* const pass = &time.backward;
    add_messages(op, true, work, prices_.network, {&pass, 1});
  }

 private:
  Seconds product(const Op& op, Pass pass) const {
    const Seconds one_call = prices_.kernels.product(op.product, type_of(op, prices_.compute), pass);
    return pass == Pass::backward_weight ? one_call : one_call + prices_.kernels.further_calls(op.kernels - 1);
  }

  /// Thin products move bytes like anything else, until those in fp32 have too much to multiply.
  Seconds moving(const Op& op, quantity::Bytes moved, quantity::Flops flops) const {
    const Seconds streamed = streaming(op, moved);
    return op.wide ? std::max(streamed, prices_.kernels.wide_product(flops)) : streamed;
  }

  Seconds streaming(const Op& op, quantity::Bytes moved) const {
    if (prices_.kernels.caches(operands(op, moved))) return prices_.kernels.cached_stream(moved);
    if (op.eager) return prices_.kernels.eager_stream(moved);
    return op.kind == OpKind::permutation ? prices_.kernels.permutation(moved) : prices_.kernels.stream(moved);
  }

  /// Scores have a gradient for either factor, matrices one for the input and one for the weight.
  Seconds gradients(const Op& op, Seconds& of_weights) const {
    const bool both_are_inputs = op.kind == OpKind::scores;
    Seconds sum;
    if (op.backward_input > quantity::flops(0)) sum += product(op, Pass::backward_input);
    if (both_are_inputs) return sum + product(op, Pass::backward_factor);
    if (op.backward_weight > quantity::flops(0)) {
      const Seconds weight = product(op, Pass::backward_weight);
      of_weights += weight;
      sum += weight;
    }
    return sum;
  }

  /// The tensors that an operation reads and writes; one without any names what its kernels move.
  quantity::Bytes operands(const Op& op, quantity::Bytes moved) const {
    auto sum = quantity::bytes(0);
    for (const layers::TensorId id : op.inputs) sum += block_.tensors[id].size;
    for (const layers::TensorId id : op.outputs) sum += block_.tensors[id].size;
    return sum == quantity::bytes(0) ? moved : sum;
  }

  const layers::Block& block_;
  const Prices& prices_;
};

/// A checkpointed block saves its input and what survives the recompute, others what their operations save.
quantity::Bytes saved_bytes(const layers::Block& block) {
  std::vector<bool> saved(block.tensors.size(), false);
  for (std::size_t i = 0; i < saved.size(); ++i) saved[i] = block.tensors[i].survives_recompute;
  if (block.checkpointed) {
    if (block.input != layers::no_tensor) saved[block.input] = true;
  } else {
    for (const Op& op : block.ops) {
      for (const layers::TensorId id : op.saved) saved[id] = true;
    }
  }
  auto sum = quantity::bytes(0);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (saved[i]) sum += block.tensors[i].size;
  }
  return sum;
}

/// Read, added to what is there, and written (pytorch torch/csrc/autograd/input_buffer.cpp, accumulate).
Seconds added_gradient(const Op& op, quantity::Bytes gradient, const KernelPrices& kernels) {
  constexpr std::int64_t passes = 3;
  if (kernels.caches(passes * gradient)) return kernels.cached_stream(passes * gradient);
  return op.eager ? kernels.eager_stream(passes * gradient) : kernels.stream(passes * gradient);
}

/// The first behind this one that an operation reads.
layers::TensorId next_input(const Op& op, int last) {
  auto next = layers::no_tensor;
  for (const layers::TensorId id : op.inputs) {
    if (id > last) next = std::min(next, id);
  }
  return next;
}

/// Where several operations read one tensor, each gradient after the first.
Seconds add_up_gradients(const layers::Block& block, const KernelPrices& kernels) {
  Seconds sum;
  std::vector<bool> arrived(block.tensors.size(), false);
  for (const Op& op : block.ops) {
    for (auto id = next_input(op, -1); id != layers::no_tensor; id = next_input(op, id)) {
      const auto gradient = block.tensors[id].gradient;
      if (gradient == quantity::bytes(0)) continue;
      if (arrived[id]) sum += added_gradient(op, gradient, kernels);
      arrived[id] = true;
    }
  }
  return sum;
}

/// Time of the host for what runs forward, the first time or again.
Seconds forward_dispatch(const Op& op, const layers::Block& block, const HostPrices& host, bool again) {
  return block.checkpointed ? host.checkpointed(op, again) : host.dispatch(op, false);
}

/// Host of one pass that is stopped on the way.
class StoppedHost {
 public:
  void stop(const PassTime& pass, const HostPrices& host) {
    const Seconds busy = pass.total() - pass.host;
    waited_ += host.waiting(pass.dispatch + hooked - dispatched_, busy - busy_);
    dispatched_ = pass.dispatch + hooked;
    busy_ = busy;
  }

  /// Time that the pass takes longer than with a host that runs ahead as far as it likes. \pre it has ended
  PassTime beyond(const PassTime& pass, const HostPrices& host) {
    stop(pass, host);
    PassTime longer;
    longer.host = std::max(seconds(0), waited_ - pass.host);
    longer.dispatch = hooked;
    return longer;
  }

  Seconds hooked;  ///< what hooks have taken

 private:
  Seconds dispatched_;  ///< up to the last stop, hooks among it
  Seconds busy_;
  Seconds waited_;
};

/// Host of a block that is a unit of FSDP, with adapters that are units of their own where peft makes them.
class StoppedHosts {
 public:
  StoppedHosts(const layers::Block& block, const HostPrices& host) : block_(block), host_(host) {}

  /// FSDP1 gathers no unit before the second before it has run (torch/distributed/fsdp/_runtime_utils.py, _unshard;
  /// _limiter_utils.py, _FreeEventQueue): where adapters are units, the host is hardly ever ahead.
  void see(const Op& op, bool again, const Passes& passes) {
    if (!host_.has_units_of_adapters() || op.kind != OpKind::linear || !is_adapter(op.weight)) return;
    const bool second = ++adapters_ % 2 == 0;
    const auto reach = [&](StoppedHost& stopped, const PassTime& pass, bool backward) {
      stopped.hooked += host_.hooks(Units::fsdp1, 1, backward);
      if (second) stopped.stop(pass, host_);
    };
    reach(forward_, passes.forward, false);
    if (again) reach(recompute_, passes.recompute, false);
    reach(backward_, passes.backward, true);
  }

  void end(bool goes_back, BlockTime& time) {
    const bool apart = host_.has_units_of_adapters();
    end(Units::fsdp1, !apart, goes_back, time);
    StoppedHosts(block_, host_).end(Units::fsdp2, true, goes_back, time);
  }

 private:
  bool is_adapter(layers::WeightId weight) const {
    return weight != layers::no_weight && block_.weights[weight].adapter;
  }

  void end(Units units, bool with_adapters, bool goes_back, BlockTime& time) {
    const auto count = [&](bool all) {
      return std::ranges::count_if(block_.weights, [&](const layers::Weight& w) {
        return (all || w.trainable) && (with_adapters || !w.adapter);
      });
    };
    Passes& longer = time.of_units[static_cast<std::size_t>(units)];
    forward_.hooked += host_.hooks(units, count(true), false);
    longer.forward = forward_.beyond(time.forward, host_);
    longer.recompute = recompute_.beyond(time.recompute, host_);
    if (!goes_back) return;
    backward_.hooked += host_.hooks(units, count(false), true);
    longer.backward = backward_.beyond(time.backward, host_);
  }

  const layers::Block& block_;
  const HostPrices& host_;
  int adapters_ = 0;
  StoppedHost forward_;
  StoppedHost recompute_;
  StoppedHost backward_;
};

}  // namespace

BlockTime time_block(const layers::Block& block, const Prices& prices) {
  const bool goes_back = std::ranges::any_of(
      block.tensors, [](const layers::Tensor& tensor) { return tensor.gradient > quantity::bytes(0); });
  const OpTimer timer(block, prices);
  const HostPrices& host = prices.kernels.host();
  BlockTime time;
  StoppedHosts stopped(block, host);
  PassTime* const forward[] = {&time.forward, &time.recompute};
  for (const Op& op : block.ops) {
    const bool again = program::runs_again(block, op);
    timer.forward(op, std::span(forward).first(again ? 2 : 1));
    time.forward.dispatch += forward_dispatch(op, block, host, false);
    if (goes_back) {
      timer.backward(op, time);
      time.backward.dispatch += host.dispatch(op, true);
    }
    if (again) time.recompute.dispatch += forward_dispatch(op, block, host, true);
    stopped.see(op, again, time);
  }
  time.backward.streams += add_up_gradients(block, prices.kernels);
  time.saved = saved_bytes(block);
  for (PassTime* pass : {&time.forward, &time.recompute, &time.backward}) {
    pass->host = host.waiting(pass->dispatch, pass->total());
  }
  stopped.end(goes_back, time);
  return time;
}

}  // namespace llmcalc::timing
