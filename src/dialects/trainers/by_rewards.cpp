// Trainers by rewards, whose samples an engine generates: verl, NeMo-RL, slime and OpenRLHF. Where it runs is
// a role of the run: beside the trainer, asleep or not, or on accelerators of its own.
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <algorithm>

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
void take_tokens(Sheet& sheet, std::string_view on, const Count& tokens) {
  const Given* seq = sheet.word("seq");
  if (!sheet.is_on(on) || sheet.leaves_open("micro_batch", {tokens.key})) return;
  if (seq == nullptr)
    return sheet.leave_open("micro_batch", "the length of a sequence hangs on a variable", sheet.said(on));
  const Given* ranks = sheet.word("cp");
  const auto share = ranks == nullptr ? 1 : quantity::parse_count(ranks->text, ranks->origin.where);
  const auto length = std::max<std::int64_t>(1, quantity::parse_count(seq->text, seq->origin.where));
  const auto held = quantity::checked_multiply(value_of(sheet, tokens), share) / length;
  sheet.say("micro_batch", std::to_string(std::max<std::int64_t>(1, held)), sheet.said(on));
  sheet.assume(sheet.said(on), "micro-batches of as many full samples as its tokens hold");
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
  const auto of_all = sheet.count(key);
  const auto count = [&](std::string_view term) {
    const Given* said = sheet.word(term);
    return said == nullptr ? 1 : std::max<std::int64_t>(1, quantity::parse_count(said->text, said->origin.where));
  };
  const auto mine = *of_all / std::max<std::int64_t>(1, count("gpus") / count("cp"));
  sheet.say("micro_batch", std::to_string(std::max<std::int64_t>(1, mine)), *sheet.find(key));
}

/// workers/fsdp_workers.py and engine/fsdp: fp32 shards under bf16 products, whatever moves to the host between phases.
void take_verl_engine(Sheet& sheet, bool by_megatron) {
  if (by_megatron) {
    sheet.say("framework", "nemo", *sheet.find({"actor.strategy", "config_name", "model_engine"}));
    sheet.say("sharding", "zero1", *sheet.find({"actor.strategy", "config_name", "model_engine"}));
    return sheet.by_default("dtype", "bf16", "verl default");
  }
  sheet.by_default("sharding", "fsdp1", "verl default");
  sheet.by_default("dtype", "mixed-bf16", "verl default");
  sheet.by_default("attention", "flash", "verl default");
  sheet.by_default("recompute", "full", "verl default");
  if (sheet.has("cp")) sheet.by_default("cp_exchange", "all-to-all", "verl: Ulysses");
  const Setting* group = sheet.find("actor.fsdp_config.fsdp_size");
  if (group == nullptr || group->text.starts_with('-')) return;  // -1 are all (workers/config/engine.py)
  if (sheet.count("actor.fsdp_config.fsdp_size").value_or(0) < 2) return;
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
  take_tokens(sheet, "actor.use_dynamic_bsz", {"actor.ppo_max_token_len_per_gpu", 16'384});
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
  const std::string block = by_megatron ? "megatron_cfg." : "dtensor_cfg.";
  const auto take = [&](std::string_view term, const std::string& key) {
    if (sheet.count(block + key).value_or(1) > 1) sheet.take(term, {block + key});
  };
  take("tp", by_megatron ? "tensor_model_parallel_size" : "tensor_parallel_size");
  take("cp", "context_parallel_size");
  take("ep", by_megatron ? "expert_model_parallel_size" : "expert_parallel_size");
  take("pp", "pipeline_model_parallel_size");
  if (by_megatron) sheet.take("etp", {"megatron_cfg.expert_tensor_parallel_size"});
  if (sheet.has("tp") && sheet.is_on(block + "sequence_parallel")) {
    sheet.say("sp", "1", sheet.said(block + "sequence_parallel"));
  }
  const bool recomputes = sheet.is_on(block + "activation_checkpointing");
  if (recomputes) sheet.say("recompute", "full", sheet.said(block + "activation_checkpointing"));
  const bool half = sheet.text("precision") != "float32";
  if (by_megatron) sheet.say("framework", "nemo", sheet.said("megatron_cfg.enabled"));
  sheet.by_default("sharding", by_megatron ? "zero1" : "fsdp2", "NeMo-RL default");
  const auto narrow_sums = "megatron_cfg.distributed_data_parallel_config.grad_reduce_in_fp32";
  if (by_megatron && sheet.truth(narrow_sums) == false) sheet.say("grads", "bf16", *sheet.find(narrow_sums));
  if (!by_megatron && sheet.truth("optimizer.kwargs.foreach") == false && !sheet.is_on("optimizer.kwargs.fused"))
    sheet.say("optimizer_impl", "loop", *sheet.find("optimizer.kwargs.foreach"));
  sheet.by_default("dtype", !half ? "fp32" : by_megatron ? "bf16" : "mixed-bf16", "NeMo-RL default");
  if (sheet.is_on("dtensor_cfg.lora_cfg.enabled")) {
    take_lora(sheet, "dtensor_cfg.lora_cfg.dim", "dtensor_cfg.lora_cfg.target_modules");
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

/// A file that begins with another one, which is not here, says little by itself.
void leave_rest_open(Sheet& sheet) {
  const Setting* base = sheet.find("defaults");
  if (base != nullptr) sheet.assume(*base, "was not read: what is not said here is the trainer's default");
  for (const auto term : {"model", "algorithm", "seq", "micro_batch", "global_batch"}) {
    if (base == nullptr || sheet.has(term)) continue;
    sheet.leave_open(term, "defaults " + base->text + " says it, which was not read", *base);
  }
}

/// cli/train_ppo_ray.py: a model that is not colocated has accelerators of its own, as the engine without a share.
void take_openrlhf_roles(Sheet& sheet) {
  const bool by_ray = sheet.find({"actor_num_gpus_per_node", "actor_num_nodes"}) != nullptr;
  const bool beside = !by_ray || sheet.is_on("colocate_all_models");
  const bool has_engine = sheet.count("vllm_num_engines").value_or(0) > 0;
  const bool sleeps = sheet.is_on("vllm_enable_sleep");
  const bool apart = !beside || sheet.is_on("train.async_enable") || sheet.is_on("async_train");
  if (has_engine) {
    take_engine(sheet,
                apart    ? Engine::apart
                : sleeps ? Engine::asleep
                         : Engine::awake,
                "vllm_gpu_memory_utilization", "0.95");
  }
  const bool compares = sheet.find("init_kl_coef") == nullptr || sheet.is_above_zero("init_kl_coef");
  const bool reference = compares && (beside || sheet.is_on("colocate_actor_ref"));
  const Given algorithm = *sheet.word("algorithm");
  const Setting* reward = sheet.find("reward_pretrain");
  if (algorithm.text == "ppo" && !beside) {
    const Setting* because = sheet.find({"advantage_estimator", "algorithm"});
    ask_policy_alone(sheet, *because);
  }
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
  const auto names_megatron = [&](auto key) { return sheet.text(key).find("megatron") != std::string::npos; };
  take_cluster(sheet, "trainer.n_gpus_per_node", "trainer.nnodes", 8);
  const bool by_megatron =
      names_megatron("actor.strategy") || names_megatron("config_name") || names_megatron("model_engine");
  take_verl_engine(sheet, by_megatron);
  take_lora(sheet, "model.lora_rank", "model.target_modules");
  if (tunes) {
    sheet.take("global_batch", {"data.train_batch_size"});
    take_tokens(sheet, "data.use_dynamic_bsz", {"data.max_token_len_per_gpu", 8'192});
  } else {
    take_verl_samples(sheet, by_megatron);
  }
  take_length(sheet, {"trainer.total_training_steps", {}});
}

void nemo_rl_rules(Sheet& sheet) {
  take_nemo_algorithm(sheet);
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
  leave_rest_open(sheet);
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
  const bool whole = sheet.find("rollout_max_context_len") != nullptr;
  if (whole) sheet.take("seq", {"rollout_max_context_len"});
  if (!whole) take_sequence(sheet, {"rollout_max_prompt_len", 0}, {"rollout_max_response_len", 1'024}, "slime default");
  take_tokens(sheet, "use_dynamic_batch_size", {"max_tokens_per_gpu", 4'096});
  take_updates(sheet);
  const Given* algorithm = sheet.word("algorithm");
  if (algorithm != nullptr && algorithm->text == "sft") return;
  sheet.by_default("algorithm", "grpo", "slime default");
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
  sheet.by_default("micro_batch", generates ? "1" : "8", "OpenRLHF default");
  take_liger(sheet, "use_liger_kernel");
  take_lora(sheet, "lora_rank", "target_modules");
  if (sheet.has("method") && (program == "dpo" || program == "kto")) sheet.by_default("reference", "model", "OpenRLHF");
  if (!generates) return sheet.by_default("seq", "2048", "OpenRLHF default");
  if (!sheet.has("seq"))
    take_sequence(sheet, {"prompt_max_len", 1'024}, {"generate_max_len", 1'024}, "OpenRLHF default");
  take_cluster(sheet, "actor_num_gpus_per_node", "actor_num_nodes", 8);
  take_tokens(sheet, "use_dynamic_batch", {"train_max_tokens_per_gpu", 16'192});
  take_openrlhf_roles(sheet);
}

}  // namespace llmcalc::dialects
