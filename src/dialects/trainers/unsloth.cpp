// Unsloth's own programs: `unsloth train` with its YAML (unsloth 2026.10.9, unsloth_cli/config.py), and unsloth-cli.py
// of its repository, which trains adapters alone.
#include "dialects/trainers/rules.hpp"
#include "quantity/text.hpp"

namespace llmcalc::dialects {
namespace {

/// Modules that adapters stand on where nothing is said: every linear layer of Llama.
constexpr std::string_view usual_modules = "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj";

void take_method(Sheet& sheet, bool is_script) {
  const Setting* type = sheet.find("training_type");
  const bool full = type != nullptr && quantity::to_lower(type->text) == "full";
  const bool four = !full && sheet.truth("load_in_4bit").value_or(!is_script);
  const std::string method = full ? "full" : adapter_method(sheet, four ? "nf4-dq" : "");
  if (const Setting* said = sheet.find({"training_type", "load_in_4bit", "algorithm"})) {
    sheet.say("method", method, *said);
  } else {
    sheet.by_default("method", method, "unsloth default");
  }
  if (full) return sheet.unsay("lora_rank");
  if (sheet.text("target_modules") == usual_modules) {
    take_targets(sheet, {});
  } else {
    take_targets(sheet, {"target_modules"});
  }
  sheet.by_default("lora_rank", is_script ? "16" : "64", "unsloth default");
}

/// "unsloth" recomputes and keeps what it needs for that on the host (unsloth-zoo gradient_checkpointing.py).
void take_checkpointing(Sheet& sheet) {
  const Setting* said = sheet.find({"gradient_checkpointing", "use_gradient_checkpointing"});
  if (said == nullptr) return;
  const std::string word = quantity::to_lower(said->text);
  const bool recomputes = word == "unsloth" || word == "true" || word == "1" || word == "yes";
  sheet.say("recompute", recomputes ? "full" : "none", *said);
  sheet.say("offload", word == "unsloth" ? "activations" : "none", *said);
}

}  // namespace

/// Options have switches of their own for no.
void rename_unsloth(Settings& settings) {
  for (Setting& setting : settings.all()) {
    if (!setting.key.starts_with("no_") || setting.text != "true") continue;
    setting.key.erase(0, std::string_view("no_").size());
    setting.text = "false";
  }
}

void unsloth_rules(Sheet& sheet) {
  take_method(sheet, sheet.find("algorithm") != nullptr);
  take_checkpointing(sheet);
  take_precision(sheet, {"dtype"}, Loads::half);
  take_length(sheet, {"max_steps", {"num_epochs"}, {"packing"}, {}, {"3", "unsloth default"}});
  assume_full_sequences(sheet, {"packing"});
}

std::string write_unsloth(Letter& letter) {
  const spec::Question& question = letter.question;
  const spec::Training& training = question.training;
  letter.settings.put("model", letter.model);
  letter.settings.put("dataset", "$DATA");
  letter.settings.put("training_type", has_adapters(question) ? "lora" : "full");
  letter.settings.say("load_in_4bit", in_4_bits(question));
  write_rows(letter);
  const bool recomputes = training.recompute.policy == spec::RecomputePolicy::full;
  const bool offloads = training.offload == spec::Offload::activations;
  letter.settings.put("gradient_checkpointing", !recomputes ? "none" : offloads ? "unsloth" : "yes");
  write_adapters(letter, {"lora_r", "target_modules", "modules_to_save", usual_modules, ","});
  const bool alone = question.layout.gpus == 1;
  return letter.settings.options(alone ? "unsloth train" : torchrun(question.layout, "-m unsloth_cli train"),
                                 Style::dashed);
}

}  // namespace llmcalc::dialects
