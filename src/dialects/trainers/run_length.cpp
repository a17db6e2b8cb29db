
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>

namespace llmcalc::dialects {
namespace {

bool take_steps(Sheet& sheet, std::string_view key) {
  const Setting* setting = sheet.find(key);
  if (setting == nullptr || says_nothing(*setting) || setting->text.starts_with('-') || sheet.count(key) == 0) {
    return false;
  }
  sheet.say("steps", setting->text, *setting);
  return true;
}

/// The n of "name#n", as ms-swift cuts a data set (docs, command-line parameters: dataset).
std::optional<std::int64_t> cut_in_name(std::string_view name) {
  if (name.find('#') == std::string_view::npos) return std::nullopt;
  name.remove_prefix(name.rfind('#') + 1);
  const auto count = quantity::take_number<std::int64_t>(name);
  return name.empty() && count > 0 ? count : std::nullopt;
}

std::vector<std::string> data_sets(const Setting& setting) {
  const auto name = [](std::string_view piece) { return std::string(quantity::trim(piece)); };
  auto names = quantity::mapped(quantity::pieces_of(setting.text, ","), name);
  std::erase(names, std::string());
  return names;
}

/// How many samples the names of the data sets say, where each says it.
void take_cuts(Sheet& sheet) {
  const Setting* setting = sheet.settings().find("dataset");
  if (setting == nullptr || !setting->unknown.empty()) return;
  std::int64_t sum = 0;
  for (const auto& name : data_sets(*setting)) {
    const auto count = cut_in_name(name);
    if (!count) return;
    sum = quantity::checked_add(sum, *count);
  }
  if (sum > 0) sheet.say("samples", std::to_string(sum), *setting);
}

/// "for debugging purposes, truncate the number of examples for each dataset" (LLaMA-Factory hparams/data_args.py).
void take_most(Sheet& sheet, std::string_view key) {
  const Setting* most = sheet.find(key);
  const auto count = sheet.count(key);
  if (!count || *count < 1) return;
  const Setting* names = sheet.settings().find("dataset");
  const auto sets = names == nullptr ? 1 : std::max<std::int64_t>(1, std::ssize(data_sets(*names)));
  sheet.say("samples", std::to_string(quantity::checked_multiply(*count, sets)), *most);
  sheet.assume(*most, "every data set holds as many samples");
}

/// Whether a switch says yes, or "auto".
bool packs(const Sheet& sheet, std::initializer_list<std::string_view> keys) {
  const Setting* setting = sheet.find(keys);
  return setting != nullptr && sheet.truth(keys).value_or(quantity::to_lower(setting->text) == "auto");
}

}  // namespace

void take_length(Sheet& sheet, const LengthKeys& keys) {
  if (!keys.steps.empty() && take_steps(sheet, keys.steps)) return;
  take_cuts(sheet);
  if (!keys.samples.empty()) take_most(sheet, keys.samples);
  const Setting* epochs = sheet.find(keys.epochs);
  if (epochs != nullptr && !says_nothing(*epochs)) sheet.say("epochs", epochs->text, *epochs);
  if (!keys.usual.count.empty()) sheet.by_default("epochs", keys.usual.count, keys.usual.whose);
  if (packs(sheet, keys.packing)) sheet.say("packing", "1", *sheet.find(keys.packing));
}

void assume_full_sequences(Sheet& sheet, std::initializer_list<std::string_view> packing_keys) {
  if (packs(sheet, packing_keys)) return;
  sheet.assume("samples as long as --seq: of many lengths they leave more cached (--sample-tokens)");
}

void take_engine_beside(Sheet& sheet, const UsualEngine& usual) {
  if (!sheet.is_on("use_vllm")) return;
  const Setting& uses = *sheet.find("use_vllm");
  const std::string said = sheet.text("vllm_mode");
  // A share of the memory is asked for by a trainer that starts the engine itself, as ms-swift 3.4 did without a mode.
  const bool shares = sheet.find("vllm_gpu_memory_utilization") != nullptr && sheet.find("vllm_server_host") == nullptr;
  const std::string_view mode = !said.empty() ? std::string_view(said) : shares ? "colocate" : usual.mode;
  if (mode != "colocate") {
    return sheet.by_default("samples_by_engine", "1", "a server on other accelerators: llmcalc serve");
  }
  const Setting* share = sheet.find("vllm_gpu_memory_utilization");
  if (share != nullptr) sheet.say("colocate_fraction", share->text, *share);
  sheet.by_default("colocate_fraction", usual.share, usual.whose);
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
