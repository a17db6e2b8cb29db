#include "dialects/trainers/engine_beside.hpp"

#include "llmcalc/quantity/checked.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::dialects {

void take_engine_beside(Sheet& sheet, const UsualEngine& usual) {
  if (!sheet.is_on("use_vllm")) return;
  const Setting& uses = *sheet.find("use_vllm");
  const std::string said = sheet.text("vllm_mode");
  // A share of the memory is asked for by a trainer that starts the engine itself, as ms-swift 3.4 did without a mode.
  const bool shares = sheet.find("vllm_gpu_memory_utilization") != nullptr && sheet.find("vllm_server_host") == nullptr;
  const std::string_view mode = !said.empty() ? std::string_view(said) : shares ? "colocate" : usual.mode;
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

void take_generated_length(Sheet& sheet, const Lengths& lengths) {
  const Given* algorithm = sheet.word("algorithm");
  const Setting* generated = sheet.find("max_completion_length");
  if (algorithm == nullptr || algorithm->text != "grpo") {
    for (const auto key : {"max_prompt_length", "max_completion_length"}) {
      if (const Setting* part = sheet.find(key)) sheet.assume(*part, "part of --seq");
    }
    return;
  }
  const auto prompt = sheet.count(lengths.prompt);
  if (!prompt) {
    if (generated != nullptr) sheet.assume(*generated, "part of --seq, with prompts as long as the data has them");
    return;
  }
  auto length = quantity::checked_add(*prompt, sheet.count("max_completion_length").value_or(lengths.generated));
  const Setting* most = sheet.find("vllm_max_model_len");  // the engine stops there
  const auto limit = sheet.count("vllm_max_model_len");
  const bool stops = limit && *limit < length;
  if (stops) length = *limit;
  sheet.say("seq", std::to_string(length),
            stops                  ? *most
            : generated != nullptr ? *generated
                                   : *sheet.find(lengths.prompt));
}

}  // namespace llmcalc::dialects
