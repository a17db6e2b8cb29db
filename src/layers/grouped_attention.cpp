#include "layers/blocks.hpp"
#include "layers/inner/attention.hpp"
#include "layers/inner/parts.hpp"

#include <algorithm>
#include <variant>

namespace llmcalc::layers {

namespace {

// The matrices around the core of grouped attention: from the hidden state to queries, keys and values, and back.

/// Tensor that an earlier layer made, and keeps: nothing of it is this layer's.
Value borrowed(BlockBuilder& b, const Value& memory, std::int64_t columns, std::string_view name) {
  return b.value(name, memory.rows, columns / b.context().tp, 0, memory.needs_gradient);
}

/// Queries from the hidden state, or from a normed bottleneck.
Value queries(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, std::int64_t width) {
  if (a.query_rank == 0) return b.linear(x, {Role::query, x.columns, width, a.qkv_bias, Cut::columns});
  const Value low = b.norm(b.linear(x, {Role::query_down, x.columns, a.query_rank, a.qkv_bias}), "q latent norm");
  return b.linear(low, {Role::query_up, a.query_rank, width, false, Cut::columns});
}

/// Layer's own term, added to the output of a matrix that it shares with others (transformers modeling_zamba2.py,
/// Zamba2Attention.forward, linear_q_adapter_list).
Value with_own_term(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& y) {
  return a.low_rank == 0 ? y
                         : b.add(y, own_term(b, Role::attention_low_rank, x, a.low_rank, y.columns * b.context().tp),
                                 "with own term");
}

/// torch.clamp keeps what it reads (transformers modeling_dbrx.py, DbrxAttention.forward, clip_qkv).
Value clamped(BlockBuilder& b, const Value& qkv) {
  if (!b.context().profile.kernels.transformers_modules || !b.context().shape().writing.clamps_qkv) return qkv;
  return b.saved_input(qkv, "clamped q, k and v");
}

/// True if queries, keys and values are three equal parts of one product, each as it stands there.
bool is_plain(const spec::GroupedAttention& a) {
  const bool own = !a.borrows_keys && !a.keys_are_values && a.value_dim == a.head_dim;
  return own && a.query_rank == 0 && !a.output_gate && a.low_rank == 0;
}

/// One matrix in the framework's own model, or in the family's as transformers writes it.
bool fuses_projections(const Context& c, const spec::GroupedAttention& a) {
  const bool written = c.writes(&spec::Writing::fused_qkv);
  const bool separate_norms = a.qk_norm != spec::QkNorm::none && !c.shape().writing.fused_qkv;
  return is_plain(a) && !separate_norms && (c.profile.attention.fused_projections || written);
}

/// One matrix for q, k and v (Megatron), as one stored tensor.
Heads fused_projection(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x) {
  const std::int64_t query_width = a.query_width();
  const std::int64_t tp = b.context().tp;
  const Value qkv = clamped(
      b, b.linear(x, {Role::fused_heads, x.columns, query_width + 2 * a.key_width(), a.qkv_bias, Cut::columns}));
  return {columns_of(qkv, query_width / tp), columns_of(qkv, a.key_width() / tp), columns_of(qkv, a.key_width() / tp)};
}

/// A matrix for each; queries carry their gate behind them, unless that has a matrix of its own.
/// \param memory  that keys and values are made of
Heads separate_projections(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& memory) {
  const bool carries_gate = a.output_gate && !b.context().shape().writing.gate_apart;
  const std::int64_t query_width = carries_gate ? 2 * a.query_width() : a.query_width();
  const Value q = with_own_term(b, a, x, queries(b, a, x, query_width));
  if (a.borrows_keys) {
    return {q, borrowed(b, memory, a.key_width(), "keys of an earlier layer"),
            borrowed(b, memory, a.value_width(), "values of an earlier layer")};
  }
  const Matrix to_keys{Role::key, memory.columns, a.key_width(), a.qkv_bias, Cut::columns};
  const Value k = with_own_term(b, a, memory, b.linear(memory, to_keys));
  if (a.keys_are_values) return {q, k, columns_of(k, a.value_width() / b.context().tp)};
  const Matrix to_values{Role::value, memory.columns, a.value_width(), a.qkv_bias, Cut::columns};
  return {q, k, with_own_term(b, a, memory, b.linear(memory, to_values))};
}

/// Ranks among which groups of heads were cut gather the product's whole row and read their heads out of it, and give
/// its gradient back the same way (Megatron-LM core/transformer/attention.py, get_query_key_value_tensors;
/// core/tensor_parallel/mappings.py, _AllGatherFromTensorParallelRegion, which puts the row together in a copy).
Heads gathered_heads(BlockBuilder& b, const spec::GroupedAttention& a, const Heads& cut, bool fused) {
  const Context& c = b.context();
  if (!c.profile.attention.gathers_heads || c.tp <= a.kv_heads) return cut;
  const std::int64_t columns = c.tp * (cut.q.columns + cut.k.columns + cut.v.columns);
  constexpr std::string_view whole_name = "gathered q, k and v";
  const Value whole = b.value(whole_name, cut.q.rows, columns, cut.q.width, cut.q.needs_gradient);
  Op op{.kind = OpKind::permutation, .name = whole_name, .inputs = {cut.q.id}, .outputs = {whole.id}};
  if (!fused) op.inputs = {cut.q.id, cut.k.id, cut.v.id};
  op.workspace_forward = op.workspace_backward = b.size(whole.id);
  op.messages.push_back({Collective::all_gather, RankGroup::tensor, false, false, b.size(whole.id)});
  if (whole.needs_gradient)
    op.messages.push_back({Collective::reduce_scatter, RankGroup::tensor, true, false, b.size(whole.id)});
  b.append(op);
  return {columns_of(whole, cut.q.columns), columns_of(whole, a.head_dim), columns_of(whole, a.value_dim)};
}

/// Outputs of the heads, put together; or of each group of heads through a bottleneck first (transformers
/// modeling_deepseek_v4.py, DeepseekV4GroupedLinear).
Value outputs(BlockBuilder& b, const spec::GroupedAttention& a, const Value& mixed) {
  const std::int64_t width = a.heads * a.value_dim;
  const std::int64_t hidden = b.context().shape().hidden;
  if (a.output_rank == 0) return b.linear(mixed, {Role::attention_out, width, hidden, a.out_bias, Cut::rows});
  Value by_group = mixed;
  by_group.rows *= a.output_groups;
  by_group.columns /= a.output_groups;
  Value low = b.linear(by_group, {Role::attention_out_down, width / a.output_groups, a.output_rank, false});
  b.rest_of(Role::attention_out_down, a.output_groups - 1, width / a.output_groups, a.output_rank);
  low.rows = mixed.rows;
  low.columns *= a.output_groups;
  return b.linear(low, {Role::attention_out, low.columns, hidden, a.out_bias});
}

/// Operation on each head by itself, or on a rank's part of one.
template <class Part>
Value by_head(const Value& x, std::int64_t head_dim, const Part& part) {
  const std::int64_t heads_of_rank = std::max<std::int64_t>(1, x.columns / head_dim);
  Value heads = x;
  heads.rows = x.rows * heads_of_rank;
  heads.columns = head_dim;
  Value y = part(heads);
  y.rows = x.rows;
  y.columns = heads_of_rank * head_dim;
  return y;
}

/// Weights over the heads' dimensions: one head's width shared by all (Qwen3), or all heads' together (OLMo 2).
Value normalise_heads(BlockBuilder& b, const Value& x, const spec::GroupedAttention& a, std::int64_t heads,
                      std::string_view name) {
  const auto norm = b.context().shape().norm;
  if (a.qk_norm == spec::QkNorm::none) return x;
  if (a.qk_norm == spec::QkNorm::per_head)
    return by_head(x, a.head_dim, [&](const Value& head) { return b.norm(head, name, norm); });
  const Value y = b.norm(x, name, norm);
  if (x.columns != heads * a.head_dim) b.share_with_ranks(heads * a.head_dim);
  return y;
}

/// Heads of one width that is not too wide, and no mask.
bool suits_grouping(const Context& c, const CoreAttention& core) {
  const bool masked = c.prefix > 0 || core.keys > 0 || core.masked;
  return core.qk_dim == core.v_dim && core.qk_dim <= widest_flash_head && !masked;
}

/// Kernels take grouped keys and values as they are: flash-attn's, and later PyTorch's too unless there is a mask, or
/// heads are of two widths or too wide (transformers integrations/sdpa_attention.py, use_gqa_in_sdpa).
bool groups_in_kernel(const Context& c, const CoreAttention& core) {
  if (c.training.attention == spec::AttentionKernel::flash) return true;
  return c.profile.attention.groups_in_kernel && fuses_attention(c) && suits_grouping(c, core);
}

/// transformers expands grouped keys and values to all query heads before other kernels (modeling_llama.py, repeat_kv).
/// A single head is expanded as a view (reshape copies only what strides cannot say), which fused kernels read and
/// batched products copy (torch.matmul).
Value repeat_heads(BlockBuilder& b, const CoreAttention& core, const Value& x, std::int64_t head_dim,
                   std::string_view name) {
  const Context& c = b.context();
  const std::int64_t width = core.heads * head_dim;
  const bool stays_view = x.columns == head_dim && reads_views(c);
  if (!c.profile.attention.repeats_kv || core.grouped || stays_view || x.columns == width) return x;
  return b.rearrange(x, name, x.rows, width, OpKind::permutation);
}

/// Rotary embedding writes queries and keys beside the matrix that they are parts of, which stays for the values
/// (transformers modeling_gpt_neox.py, GPTNeoXAttention.forward; litgpt/model.py, apply_rope and the concatenation
/// behind it, which expands the keys to all query heads first). Batched products copy the values out of it.
Heads rotated(BlockBuilder& b, const Heads& h) {
  const Context& c = b.context();
  const bool expands = c.profile.attention.rotates_into_copies && c.training.attention != spec::AttentionKernel::flash;
  const std::int64_t k_width = expands ? h.q.columns : h.k.columns;
  const Value q = b.rearrange(h.q, "rotated queries", h.q.rows, h.q.columns, OpKind::elementwise);
  const Value k = b.rearrange(h.k, "rotated keys", h.k.rows, k_width, OpKind::elementwise);
  if (reads_views(c)) return {q, k, h.v};
  return {q, k, b.rearrange(h.v, "values by head", h.v.rows, h.v.columns, OpKind::permutation)};
}

/// How often a pass of the rotary embedding goes over queries and keys.
struct RotaryPasses {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};

/// Read and write in one kernel (Megatron-LM core/fusions/fused_rope; Liger-Kernel ops/rope.py). As a chain of
/// operations a half is negated and concatenated, two products are made and added: 1 + 2 + 2 + 2 + 3; backward two
/// products, the half negated, both halves copied into zeros, three gradients added: 2 + 2 + 1 + 4 + 6 (transformers
/// modeling_llama.py, apply_rotary_pos_emb; pytorch torch/csrc/autograd/FunctionsManual.cpp, slice_backward). As
/// complex numbers they are cast to fp32, multiplied and cast back: 3 + 4 + 3 of 16 bits, and as many on the way back.
RotaryPasses rotary_passes(const frameworks::Profile& profile) {
  if (profile.attention.rotates_complex) return {10, 10};
  return profile.attention.fuses_rotary ? RotaryPasses{2, 2} : RotaryPasses{10, 15};
}

void rotate(BlockBuilder& b, const Heads& h) {
  const Context& c = b.context();
  if (c.shape().position != spec::Position::rope) return;
  const RotaryPasses passes = rotary_passes(c.profile);
  const auto once = quantity::bytes(quantity::product(h.q.rows, h.q.columns + h.k.columns, h.q.width));
  b.pass_over("rotary embedding", passes.forward * once,
              c.differentiates ? passes.backward * once : quantity::bytes(0));
  // No code is generated for complex numbers (pytorch torch/_inductor/lowering.py, unsupported_input_tensor).
  if (c.profile.attention.rotates_complex || !c.profile.attention.fuses_rotary) b.block().ops.back().eager = true;
}

/// LLaMA-Adapter: queries also attend to a learned prompt, and what they find is weighted by a learned gate a head,
/// which keeps it (litgpt/adapter.py, CausalSelfAttention.scaled_dot_product_attention).
Value attend_to_prompt(BlockBuilder& b, const Heads& h, const Value& mixed) {
  constexpr std::int64_t prompt_positions = 10;
  const Context& c = b.context();
  const std::int64_t elements = prompt_positions * c.shape().hidden + c.shape().heads;
  Weight prompt{.name = "adaption prompt and gate", .elements = elements, .whole = elements, .active = elements};
  prompt.dtype = c.adapter_type;
  prompt.adapter = true;
  b.weight(prompt);
  const Value found = b.value("prompt attention", h.q.rows, mixed.columns, mixed.width, true);
  Op attend{.kind = OpKind::attention,
            .name = "prompt attention",
            .inputs = {h.q.id},
            .outputs = {found.id},
            .saved = {h.q.id, found.id}};
  const std::int64_t heads = mixed.columns / c.shape().head_dim;
  attend.product = {h.q.rows / c.batch, prompt_positions, c.shape().head_dim, quantity::product(c.batch, heads)};
  attend.forward = quantity::flops(4.0 * static_cast<double>(h.q.rows) * static_cast<double>(mixed.columns) *
                                   static_cast<double>(prompt_positions));
  attend.backward_input = 2.0 * attend.forward;
  b.append(attend);
  return b.add(mixed, found, "mix with prompt");
}

/// The second half of what the queries' projection makes, or what a matrix of its own does (transformers
/// modeling_afmoe.py, AfmoeAttention).
Value gate_of(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& queries) {
  const bool apart = a.output_gate && b.context().shape().writing.gate_apart;
  if (apart) return b.linear(x, {Role::attention_gate, x.columns, a.query_width(), false, Cut::columns});
  return columns_of(queries, a.query_width() / b.context().tp);
}

/// torch.sigmoid keeps its result; others compile it with the product (Megatron-LM core/transformer/attention.py,
/// _apply_output_gate).
Value opened(BlockBuilder& b, const Value& gate) {
  return b.context().profile.kernels.transformers_modules ? b.saved_result(gate, "sigmoid of the gate") : gate;
}

/// Prefixes are the decoder's alone in an encoder-decoder (peft, num_transformer_submodules).
bool has_prefix(const Context& c, const spec::GroupedAttention& a, bool crosses) {
  return c.model.encoder_layers == 0 || a.causal || crosses;
}

void head_parameters(BlockBuilder& b, const spec::GroupedAttention& a) {
  if (a.sinks) b.vector("attention sinks", a.heads, Cut::columns);
  if (a.relative_buckets > 0) b.vector("relative position bias", a.relative_buckets * a.heads, Cut::columns);
  if (a.xl_projection)
    b.vector("relative position projection", b.context().shape().hidden * a.query_width(), Cut::columns);
}

/// Queries, keys and values as their products take them; borrowed ones are normed already.
void norm_and_rotate(BlockBuilder& b, const spec::GroupedAttention& a, Heads& h, bool fused) {
  const Context& c = b.context();
  h.q = normalise_heads(b, h.q, a, a.heads, "q norm");
  if (!a.borrows_keys) h.k = normalise_heads(b, h.k, a, a.kv_heads, "k norm");
  if (c.shape().writing.norms_values && !a.borrows_keys) h.v = unweighted_heads(b, h.v, a.value_dim, "v norm");
  if (a.reads_tower) return;
  rotate(b, h);
  const bool copies = c.profile.attention.rotates_into_copies || (fused && c.profile.kernels.transformers_modules);
  if (copies && c.shape().position == spec::Position::rope) h = rotated(b, h);
  if (!c.shape().writing.norms_rotated || a.window == 0) return;
  h.q = unweighted_heads(b, h.q, a.head_dim, "rotated q norm");
  h.k = unweighted_heads(b, h.k, a.head_dim, "rotated k norm");
}

/// A relative bias becomes a mask in each layer, of causal ones with those of positions that they see (transformers
/// integrations/sdpa_attention.py, create_position_bias_mask).
void bias_by_position(BlockBuilder& b, const spec::GroupedAttention& a, const Value& q) {
  const Context& c = b.context();
  const bool masks = c.shape().position == spec::Position::relative && c.profile.kernels.transformers_modules;
  if (!masks || !fuses_attention(c)) return;
  b.keep_for_backward("position bias", quantity::product(a.heads / c.tp, c.seq), c.attended, q.width);
  if (a.causal) b.keep_for_backward("causal mask", c.seq, c.attended, 1);
}

/// Later tokens read what a causal layer and what a decoder made of the encoder's output; an encoder is passed once
/// (transformers modeling_t5.py, T5Attention.forward: past_key_values of the decoder alone).
bool is_read_again(const spec::GroupedAttention& a, bool crosses) {
  return !a.borrows_keys && !a.reads_tower && (a.causal || crosses);
}

/// Keeps of a position what later tokens read: its key and value, or its part of a key that stands for several and is
/// the value too, with that of the indexer which chooses among them (vLLM's blog of 24 April 2026 on DeepSeek-V4: 9.62
/// GiB of 61 layers and 2^20 positions in 16 bits).
void keep_for_later(BlockBuilder& b, const spec::GroupedAttention& a, Heads& h, Cached kept) {
  if (a.positions_a_key > 0) {
    Value part = h.k;
    part.columns = (h.k.columns + a.index_dim) / a.positions_a_key;
    cached(b, part, "compressed key cache");
  } else {
    h.k = cached(b, h.k, "key cache", kept);
    h.v = cached(b, h.v, "value cache", kept);
  }
}

/// Keys and values of all positions and for all heads; the layer that borrowed ones are of keeps them.
void gather_keys(BlockBuilder& b, const spec::GroupedAttention& a, const CoreAttention& core, Heads& h, bool crosses) {
  const Context& c = b.context();
  const bool of_its_own = crosses && c.shape().encoder_positions > 0;
  if (is_read_again(a, crosses)) keep_for_later(b, a, h, of_its_own ? Cached::memory : Cached::positions);
  if (has_prefix(c, a, crosses)) {
    h.k = behind_prefix(b, h.k, "keys behind prefix");
    h.v = behind_prefix(b, h.v, "values behind prefix");
  }
  if (!crosses) bias_by_position(b, a, h.q);
  h.k = repeat_heads(b, core, h.k, a.head_dim, "repeated keys");
  h.v = repeat_heads(b, core, h.v, a.value_dim, "repeated values");
}

/// Blocks are as wide as the window (transformers modeling_longt5.py, LongT5LocalAttention, block_len).
std::int64_t block_of(const Context& c, const spec::GroupedAttention& a) {
  return c.shape().writing.local_blocks && !a.causal ? a.window : 0;
}

CoreAttention core_of(const Context& c, const spec::GroupedAttention& a, const Value& keys, bool crosses) {
  CoreAttention core{a.heads / c.tp, a.head_dim, a.value_dim, a.window, a.causal};
  const bool of_its_own = crosses && c.shape().encoder_positions > 0;
  if (a.reads_tower || a.merges_memory || of_its_own) core.keys = quantity::ceil_divide(keys.rows, c.batch);
  core.sinks = a.sinks;
  core.block = block_of(c, a);
  core.masked = reads_mask(c, core);
  core.grouped = a.kv_heads < a.heads && groups_in_kernel(c, core);
  return core;
}

}  // namespace

Value unweighted_heads(BlockBuilder& b, const Value& x, std::int64_t head_dim, std::string_view name) {
  return by_head(x, head_dim, [&](const Value& head) { return b.unweighted_norm(head, name); });
}

bool lacks_kernel(const Context& c, const spec::LayerKind& kind) {
  const auto* attention = std::get_if<spec::GroupedAttention>(&kind.mixer);
  if (attention == nullptr || attention->reads_tower) return false;
  return falls_back_to_math(c, core_of(c, *attention, {}, false));
}

Value grouped_attention(BlockBuilder& b, const spec::GroupedAttention& a, const Value& x, const Value& memory) {
  const Context& c = b.context();
  const bool fuse = fuses_projections(c, a) && x.id == memory.id;
  Heads h = fuse ? fused_projection(b, a, x) : separate_projections(b, a, x, memory);
  h = gathered_heads(b, a, h, fuse);
  // Backward, the gradients of the three parts are put together again.
  if (fuse && c.differentiates) b.pass_over("qkv gradient", quantity::bytes(0), 2 * b.size(h.q.id));
  h.k = rescaled(b, h.k, "rescaled keys");
  h.v = rescaled(b, h.v, "rescaled values");
  const Value gate = gate_of(b, a, x, h.q);
  h.q.columns = a.query_width() / c.tp;
  norm_and_rotate(b, a, h, fuse);
  const bool crosses = x.id != memory.id;
  const CoreAttention core = core_of(c, a, h.k, crosses);
  gather_keys(b, a, core, h, crosses);
  head_parameters(b, a);
  const bool differs = c.shape().writing.differential;
  Value mixed = differs ? differential_attention(b, core, h) : core_attention(b, core, h);
  if (c.profile.adapters.prompt_layers_start > 0 && c.differentiates) mixed = attend_to_prompt(b, h, mixed);
  if (a.output_gate) mixed = b.multiply(mixed, opened(b, gate), "gated attention output");
  return outputs(b, a, b.inner_norm(mixed, "inner attention norm"));
}

}  // namespace llmcalc::layers
