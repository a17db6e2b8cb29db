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
    {"batch", "micro-batch"},
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
    {"context", "seq"},
    {"n-ctx", "context"},
    {"max-model-len", "context"},
    {"ram", "host-memory"},
    {"cpu-memory", "host-memory"},
    {"system-memory", "host-memory"},
    {"vram", "memory"},
    {"budget", "cost"},
    {"precision", "dtype"},
    {"mixed-precision", "dtype"},
    {"torch-dtype", "dtype"},
    {"gradient-checkpointing", "recompute"},
    {"activation-checkpointing", "recompute"},
    {"recompute-granularity", "recompute"},
    {"lora-r", "lora-rank"},
    {"r", "lora-rank"},
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

/// Switches and options whose meaning is another option's value, or that move neither memory nor time.
struct Saying {
  std::string_view theirs;
  std::string_view hint;
};

constexpr std::string_view moves_nothing = "leave it out: it moves neither memory nor time";

/// transformers TrainingArguments (bf16 and fp16 are autocast over fp32 weights), BitsAndBytesConfig, peft LoraConfig,
/// DeepSpeed and accelerate launch.
constexpr Saying sayings[] = {
    {"bf16", "--dtype bf16, or --dtype mixed-bf16 where the weights are fp32"},
    {"fp16", "--dtype fp16, or --dtype mixed-fp16 where the weights are fp32"},
    {"fp32", "--dtype fp32"},
    {"fp8", "--compute fp8-e4m3"},
    {"tf32", "--compute tf32"},
    {"lora", "--method lora"},
    {"qlora", "--method qlora"},
    {"dora", "--method dora"},
    {"use-dora", "--method dora"},
    {"full-finetuning", "--method full"},
    {"load-in-4bit", "--method qlora, or --weights nf4"},
    {"load-in-8bit", "--weights int8"},
    {"bits", "--weights nf4, or --weights int8"},
    {"deepspeed", "--zero 1, 2 or 3; --from ds_config.json reads a file of it"},
    {"fsdp", "--sharding fsdp2"},
    {"ddp", "--sharding ddp"},
    {"cpu-offload", "--offload optimizer, or --offload params+optimizer"},
    {"flash-attention", "--attention flash"},
    {"use-liger-kernel", "--fused-kernels 1 --loss fused-linear"},
    {"liger", "--fused-kernels 1 --loss fused-linear"},
    {"max-steps", "--steps"},
    {"max-train-steps", "--steps"},
    {"lr", moves_nothing},
    {"learning-rate", moves_nothing},
    {"lora-alpha", moves_nothing},
    {"warmup-steps", moves_nothing},
    {"warmup-ratio", moves_nothing},
    {"weight-decay", moves_nothing},
    {"seed", moves_nothing},
    {"output-dir", moves_nothing},
};

bool same(std::string_view written, std::string_view name) {
  return std::ranges::equal(written, name, [](char a, char b) { return a == b || (a == '_' && b == '-'); });
}

}  // namespace

std::string_view synonym_of(std::string_view name) {
  const auto* row = std::ranges::find_if(rows, [&](const Synonym& synonym) { return same(name, synonym.theirs); });
  return row == std::end(rows) ? std::string_view() : row->ours;
}

std::string_view saying_of(std::string_view name) {
  const auto* row = std::ranges::find_if(sayings, [&](const Saying& saying) { return same(name, saying.theirs); });
  return row == std::end(sayings) ? std::string_view() : row->hint;
}

}  // namespace llmcalc::read
