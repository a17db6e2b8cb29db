// llama-server (llama.cpp common/arg.cpp) and its variables LLAMA_ARG_*.
#include "dialects/servers/server_rules.hpp"
#include "quantity/text.hpp"
#include "spec/load.hpp"

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// Layers beyond all there are stand for all (the usual 99 and 999).
void take_layers(Sheet& sheet) {
  const Setting* layers = sheet.find({"ngl", "gpu_layers", "n_gpu_layers"});
  if (layers == nullptr || quantity::to_lower(layers->text) == "auto") return;
  const bool all = !quantity::is_number(layers->text) || layers->text == "99" || layers->text == "999";
  sheet.say("gpu_layers", all ? "all" : layers->text, *layers);
}

/// All experts rest on the host: --cpu-moe, and patterns of tensors that name them in every layer. Layers beyond all
/// there are stand for all.
void take_experts(Sheet& sheet) {
  constexpr std::string_view every_layer = "999";
  for (const auto key : {"cpu_moe", "cmoe"}) {
    if (sheet.is_on(key)) sheet.say("cpu_experts", every_layer, sheet.said(key));
  }
  const Setting* pattern = sheet.find({"ot", "override_tensor"});
  if (pattern == nullptr) return;
  const bool some = pattern->text.find("blk") != std::string::npos || pattern->text.find(',') != std::string::npos;
  const bool experts = pattern->text.find("exps") != std::string::npos && pattern->text.ends_with("=CPU");
  if (experts && !some && !sheet.has("cpu_experts")) {
    return sheet.say("cpu_experts", every_layer, *pattern);
  }
  sheet.assume(*pattern, "every tensor where its layer is: --cpu-experts moves experts");
}

/// -c 0 is the model's own length, as nothing is where --fit may not shorten it (common/arg.cpp).
void take_context(Sheet& sheet) {
  if (const Setting* context = sheet.find({"c", "ctx_size", "n_ctx"}))
    return sheet.say("context", context->text, *context);
  const Setting* fit = sheet.find({"fit"});
  if (fit != nullptr && !sheet.truth({"fit"}).value_or(true)) sheet.say("context", "0", *fit);
}

void take_flash(Sheet& sheet) {
  const Setting* flash = sheet.find({"fa", "flash_attn"});
  if (flash == nullptr || says_nothing(*flash)) return;
  sheet.say("flash", sheet.truth({"fa", "flash_attn"}).value_or(true) ? "1" : "0", *flash);
}

/// "user/repo:Q4_K_M" or a file.
void take_file(Sheet& sheet) {
  take_served_model(sheet, {"hf", "hfr", "hf_repo", "m", "model"});
  if (const Setting* file = sheet.find({"hff", "hf_file"}))
    sheet.assume(*file, "the repository's model, whatever the file");
}

/// So many tokens are proposed where nobody says: 3 of those builds that call the options --spec-*, 16 before
/// (common/common.h, n_max). ik_llama.cpp says it behind the type, "mtp:n_max=2,p_min=0.6".
std::int64_t proposed(const Sheet& sheet, const Setting* type) {
  constexpr std::string_view within = "n_max=";
  if (const auto said = sheet.count({"draft_max", "draft", "spec_draft_n_max"})) return *said;
  if (type == nullptr) return sheet.find("spec_draft_model") == nullptr ? 16 : 3;
  std::string_view rest = type->text;
  const auto at = rest.find(within);
  rest.remove_prefix(at == rest.npos ? rest.size() : at + within.size());
  return quantity::take_number<std::int64_t>(rest).value_or(3);
}

/// -md: a file, which is known by its name; --spec-type draft-mtp: the model's own layers, which may be in a file too.
void take_draft(Sheet& sheet) {
  const Setting* file = sheet.find({"md", "model_draft", "spec_draft_model"});
  const Setting* type = sheet.find("spec_type");
  const bool own_layers = type != nullptr && type->text.find("mtp") != std::string::npos;
  if (file == nullptr && !own_layers) {
    if (type != nullptr && type->text != "none") sheet.assume(*type, "nothing is proposed ahead", "draft");
    return;
  }
  const std::string who = own_layers ? "mtp" : std::string(quantity::without_end(file->text, ".gguf"));
  sheet.say("draft", who + ":" + std::to_string(proposed(sheet, type)), own_layers ? *type : *file);
  if (own_layers && file != nullptr) sheet.assume(*file, "the model's own layers for further tokens", "draft");
}

using Text = std::optional<std::string>;

Text repository(const ServerLetter& letter) {
  const bool is_one = is_gguf_repository(letter.names.model);
  return is_one ? Text(fetched(letter.names, letter.serving().quant)) : std::nullopt;
}
Text file(const ServerLetter& letter) {
  return repository(letter) ? std::nullopt : Text(gguf_file(letter.names, letter.serving().quant));
}
Text context(const ServerLetter& letter) { return letter.text("context"); }
Text layers(const ServerLetter& letter) {
  const std::int64_t left = letter.deployment.setup.host_layers;
  return left > 0 ? std::to_string(letter.question.model.layer_count() + 1 - left) : "999";
}
/// common/arg.cpp, --tensor-split: a share for each card, of which one with nothing is not used.
void take_shares(Sheet& sheet) {
  const Setting* split = sheet.find("tensor_split");
  if (split == nullptr) return;
  std::string text = split->text;
  std::ranges::replace(text, '/', ',');
  auto shares = quantity::pieces_of(text, ",");
  std::erase_if(shares, [](std::string_view share) { return share.find_first_of("123456789") == share.npos; });
  if (shares.size() > 1) sheet.say("gpus", std::to_string(shares.size()), *split);
  const bool even = std::ranges::all_of(shares, [&](std::string_view share) { return share == shares.front(); });
  if (!even) sheet.assume(*split, "layers are spread evenly over the cards");
}

Text split(const ServerLetter& letter) { return if_so(letter.question.layout.gpus > 1, letter.text("split")); }
Text flash(const ServerLetter& letter) { return letter.deployment.setup.flash ? "on" : "off"; }

/// One term says both.
Text values(const ServerLetter& letter) {
  const auto type = letter.serving().cache;
  return type == spec::CacheType::automatic ? std::nullopt : Text(ggml_word(type));
}

bool drafts(const ServerLetter& letter) { return letter.serving().options.draft.kind != spec::DraftKind::none; }
/// The model's own layers for further tokens have been a type of speculation since b9235, and the options a name that
/// begins with it.
Text spec_type(const ServerLetter& letter) {
  return if_so(letter.serving().options.draft.kind == spec::DraftKind::mtp, "draft-mtp");
}
Text draft_file(const ServerLetter& letter) {
  const std::string& id = letter.names.draft;
  const bool is_model = letter.serving().options.draft.kind == spec::DraftKind::model;
  return if_so(is_model, id.substr(id.rfind('/') + 1) + ".gguf");
}
Text drafted(const ServerLetter& letter) {
  return drafts(letter) ? above(0, letter.serving().options.draft.tokens) : std::nullopt;
}

/// A file says of a head that scores as little as a shape does: repositories do, by their names.
bool scores(const ServerLetter& letter) {
  return quantity::to_lower(letter.names.weights()).find("rerank") != std::string::npos;
}
Text embeds(const ServerLetter& letter) { return if_so(spec::reads_only(letter.serving().load) && !scores(letter)); }
Text reranks(const ServerLetter& letter) { return if_so(spec::reads_only(letter.serving().load) && scores(letter)); }

constexpr Told told[] = {
    {"--embedding", &embeds}, {"--reranking", &reranks},   {"-hf", &repository}, {"-m", &file},
    {"-c", &context},         {"-ngl", &layers},           {"-sm", &split},      {"-fa", &flash},
    {"-ctv", &values},        {"--spec-type", &spec_type}, {"-md", &draft_file}, {"--spec-draft-n-max", &drafted}};

}  // namespace

void llama_server_rules(Sheet& sheet) {
  take_file(sheet);
  take_draft(sheet);
  take_layers(sheet);
  take_shares(sheet);
  take_experts(sheet);
  take_flash(sheet);
  take_context(sheet);
  const Setting* values = sheet.find({"ctv", "cache_type_v"});
  const Setting* keys = sheet.find({"ctk", "cache_type_k"});
  if (values != nullptr && (keys == nullptr || keys->text != values->text)) {
    sheet.assume(*values, "values of the cache as wide as its keys");
  }
  for (const std::string_view key : {"embedding", "embeddings", "reranking", "rerank"}) {
    if (sheet.is_on(key) && !sheet.has("output")) sheet.say("output", "0", sheet.said(key));
  }
  assume_load(sheet);
}

/// llama_cpp/server/settings.py, ModelSettings: a context of 2,048, one sequence, and all layers on the host unasked.
void llama_cpp_python_rules(Sheet& sheet) {
  constexpr std::string_view whose = "llama-cpp-python default";
  llama_server_rules(sheet);
  sheet.by_default("context", "2048", whose);
  sheet.by_default("slots", "1", whose);
  sheet.by_default("gpu_layers", "0", whose);
  sheet.by_default("flash", "0", whose);
}

std::string start_llama_server(const ServerLetter& letter) {
  return command_of("llama-server", lines_of(letter, told));
}

}  // namespace llmcalc::dialects
