// vLLM's server (vllm/engine/arg_utils.py), by command, configuration file and container.
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/load.hpp"
#include "spec/traits.hpp"

#include <array>

namespace llmcalc::dialects {
namespace {

/// dp copies the attention, and with it all of a model without experts: those are shared out among all ranks of tp and
/// dp, whole under expert parallelism, else cut (model_executor/layers/fused_moe/config.py,
/// FusedMoEParallelConfig.make; in each release with the option, pull request 14305).
void take_data_parallelism(Sheet& sheet) {
  const Setting* copied = sheet.find({"data_parallel_size", "dp"});
  const auto copies = sheet.count({"data_parallel_size", "dp"}).value_or(1);
  const auto tensor = sheet.count({"tensor_parallel_size", "tp"}).value_or(1);
  if (copies > 1) sheet.say("attention_dp", std::to_string(copies), *copied);
  if (sheet.is_on("enable_expert_parallel") || sheet.is_on("ep"))
    sheet.say("ep", std::to_string(quantity::product(copies, tensor)), *sheet.find({"enable_expert_parallel", "ep"}));
}

void take_adapters(Sheet& sheet) {
  if (!sheet.is_on("enable_lora")) return;
  const Setting* loras = sheet.find("max_loras");
  const Setting* rank = sheet.find("max_lora_rank");
  sheet.say("max_loras", loras == nullptr ? "1" : loras->text, loras == nullptr ? *sheet.find("enable_lora") : *loras);
  if (rank != nullptr) sheet.say("lora_rank", rank->text, *rank);
}

/// vllm/config/kv_transfer.py; Dynamo's workers say it in words of their own (components/src/dynamo/vllm/args.py).
/// Which of both a "kv_both" is its proxy decides.
void take_role(Sheet& sheet) {
  const Setting* said = sheet.find({"kv_transfer_config", "kv_transfer_config.kv_role", "disaggregation_mode",
                                    "is_prefill_worker", "is_decode_worker"});
  if (said == nullptr) return;
  const std::string role = value_in(sheet, "kv_transfer_config", "kv_role");
  const std::string mode = sheet.text("disaggregation_mode");
  if (role == "kv_producer" || mode == "prefill" || sheet.is_on("is_prefill_worker"))
    return sheet.say("role", "prefill", *said);
  if (role == "kv_consumer" || mode == "decode" || sheet.is_on("is_decode_worker"))
    return sheet.say("role", "decode", *said);
  if (role == "kv_both") sheet.assume(*said, "prompts are read and answers written here", "role");
}

/// Pooled requests write nothing; "auto" is what the model is for (vllm/config/model.py, RunnerOption and
/// ConvertOption; before, TaskOption).
void take_runner(Sheet& sheet) {
  for (const std::string_view key : {"runner", "convert", "task"}) {
    const Setting* said = sheet.find(key);
    if (said == nullptr || sheet.has("output")) continue;
    const std::string what = sheet.text(key);
    constexpr std::array<std::string_view, 8> writes{"auto",          "none",       "generate", "draft",
                                                     "transcription", "transcribe", "",         "sampling"};
    if (!quantity::contains(writes, what)) sheet.say("output", "0", *said);
  }
}

/// No image, clip or sound is taken where none of the limits has a digit but zero; how many they are otherwise moves
/// nothing, for the profile run takes the largest alone (vllm/config/multimodal.py, limit_per_prompt).
void take_modalities(Sheet& sheet) {
  const Setting* first = nullptr;
  bool takes_some = false;
  for (const std::string_view key :
       {"limit_mm_per_prompt", "limit_mm_per_prompt.image", "limit_mm_per_prompt.video", "limit_mm_per_prompt.audio"}) {
    const Setting* said = sheet.find(key);
    if (said == nullptr) continue;
    takes_some = takes_some || said->text.find_first_of("123456789") != std::string::npos;
    if (first == nullptr && said->text.find('0') != std::string::npos) first = said;
  }
  if (sheet.is_on("language_model_only")) return sheet.say("text_only", "1", *sheet.find("language_model_only"));
  if (first != nullptr && !takes_some) sheet.say("text_only", "1", *first);
}

using Text = std::optional<std::string>;

/// Refused of a model of text alone (vllm/engine/arg_utils.py: "only supported for multimodal models").
Text takes_no_images(const ServerLetter& letter) {
  return if_so(spec::sees(letter.question) && letter.question.training.towers == spec::TowerUse::absent, "0");
}

Text pooled(const ServerLetter& letter) { return if_so(spec::reads_only(letter.serving().load), "pooling"); }
Text embedded(const ServerLetter& letter) { return if_so(spec::reads_only(letter.serving().load), "embed"); }

Text spreads_experts(const ServerLetter& letter) { return if_so(letter.question.layout.ep > 1); }
Text lora_rank(const ServerLetter& letter) {
  return loras(letter) ? above(0, letter.question.training.adapter.rank) : std::nullopt;
}

/// vllm/config/speculative.py.
Text draft_method(const ServerLetter& letter) { return drafter(letter, {"mtp", "eagle3", "draft_model"}); }

Text connector(const ServerLetter& letter) {
  return if_so(letter.serving().role != spec::ServerRole::both, "NixlConnector");
}
Text role(const ServerLetter& letter) {
  const bool reads = letter.serving().role == spec::ServerRole::prefill;
  return if_so(connector(letter).has_value(), reads ? "kv_producer" : "kv_consumer");
}

/// Releases that have no other way.
Text joined_by(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "ray"); }

/// On each node the same but for its rank; all but the first add --headless.
Text head(const ServerLetter& letter) { return if_so(letter.question.layout.nodes > 1, "$HEAD"); }

constexpr Told told[] = {{"--runner", &pooled},
                         {"--limit-mm-per-prompt.image", &takes_no_images},
                         {"--limit-mm-per-prompt.video", &takes_no_images},
                         {"--limit-mm-per-prompt.audio", &takes_no_images},
                         {"--task", &embedded},
                         {"--distributed-executor-backend", &joined_by},
                         {"--node-rank", &node_rank},
                         {"--master-addr", &head},
                         {"--data-parallel-size", &ranks_of_copies},
                         {"--enable-expert-parallel", &spreads_experts},
                         {"--quantization", &scheme},
                         {"--enable-lora", &takes_loras},
                         {"--max-loras", &loras},
                         {"--max-lora-rank", &lora_rank},
                         {"--kv-transfer-config.kv_connector", &connector},
                         {"--kv-transfer-config.kv_role", &role},
                         {"--speculative-config.method", &draft_method},
                         {"--speculative-config.model", &draft_model},
                         {"--speculative-config.num_speculative_tokens", &drafted}};

/// Length of "auto" or -1 is cut to what the cache has room for (vllm/config/model.py, max_model_len).
void take_fitted_length(Sheet& sheet) {
  const Setting* length = sheet.find("max_model_len");
  if (length == nullptr || (length->text != "auto" && length->text != "-1")) return;
  sheet.assume(*length, "the model's own length: --find context says to which vLLM shortens it", "context");
}

/// vllm/config/compilation.py.
void take_graphs(Sheet& sheet) {
  const Setting* said = sheet.find({"compilation_config", "compilation_config.max_cudagraph_capture_size"});
  const std::string largest = value_in(sheet, "compilation_config", "max_cudagraph_capture_size");
  if (!largest.empty()) return sheet.say("largest_graph", largest, *said);
  if (said != nullptr) sheet.assume(*said, "the graphs that are captured where nothing is said", "largest_graph");
}

}  // namespace

void vllm_rules(Sheet& sheet) {
  take_served_model(sheet, {"model", "model_tag", "model_id", "positional.0"});
  take_data_parallelism(sheet);
  take_adapters(sheet);
  take_weight_type(sheet);
  take_fitted_length(sheet);
  take_graphs(sheet);
  take_speculation(sheet, "speculative_config");
  take_role(sheet);
  take_runner(sheet);
  take_modalities(sheet);
  assume_load(sheet);
}

std::string start_vllm(const ServerLetter& letter) {
  // vllm/config/model.py, _get_and_verify_max_len
  return command_of(letter.beyond_trained("VLLM_ALLOW_LONG_MAX_MODEL_LEN") + "vllm serve " + served_as(letter).model,
                    lines_of(letter, told));
}

}  // namespace llmcalc::dialects
