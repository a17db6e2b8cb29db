// SGLang's server (python/sglang/srt/server_args.py).
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "spec/load.hpp"

#include <fmt/format.h>

#include <cmath>

namespace llmcalc::dialects {
namespace {

/// The first release in which copies of the attention have an option of their own, which deprecates the switch that
/// made them of copies (arg_groups/fields/parallel.py of 0.5.22).
constexpr serving::EngineRelease counts_attention{0, 5, 22};

/// tp counts all ranks of a copy's stage: attention that is copied leaves a part of them to each. Copies of the whole
/// have their own stages too (managers/data_parallel_controller.py, launch_dp_schedulers).
void take_ranks(Sheet& sheet) {
  const Setting* ranks = sheet.find({"tp", "tp_size", "tensor_parallel_size"});
  const Setting* own = sheet.find({"attn_dp_size", "attention_data_parallel_size"});
  const Setting* copied = sheet.find({"dp", "dp_size", "data_parallel_size"});
  const auto tensor = sheet.count({"tp", "tp_size", "tensor_parallel_size"});
  const auto copies = sheet.count({"dp", "dp_size", "data_parallel_size"}).value_or(1);
  const bool by_switch = sheet.is_on("enable_dp_attention") && own == nullptr && copies > 1;
  const auto attention = by_switch ? copies : sheet.count({"attn_dp_size", "attention_data_parallel_size"}).value_or(1);
  if (tensor) sheet.say("tp", std::to_string(*tensor % attention == 0 ? *tensor / attention : *tensor), *ranks);
  if (attention > 1) sheet.say("attention_dp", std::to_string(attention), by_switch ? *copied : *own);
  // server_args.py, _handle_a2a_moe: whoever exchanges tokens so spreads the experts over all ranks of a copy.
  constexpr std::string_view exchanges[] = {"deepep", "mooncake", "ascend_fuseep", "flashinfer", "mori"};
  const Setting* exchange = sheet.find({"moe_a2a_backend", "enable_deepep_moe"});
  const bool spreads = sheet.is_on("enable_deepep_moe") ||
                       quantity::contains(exchanges, std::string_view(sheet.text("moe_a2a_backend")));
  if (tensor && spreads) sheet.say("ep", std::to_string(*tensor), *exchange);
  const auto stages = sheet.count({"pp", "pp_size", "pipeline_parallel_size"}).value_or(1);
  if (copies > 1 && !by_switch)
    sheet.say("gpus", std::to_string(quantity::product(copies, tensor.value_or(1), stages)), *copied);
}

/// The first token of those verified together is the model's own (sglang/srt/arg_groups/speculative_hook.py).
std::optional<std::int64_t> proposed(const Sheet& sheet) {
  if (const auto steps = sheet.count("speculative_num_steps")) return steps;
  const auto verified = sheet.count("speculative_num_draft_tokens");
  return verified ? std::optional(*verified - 1) : std::nullopt;
}

void take_draft(Sheet& sheet) {
  const Setting* algorithm = sheet.find({"speculative_algorithm", "speculative_algo"});
  if (algorithm == nullptr) return;
  const std::string name = sheet.text({"speculative_algorithm", "speculative_algo"});
  const auto tokens = proposed(sheet);
  const Setting* model = sheet.find({"speculative_draft_model_path", "speculative_draft_model"});
  const bool by_model = name == "standalone" && model != nullptr;
  // EAGLE without a head of its own takes the layers that the model brings (server_args.py, NEXTN is its other name).
  const bool mtp = name == "nextn" || (name == "eagle" && model == nullptr);
  if (!mtp && !by_model && !name.starts_with("eagle")) {
    return sheet.assume(*algorithm, "nothing is proposed ahead", "draft");
  }
  const std::string who = by_model ? model->text : mtp ? "mtp" : eagle_layers(model == nullptr ? "" : model->text);
  sheet.say("draft", who + (tokens ? ":" + std::to_string(*tokens) : std::string()), *algorithm);
}

/// Half of the steps between two looks at new requests is what one waits in the mean
/// (managers/scheduler_recv_skipper.py).
void take_interval(Sheet& sheet) {
  const auto steps = sheet.count({"scheduler_recv_interval"}).value_or(1);
  if (steps > 1)
    sheet.say("wait_steps", fmt::format("{:g}", static_cast<double>(steps - 1) / 2.0),
              *sheet.find("scheduler_recv_interval"));
}

void take_adapters(Sheet& sheet) {
  if (!sheet.is_on("enable_lora")) return;
  const Setting* loras = sheet.find("max_loras_per_batch");
  constexpr std::string_view usual = "8";  // server_args.py
  const Setting& said = loras == nullptr ? *sheet.find("enable_lora") : *loras;
  sheet.say("max_loras", loras == nullptr ? std::string(usual) : loras->text, said);
  if (const Setting* rank = sheet.find("max_lora_rank")) sheet.say("lora_rank", rank->text, *rank);
}

using Text = std::optional<std::string>;

Text embeds(const ServerLetter& letter) { return if_so(spec::reads_only(letter.serving().load)); }
Text model(const ServerLetter& letter) { return served_as(letter).model; }
Text copies_attention(const ServerLetter& letter) { return if_so(letter.serving().layout.attention_dp > 1); }
Text copies_of_attention(const ServerLetter& letter) { return above(1, letter.serving().layout.attention_dp); }
Text copies_of_all(const ServerLetter& letter) {
  const bool apart = copies_of_attention(letter) && letter.deployment.setup.release >= counts_attention;
  return apart ? std::nullopt : ranks_of_copies(letter);
}
/// Graphs of steps and of prompts are captured by a backend each (arg_groups/fields/exec_.py).
Text no_graphs(const ServerLetter& letter) {
  return if_so(!letter.serving().options.graphs.value_or(true), "disabled");
}
Text interval(const ServerLetter& letter) {
  return above(1, std::llround(2 * letter.serving().options.wait_steps + 1));
}

/// Without adapters at the start it has to be told how large they may be and where they may stand
/// (sglang/srt/arg_groups/lora_hook.py, check_lora_server_args).
Text lora_rank(const ServerLetter& letter) {
  return loras(letter) ? above(0, serving::adapter_rank(letter.question)) : std::nullopt;
}
Text lora_targets(const ServerLetter& letter) { return if_so(loras(letter).has_value(), "all"); }

/// A model's own layers propose under the name of EAGLE's.
Text algorithm(const ServerLetter& letter) { return drafter(letter, {"NEXTN", "EAGLE3", "STANDALONE"}); }
Text one_by_one(const ServerLetter& letter) { return if_so(algorithm(letter).has_value(), "1"); }
Text verified(const ServerLetter& letter) {
  return algorithm(letter) ? above(0, letter.serving().options.draft.tokens + 1) : std::nullopt;
}

Text head(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "$HEAD:5000"); }

constexpr Told told[] = {{"--node-rank", &node_rank},
                         {"--dist-init-addr", &head},
                         {"--model-path", &model},
                         {"--is-embedding", &embeds},
                         {"--tp-size", &all_ranks},
                         {"--dp-size", &copies_of_all},
                         {"--attn-dp-size", &copies_of_attention},
                         {"--enable-dp-attention", &copies_attention},
                         {"--cuda-graph-backend-decode", &no_graphs},
                         {"--cuda-graph-backend-prefill", &no_graphs},
                         {"--quantization", &scheme},
                         {"--scheduler-recv-interval", &interval},
                         {"--enable-lora", &takes_loras},
                         {"--max-loras-per-batch", &loras},
                         {"--max-lora-rank", &lora_rank},
                         {"--lora-target-modules", &lora_targets},
                         {"--speculative-algorithm", &algorithm},
                         {"--speculative-draft-model-path", &draft_model},
                         {"--speculative-num-steps", &drafted},
                         {"--speculative-eagle-topk", &one_by_one},
                         {"--speculative-num-draft-tokens", &verified}};

}  // namespace

void sglang_rules(Sheet& sheet) {
  take_served_model(sheet, {"model_path", "model", "positional.0"});
  take_ranks(sheet);
  take_draft(sheet);
  take_weight_type(sheet);
  take_interval(sheet);
  if (sheet.text("cuda_graph_backend_decode") == "disabled")
    sheet.say("graphs", "0", *sheet.find("cuda_graph_backend_decode"));
  take_adapters(sheet);
  if (sheet.is_on("is_embedding")) sheet.say("output", "0", *sheet.find("is_embedding"));
  assume_load(sheet);
}

std::string start_sglang(const ServerLetter& letter) {
  // sglang/srt/configs/model_config.py, _derive_context_length
  return command_of(
      letter.beyond_trained("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN") + "python -m sglang.launch_server",
      lines_of(letter, told));
}

}  // namespace llmcalc::dialects
