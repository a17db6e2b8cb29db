// Layouts that no run can have: what is cut must come out even.
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/names.hpp"
#include "read/checks.hpp"

#include <string>

namespace llmcalc::read {
namespace {

void check_degrees(const Draft& draft) {
  const auto& layout = draft.question.layout;
  if (layout.sp && layout.tp == 1) draft.contradiction("sp", "tp", "sequence parallelism splits what tp leaves whole");
  if (layout.vpp > 1 && layout.pp == 1) draft.contradiction("vpp", "pp", "virtual stages need a pipeline");
  if (layout.pp > 1 && layout.pp > draft.question.model.shape.layers + draft.question.model.shape.decoder_layers) {
    draft.contradiction("pp", "layers", "every stage needs a layer");
  }
  if (layout.gpus % layout.nodes != 0) draft.contradiction("nodes", "gpus", "every node has the same number");
  const auto expert_ranks = quantity::product(layout.ep, layout.etp);
  if (quantity::product(layout.dp, layout.tp, layout.cp) % expert_ranks != 0) {
    draft.contradiction("ep", "gpus", "ep x etp divides dp x tp x cp");
  }
}

/// Tensor parallelism gives every rank the same heads and the same share of the MLP (Megatron-LM
/// core/transformer/transformer_config.py, __post_init__).
void check_tensor_cuts(const Draft& draft) {
  const auto& shape = draft.question.model.shape;
  const std::int64_t tp = draft.question.layout.tp;
  if (tp == 1) return;
  if (shape.heads % tp != 0) draft.contradiction("tp", "heads", "every rank has the same number of heads");
  const bool grouped = shape.latent.kv_rank == 0;
  if (grouped && shape.kv_heads > 1 && shape.kv_heads % tp != 0) {
    draft.contradiction("tp", "kv_heads", "every rank has the same number of key and value heads");
  }
  if (shape.ffn % tp != 0) draft.contradiction("tp", "ffn", "the width of the MLP is cut evenly");
}

/// Ring and all-to-all context parallelism cut every sequence into equal parts.
void check_sequence_cuts(const Draft& draft) {
  const auto& layout = draft.question.layout;
  const std::int64_t seq = draft.question.training.seq;
  if (seq % layout.cp != 0) draft.contradiction("cp", "seq", "every rank has the same number of positions");
  if (layout.sp && (seq / layout.cp) % layout.tp != 0) {
    draft.contradiction("sp", "seq", "tensor-parallel ranks share the positions evenly");
  }
}

/// Ranks that exchange positions for heads need whole heads each (Jacobs et al. 2023, arXiv:2309.14509 section 3.1;
/// TransformerEngine attention/dot_product_attention/context_parallel.py, AttnFuncWithCPAndQKVOA2A).
void check_exchanged_heads(const Draft& draft) {
  const auto& shape = draft.question.model.shape;
  const auto& layout = draft.question.layout;
  if (layout.cp == 1 || layout.cp_exchange != spec::ContextExchange::all_to_all) return;
  const std::int64_t ranks = quantity::product(layout.tp, layout.cp);
  const std::string hint = "--cp-exchange ring passes keys and values round instead";
  if (shape.heads % ranks != 0) {
    draft.contradiction("cp", "heads", "all-to-all gives every rank of tp x cp the same number of heads", hint);
  }
  if (shape.latent.kv_rank == 0 && shape.kv_heads % ranks != 0) {
    draft.contradiction("cp", "kv_heads", "all-to-all gives every rank of tp x cp its own key and value heads", hint);
  }
}

/// Interleaved schedules go through the micro-batches in rounds of pp (Megatron-LM
/// core/pipeline_parallel/schedules.py, forward_backward_pipelining_with_interleaving).
void check_schedule(const Draft& draft) {
  const auto& layout = draft.question.layout;
  const auto& shape = draft.question.model.shape;
  if (layout.vpp == 1) return;
  if (layout.schedule != spec::Schedule::one_f_one_b) {
    draft.contradiction("schedule", "vpp", "only 1F1B is interleaved", "--schedule 1f1b, or --vpp 1");
  }
  if (quantity::product(layout.pp, layout.vpp) > shape.layers + shape.decoder_layers) {
    draft.contradiction("vpp", "layers", "every virtual stage needs a layer");
  }
  if (draft.question.training.grad_accum % layout.pp != 0) {
    draft.contradiction("vpp", "grad_accum", "interleaving needs micro-batches in multiples of pp");
  }
}

/// Megatron-LM core/transformer/transformer_config.py, __post_init__ (num_layers_in_first_pipeline_stage): a stage
/// whose layers are said keeps them, the others share the rest evenly, and each stage cuts its own into virtual stages.
void check_uneven_stages(const Draft& draft) {
  const auto& layout = draft.question.layout;
  const auto& shape = draft.question.model.shape;
  const auto& first = layout.first_stage_layers;
  const auto& last = layout.last_stage_layers;
  if (!first && !last) return;
  const auto term = first ? "first_stage_layers" : "last_stage_layers";
  if (layout.pp == 1) draft.contradiction(term, "pp", "there is one stage, which has all layers");
  if (shape.decoder_layers > 0) {
    throw quantity::BadInput(draft.place(term), "the two stacks of an encoder-decoder are cut evenly");
  }
  if (first && *first % layout.vpp != 0) {
    draft.contradiction("first_stage_layers", "vpp", "a stage's virtual stages are equally large");
  }
  if (last && *last % layout.vpp != 0) {
    draft.contradiction("last_stage_layers", "vpp", "a stage's virtual stages are equally large");
  }
  const std::int64_t others = layout.pp - (first ? 1 : 0) - (last ? 1 : 0);
  const std::int64_t left = shape.layers - first.value_or(0) - last.value_or(0);
  if (others == 0 && left != 0) draft.contradiction(term, "layers", "the two stages have all layers between them");
  if (left < others * layout.vpp) draft.contradiction(term, "layers", "every other stage needs a layer");
  if (others > 0 && left % (others * layout.vpp) != 0) {
    draft.contradiction(term, "layers",
                        "the other " + std::to_string(left) + " layers are divided evenly among " +
                            std::to_string(others * layout.vpp) + " stages");
  }
}

void check_sharding(const Draft& draft) {
  const auto& layout = draft.question.layout;
  if (layout.sharding_group == 0) return;
  if (layout.sharding == spec::Sharding::none || layout.sharding == spec::Sharding::ddp) {
    draft.contradiction("sharding_group", "sharding", "nothing is sharded");
  }
  if (quantity::product(layout.dp, layout.cp) % layout.sharding_group != 0) {
    draft.contradiction("sharding_group", "dp", "groups are equally large");
  }
}

}  // namespace

void check_layout(const Draft& draft) {
  check_degrees(draft);
  check_tensor_cuts(draft);
  check_sequence_cuts(draft);
  check_exchanged_heads(draft);
  check_schedule(draft);
  check_uneven_stages(draft);
  check_sharding(draft);
}

}  // namespace llmcalc::read
