// LLaMA-Factory's files of inference (llamafactory-cli api, chat, webchat): an engine with that trainer's own defaults
// (src/llamafactory/hparams/model_args.py, chat/vllm_engine.py, chat/sglang_engine.py).
#include "dialects/servers/server_rules.hpp"
#include "quantity/lists.hpp"

namespace llmcalc::dialects {
namespace {

/// A key that the file has, or the default of LLaMA-Factory.
void take(Sheet& sheet, std::string_view key, std::string_view term, std::string_view usual) {
  const Setting* setting = sheet.find(key);
  if (setting != nullptr && !says_nothing(*setting)) return sheet.say(term, setting->text, *setting);
  sheet.by_default(term, usual, "LLaMA-Factory default");
}

void leave_ranks_open(Sheet& sheet) {
  sheet.assume(spec::Assumption{
      .words = "tensor parallelism over all accelerators that are visible, whose number no key says: say --tp",
      .term = "tp"});
}

void take_vllm(Sheet& sheet) {
  take(sheet, "vllm_maxlen", "context", "4096");
  take(sheet, "vllm_gpu_util", "memory_fraction", "0.7");
  if (sheet.is_on("vllm_enforce_eager")) sheet.say("graphs", "0", sheet.said("vllm_enforce_eager"));
  const Setting* adapter = sheet.find("adapter_name_or_path");
  if (adapter != nullptr) {
    sheet.say("max_loras", "1", *adapter);
    take(sheet, "vllm_max_lora_rank", "lora_rank", "32");
  }
  leave_ranks_open(sheet);
}

void take_sglang(Sheet& sheet) {
  take(sheet, "sglang_maxlen", "context", "4096");
  take(sheet, "sglang_mem_fraction", "memory_fraction", "0.7");
  const Setting* ranks = sheet.find("sglang_tp_size");
  if (ranks != nullptr && !ranks->text.starts_with('-')) return sheet.say("tp", ranks->text, *ranks);
  leave_ranks_open(sheet);
}

void take_weights(Sheet& sheet, bool quantizes) {
  const auto bits = sheet.count("quantization_bit");
  if (quantizes && (bits == 4 || bits == 8)) {
    return sheet.say("quant", bits == 4 ? "bnb-nf4" : "bnb-int8", *sheet.find("quantization_bit"));
  }
  if (sheet.text("infer_dtype") == "float32") sheet.say("quant", "f32", *sheet.find("infer_dtype"));
}

}  // namespace

void llama_factory_server_rules(Sheet& sheet) {
  sheet.by_default("engine", "hf", "LLaMA-Factory default");
  const std::string engine = sheet.word("engine")->text;
  if (engine == "vllm") take_vllm(sheet);
  if (engine == "sglang") take_sglang(sheet);
  take_weights(sheet, engine == "hf");
  assume_load(sheet);
}

}  // namespace llmcalc::dialects
