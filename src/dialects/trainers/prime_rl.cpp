// prime-rl, whose samples a server on other accelerators generates (packages/prime-rl-configs/src/prime_rl).
#include "dialects/trainers/rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace llmcalc::dialects {
namespace {

/// The first setting of a section of TOML, or the section itself where it has none and is not "None".
const Setting* section(const Sheet& sheet, const std::string& name) {
  const auto is_in = [&](const Setting& each) { return (each.key + ".").starts_with(name + "."); };
  const Setting* found = quantity::find_if_or_null(sheet.settings().all(), is_in);
  return found != nullptr && found->text == "None" ? nullptr : found;
}

/// configs/trainer.py, ActivationCheckpointConfig: whole layers, or modules of them; ac_offloading switches it on.
void take_prime_checkpoints(Sheet& sheet) {
  const Setting* offloads = section(sheet, "model.ac_offloading");
  const Setting* whole = section(sheet, "model.ac");
  const Setting* said = whole == nullptr ? offloads : whole;
  if (said == nullptr) return;
  const auto every = sheet.count("model.ac.freq").value_or(1);
  const bool by_modules = sheet.text("model.ac.mode") == "selective";
  sheet.say("recompute", by_modules ? "none" : every > 1 ? "every-" + std::to_string(every) : "full", *said);
  if (by_modules) sheet.assume(*sheet.find("model.ac.mode"), "nothing of a layer runs again", "recompute");
  if (offloads == nullptr || by_modules) return;
  if (sheet.has("offload")) return sheet.assume(*offloads, "checkpoints stay: what else leaves is all that leaves");
  sheet.say("offload", "activations", *offloads);
}

/// configs/trainer.py, fused_lm_head_token_chunk_size: logits of so many tokens at once, by rewards alone
/// (configs/sft.py, validate_and_disable_chunked_loss).
void take_prime_head(Sheet& sheet, bool by_rewards) {
  const Setting* chunk = sheet.find("model.fused_lm_head_token_chunk_size");
  if (by_rewards && chunk != nullptr && chunk->text != "disabled") sheet.say("loss", "fused-linear", *chunk);
}

/// Keys that came to configs/trainer.py with or after the defaults of 0.7.0 (OffloadMode, FusionsConfig;
/// MoERuntimeConfig).
constexpr std::string_view newest_keys[] = {"model.offload", "model.fusions"};
constexpr std::string_view newer_keys[] = {"model.offload", "model.fusions", "model.full_offload", "model.moe."};

bool names_any(const Sheet& sheet, std::span<const std::string_view> keys) {
  return std::ranges::any_of(sheet.settings().all(), [&](const Setting& each) {
    return std::ranges::any_of(keys, [&](std::string_view key) { return each.key.starts_with(key); });
  });
}

/// configs/trainer.py, ModelConfig of those releases: checkpoints, which rest on the host as the optimizer does,
/// compiled layers and a head by chunks (in SFT the newest alone) unasked; ac_offloading_requires_ac switches
/// checkpoints on whatever model.ac says.
void take_prime_modes(Sheet& sheet, bool cuts_head) {
  const char* whose = "prime-rl default";
  const bool leaves = sheet.find("model.ac_offloading") == nullptr && section(sheet, "model.ac_offloading") == nullptr;
  if (leaves || sheet.find("model.ac") == nullptr) sheet.by_default("recompute", "full", whose);
  const Setting* said = sheet.find("model.offload");
  if (leaves && said != nullptr && sheet.has("offload")) sheet.assume(*said, "checkpoints, there unasked, stay");
  if (leaves) sheet.by_default("offload", "activations", whose);
  if (sheet.find("model.compile") == nullptr) sheet.by_default("compile", "1", whose);
  if (cuts_head && sheet.find("model.fused_lm_head_token_chunk_size") == nullptr)
    sheet.by_default("loss", "fused-linear", whose);
}

/// configs/rl.py, sft.py: some accelerators of one node, or all of several; and over how many a copy of the weights is
/// spread.
void take_prime_machines(Sheet& sheet) {
  sheet.take("gpus", {"deployment.num_train_gpus", "deployment.num_gpus"});
  const Setting* ids = sheet.find("trainer_gpu_ids");
  if (ids != nullptr) sheet.say("gpus", std::to_string(std::max<std::size_t>(1, ids->items.size())), *ids);
  const Setting* nodes = sheet.find({"deployment.num_train_nodes", "deployment.num_nodes"});
  if (nodes != nullptr) take_cluster(sheet, "deployment.gpus_per_node", nodes->key, 8);
  const Setting* group = sheet.find("deployment.nodes_per_fsdp_group");
  const bool by_nodes = nodes != nullptr && group != nullptr;
  const auto copies =
      by_nodes ? sheet.count(nodes->key).value_or(1) / std::max<std::int64_t>(1, sheet.count(group->key).value_or(1))
               : sheet.count("model.dp_replicate").value_or(1);
  if (copies < 2) return;
  const Setting& because = by_nodes ? *group : *sheet.find("model.dp_replicate");
  sheet.say("sharding", "hsdp", because);
  const Given* gpus = sheet.word("gpus");
  const auto all = gpus == nullptr ? 0 : quantity::parse_count(gpus->text, gpus->origin.where);
  if (all == 0) return sheet.leave_open("sharding_group", "its copies are of an unknown number of ranks", because);
  sheet.say("sharding_group", std::to_string(std::max<std::int64_t>(1, all / copies)), because);
}

}  // namespace

/// trainer/rl/data.py: rollouts are packed into rows of seq_len.
void prime_rl_rules(Sheet& sheet) {
  const bool by_rewards = std::ranges::any_of(
      sheet.settings().all(), [](const Setting& setting) { return setting.key.starts_with("orchestrator."); });
  sheet.by_default("algorithm", by_rewards ? "grpo" : "sft", "prime-rl");
  if (by_rewards) {
    sheet.by_default("reference", "none", "prime-rl: its loss has no reference");
    sheet.by_default("samples_by_engine", "1", "a server on other accelerators: llmcalc serve");
  }
  const bool modes = names_any(sheet, newer_keys);
  const bool cuts_head = by_rewards ? modes : names_any(sheet, newest_keys);
  if (modes && sheet.find({"model.offload", "model.optim_cpu_offload"}) == nullptr)
    sheet.by_default("offload", "optimizer", "prime-rl default: checkpoints, there too, stay");
  take_prime_checkpoints(sheet);
  if (modes) take_prime_modes(sheet, cuts_head);
  take_prime_head(sheet, by_rewards || cuts_head);
  if (const Setting* adapters = section(sheet, "model.lora")) {
    sheet.say("method", "lora", *adapters);
    sheet.by_default("lora_rank", "16", "prime-rl default");
    take_targets(sheet, {"model.lora.target_modules"});
    sheet.by_default("lora_targets", "q,k,v,o,gate,up,down", "prime-rl default");
  }
  if (const Setting* compiles = section(sheet, "model.compile")) sheet.say("compile", "1", *compiles);
  take_prime_machines(sheet);
  take_length(sheet, {"max_steps", {}});
}

}  // namespace llmcalc::dialects
