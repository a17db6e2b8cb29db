#include "spec/roles.hpp"

#include "quantity/lists.hpp"

#include <algorithm>

namespace llmcalc::spec {

namespace {

constexpr auto linear = AllLinear::yes;

/// Words of adapters are modules' names without "_proj"; peft takes for linear what is a torch.nn.Linear (tuners/
/// tuners_utils.py, _maybe_include_all_linear_layers), the head excepted.
constexpr std::array<RoleFacts, role_count> rows{{
    {Role::vector, "vector", "vector", Use::vector, {}, {}},
    {Role::token_table, "table", "token table", Use::table, {}, {"embed"}},
    {Role::position_table, "positions", "position table", Use::vector, {}, {}},
    {Role::layer_input_table, "layer_table", "layer input table", Use::lookups, {}, {}},
    {Role::layer_inputs, "layer_inputs", "projection to layer inputs", Use::whole, linear, {"per_layer_model"}},
    {Role::layer_input_gate, "layer_input_gate", "layer input gate", Use::up, linear, {"per_layer_input_gate"}},
    {Role::layer_input_out, "layer_input_out", "layer input projection", Use::up, linear, {"per_layer"}},
    {Role::head, "head", "output head", Use::head, {}, {"head"}},
    {Role::query, "query", "q projection", Use::query, linear, {"q"}},
    {Role::query_up, "query_up", "q up projection", Use::query, linear, {"q_b"}},
    {Role::query_down, "query_down", "q down projection", Use::latent_down, linear, {"q_a"}},
    {Role::key, "key", "k projection", Use::key, linear, {"k"}},
    {Role::value, "value", "v projection", Use::value, linear, {"v"}},
    {Role::fused_heads, "heads", "qkv projection", Use::attention_in, linear, {"q"}},
    {Role::key_value_down, "key_value_down", "kv down projection", Use::latent_down, linear, {"kv_a"}},
    {Role::key_value_up, "key_value_up", "kv up projection", Use::latent_up, linear, {"kv_b"}},
    {Role::attention_out, "attention_out", "output projection", Use::attention_out, linear, {"o"}},
    {Role::attention_out_down, "attention_out_down", "output down projection", Use::attention_out, {}, {}},
    {Role::attention_gate, "attention_gate", "attention gate projection", Use::attention_other, linear, {"gate"}},
    {Role::attention_position, "attention_position", "position projection", Use::attention_other, linear, {}},
    {Role::attention_convolution, "attention_convolution", "convolution projection", Use::attention_other, linear, {}},
    {Role::key_compressor, "key_compressor", "key compressor", Use::attention_other, linear, {}},
    {Role::attention_low_rank, "attention_low_rank", "low-rank projection", Use::attention_other, linear, {}},
    {Role::index_query, "index_query", "index queries", Use::attention_other, linear, {"wq_b"}},
    {Role::index_key, "index_key", "index keys", Use::attention_other, linear, {"wk"}},
    {Role::index_weight, "index_weight", "index weights", Use::whole, linear, {"weights"}},
    {Role::delta_fused, "delta_fused", "qkvz projection", Use::attention_in, linear, {"in_proj_qkvz"}},
    {Role::delta_beta_decay,
     "delta_beta_decay",
     "beta and decay projection",
     Use::attention_in,
     linear,
     {"in_proj_ba"}},
    {Role::delta_heads, "delta_heads", "q, k and v projection", Use::attention_in, linear, {"in_proj_qkv"}},
    {Role::delta_gate, "delta_gate", "output gate projection", Use::attention_in, linear, {"in_proj_z"}},
    {Role::delta_beta, "delta_beta", "beta projection", Use::attention_in, linear, {"in_proj_b"}},
    {Role::delta_decay, "delta_decay", "decay projection", Use::attention_in, linear, {"in_proj_a"}},
    {Role::delta_out, "delta_out", "output projection", Use::attention_out, linear, {"out_proj"}},
    {Role::state_in, "state_in", "in projection", Use::recurrence, linear, {"in_proj"}},
    {Role::state_out, "state_out", "out projection", Use::recurrence, linear, {"out_proj"}},
    {Role::state_parameters, "state_parameters", "scan parameters", Use::recurrence, linear, {"x_proj"}},
    {Role::state_steps, "state_steps", "time step projection", Use::recurrence, linear, {"dt_proj"}},
    {Role::state_head_parameters, "state_head_parameters", "scan parameters of heads", Use::whole, {}, {}},
    {Role::state_head_steps, "state_head_steps", "time steps of heads", Use::whole, {}, {}},
    {Role::recurrent_x, "recurrent_x", "x projection", Use::recurrence, linear, {"linear_x"}},
    {Role::recurrent_y, "recurrent_y", "y projection", Use::recurrence, linear, {"linear_y"}},
    {Role::recurrent_gates, "recurrent_gates", "gates", Use::whole, {}, {}},
    {Role::lightning_heads, "lightning_heads", "q, k and v projection", Use::attention_in, linear, {"qkv_proj"}},
    {Role::lightning_gate, "lightning_gate", "output gate", Use::recurrence, linear, {"output_gate"}},
    {Role::receptance, "receptance", "receptance projection", Use::recurrence, linear, {"receptance"}},
    {Role::memory_output_gate, "memory_output_gate", "output gate", Use::recurrence, linear, {"ogate_preact"}},
    {Role::memory_gates, "memory_gates", "input and forget gates", Use::recurrence, linear, {"fgate_preact"}},
    {Role::gate, "gate", "gate projection", Use::gate, linear, {"gate"}},
    {Role::gate_up, "gate_up", "gate and up projection", Use::gate_up, linear, {"gate", "up"}},
    {Role::up, "up", "up projection", Use::up, linear, {"up", "fc1"}},
    {Role::down, "down", "down projection", Use::down, linear, {"down", "fc2"}},
    {Role::mlp_low_rank, "mlp_low_rank", "low-rank projection", Use::up, linear, {}},
    {Role::experts_in, "experts_in", "projection to experts", Use::up, linear, {}},
    {Role::experts_out, "experts_out", "projection from experts", Use::up, linear, {}},
    {Role::router, "router", "router", Use::router, linear, {"router"}},
    {Role::shared_expert_gate, "shared_expert_gate", "shared expert gate", Use::router, linear, {"shared_expert_gate"}},
    {Role::stream_router, "stream_router", "stream router", Use::whole, linear, {"modality_router"}},
    {Role::stream_predictions, "stream_predictions", "stream predictions", Use::whole, linear, {"prediction_coefs"}},
    {Role::stream_corrections, "stream_corrections", "stream corrections", Use::whole, linear, {"correction_coefs"}},
    {Role::stream_mix, "stream_mix", "stream mix", Use::whole, linear, {}},
    {Role::residual_low_rank, "residual_low_rank", "residual projection", Use::whole, linear, {}},
    {Role::behind_layer, "behind_layer", "projection behind", Use::up, linear, {}},
    {Role::layer_change, "layer_change", "projection beside", Use::up, linear, {}},
    {Role::embedding_in, "embedding_in", "embedding projection", Use::up, {}, {}},
    {Role::embedding_out, "embedding_out", "head projection", Use::up, {}, {}},
    {Role::remainder, "remainder", "remainder of the stated size", Use::up, {}, {}},
    {Role::pooler, "pooler", "pooler", Use::outside, {}, {}},
    {Role::head_transform, "head_transform", "head transform", Use::outside, {}, {}},
    {Role::score, "score", "score", Use::whole, {}, {"score"}},
    {Role::patches, "patches", "patch embedding", Use::whole, {}, {}},
    {Role::projector, "projector", "projection", Use::whole, {}, {}},
}};

constexpr bool stands_in_order() {
  for (std::size_t i = 0; i < role_count; ++i) {
    if (static_cast<std::size_t>(rows[i].role) != i) return false;
  }
  return true;
}
static_assert(stands_in_order(), "a role is looked up by its place");

struct ModuleWords {
  std::string_view module;
  std::string_view words;
};

/// The last step of modules' names in transformers' models, torchtune (wq, w1), Megatron (linear_*) and the remote code
/// of Qwen (w1, w2, c_attn) and Baichuan (w_pack); the usual name of a word comes first. A router's module is called as
/// our word for a gate projection is.
constexpr ModuleWords modules[] = {
    {"q_proj", "q"},
    {"k_proj", "k"},
    {"v_proj", "v"},
    {"o_proj", "o"},
    {"gate_proj", "gate"},
    {"up_proj", "up"},
    {"down_proj", "down"},
    {"embed_tokens", "embed"},
    {"lm_head", "head"},
    {"output_proj", "o"},
    {"gate_up_proj", "gate,up"},
    {"qkv_proj", "q,k,v,qkv_proj"},
    {"query_key_value", "q,k,v"},
    {"c_attn", "q,k,v"},
    {"w_pack", "q,k,v"},
    {"wqkv", "q,k,v"},
    {"att_proj", "q,k,v"},
    {"out_proj", "o,out_proj"},
    {"dense", "o"},
    {"attn_out", "o"},
    {"c_proj", "o,fc2"},
    {"c_fc", "fc1"},
    {"dense_h_to_4h", "fc1"},
    {"dense_4h_to_h", "fc2"},
    {"fc1", "fc1"},
    {"fc2", "fc2"},
    {"fc_in", "fc1"},
    {"fc_out", "fc2"},
    {"wq", "q"},
    {"wk", "k"},
    {"wv", "v"},
    {"wo", "o"},
    {"w1", "gate"},
    {"w2", "down"},
    {"w3", "up"},
    {"linear_qkv", "q,k,v"},
    {"linear_proj", "o"},
    {"linear_fc1", "gate,up"},
    {"linear_fc2", "down"},
    {"q_a_proj", "q_a"},
    {"q_b_proj", "q_b"},
    {"kv_a_proj_with_mqa", "kv_a"},
    {"kv_a_proj", "kv_a"},
    {"kv_b_proj", "kv_b"},
    {"gate", "router"},
    {"router", "router"},
    {"b_proj", "in_proj_b"},
    {"f_a_proj", "in_proj_a"},
    {"f_b_proj", "in_proj_a"},
    {"g_a_proj", "in_proj_z"},
    {"g_b_proj", "in_proj_z"},
    {"linear_out", "out_proj"},
    {"input_linear", "gate,up"},
    {"output_linear", "down"},
    {"embed_in", "embed"},
    {"word_embeddings", "embed"},
    {"wte", "embed"},
    {"tok_embeddings", "embed"},
    {"embed_out", "head"},
    {"output", "head"},
};

bool names(std::string_view wanted, const RoleFacts& row) {
  if (wanted == all_linear_word) return row.linear == AllLinear::yes;
  return std::ranges::find(row.targets, wanted) != row.targets.end();
}

}  // namespace

const RoleFacts& facts(Role role) { return rows[static_cast<std::size_t>(role)]; }

const std::array<RoleFacts, role_count>& all_roles() { return rows; }

RoleSet roles_of(const std::vector<std::string>& targets) {
  RoleSet found;
  for (const RoleFacts& row : rows) {
    found[static_cast<std::size_t>(row.role)] =
        std::ranges::any_of(targets, [&](const std::string& wanted) { return names(wanted, row); });
  }
  return found;
}

std::string_view words_of_module(std::string_view module) {
  const std::string_view last = module.substr(module.rfind('.') + 1);
  if (const auto* known = quantity::find_or_null(modules, last, &ModuleWords::module)) return known->words;
  const auto is_word = [&](const RoleFacts& row) { return last != std::string_view() && names(last, row); };
  const auto* row = quantity::find_if_or_null(rows, is_word);
  return row == nullptr ? std::string_view() : *std::ranges::find(row->targets, last);
}

std::string_view module_of_word(std::string_view word) {
  const auto* known = quantity::find_or_null(modules, word, &ModuleWords::words);
  return known == nullptr ? word : known->module;
}

bool names_all_linear(const std::vector<std::string>& words) {
  constexpr std::string_view linear[] = {"q", "k", "v", "o", "gate", "up", "down"};
  const auto is_said = [&](std::string_view each) { return quantity::contains(words, each); };
  return quantity::contains(words, all_linear_word) || std::ranges::all_of(linear, is_said);
}

}  // namespace llmcalc::spec
