// vLLM's server (vllm/engine/arg_utils.py), by command, configuration file and container.
#include "dialects/core/format.hpp"
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/text.hpp"

#include <string>

namespace llmcalc::dialects {
namespace {

/// With expert parallelism the experts are spread over all ranks of tp and dp, and dp copies the attention; without it
/// dp copies the whole (docs/serving/data_parallel_deployment).
void take_data_parallelism(Sheet& sheet) {
  const auto copies = sheet.count({"data_parallel_size", "dp"}).value_or(1);
  const auto tensor = sheet.count({"tensor_parallel_size", "tp"}).value_or(1);
  const bool experts = sheet.is_on("enable_expert_parallel") || sheet.is_on("ep");
  const auto stages = sheet.count({"pipeline_parallel_size", "pp"}).value_or(1);
  if (copies > 1 && experts) {
    sheet.say("attention_dp", std::to_string(copies), *sheet.find({"data_parallel_size", "dp"}));
  } else if (copies > 1) {
    const auto ranks = quantity::product(copies, tensor, stages);
    sheet.say("gpus", std::to_string(ranks), *sheet.find({"data_parallel_size", "dp"}));
  }
  if (experts)
    sheet.say("ep", std::to_string(quantity::product(copies, tensor)), *sheet.find({"enable_expert_parallel", "ep"}));
}

void take_adapters(Sheet& sheet) {
  if (!sheet.is_on("enable_lora")) return;
  const Setting* loras = sheet.find("max_loras");
  const Setting* rank = sheet.find("max_lora_rank");
  sheet.say("max_loras", loras == nullptr ? "1" : loras->text, loras == nullptr ? *sheet.find("enable_lora") : *loras);
  if (rank != nullptr) sheet.say("lora_rank", rank->text, *rank);
}

using Text = std::optional<std::string>;

Text ranks_of_copies(const ServerLetter& letter) { return above(1, copies(letter)); }
Text spreads_experts(const ServerLetter& letter) { return if_so(letter.question.layout.ep > 1); }
Text scheme(const ServerLetter& letter) { return served_as(letter).scheme; }
Text loras(const ServerLetter& letter) { return above(0, letter.serving().options.max_loras); }
Text takes_loras(const ServerLetter& letter) { return if_so(loras(letter).has_value()); }
Text lora_rank(const ServerLetter& letter) {
  return loras(letter) ? above(0, letter.question.training.adapter.rank) : std::nullopt;
}

bool drafts(const ServerLetter& letter) { return letter.serving().options.draft.kind != spec::DraftKind::none; }

/// vllm/config/speculative.py.
Text draft_method(const ServerLetter& letter) {
  switch (letter.serving().options.draft.kind) {
    case spec::DraftKind::none: return std::nullopt;
    case spec::DraftKind::mtp: return "mtp";
    case spec::DraftKind::eagle: return "eagle3";
    case spec::DraftKind::model: return "draft_model";
  }
  return std::nullopt;
}

Text drafted(const ServerLetter& letter) {
  return drafts(letter) ? above(0, letter.serving().options.draft.tokens) : std::nullopt;
}

/// On each node the same but for its rank; all but the first add --headless.
Text node_rank(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "$NODE_RANK"); }
Text head(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "$HEAD"); }

constexpr Told told[] = {{"--node-rank", &node_rank},
                         {"--master-addr", &head},
                         {"--data-parallel-size", &ranks_of_copies},
                         {"--enable-expert-parallel", &spreads_experts},
                         {"--quantization", &scheme},
                         {"--enable-lora", &takes_loras},
                         {"--max-loras", &loras},
                         {"--max-lora-rank", &lora_rank},
                         {"--speculative-config.method", &draft_method},
                         {"--speculative-config.model", &draft_model},
                         {"--speculative-config.num_speculative_tokens", &drafted}};

}  // namespace

void vllm_rules(Sheet& sheet) {
  take_served_model(sheet, {"model", "model_tag", "model_id", "positional.0"});
  take_data_parallelism(sheet);
  sheet.by_default("tp", "1", "vLLM default");
  take_adapters(sheet);
  take_weight_type(sheet);
  take_speculation(sheet, "speculative_config");
  assume_load(sheet);
}

std::string start_vllm(const ServerLetter& letter) {
  return command_of("vllm serve " + served_as(letter).model, lines_of(letter, told));
}

}  // namespace llmcalc::dialects
