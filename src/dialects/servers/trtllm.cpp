// trtllm-serve (tensorrt_llm/commands/serve.py) with the keys of its file of further options (llmapi/llm_args.py).
#include "dialects/servers/server_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// Ranks with attention of their own all hold a copy.
void take_ranks(Sheet& sheet) {
  const Setting* tensor = sheet.find({"tp_size", "tensor_parallel_size"});
  if (tensor == nullptr) return;
  const bool copied = sheet.is_on("enable_attention_dp");
  sheet.say("tp", copied ? "1" : tensor->text, *tensor);
  if (copied) sheet.say("attention_dp", tensor->text, *sheet.find("enable_attention_dp"));
}

void take_draft(Sheet& sheet) {
  const std::string type = sheet.text("speculative_config.decoding_type");
  const Setting* setting = sheet.find("speculative_config.decoding_type");
  const auto tokens = sheet.count({"speculative_config.num_nextn_predict_layers", "speculative_config.max_draft_len"});
  const Setting* model =
      sheet.find({"speculative_config.speculative_model_dir", "speculative_config.speculative_model"});
  const bool by_model = type == "drafttarget" && model != nullptr;
  const bool known = type == "mtp" || type == "eagle" || by_model;
  const std::string layers = type == "eagle" ? eagle_layers(model == nullptr ? "" : model->text) : type;
  if (known)
    sheet.say("draft", (by_model ? model->text : layers) + (tokens ? ":" + std::to_string(*tokens) : std::string()),
              *setting);
  if (setting != nullptr && !known) sheet.assume(*setting, "nothing is proposed ahead", "draft");
}

using Text = std::optional<std::string>;

Text copies_attention(const ServerLetter& letter) { return if_so(letter.serving().layout.attention_dp > 1, "true"); }
Text reuse(const ServerLetter& letter) {
  const auto reuses = letter.serving().options.prefix_cache;
  return reuses ? Text(*reuses ? "true" : "false") : std::nullopt;
}
Text sends_caches(const ServerLetter& letter) {
  return if_so(letter.serving().role != spec::ServerRole::both, "DEFAULT");
}
Text no_graphs(const ServerLetter& letter) { return if_so(!letter.serving().options.graphs.value_or(true), "null"); }

Text draft_type(const ServerLetter& letter) { return drafter(letter, {"MTP", "Eagle", "DraftTarget"}); }

Text own_layers(const ServerLetter& letter) {
  const spec::Draft& draft = letter.serving().options.draft;
  return draft.kind == spec::DraftKind::mtp ? above(0, draft.tokens) : std::nullopt;
}
Text drafted_by_others(const ServerLetter& letter) { return own_layers(letter) ? std::nullopt : drafted(letter); }

constexpr Told told[] = {{"--tp_size", &all_ranks},
                         {"cache_transceiver_config.backend", &sends_caches},
                         {"enable_attention_dp", &copies_attention},
                         {"kv_cache_config.enable_block_reuse", &reuse},
                         {"cuda_graph_config", &no_graphs},
                         {"speculative_config.decoding_type", &draft_type},
                         {"speculative_config.num_nextn_predict_layers", &own_layers},
                         {"speculative_config.max_draft_len", &drafted_by_others},
                         {"speculative_config.speculative_model_dir", &draft_model}};

/// Keys that the command line has no words for, in one line of YAML: "{a: 1, block: {b: 2, c: 3}}".
std::string flow_of(const std::vector<Line>& lines) {
  std::string text;
  std::string_view open;
  for (const auto& [name, value] : lines) {
    const auto dot = name.find('.');
    const auto block = name.substr(0, dot == std::string_view::npos ? 0 : dot);
    if (block != open && !open.empty()) text += "}";
    if (!text.empty()) text += ", ";
    if (block != open && !block.empty()) text.append(block).append(": {");
    text.append(block.empty() ? name : name.substr(dot + 1)).append(": ").append(value);
    open = block;
  }
  return "{" + text + (open.empty() ? "}" : "}}");
}

/// One process a rank where they are of several machines (docs: trtllm-serve, Multi-node Serving with Slurm).
std::string started_by(const spec::Layout& layout) {
  if (layout.nodes == 1) return {};
  return fmt::format("srun --mpi pmix --nodes {} --ntasks-per-node {} trtllm-llmapi-launch ", layout.nodes,
                     layout.gpus / layout.nodes);
}

}  // namespace

void trtllm_rules(Sheet& sheet) {
  const bool by_verb = sheet.text("positional.0") == "serve";
  take_served_model(sheet, {"model", "model_path", by_verb ? "positional.1" : "positional.0"});
  take_ranks(sheet);
  take_draft(sheet);
  const auto reuses = sheet.truth({"kv_cache_config.enable_block_reuse"});
  const Setting* graphs = sheet.find("cuda_graph_config");
  if (graphs != nullptr && says_nothing(*graphs)) sheet.say("graphs", "0", *graphs);
  if (reuses) sheet.say("prefix_cache", *reuses ? "1" : "0", *sheet.find("kv_cache_config.enable_block_reuse"));
  assume_load(sheet);
}

std::string start_trtllm(const ServerLetter& letter) {
  std::vector<Line> lines = lines_of(letter, told);
  const auto is_typed = [](const Line& line) { return line.name.starts_with("-"); };
  const auto file = std::stable_partition(lines.begin(), lines.end(), is_typed);
  const std::vector<Line> further(file, lines.end());
  lines.erase(file, lines.end());
  if (!further.empty()) lines.push_back({"--extra_llm_api_options", "trtllm.yaml"});
  const std::string command =
      command_of(started_by(letter.question.layout) + "trtllm-serve " + served_as(letter).model, lines);
  return further.empty() ? command : fmt::format("echo \"{}\" > trtllm.yaml && {}", flow_of(further), command);
}

}  // namespace llmcalc::dialects
