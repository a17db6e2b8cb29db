// Levanter's files: named axes of JAX under the same compiler as MaxText's, and so by MaxText's engine.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>

namespace llmcalc::dialects {
namespace {

/// Kind of model, as it is where nobody says (levanter 1.1 models/*.py), and the checkpoint that it is by default.
struct LevanterKind {
  std::string_view name;
  std::string_view checkpoint;
  std::string_view seq, hidden, layers, heads, ffn;  ///< ffn: empty where it is mlp_scale times the width
  std::string_view mlp, norm, position, bias, tied;
};

constexpr LevanterKind kinds[] = {
    {"gpt2", "gpt2", "512", "768", "12", "12", "", "gelu", "layernorm", "learned", "all", "1"},
    {"llama", "meta-llama/Llama-2-7b-hf", "2048", "4096", "32", "32", "11008", "swiglu", "rmsnorm", "rope", "none",
     "0"}};

constexpr Spelling tokenizers[] = {
#include "dialects/levanter_tokenizers.inc"
};

/// main/train_lm.py: the configuration of the checkpoint that training starts from, or what the file and its kind say.
void take_levanter_model(Sheet& sheet) {
  const std::string name = sheet.text("model.type").empty() ? "gpt2" : sheet.text("model.type");
  const auto* kind = quantity::find_or_null(kinds, std::string_view(name), &LevanterKind::name);
  const Setting* from = sheet.find("initialize_from_hf");
  const bool is_id = from != nullptr && !sheet.truth("initialize_from_hf");
  if (is_id) return sheet.say("model", from->text.substr(0, from->text.find('@')), *from);
  if (kind == nullptr)
    return sheet.leave_open("model", "model.type " + name + " has a shape of its own", *sheet.find("model.type"));
  sheet.by_default("seq", kind->seq, "Levanter default");
  if (sheet.is_on("initialize_from_hf")) return sheet.say("model", kind->checkpoint, *from);
  for (const auto& [term, usual] :
       {std::pair{"hidden", kind->hidden}, std::pair{"layers", kind->layers}, std::pair{"heads", kind->heads},
        std::pair{"mlp", kind->mlp}, std::pair{"norm", kind->norm}, std::pair{"position", kind->position},
        std::pair{"bias", kind->bias}, std::pair{"tied", kind->tied}})
    sheet.by_default(term, usual, "Levanter default");
  const auto width = quantity::checked_multiply(sheet.count("model.hidden_dim").value_or(768),
                                                sheet.count("model.mlp_scale").value_or(4));
  sheet.by_default("ffn", kind->ffn.empty() ? std::to_string(width) : std::string(kind->ffn), "Levanter default");
  const Setting* tokenizer = sheet.find("data.tokenizer");
  const std::string_view named = tokenizer == nullptr ? std::string_view("gpt2") : tokenizer->text;
  const auto* known = quantity::find_or_null(tokenizers, named, &Spelling::theirs);
  if (known == nullptr) return sheet.leave_open("vocab", fmt::format("the tokenizer {} says it", named), *tokenizer);
  sheet.by_default("vocab", known->ours, "Levanter default");
  if (tokenizer == nullptr) sheet.assume("a vocabulary of 50,257, GPT-2's: the file names no tokenizer");
}

/// jmp's policies, "p=f32,c=bfloat16": what weights rest in, and what is computed in.
void take_policy(Sheet& sheet) {
  const std::string policy = sheet.text("trainer.mp");
  const auto says = [&](std::string_view part) { return policy.find(part) != std::string::npos; };
  if (!says("bf") && !says("bfloat16")) return sheet.by_default("dtype", "fp32", "Levanter default");
  const bool whole = says("p=f32") || says("p=float32") || says("params=float32");
  sheet.say("dtype", whole ? "mixed-bf16" : "bf16", *sheet.find("trainer.mp"));
}

}  // namespace

void levanter_rules(Sheet& sheet) {
  take_levanter_model(sheet);
  take_policy(sheet);
  for (const auto& [key, term] : {std::pair{"trainer.per_device_parallelism", "micro_batch"},
                                  std::pair{"trainer.per_device_eval_parallelism", "eval_batch"}}) {
    const Setting* said = sheet.find(key);
    if (said != nullptr && !said->text.starts_with('-')) sheet.take(term, *said);
  }
  if (!sheet.has("micro_batch")) sheet.by_default("grad_accum", "1", "Levanter default");
  if (sheet.has("micro_batch")) sheet.by_default("eval_batch", sheet.word("micro_batch")->text, "Levanter default");
  const bool keeps = sheet.truth("model.gradient_checkpointing") == false;
  if (keeps) sheet.say("recompute", "none", sheet.said("model.gradient_checkpointing"));
  if (const Setting* rank = sheet.find("lora.r")) {
    sheet.say("method", "lora", *rank);
    sheet.say("lora_rank", rank->text, *rank);
    take_targets(sheet, {"lora.target_modules"});
  }
  sheet.assume("Levanter's steps are taken as MaxText's: both are JAX, compiled as a whole");
}

}  // namespace llmcalc::dialects
