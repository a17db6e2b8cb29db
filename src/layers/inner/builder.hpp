// The vocabulary in which layers are written down: values, weights, and the operations between them.
//
// Each operation states what autograd keeps for it. An operand is kept only if the other operand needs a gradient
// (PyTorch's derivatives.yaml), which is how frozen weights shrink activations without a rule of their own.
#pragma once

#include "layers/block.hpp"
#include "layers/context.hpp"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace llmcalc::layers {

/// A tensor on its way through a block: rows x columns elements of `width` bytes.
struct Value {
  TensorId id = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t width = 0;
  bool needs_gradient = false;
};

/// A view of the first columns of a matrix: the storage, and so the identity, stays that of the whole.
Value columns_of(Value whole, std::int64_t columns);

/// How tensor parallelism cuts a matrix (Shoeybi et al. 2019, arXiv:1909.08053 §3): by outputs, by inputs, or not.
enum class Cut { none, columns, rows };

/// Which resting type of the run a matrix has.
enum class Resting { as_layers, as_tables };

/// Who multiplies by a matrix.
enum class Multiplier {
  module,  ///< the module that has it, with its adapters
  tensor,  ///< whoever takes its weight: adapters beside it never run
  kernel,  ///< a kernel that takes its weight, makes its input again backward, and each gradient whether asked or not
  kernel_twice,  ///< and the product itself again
};

struct Matrix {
  Role role;
  std::int64_t rows = 0;     ///< inputs of the whole matrix
  std::int64_t columns = 0;  ///< outputs of the whole matrix
  bool bias = false;
  Cut cut = Cut::none;
  std::int64_t experts = 1;         ///< so many equal matrices, each row of the input meeting one of them
  std::int64_t active_experts = 1;  ///< of which a token passes through so many
  Resting resting = Resting::as_layers;
  Multiplier multiplier = Multiplier::module;

  std::string_view name() const { return spec::label_of(role); }
};

/// Copies of a trained tensor: one for each expert, of which a token passes through some.
struct Copies {
  std::int64_t all = 1;
  std::int64_t active = 1;
};

class BlockBuilder {
 public:
  BlockBuilder(const Context& context, Block& block);

  const Context& context() const { return context_; }
  bool adds_wide() const;  ///< layers hand on their sums in fp32
  Block& block() { return block_; }

  /// The hidden state handed over by the block before: rows x hidden.
  Value input(std::string_view name, std::int64_t rows, std::int64_t columns, bool needs_gradient);
  void output(const Value& value) { block_.output = value.id; }

  Value value(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t width, bool needs_gradient);
  Value like(const Value& x, std::string_view name) {
    return value(name, x.rows, x.columns, x.width, x.needs_gradient);
  }
  WeightId weight(const Weight& weight);
  /// A table whose rows are looked up, cut over tensor-parallel ranks by rows when `cut`.
  WeightId table(Role role, std::int64_t rows, std::int64_t columns, bool cut);
  /// Adds `others` more matrices like one that was multiplied by, which have no operation of their own.
  void rest_of(Role role, std::int64_t others, std::int64_t rows, std::int64_t columns);
  /// A vector of parameters (norm, bias, sinks) of `elements` elements, or a slice of it a rank when cut.
  WeightId vector(std::string_view name, std::int64_t elements, Cut cut = Cut::none);

  Value linear(const Value& x, const Matrix& matrix);
  Value capped(const Value& x, std::string_view name);  ///< c tanh(x / c)
  Value norm(const Value& x, std::string_view name, spec::Norm kind);
  Value norm(const Value& x, std::string_view name) { return norm(x, name, context_.shape().norm); }
  Value weighted_wide(const Value& x, std::string_view name);    ///< the chain of RMSNorm, its result in fp32
  Value weighted_narrow(const Value& x, std::string_view name);  ///< weighted when it is down in the type of `x`
  Value unweighted_norm(const Value& x, std::string_view name);  ///< RMSNorm without a weight
  Value inner_norm(const Value& x, std::string_view name);       ///< before the last product of a branch, or nothing
  Value activation(const Value& x, std::string_view name);       ///< GELU, ReLU, squared ReLU
  Value saved_result(const Value& x, std::string_view name);     ///< an operation that keeps its result, as sigmoid
  Value saved_input(const Value& x, std::string_view name);      ///< one that keeps what it reads, as SiLU or clamp
  Value gated(const Value& gate, const Value& up);               ///< act(gate) * up
  Value gated_pair(const Value& gate, const Value& up);          ///< the same in one kernel on two matrices
  Value gated_fused(const Value& gate_and_up, std::int64_t f);   ///< the same on one concatenated matrix
  Value gated_halves(const Value& gate_and_up, std::int64_t f);  ///< its chain on that matrix
  Value gated_clamped(const Value& gate, const Value& up);       ///< gate sigmoid(a gate) (up + 1), both clamped
  Value clamped_halves(const Value& gate_and_up);                ///< both halves of one concatenated matrix
  Value dropout(const Value& x, std::string_view name);          ///< the identity when the run has none
  /// Drops from a branch and adds it to the residual. \param name  of the dropout
  Value dropout_add(const Value& residual, const Value& branch, std::string_view name);
  Value add(const Value& a, const Value& b, std::string_view name);
  Value multiply(const Value& a, const Value& b, std::string_view name);
  Value scaled(const Value& x, std::string_view name);     ///< each column times a learned weight
  Value gate_rows(const Value& x, std::string_view name);  ///< each row times its own gate
  Value cast(const Value& x, std::int64_t width, std::string_view name);
  /// Keeps a tensor that a kernel makes for its backward pass and nobody else reads.
  void keep_for_backward(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t width);
  /// One output a row-wise rearrangement of the input; keeps nothing of the input's size.
  Value rearrange(const Value& x, std::string_view name, std::int64_t rows, std::int64_t columns, OpKind kind);

  /// peft adds the adapter to a copy of the weight, which is then multiplied as if it were trained.
  bool merges_adapter(const Matrix& matrix) const;

  /// Output of the adapters for the product of a matrix that no gradient goes through, or that product.
  Value adapted_constant(const Value& x, const Value& y, const Matrix& matrix);

  /// A trained tensor beside the model.
  WeightId adapter_weight(std::string_view name, std::int64_t rows, std::int64_t columns, const Copies& copies = {});
  /// The last weight is a rank's part of one that tensor-parallel ranks have together.
  void share_with_ranks(std::int64_t of_all_ranks, const Copies& copies = {});
  Value adapter_product(const Value& x, std::string_view name, std::int64_t columns, const Copies& copies = {});
  Value adapter_input(const Value& x);  ///< in the type in which adapters compute

  /// A kernel between the tensors that the program lists, of which none is alive longer than the kernel: only time
  /// sees it.
  void pass_over(std::string_view name, quantity::Bytes forward, quantity::Bytes backward);

  /// Appends an operation that moves its inputs and outputs, and backward their gradients and what it kept; whoever
  /// knows better sets the moved bytes of what comes back.
  Op& append(Op op);
  /// Appends the operation that makes `y` of `x` alone, called as `y` is, and keeps nothing.
  Value derived(OpKind kind, const Value& x, const Value& y);

  /// A checkpointed block keeps the value instead of making it again.
  void keep_through_recompute(const Value& x) { block_.tensors[x.id].survives_recompute = true; }

  /// Operations appended until the group is closed are run again in the backward pass; the first keeps `inputs`.
  std::uint8_t open_recompute_group(std::initializer_list<Value> inputs);
  void close_recompute_group() { recompute_group_ = 0; }
  bool in_recompute_group() const { return recompute_group_ != 0; }

  quantity::Bytes size(TensorId id) const { return block_.tensors[id].size; }

  void idle_adapter(const Matrix& matrix);

 private:
  struct Linear;

  Linear lay_out(const Value& x, const Matrix& matrix);
  Op product_of(const Linear& linear);
  void keep_operands(Op& op, const Linear& linear, bool first_reader);
  void narrow_operands(const Op& op, const Linear& linear);
  bool writes(bool spec::Writing::*way) const;
  Value each(const Value& x, std::string_view name);
  Value tanh(const Value& x);
  Value chained_gelu(const Value& x, std::string_view name);
  Value chained_xielu(const Value& x, std::string_view name);
  void widen_norm(const Value& x);
  Value norm_kernel(const Value& x, std::string_view name, spec::Norm kind);
  Value norm_between_casts(const Value& x, std::string_view name, spec::Norm kind);
  Value reciprocal_root(const Value& x);
  Value normalised(const Value& x, const Value& root);
  Value weighted_norm(const Value& x, std::string_view name);
  Value weighted_apart(const Value& x, std::string_view name);
  Value eager_rms_norm(const Value& x, std::string_view name);
  Value chained_layer_norm(const Value& x, std::string_view name);
  Value cast_for_matrix(const Value& x, std::string_view name);
  bool keeps_input_type(const Matrix& matrix) const;
  bool is_adapted(const Matrix& matrix) const;
  bool is_named_parameter(const Matrix& matrix) const;
  bool is_converted(const Matrix& matrix) const;
  void adapter_bias(std::int64_t columns, std::int64_t of_all_ranks);
  bool is_plain_parameter(const Matrix& matrix) const;
  bool is_reached_by_peft(const Matrix& matrix) const;
  void merge_adapter(Op& op, const Matrix& matrix, const Weight& w);
  void pass_through_fp32(const Value& x);
  Value dropped_input(const Value& x);
  Value times_factor(const Value& x);
  Value added_narrow(const Value& y, const Value& adapter);
  Value added_by_product(const Value& x, const Value& y, const Value& adapter);
  void append_product(const Op& op);
  void overwrite_input(const Matrix& matrix, const Value& x);
  void direction_norm(const Value& x, const Value& y, const Copies& experts);
  Value decomposed_base(const Value& in, const Value& y, const Copies& experts);
  Value with_magnitude(const Value& base, const Value& adapter);
  Value adapted(const Value& x, const Value& y, const Matrix& matrix);
  Value adapted_projection(const Value& x, const Value& y);
  bool narrows(const Matrix& matrix) const;
  bool keeps_narrow(const Matrix& matrix) const;
  void quantize(const Value& in, const Value& out, std::int64_t tensors);
  void cast_at_each_use(const Weight& w, const Value& in, const Value& out, std::int64_t rows);
  void cast_by_row(const Weight& w, const Value& in, const Value& out, std::int64_t rows);
  void dequantize(Op& op, const Weight& w, const Value& in);
  bool unpacks_by_steps(const Weight& w) const;
  void unpack_by_steps(const Weight& w);
  void keep_input(Op& op, const Matrix& matrix, const Value& in, const Value& out);
  void keep_cast_weight(Op& op, const Weight& w);
  void keep_in_node(Op& op, const Value& x);
  void keep_narrow_input(Op& op, const Value& in, const Value& out);
  void keep_for_products(Weight& weight) const;
  Weight matrix_weight(const Matrix& matrix) const;
  Weight trained_whole(Weight w);
  quantity::Bytes gathered_bytes(const Op& op, const Value& slice) const;
  void copy_in_order(const Op& op);
  bool stays_gathered() const;
  void keep_gathered(Op& op, const Value& slice, bool first);
  void exchange_around(Op& op, const Matrix& matrix, const Value& in, const Value& out);
  bool is_read_backward(const Matrix& matrix) const;
  bool keeps_named(const Matrix& matrix) const;
  void add_expert_biases(const Matrix& matrix, const Value& out);
  void matrix_bias(const Matrix& matrix, const Value& out);
  void set_moved_bytes(Op& op) const;

  const Context& context_;
  Block& block_;
  std::uint8_t recompute_group_ = 0;
  std::uint8_t recompute_groups_ = 0;         ///< so far
  SmallList<TensorId, 3> checkpoint_inputs_;  ///< that the next operation keeps for its group
  TensorId gathered_ = no_tensor;             ///< the last input of column-cut matrices, which all of them share
  TensorId gathered_whole_ = no_tensor;       ///< that input at all positions, where it is kept so
  TensorId narrowed_ = no_tensor;             ///< the last input that was cast for narrow products
  int products_ = 0;                          ///< matrix products so far
};

// A part of a layer that is run again in the backward pass.

/// While it lives, what is appended belongs to one recompute group, if the run recomputes `module` and no group is open
/// already: a checkpoint inside another one changes nothing that outlives the forward pass.
class Recomputed {
 public:
  /// \param inputs  kept for running the group again, whether or not one of its operations keeps them
  Recomputed(BlockBuilder& b, spec::RecomputeModule module, std::initializer_list<Value> inputs = {});
  /// Scope of what a framework always runs again.
  Recomputed(BlockBuilder& b, bool covered, std::initializer_list<Value> inputs = {});
  ~Recomputed() { end(); }
  Recomputed(const Recomputed&) = delete;
  Recomputed& operator=(const Recomputed&) = delete;

  /// Ends the group; its results are given up after their last forward use, though later operations save them
  /// (Megatron-LM core/tensor_parallel/random.py, CheckpointWithoutOutput).
  void discard(std::initializer_list<Value> results);
  /// The results are made again right before the backward pass of the operation appended last (the same file,
  /// discard_output_and_register_recompute).
  void remake();

 private:
  void end();

  BlockBuilder& b_;
  std::uint8_t group_ = 0;  ///< 0: nothing is run again
  bool open_ = false;
};

}  // namespace llmcalc::layers
