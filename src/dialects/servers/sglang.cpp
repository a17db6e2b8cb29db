// SGLang's server (python/sglang/srt/server_args.py).
#include "dialects/core/format.hpp"
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace llmcalc::dialects {
namespace {

/// tp counts all ranks of a copy: attention that is copied dp times leaves tp / dp of them to each.
void take_ranks(Sheet& sheet) {
  const auto tensor = sheet.count({"tp", "tp_size", "tensor_parallel_size"});
  const auto copies = sheet.count({"dp", "dp_size", "data_parallel_size"}).value_or(1);
  const bool attention = sheet.is_on("enable_dp_attention") && copies > 1;
  if (tensor) {
    const auto left = attention && *tensor % copies == 0 ? *tensor / copies : *tensor;
    sheet.say("tp", std::to_string(left), *sheet.find({"tp", "tp_size", "tensor_parallel_size"}));
  }
  if (copies <= 1) return;
  const Setting& because = *sheet.find({"dp", "dp_size", "data_parallel_size"});
  if (attention) return sheet.say("attention_dp", std::to_string(copies), because);
  sheet.say("gpus", std::to_string(quantity::product(copies, tensor.value_or(1))), because);
}

/// Of what is verified together the first token is the model's own (sglang/srt/arg_groups/speculative_hook.py).
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
  const std::string who = by_model ? model->text : mtp ? "mtp" : "eagle";
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

Text ranks(const ServerLetter& letter) {
  return above(1, letter.question.layout.tp * letter.serving().layout.attention_dp);
}
Text model(const ServerLetter& letter) { return served_as(letter).model; }
Text ranks_of_copies(const ServerLetter& letter) { return above(1, copies(letter)); }
Text copies_attention(const ServerLetter& letter) { return if_so(letter.serving().layout.attention_dp > 1); }
Text scheme(const ServerLetter& letter) { return served_as(letter).scheme; }
Text interval(const ServerLetter& letter) {
  return above(1, std::llround(2 * letter.serving().options.wait_steps + 1));
}

Text loras(const ServerLetter& letter) { return above(0, letter.serving().options.max_loras); }
Text takes_loras(const ServerLetter& letter) { return if_so(loras(letter).has_value()); }
/// Without adapters at the start it has to be told how large they may be and where they may stand
/// (sglang/srt/arg_groups/lora_hook.py, check_lora_server_args).
Text lora_rank(const ServerLetter& letter) {
  return loras(letter) ? above(0, serving::adapter_rank(letter.question)) : std::nullopt;
}
Text lora_targets(const ServerLetter& letter) { return if_so(loras(letter).has_value(), "all"); }

/// A model's own layers propose under the name of EAGLE's.
Text algorithm(const ServerLetter& letter) {
  switch (letter.serving().options.draft.kind) {
    case spec::DraftKind::none: return std::nullopt;
    case spec::DraftKind::mtp: return "NEXTN";
    case spec::DraftKind::eagle: return "EAGLE3";
    case spec::DraftKind::model: return "STANDALONE";
  }
  return std::nullopt;
}

Text steps(const ServerLetter& letter) {
  return algorithm(letter) ? above(0, letter.serving().options.draft.tokens) : std::nullopt;
}
Text one_by_one(const ServerLetter& letter) { return if_so(algorithm(letter).has_value(), "1"); }
Text verified(const ServerLetter& letter) {
  return algorithm(letter) ? above(0, letter.serving().options.draft.tokens + 1) : std::nullopt;
}

Text node_rank(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "$NODE_RANK"); }
Text head(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "$HEAD:5000"); }

constexpr Told told[] = {{"--node-rank", &node_rank},
                         {"--dist-init-addr", &head},
                         {"--model-path", &model},
                         {"--tp-size", &ranks},
                         {"--dp-size", &ranks_of_copies},
                         {"--enable-dp-attention", &copies_attention},
                         {"--quantization", &scheme},
                         {"--scheduler-recv-interval", &interval},
                         {"--enable-lora", &takes_loras},
                         {"--max-loras-per-batch", &loras},
                         {"--max-lora-rank", &lora_rank},
                         {"--lora-target-modules", &lora_targets},
                         {"--speculative-algorithm", &algorithm},
                         {"--speculative-draft-model-path", &draft_model},
                         {"--speculative-num-steps", &steps},
                         {"--speculative-eagle-topk", &one_by_one},
                         {"--speculative-num-draft-tokens", &verified}};

}  // namespace

void sglang_rules(Sheet& sheet) {
  take_served_model(sheet, {"model_path", "model", "positional.0"});
  take_ranks(sheet);
  sheet.by_default("tp", "1", "SGLang default");
  take_draft(sheet);
  take_weight_type(sheet);
  take_interval(sheet);
  take_adapters(sheet);
  assume_load(sheet);
}

std::string start_sglang(const ServerLetter& letter) {
  return command_of("python -m sglang.launch_server", lines_of(letter, told));
}

}  // namespace llmcalc::dialects
