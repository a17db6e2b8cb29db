// What the blocks of every run are, whoever trains them and however: operations that read what is there, products whose
// work and weights are their sides, kernels that move what they write, and exchanges that the way back turns round.
#include "answer/asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "memory/asked.hpp"
#include "quantity/lists.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_flops;

namespace llmcalc::block_laws {

namespace {

/// One block, taken apart operation by operation.
class BlockCheck {
 public:
  explicit BlockCheck(const layers::Block& block) : block_(block), is_there_(block.tensors.size()) {
    if (block.input != layers::no_tensor) is_there_[block.input] = true;
  }

  void run() {
    for (const layers::Op& op : block_.ops) {
      at_ = op.name;
      check_order(op);
      if (op.product.m > 0) {
        check_product(op);
      } else if (op.kind != layers::OpKind::attention && op.kind != layers::OpKind::loss && op.messages.empty()) {
        check_moved(op);
      }
    }
    check_exchanges();
  }

 private:
  void holds(bool is_so, const char* law) const {
    if (!is_so) FAIL_CHECK(block_.name << ", " << at_ << ": not so that " << law);
  }

  std::int64_t size(layers::TensorId id) const { return in_bytes(block_.tensors[id].size); }

  bool multiplies(const layers::Op& op, spec::Role role) const {
    return op.weight != layers::no_weight && block_.weights[op.weight].role == role;
  }

  bool has(spec::Role role) const {
    return std::ranges::any_of(block_.weights, [&](const layers::Weight& w) { return w.role == role; });
  }

  /// What other blocks hand over has no size here.
  bool is_there(layers::TensorId id) const { return is_there_[id] || size(id) == 0; }

  /// Every tensor is made once, before it is read or kept; pictures come from without, and the training loop's
  /// variables keep what the head's first operation reads to the end of the step (test_loss.cpp).
  void check_order(const layers::Op& op) {
    const bool is_picture = multiplies(op, spec::Role::patches);
    for (const auto id : op.inputs) holds(is_picture || is_there(id), "what is read is there");
    for (const auto id : op.outputs) {
      holds(!is_there_[id], "a tensor is made once");
      is_there_[id] = true;
    }
    const bool in_loop = &op == block_.ops.data() && has(spec::Role::head);
    for (const auto id : op.saved) holds(is_picture || in_loop || is_there(id), "what is kept is there");
    for (const auto id : op.held) holds(is_there(id), "what a variable holds is there");
    if (op.weight != layers::no_weight && !op.inputs.empty()) check_kept(op);
  }

  /// A weight's gradient is made of what it was multiplied by, which kernels of adapters and of scans make again
  /// (unsloth kernels/fast_lora.py; mamba_ssm ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn.backward).
  void check_kept(const layers::Op& op) const {
    const auto& weight = block_.weights[op.weight];
    const auto scans = [](const layers::Op& each) { return each.kind == layers::OpKind::recurrence; };
    if (!weight.trainable || weight.adapter || std::ranges::any_of(block_.ops, scans)) return;
    const auto is_kept = [&](layers::TensorId id) {
      return std::ranges::any_of(block_.ops, [&](const auto& each) { return quantity::contains(each.saved, id); });
    };
    holds(!op.saved.empty() || std::ranges::any_of(op.inputs, is_kept), "what a weight's gradient needs is kept");
  }

  /// Twice a row by a column, as often as there are elements of either; rows that `count` matrices share out are
  /// rounded up, and experts' are those of a balanced router beside the work of an uneven one. Backward each factor
  /// that has a gradient takes as much again (Kaplan et al. 2020, arXiv:2001.08361, table 1).
  void check_product(const layers::Op& op) const {
    const auto& p = op.product;
    const double row = 2.0 * static_cast<double>(p.n) * static_cast<double>(p.k) * static_cast<double>(p.count);
    const double rows = in_flops(op.forward + op.masked) / row;
    const auto most = static_cast<double>(p.m) * (op.routed ? 1.25 : 1.0);
    if (op.kind != layers::OpKind::attention) {
      holds(rows <= 1.000001 * most && rows > static_cast<double>(p.m - 1), "a product is its sides");
    }
    // dQ in fp32, of whole tiles of 128 rows and 32 columns (flash-attention csrc/flash_attn/flash_api.cpp, mha_bwd).
    const auto tiles = quantity::product(quantity::ceil_to(p.m, 128), quantity::ceil_to(p.k, 32), p.count);
    if (op.scratch_tensor > quantity::bytes(0) && op.kind == layers::OpKind::attention)
      holds(in_bytes(op.scratch_tensor) == 4 * tiles, "queries' gradients are in tiles");
    for (const auto gradient : {op.backward_input, op.backward_weight}) {
      const double times = gradient / op.forward;
      const double factors = op.weight == layers::no_weight ? 2.0 : 1.0;
      holds(times == 0.0 || (times > 0.999999 && times < 1.000001 * factors), "a gradient takes as much as a product");
    }
    if (op.kind != layers::OpKind::linear || op.outputs.empty()) return;
    holds(size(op.outputs[0]) <= 4 * quantity::product(p.m, p.n, p.count), "a product makes its rows and columns");
    if (op.weight == layers::no_weight) return;
    holds(block_.weights[op.weight].elements == quantity::product(p.n, p.k, p.count), "a weight is multiplied by");
  }

  /// A kernel writes its results, and backward the gradients of what it read, but that of a summand which is the sum's.
  void check_moved(const layers::Op& op) const {
    std::int64_t written = 0, gradients = 0, arriving = 0;
    for (const auto id : op.outputs) {
      written += size(id);
      arriving += in_bytes(block_.tensors[id].gradient);
    }
    for (const auto id : op.inputs) gradients += in_bytes(block_.tensors[id].gradient);
    holds(in_bytes(op.moved_forward) >= written, "what is made is written");
    if (!op.passes_gradient && op.name != "adapted" && arriving > 0)
      holds(in_bytes(op.moved_backward) >= gradients, "gradients are written");
  }

  /// A scattered sum is gathered on the way back and the other way round, and what a product gathered it may gather
  /// again for its weight (Megatron-LM core/tensor_parallel/mappings.py, and layers.py, LinearWithGradAccumulation);
  /// rows go to experts as gradients come from them.
  void check_exchanges() {
    std::map<std::pair<layers::Collective, bool>, std::int64_t> tensor;
    std::map<bool, std::int64_t> experts;
    for (const layers::Op& op : block_.ops) {
      for (const layers::Message& m : op.messages) {
        if (m.group == layers::RankGroup::tensor) tensor[{m.kind, m.backward}] += in_bytes(m.size);
        if (m.kind == layers::Collective::all_to_all && m.group == layers::RankGroup::expert)
          experts[m.backward] += in_bytes(m.size);
      }
    }
    using enum layers::Collective;
    at_ = "exchanges";
    holds(experts[false] == experts[true], "what goes to experts comes back");
    const auto gathered = tensor[{all_gather, false}], scattered = tensor[{reduce_scatter, false}];
    holds(tensor[{reduce_scatter, true}] == gathered, "what was gathered is scattered");
    const auto again = tensor[{all_gather, true}] - scattered;
    holds(again >= 0 && again <= gathered, "what was scattered is gathered");
    const bool is_summed = tensor[{all_reduce, false}] > 0;
    const bool is_end = has(spec::Role::token_table) || has(spec::Role::head) || has(spec::Role::score);
    if (!is_end) holds(is_summed == (tensor[{all_reduce, true}] > 0), "sums meet sums");
  }

  const layers::Block& block_;
  std::vector<bool> is_there_;
  std::string_view at_;
};

int checked(const std::string& line) {
  CAPTURE(line);
  try {
    const test::Asked asked(line);
    for (const auto& block : asked.program.blocks) BlockCheck(block).run();
    return 1;
  } catch (const quantity::BadInput&) {  // nobody trains it so
    return 0;
  }
}

}  // namespace

TEST_CASE(
    "every block reads what is there, multiplies by its weights, moves what it writes and turns exchanges round") {
  const std::vector<std::string> ways{"",
                                      "--tp 2",
                                      "--tp 2 --sp 1",
                                      "--cp 2",
                                      "--ep 2",
                                      "--method lora",
                                      "--method dora",
                                      "--method qlora",
                                      "--recompute selective",
                                      "--compute fp8-e4m3",
                                      "--tp 2 --sp 1 --mtp-num-layers 1"};
  const auto frameworks = test::words_for<spec::Framework>();
  std::size_t turn = 0;
  int answered = 0;
  for (const auto& preset : read::Catalogue().models()) {
    for (const auto& way : ways) {
      if (turn++ % 2 == 0) continue;  // of each preset every other way, and each way of every other preset
      answered += checked("--model " + preset.id + " --gpu h100-sxm:8 --seq 512 --framework " +
                          frameworks[turn % frameworks.size()] + " " + way);
    }
    ++turn;
  }
  CHECK(answered > 800);
}

}  // namespace llmcalc::block_laws
