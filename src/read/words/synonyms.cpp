#include "llmcalc/read/synonyms.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

struct Synonym {
  std::string_view theirs;
  std::string_view ours;
};

/// transformers TrainingArguments, trl SFTConfig, peft LoraConfig, axolotl, LLaMA-Factory, unsloth, torchtune,
/// Megatron-LM arguments.py, DeepSpeed's JSON, accelerate launch.
constexpr Synonym rows[] = {
    {"batch-size", "micro-batch"},
    {"per-device-train-batch-size", "micro-batch"},
    {"per-device-batch-size", "micro-batch"},
    {"train-micro-batch-size-per-gpu", "micro-batch"},
    {"micro-batch-size", "micro-batch"},
    {"micro-bs", "micro-batch"},
    {"local-batch-size", "micro-batch"},
    {"global-batch-size", "global-batch"},
    {"gradient-accumulation-steps", "grad-accum"},
    {"gradient-accumulation", "grad-accum"},
    {"seq-len", "seq"},
    {"seq-length", "seq"},
    {"sequence-len", "seq"},
    {"sequence-length", "seq"},
    {"max-seq-len", "seq"},
    {"max-seq-length", "seq"},
    {"max-length", "seq"},
    {"cutoff-len", "seq"},
    {"block-size", "seq"},
    {"context-length", "seq"},
    {"precision", "dtype"},
    {"mixed-precision", "dtype"},
    {"torch-dtype", "dtype"},
    {"gradient-checkpointing", "recompute"},
    {"activation-checkpointing", "recompute"},
    {"recompute-granularity", "recompute"},
    {"lora-r", "lora-rank"},
    {"lora-target-modules", "lora-targets"},
    {"lora-target", "lora-targets"},
    {"target-modules", "lora-targets"},
    {"finetuning-type", "method"},
    {"optim", "optimizer"},
    {"attn-implementation", "attention"},
    {"flash-attn", "attention"},
    {"zero-stage", "zero"},
    {"tensor-parallel", "tp"},
    {"tensor-parallel-size", "tp"},
    {"tensor-model-parallel-size", "tp"},
    {"pipeline-parallel", "pp"},
    {"pipeline-parallel-size", "pp"},
    {"pipeline-model-parallel-size", "pp"},
    {"context-parallel-size", "cp"},
    {"expert-parallel-size", "ep"},
    {"expert-model-parallel-size", "ep"},
    {"data-parallel-size", "dp"},
    {"sequence-parallel", "sp"},
    {"num-gpus", "gpus"},
    {"n-gpus", "gpus"},
    {"num-processes", "gpus"},
    {"nproc-per-node", "gpus-per-node"},
    {"nnodes", "nodes"},
    {"num-nodes", "nodes"},
    {"num-machines", "nodes"},
    {"num-train-epochs", "epochs"},
    {"model-name", "model"},
    {"model-name-or-path", "model"},
    {"num-params", "params"},
    {"parameters", "params"},
    {"hidden-size", "hidden"},
    {"num-layers", "layers"},
    {"num-hidden-layers", "layers"},
    {"num-attention-heads", "heads"},
    {"num-key-value-heads", "kv-heads"},
    {"intermediate-size", "ffn"},
    {"ffn-hidden-size", "ffn"},
    {"vocab-size", "vocab"},
    {"max-position-embeddings", "max-position"},
};

bool same(std::string_view written, std::string_view name) {
  return std::ranges::equal(written, name, [](char a, char b) { return a == b || (a == '_' && b == '-'); });
}

}  // namespace

std::string_view synonym_of(std::string_view name) {
  const auto* row = std::ranges::find_if(rows, [&](const Synonym& synonym) { return same(name, synonym.theirs); });
  return row == std::end(rows) ? std::string_view() : row->ours;
}

}  // namespace llmcalc::read
