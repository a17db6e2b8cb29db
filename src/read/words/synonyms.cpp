#include "read/synonyms.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace llmcalc::read {
namespace {

struct Synonym {
  std::string_view theirs;
  std::string_view ours;
};

/// What people call these; keys of trainers and servers stand in their own rows (dialects::options_of_key).
constexpr Synonym rows[] = {
    {"device", "gpu"},
    {"hardware", "gpu"},
    {"accelerator", "gpu"},
    {"card", "gpu"},
    {"gpu-type", "gpu"},
    {"world-size", "gpus"},
    {"gpu-memory", "memory"},
    {"gpu-ram", "memory"},
    {"batch", "micro-batch"},
    {"per-device-batch-size", "micro-batch"},
    {"micro-bs", "micro-batch"},
    {"mbs", "micro-batch"},
    {"bs", "micro-batch"},
    {"local-batch-size", "micro-batch"},
    {"gbs", "global-batch"},
    {"gradient-accumulation", "grad-accum"},
    {"accumulation", "grad-accum"},
    {"gas", "grad-accum"},
    {"seq-len", "seq"},
    {"seqlen", "seq"},
    {"sequence-length", "seq"},
    {"max-seq-len", "seq"},
    {"context-length", "seq"},
    {"context", "seq"},
    {"ctx", "seq"},
    {"ram", "host-memory"},
    {"cpu-memory", "host-memory"},
    {"system-memory", "host-memory"},
    {"vram", "memory"},
    {"budget", "cost"},
    {"budget", "max-cost"},
    {"flops", "compute"},
    {"mixed-precision", "dtype"},
    {"recompute-granularity", "recompute"},
    {"rank", "lora-rank"},
    {"zero-stage", "zero"},
    {"tensor-parallel", "tp"},
    {"pipeline-parallel", "pp"},
    {"num-gpus", "gpus"},
    {"n-gpus", "gpus"},
    {"nproc-per-node", "gpus-per-node"},
    {"max-train-steps", "steps"},
    {"num-samples", "samples"},
    {"dataset-size", "samples"},
    {"num-params", "params"},
    {"parameters", "params"},
    {"num-hidden-layers", "layers"},
    {"num-key-value-heads", "kv-heads"},
    {"intermediate-size", "ffn"},
};

/// The load generators of vLLM and SGLang, and what people call options of a server; what engines call them stands in
/// the engines' own rows.
constexpr Synonym server_rows[] = {
    {"context-size", "context"},
    {"ctx", "context"},
    {"max-seq-length", "context"},
    {"max-length", "context"},
    {"seq", "context"},
    {"seq-len", "context"},
    {"backend", "engine"},
    {"quantize", "quant"},
    {"gguf", "quant"},
    {"kv-cache", "kv-dtype"},
    {"num-gpu-layers", "gpu-layers"},
    {"speculative-model", "draft"},
    {"draft-model", "draft"},
    {"batch", "concurrency"},
    {"batch-size", "concurrency"},
    {"users", "concurrency"},
    {"concurrent-users", "concurrency"},
    {"concurrent-requests", "concurrency"},
    {"requests", "concurrency"},
    {"max-concurrency", "concurrency"},
    {"request-rate", "rate"},
    {"qps", "rate"},
    {"rps", "rate"},
    {"input", "prompt"},
    {"input-len", "prompt"},
    {"input-length", "prompt"},
    {"input-tokens", "prompt"},
    {"prompt-len", "prompt"},
    {"prompt-tokens", "prompt"},
    {"isl", "prompt"},
    {"output-len", "output"},
    {"output-length", "output"},
    {"output-tokens", "output"},
    {"max-tokens", "output"},
    {"osl", "output"},
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
    {"4bit", "--method qlora, or --weights nf4"},
    {"8bit", "--weights int8"},
    {"quant", "--method qlora, or --weights nf4; llmcalc serve has --quant"},
    {"quantization", "--method qlora, or --weights nf4; llmcalc serve has --quant"},
    {"kv-dtype", "a cache of keys and values is a server's: llmcalc serve"},
    {"kv-cache-dtype", "a cache of keys and values is a server's: llmcalc serve"},
    {"dtype", "--quant bf16, or another type of weights"},
    {"method", "how it was trained moves no memory of a server; --max-loras serves adapters"},
    {"speculative", "--draft mtp, or --draft MODEL"},
    {"int8", "--weights int8; llmcalc serve has --quant int8"},
    {"int4", "--method qlora, or --weights nf4; llmcalc serve has --quant"},
    {"peft", "--method lora"},
    {"use-peft", "--method lora"},
    {"unsloth", "--framework unsloth"},
    {"cheapest", "--objective cost"},
    {"fastest", "--objective step-time"},
    {"maximize", "--largest micro-batch, or --largest seq"},
    {"max-gpus", "--gpus 8,16,32: each is tried"},
    {"deadline", "--max-days 2"},
    {"max-time", "--max-days 2"},
    {"tokens-per-second", "--tpot 20ms, the limit of the time of each later token"},
    {"zero1", "--zero 1"},
    {"zero2", "--zero 2"},
    {"zero3", "--zero 3"},
    {"flash-attention-2", "--attention flash"},
    {"flash-attention-3", "--attention flash"},
    {"fa2", "--attention flash"},
    {"sft", "--algorithm sft"},
    {"dpo", "--algorithm dpo"},
    {"kto", "--algorithm kto"},
    {"orpo", "--algorithm orpo"},
    {"grpo", "--algorithm grpo"},
    {"ppo", "--algorithm ppo"},
    {"json", "--format json"},
    {"csv", "--format csv"},
    {"verbose", "--full, or --explain"},
    {"cost", "--price 2.50, what an accelerator costs an hour"},
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

std::vector<std::string_view> synonyms_of(std::string_view name) {
  std::vector<std::string_view> ours;
  for (const std::span<const Synonym> table : {std::span<const Synonym>(rows), std::span<const Synonym>(server_rows)}) {
    for (const Synonym& row : table) {
      if (same(name, row.theirs)) ours.push_back(row.ours);
    }
  }
  return ours;
}

std::string_view saying_of(std::string_view name) {
  const auto* row = std::ranges::find_if(sayings, [&](const Saying& saying) { return same(name, saying.theirs); });
  return row == std::end(sayings) ? std::string_view() : row->hint;
}

}  // namespace llmcalc::read
