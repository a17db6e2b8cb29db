// Trainers by rewards, whose samples an engine generates: verl, NeMo-RL, slime and OpenRLHF. Where it runs is
// a role of the run: beside the trainer, asleep or not, or on accelerators of its own.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

/// Where samples come from.
enum class Engine {
  asleep,  ///< on the same accelerators, where it holds nothing while the model is trained
  awake,   ///< on the same, of which it keeps its share
  apart    ///< on others
};

void take_engine(Sheet& sheet, Engine engine, std::string_view share, std::string_view usual) {
  if (engine == Engine::asleep)
    return sheet.by_default("samples_by_engine", "1", "an engine that sleeps while the model is trained");
  if (engine == Engine::apart)
    return sheet.by_default("samples_by_engine", "1", "a server on other accelerators: llmcalc serve");
  sheet.take("colocate_fraction", {share});
  sheet.by_default("colocate_fraction", usual, "default of the trainer");
}

/// Policy without its critic, which is on accelerators of its own.
void ask_policy_alone(Sheet& sheet, const Setting& because) {
  sheet.say("algorithm", "grpo", because);
  sheet.assume(because, "the critic is on accelerators of its own: the policy is trained as GRPO trains it");
}

/// A reference whose weights rest on the host and are fetched layer by layer. PPO's and DPO's losses always have one.
void take_reference_on_host(Sheet& sheet, std::string_view whose) {
  const Given* algorithm = sheet.word("algorithm");
  if (algorithm == nullptr || algorithm->text != "grpo") {
    return sheet.assume("the reference counts on the accelerators, though it rests on the host");
  }
  sheet.by_default("reference", "none", whose);
  if (!sheet.has("method")) sheet.assume("a reference rests on the host: neither its memory nor its time is counted");
}

/// A key that counts, and what it is where nobody says.
struct Count {
  std::string_view key;
  std::int64_t usual;
};

std::int64_t value_of(const Sheet& sheet, const Count& count) { return sheet.count(count.key).value_or(count.usual); }

/// A sequence is a prompt and what is generated behind it.
void take_sequence(Sheet& sheet, const Count& prompt, const Count& generated, std::string_view whose) {
  if (sheet.leaves_open("seq", {prompt.key, generated.key})) return;
  const auto length = quantity::checked_add(value_of(sheet, prompt), value_of(sheet, generated));
  const Setting* said = sheet.find({generated.key, prompt.key});
  if (said != nullptr) return sheet.say("seq", std::to_string(length), *said);
  sheet.by_default("seq", std::to_string(length), whose);
}

/// Micro-batches that are filled with samples up to so many tokens a rank hold at least one.
/// \param packs  the setting that says so; nullptr where none does
void take_tokens(Sheet& sheet, const Setting* packs, const Count& tokens) {
  const Given* seq = sheet.word("seq");
  if (packs == nullptr || sheet.leaves_open("micro_batch", {tokens.key})) return;
  if (seq == nullptr) return sheet.leave_open("micro_batch", "the length of a sequence hangs on a variable", *packs);
  const Given* ranks = sheet.word("cp");
  const auto share = ranks == nullptr ? 1 : quantity::parse_count(ranks->text, ranks->origin.where);
  const auto length = std::max<std::int64_t>(1, quantity::parse_count(seq->text, seq->origin.where));
  const auto held = quantity::checked_multiply(value_of(sheet, tokens), share) / length;
  sheet.say("micro_batch", std::to_string(std::max<std::int64_t>(1, held)), *packs);
  sheet.assume(*packs, "micro-batches of as many full samples as its tokens hold");
}

const Setting* said_on(const Sheet& sheet, std::string_view key) {
  return sheet.is_on(key) ? &sheet.said(key) : nullptr;
}

void take_lora(Sheet& sheet, std::string_view rank, std::string_view targets) {
  if (sheet.count(rank).value_or(0) < 1) return sheet.unsay("lora_dropout");
  sheet.say("method", sheet.is_on("load_in_4bit") ? "qlora" : "lora", *sheet.find(rank));
  sheet.say("lora_rank", sheet.find(rank)->text, *sheet.find(rank));
  take_targets(sheet, {targets});
  sheet.by_default("lora_targets", "all-linear", "default of the trainer");
}

/// workers/fsdp_workers.py: sequences of all ranks, of which each data-parallel one takes its part.
void take_shared_batch(Sheet& sheet) {
  constexpr std::string_view key = "actor.ppo_micro_batch_size";
  if (sheet.has("micro_batch") || sheet.leaves_open("micro_batch", {key}) || !sheet.count(key)) return;
  const auto count = [&](std::string_view term) {
    const Given* said = sheet.word(term);
    return said == nullptr ? 1 : std::max<std::int64_t>(1, quantity::parse_count(said->text, said->origin.where));
  };
  const auto mine = *sheet.count(key) / std::max<std::int64_t>(1, count("gpus") / count("cp"));
  sheet.say("micro_batch", std::to_string(std::max<std::int64_t>(1, mine)), *sheet.find(key));
}

/// Which of its keys names an engine of that kind.
const Setting* names_engine(const Sheet& sheet, std::string_view engine) {
  for (const auto key : {"actor.strategy", "strategy", "model_engine", "config_name"}) {
    if (sheet.text(key).find(engine) != std::string::npos) return sheet.find(key);
  }
  return nullptr;
}

/// Those of verl's engines that are read (trainer/config/model_engine, where "dp" is FSDP's).
constexpr std::array<std::string_view, 4> read_engines{"fsdp", "megatron", "veomni", "dp"};

/// workers/engine: Megatron-Core's, or fp32 shards under bf16 products, whatever moves to the host between phases.
void take_verl_engine(Sheet& sheet) {
  for (const auto key : {"actor.strategy", "strategy", "model_engine"}) {
    const auto begins = [&](std::string_view read) { return sheet.text(key).starts_with(read); };
    if (sheet.find(key) != nullptr && std::ranges::none_of(read_engines, begins))
      return sheet.leave_open("sharding", key + (" " + sheet.text(key)) + ": an engine that is not read",
                              sheet.said(key));
  }
  if (const Setting* megatron = names_engine(sheet, "megatron")) {
    sheet.say("framework", "nemo", *megatron);
    sheet.say("sharding", sheet.truth("use_distributed_optimizer") == false ? "ddp" : "zero1", *megatron);
    sheet.by_default("dtype", "bf16", "verl default");
    sheet.by_default("sp", "1", "verl default");
    if (sheet.has("loss"))
      sheet.assume(sheet.said("model.use_fused_kernels"), "logits are held, which that kernel never makes");
    sheet.unsay("loss");
    return take_megatron_run(sheet);
  }
  if (const Setting* veomni = names_engine(sheet, "veomni")) sheet.say("sharding", "fsdp2", *veomni);
  if (sheet.is_on("cpu_offload") && sheet.is_on("offload_params"))  // trainer/fsdp_sft_trainer.py
    sheet.say("offload", "params+optimizer", sheet.said("offload_params"));
  sheet.by_default("sharding", "fsdp1", "verl default");
  sheet.by_default("dtype", "mixed-bf16", "verl default");
  sheet.by_default("attention", "flash", "verl default");
  sheet.by_default("recompute", "full", "verl default");
  if (sheet.has("cp")) sheet.by_default("cp_exchange", "all-to-all", "verl: Ulysses");
  const Setting* group = sheet.find("fsdp_size");  // -1 are all (workers/config/engine.py)
  if (group == nullptr || group->text.starts_with('-') || sheet.count("fsdp_size").value_or(0) < 2) return;
  sheet.say("sharding", "hsdp", *group);
  sheet.say("sharding_group", group->text, *group);
}

/// trainer/ppo/ray_trainer.py: an update takes ppo_mini_batch_size prompts with n samples each.
void take_verl_samples(Sheet& sheet, bool by_megatron) {
  take_sequence(sheet, {"data.max_prompt_length", 512}, {"data.max_response_length", 512}, "verl default");
  if (!sheet.leaves_open("global_batch", {"actor.ppo_mini_batch_size", "rollout.n"})) {
    const auto samples = quantity::checked_multiply(value_of(sheet, {"actor.ppo_mini_batch_size", 256}),
                                                    value_of(sheet, {"rollout.n", 1}));
    sheet.by_default("global_batch", std::to_string(samples), "ppo_mini_batch_size times rollout.n");
  }
  take_tokens(sheet, said_on(sheet, "actor.use_dynamic_bsz"), {"actor.ppo_max_token_len_per_gpu", 16'384});
  take_shared_batch(sheet);
  // workers/actor/dp_actor.py: flash-attn's kernel, in place unless the loss has the entropy of all logits too
  if (!by_megatron && !sheet.is_above_zero("actor.entropy_coeff"))
    sheet.by_default("loss", "te-fused", "verl: the loss overwrites the logits");
  const bool stays = sheet.truth("rollout.free_cache_engine") == false;
  take_engine(sheet, stays ? Engine::awake : Engine::asleep, "rollout.gpu_memory_utilization", "0.5");
  if (!by_megatron || sheet.is_on("ref.megatron.param_offload"))
    return take_reference_on_host(sheet, "verl: the reference policy is offloaded");
  // trainer/ppo/utils.py, need_reference_policy; beside adapters it is the model without them, and PPO's loss has one
  if (sheet.word("algorithm")->text != "grpo") return;
  const bool compares = sheet.is_on("actor.use_kl_loss") || sheet.is_on("algorithm.use_kl_in_reward");
  sheet.by_default("reference", compares && !sheet.has("method") ? "model" : "none", "verl default");
}

/// Takes the algorithm's block of a file whose own blocks are grpo, dpo and sft (examples/run_*.py).
void take_nemo_algorithm(Sheet& sheet) {
  constexpr Spelling blocks[] = {{"grpo.", "grpo"}, {"dpo.", "dpo"},       {"sft.", "sft"},
                                 {"rm.", "orpo"},   {"distillation.", ""}, {"ppo.", "ppo"}};
  for (const Setting& setting : sheet.settings().all()) {
    for (const auto& [block, algorithm] : blocks) {
      if (!setting.key.starts_with(block)) continue;
      if (algorithm.empty())
        return sheet.leave_open("algorithm", setting.key + ": the teacher is not modelled", setting);
      return sheet.say("algorithm", algorithm, setting);
    }
  }
}

/// models/policy: DTensor's worker keeps fp32 shards under products of `precision`, Megatron's its own.
void take_nemo_worker(Sheet& sheet) {
  const bool by_megatron = sheet.is_on("megatron_cfg.enabled");
  const bool half = sheet.text("precision") != "float32";
  const bool recomputes = sheet.is_on("activation_checkpointing");
  const Setting* by_sequence = sheet.find("sequence_parallel");
  if (by_sequence != nullptr && sheet.count("tensor_model_parallel_size").value_or(1) > 1)
    sheet.say("sp", sheet.is_on("sequence_parallel") ? "1" : "0", *by_sequence);
  sheet.by_default("sharding", by_megatron ? "zero1" : "fsdp2", "NeMo-RL default");
  sheet.by_default("dtype", !half ? "fp32" : by_megatron ? "bf16" : "mixed-bf16", "NeMo-RL default");
  if (recomputes) sheet.say("recompute", "full", sheet.said("activation_checkpointing"));
  if (by_megatron) {
    sheet.say("framework", "nemo", sheet.said("megatron_cfg.enabled"));
    take_megatron_run(sheet);
    if (sheet.is_on("fp8_cfg.enabled")) {
      const bool in_blocks = sheet.text("fp8_cfg.fp8_recipe") == "mxfp8";
      sheet.say("compute", in_blocks ? "mxfp8" : "fp8-e4m3", sheet.said("fp8_cfg.enabled"));
    }
    if (!recomputes) sheet.unsay("recompute");
  } else if (sheet.truth("optimizer.kwargs.foreach") == false && !sheet.is_on("optimizer.kwargs.fused")) {
    sheet.say("optimizer_impl", "loop", *sheet.find("optimizer.kwargs.foreach"));
  }
  for (const std::string block : {"peft", "lora_cfg"}) {
    if (sheet.is_on(block + ".enabled")) take_lora(sheet, block + ".dim", block + ".target_modules");
  }
}

/// algorithms/grpo.py, setup: of one machine some accelerators generate, of several some machines.
void leave_generation_out(Sheet& sheet) {
  const auto nodes = sheet.count("cluster.num_nodes").value_or(1);
  const bool by_nodes = nodes > 1;
  const std::string key = std::string("generation.colocated.resources.") + (by_nodes ? "num_nodes" : "gpus_per_node");
  const auto each = sheet.count("cluster.gpus_per_node").value_or(1);
  const auto left = (by_nodes ? nodes : each) - sheet.count(key).value_or(0);
  const Setting* because = sheet.find({key, "generation.colocated.enabled"});
  if (sheet.find(key) == nullptr || left < 1)
    return sheet.leave_open("gpus", "some of the cluster's accelerators generate alone", *because);
  sheet.say("gpus", std::to_string(by_nodes ? quantity::checked_multiply(left, each) : left), *because);
  if (by_nodes) sheet.say("nodes", std::to_string(left), *because);
}

/// Settings on top of those of another file, which is not here, say little by themselves.
void leave_rest_open(Sheet& sheet, const Setting& base) {
  sheet.assume(base, "was not read: what is not said here is the trainer's default");
  for (const auto term : {"model", "algorithm", "seq", "micro_batch", "global_batch"}) {
    if (!sheet.has(term)) sheet.leave_open(term, base.key + " " + base.text + " says it, which was not read", base);
  }
}

/// cli/train_ppo_ray.py: a model that is not colocated has accelerators of its own, as the engine without a share.
void take_openrlhf_roles(Sheet& sheet) {
  const bool by_ray = sheet.find({"actor_num_gpus_per_node", "actor_num_nodes"}) != nullptr;
  const bool beside = !by_ray || sheet.is_on("colocate_all_models");
  const bool has_engine = sheet.count("vllm_num_engines").value_or(0) > 0;
  const bool sleeps = sheet.is_on("vllm_enable_sleep");
  const bool apart = !beside || sheet.is_on("train.async_enable") || sheet.is_on("async_train");
  const Engine colocated = sleeps ? Engine::asleep : Engine::awake;
  if (has_engine) take_engine(sheet, apart ? Engine::apart : colocated, "vllm_gpu_memory_utilization", "0.95");
  const bool compares = sheet.find("init_kl_coef") == nullptr || sheet.is_above_zero("init_kl_coef");
  const bool reference = compares && (beside || sheet.is_on("colocate_actor_ref"));
  const Given algorithm = *sheet.word("algorithm");
  const Setting* reward = sheet.find("reward_pretrain");
  if (algorithm.text == "ppo" && !beside) ask_policy_alone(sheet, *sheet.find({"advantage_estimator", "algorithm"}));
  if (sheet.word("algorithm")->text == "grpo") {
    if (reward != nullptr && beside) sheet.assume(*reward, "no reward model is counted");
    return sheet.by_default("reference", reference ? "model" : "none", "OpenRLHF");
  }
  if (sheet.has("method")) sheet.by_default("reference", "model", "OpenRLHF");
  if (!compares) sheet.assume(sheet.said("init_kl_coef"), "a reference counts, though none is held");
  if (reward == nullptr) sheet.assume("a reward model as large as the trained one counts, wherever rewards come from");
  for (const auto key : {"critic_pretrain", "reward_pretrain"}) {
    if (const Setting* other = sheet.find(key)) sheet.assume(*other, "as large as the trained model");
  }
}

/// slime/utils/arguments.py: what a rollout generates, over so many updates.
void take_updates(Sheet& sheet) {
  constexpr std::string_view updates = "num_steps_per_rollout";
  if (!sheet.find(updates) || sheet.has("global_batch")) return;
  if (sheet.leaves_open("global_batch", {updates, "rollout_batch_size", "n_samples_per_prompt"})) return;
  const auto samples = quantity::checked_multiply(value_of(sheet, {"rollout_batch_size", 1}),
                                                  value_of(sheet, {"n_samples_per_prompt", 1}));
  const auto each = samples / std::max<std::int64_t>(1, value_of(sheet, {updates, 1}));
  sheet.say("global_batch", std::to_string(std::max<std::int64_t>(1, each)), *sheet.find(updates));
}

}  // namespace

void verl_rules(Sheet& sheet) {
  const bool tunes = sheet.text("algorithm") == "sft";
  if (tunes) sheet.say("algorithm", "sft", *sheet.find("algorithm"));
  sheet.by_default("algorithm", "ppo", "verl default");
  take_cluster(sheet, "trainer.n_gpus_per_node", "trainer.nnodes", 8);
  take_verl_engine(sheet);
  take_lora(sheet, "model.lora_rank", "model.target_modules");
  if (tunes) {  // trainer/config/sft_trainer_engine.yaml; the trainer before it, whose model is partial_pretrain
    sheet.take("global_batch", {"data.train_batch_size"});
    sheet.by_default("global_batch", "256", "verl default");
    sheet.by_default("seq", "1024", "verl default");
    Setting usual;
    usual.key = "data.use_dynamic_bsz";
    usual.text = "True";
    usual.where = "verl default";
    const bool unsaid = sheet.find(usual.key) == nullptr && sheet.find("model.path") != nullptr;
    take_tokens(sheet, unsaid ? &usual : said_on(sheet, usual.key), {"data.max_token_len_per_gpu", 8'192});
    sheet.by_default("micro_batch", "4", "verl default");
  } else {
    take_verl_samples(sheet, names_engine(sheet, "megatron") != nullptr);
  }
  take_length(sheet, {"trainer.total_training_steps", {}});
  const Setting* config = sheet.find("config_name");
  constexpr std::string_view own[] = {"ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine"};
  const auto is_it = [&](std::string_view name) {
    return quantity::without_end(std::string_view(config->text), ".yaml") == name;
  };
  if (config != nullptr && std::ranges::none_of(own, is_it)) leave_rest_open(sheet, *config);
}

/// models/policy/lm_policy.py: of two workers one is enabled, under the names of Megatron-LM's arguments; what the
/// other's block says is nothing.
void rename_nemo_rl(Settings& settings) {
  const bool by_megatron = settings.text("megatron_cfg.enabled") == "true";
  const std::string_view other = by_megatron ? "dtensor_cfg." : "megatron_cfg.";
  constexpr std::string_view blocks[] = {"megatron_cfg.distributed_data_parallel_config.", "megatron_cfg.optimizer.",
                                         "megatron_cfg.", "dtensor_cfg."};
  Settings all;
  bool strips = false;
  for (Setting setting : settings.all()) {
    const auto begins = [&](std::string_view block) { return setting.key.starts_with(block); };
    const auto* block = quantity::find_if_or_null(blocks, begins);
    const bool says_which = setting.key == "megatron_cfg.enabled" || setting.key == "dtensor_cfg.enabled";
    if (block != nullptr && !says_which) {
      strips = true;
      if (begins(other)) continue;
      setting.key.erase(0, block->size());
    }
    all.put(std::move(setting));
  }
  settings = std::move(all);
  if (strips) rename(row_of(Dialect::nemo_rl), settings);
}

void nemo_rl_rules(Sheet& sheet) {
  take_nemo_algorithm(sheet);
  assume_reward_model(sheet, "reward_model_cfg.enabled");
  take_nemo_worker(sheet);
  take_cluster(sheet, "cluster.gpus_per_node", "cluster.num_nodes", 1);
  const bool apart = sheet.truth("generation.colocated.enabled") == false;
  if (apart) leave_generation_out(sheet);
  const std::string algorithm = sheet.has("algorithm") ? sheet.word("algorithm")->text : "";
  if (algorithm == "grpo" || algorithm == "ppo") {
    take_engine(sheet, apart ? Engine::apart : Engine::asleep, {}, {});
    take_reference_on_host(sheet, "NeMo-RL: the reference's weights are swapped in from the host");
  } else if (algorithm == "dpo") {
    sheet.by_default("reference", "precomputed", "NeMo-RL: the reference's weights are swapped in for its pass alone");
  }
  constexpr std::string_view lengths[] = {"grpo.max_num_steps", "sft.max_num_steps", "dpo.max_num_steps"};
  const auto* length = quantity::find_if_or_null(lengths, [&](auto key) { return sheet.find(key) != nullptr; });
  if (length != nullptr) take_length(sheet, {*length, {}});
  if (const Setting* base = sheet.find("defaults")) leave_rest_open(sheet, *base);
}

/// slime/backends/megatron_utils/arguments.py, set_default_megatron_args: bf16 and the distributed optimizer always.
/// slime/backends/fsdp_utils/actor.py, arguments.py: fp32 shards under bf16 products.
void slime_rules(Sheet& sheet) {
  const Setting* backend = sheet.text("train_backend") == "fsdp" ? sheet.find("train_backend") : nullptr;
  if (backend == nullptr) megatron_rules(sheet);
  const Setting& because = *sheet.find({"advantage_estimator", "loss_type", "hf_checkpoint"});
  sheet.say("framework", backend == nullptr ? "nemo" : "torch", backend == nullptr ? because : *backend);
  sheet.unsay("dtype");
  sheet.by_default("dtype", backend == nullptr ? "bf16" : "mixed-bf16", "slime default");
  sheet.by_default("sharding", backend == nullptr ? "zero1" : "fsdp2", "slime default");
  if (backend != nullptr) sheet.by_default("attention", "flash", "slime default");
  take_lora(sheet, "lora_rank", "lora_target_modules");
  const bool by_name = !sheet.has("layers") && !sheet.leaves_open("model", {"hf_checkpoint"});
  if (const Setting* from = by_name ? sheet.find("hf_checkpoint") : nullptr) {
    const auto path = quantity::without_end(std::string_view(from->text), "/");
    sheet.say("model", path.substr(path.rfind('/') + 1), *from);
  }
  take_cluster(sheet, "actor_num_gpus_per_node", "actor_num_nodes", 8);
  if (sheet.find("rollout_max_context_len") != nullptr)
    sheet.take("seq", {"rollout_max_context_len"});
  else if (sheet.find("rollout_max_response_len") != nullptr)
    take_sequence(sheet, {"rollout_max_prompt_len", 0}, {"rollout_max_response_len", 0}, "slime default");
  else if (!sheet.has("seq"))
    sheet.leave_open("seq", "answers may be as long as the engine's context: no rollout_max_response_len", because);
  take_tokens(sheet, said_on(sheet, "use_dynamic_batch_size"), {"max_tokens_per_gpu", 4'096});
  take_updates(sheet);
  sheet.by_default("algorithm", "grpo", "slime default");
  if (sheet.word("algorithm")->text == "sft") return;
  if (const Setting* critic = sheet.find({"critic_num_gpus_per_node", "critic_num_nodes"}))
    ask_policy_alone(sheet, *critic);
  take_engine(sheet, sheet.is_on("colocate") ? Engine::asleep : Engine::apart, {}, {});
  take_reference_on_host(sheet, "slime: the reference's weights are swapped in from the host");
}

/// cli/train_ppo_ray.py, cli/train_sft.py. Adapters have a whole reference beside them (cli/train_dpo.py, ref_model).
void openrlhf_rules(Sheet& sheet) {
  const std::string program = sheet.text("algorithm");
  const bool generates = program == "ppo";
  if (!program.empty() && !sheet.has("algorithm")) {
    sheet.say("algorithm", program == "rm" ? "orpo" : program, *sheet.find("algorithm"));
  }
  assume_reward_model(sheet, "algorithm");
  const bool dotless = generates && sheet.find("pretrain") != nullptr;  // options of releases before 0.11
  if (dotless) sheet.by_default("micro_batch", "4", "OpenRLHF before 0.10");
  sheet.by_default("micro_batch", generates || program == "rm" ? "1" : "8", "OpenRLHF default");
  take_liger(sheet, "use_liger_kernel");
  take_lora(sheet, "lora_rank", "target_modules");
  if (sheet.has("method") && (program == "dpo" || program == "kto")) sheet.by_default("reference", "model", "OpenRLHF");
  if (!generates) return sheet.by_default("seq", "2048", "OpenRLHF default");
  if (!sheet.has("seq"))
    take_sequence(sheet, {"prompt_max_len", 1'024}, {"generate_max_len", 1'024}, "OpenRLHF default");
  take_cluster(sheet, "actor_num_gpus_per_node", "actor_num_nodes", 8);
  take_tokens(sheet, said_on(sheet, "use_dynamic_batch"), {"train_max_tokens_per_gpu", 16'192});
  take_openrlhf_roles(sheet);
}

}  // namespace llmcalc::dialects
