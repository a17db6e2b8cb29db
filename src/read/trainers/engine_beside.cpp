#include "read/trainers/engine_beside.hpp"

#include <string>

namespace llmcalc::read {

void take_engine_beside(Sheet& sheet, const UsualEngine& usual) {
  if (!sheet.is_on("use_vllm")) return;
  const Setting& uses = *sheet.find("use_vllm");
  const std::string said = sheet.text("vllm_mode");
  const std::string_view mode = said.empty() ? usual.mode : std::string_view(said);
  if (mode != "colocate") {
    return sheet.assume(uses, "the server is on accelerators of its own, which llmcalc serve answers for");
  }
  const Setting* share = sheet.find("vllm_gpu_memory_utilization");
  if (share != nullptr) sheet.say("colocate_fraction", share->text, *share);
  sheet.by_default("colocate_fraction", std::string(usual.share), usual.whose);
  if (sheet.is_on("vllm_enable_sleep_mode") || sheet.count("sleep_level").value_or(0) > 0) {
    sheet.assume(uses, "the engine keeps its memory while the model is trained, though it may sleep");
  }
}

}  // namespace llmcalc::read
