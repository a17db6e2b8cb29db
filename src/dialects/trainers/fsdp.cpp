// PyTorch FSDP as transformers, accelerate and axolotl name it. Numbers and defaults of strategies:
// accelerate utils/dataclasses.py, FullyShardedDataParallelPlugin; without a version it is 1 (ibid.).
#include "dialects/trainers/torch_rules.hpp"
#include "quantity/text.hpp"

#include <array>
#include <string>

namespace llmcalc::dialects {
namespace {

struct Strategy {
  std::string_view name;
  std::string_view number;    ///< as torch.distributed.fsdp.ShardingStrategy counts
  std::string_view sharding;  ///< empty: that of the version
  bool reshards = true;
};

constexpr Strategy strategies[] = {
    {"full_shard", "1", "", true},
    {"shard_grad_op", "2", "", false},
    {"no_shard", "3", "ddp", true},
    {"hybrid_shard", "4", "hsdp", true},
    {"hybrid_shard_zero2", "5", "hsdp", false},
    {"_hybrid_shard_zero2", "5", "hsdp", false},
};

const Setting* of_config(const Sheet& sheet, const std::string& key) {
  return sheet.find({"fsdp_config." + key, "fsdp_config.fsdp_" + key, "fsdp_" + key});
}

bool is_yes(const Setting* setting) {
  if (setting == nullptr) return false;
  const std::string word = quantity::to_lower(setting->text);
  return word == "true" || word == "1" || word == "yes";
}

const Strategy* strategy_in(const Setting* setting) {
  if (setting == nullptr) return nullptr;
  const std::string text = " " + quantity::to_lower(setting->text) + " ";
  const Strategy* found = nullptr;
  for (const Strategy& strategy : strategies) {
    const bool named = text.find(strategy.name) != std::string::npos;
    const bool longer = found != nullptr && strategy.name.size() > found->name.size();
    if ((named && (found == nullptr || longer)) || text == " " + std::string(strategy.number) + " ") found = &strategy;
  }
  return found;
}

}  // namespace

void take_fsdp(Sheet& sheet) {
  const Setting* list = sheet.find("fsdp");
  const Setting* named = of_config(sheet, "sharding_strategy");
  const Setting* version = of_config(sheet, "version");
  const Setting* reshard = of_config(sheet, "reshard_after_forward");
  const Setting* because = list != nullptr ? list : version != nullptr ? version : named != nullptr ? named : reshard;
  if (because == nullptr || quantity::to_lower(because->text) == "false") return;

  const bool second = version != nullptr && version->text == "2";
  const Strategy* strategy = strategy_in(named != nullptr ? named : list);
  if (strategy == nullptr && reshard != nullptr) strategy = strategy_in(reshard);
  const std::string_view usual = second ? "fsdp2" : "fsdp1";
  const bool says_other = strategy != nullptr && !strategy->sharding.empty();
  sheet.say("sharding", std::string(says_other ? strategy->sharding : usual), named != nullptr ? *named : *because);
  if (version == nullptr && !says_other) sheet.assume("FSDP version 1, accelerate's where none is said");

  const bool keeps = (strategy != nullptr && !strategy->reshards) ||
                     (reshard != nullptr && quantity::to_lower(reshard->text) == "false");
  if (keeps) sheet.say("reshard", "0", reshard != nullptr ? *reshard : *because);
  const Setting* offload = of_config(sheet, "offload_params");
  const bool by_word = list != nullptr && quantity::to_lower(list->text).find("offload") != std::string::npos;
  if (is_yes(offload) || by_word) sheet.say("offload", "params+optimizer", is_yes(offload) ? *offload : *list);
  const Setting* checkpoints = of_config(sheet, "activation_checkpointing");
  if (is_yes(checkpoints)) sheet.say("recompute", "full", *checkpoints);
}

}  // namespace llmcalc::dialects
