// What is shown of models and accelerators is what their presets say, figure by figure: the JSON is held against the
// files under presets/, and the text against the JSON.
#include "catch.hpp"
#include "cli/run.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::shown_presets {

using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

std::vector<json> entries_of(const std::string& kind) {
  std::vector<json> entries;
  for (const auto& file : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/../presets/" + kind)) {
    std::ifstream stream(file.path());
    for (auto& entry : json::parse(stream)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string shown(Words words, const std::string& form) {
  words.insert(words.end(), {"--format", form});
  return cli::run(words, cli::Environment{}).answer;
}

json at(const json& value, const std::string& pointer) {
  const json::json_pointer place(pointer);
  return value.contains(place) ? value.at(place) : json();
}

/// A figure of a file, where the answer has it, and how much its unit is there.
struct Field {
  std::string of_file, of_answer;
  double unit = 1.0;
};

constexpr double mib = 1048576.0, gib = 1024 * mib;

const std::vector<Field>& fields_of_gpus() {
  static const std::vector<Field> fields{{"/id", "/id"},
                                         {"/name", "/name"},
                                         {"/arch", "/arch"},
                                         {"/vendor", "/vendor"},
                                         {"/year", "/year"},
                                         {"/memory/nominal_gb", "/memory_nominal_bytes", gib},
                                         {"/memory/usable_mib", "/memory_usable_bytes", mib},
                                         {"/memory/type", "/memory_type"},
                                         {"/memory/bandwidth_gb_s", "/memory_bandwidth_bytes_per_second", 1e9},
                                         {"/peak_tflops/fp64", "/peaks_flops_per_second/fp64", 1e12},
                                         {"/peak_tflops/fp32", "/peaks_flops_per_second/fp32", 1e12},
                                         {"/peak_tflops/tf32", "/peaks_flops_per_second/tf32", 1e12},
                                         {"/peak_tflops/fp16", "/peaks_flops_per_second/fp16", 1e12},
                                         {"/peak_tflops/bf16", "/peaks_flops_per_second/bf16", 1e12},
                                         {"/peak_tflops/fp8", "/peaks_flops_per_second/fp8", 1e12},
                                         {"/peak_tflops/int8", "/peaks_flops_per_second/int8", 1e12},
                                         {"/peak_tflops/fp4", "/peaks_flops_per_second/fp4", 1e12},
                                         {"/interconnect/name", "/interconnect"},
                                         {"/interconnect/one_way_gb_s", "/link_bytes_per_second", 1e9},
                                         {"/interconnect/joins", "/link_joins"},
                                         {"/pcie/one_way_gb_s", "/pcie_bytes_per_second", 1e9},
                                         {"/gpus_per_node", "/gpus_per_node"},
                                         {"/host_memory/gib_each", "/host_memory_bytes", gib},
                                         {"/network_gbit_s", "/network_gigabits_per_second"},
                                         {"/tdp_w", "/tdp_watts"},
                                         {"/chip/units", "/units"},
                                         {"/chip/cache_mib", "/cache_bytes", mib},
                                         {"/price/usd_per_hour", "/price_usd_per_hour"},
                                         {"/price/source", "/price_source"},
                                         {"/verification", "/verification"},
                                         {"/aliases", "/aliases"}};
  return fields;
}

void check_fields(const json& file, const json& answer, const std::vector<Field>& fields) {
  for (const auto& [of_file, of_answer, unit] : fields) {
    CAPTURE(of_file);
    const json said = at(file, of_file), told = at(answer, of_answer);
    if (said.is_number() && told.is_number()) {
      CHECK(told.get<double>() == Approx(said.get<double>() * unit).epsilon(1e-12));
    } else if (!said.is_null() && said != json(0)) {  // of a part that there is none of
      const bool is_hourly = of_file != "/price/source" || at(file, "/price/usd_bought").is_null();
      const auto bought = is_hourly ? std::string() : fmt::format("({}) over five years", said.get<std::string>());
      CHECK((is_hourly ? told == said : told.get<std::string>().find(bought) != std::string::npos));
    }
  }
}

/// Labels of a card with their values, folded lines joined.
std::map<std::string, std::string> card_of(const std::string& text) {
  std::map<std::string, std::string> card;
  std::string last;
  for (const auto& line : render::lines_of(text)) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == line.npos) continue;
    const auto gap = line.find("  ", begin);
    if (gap == line.npos && begin > 8 && !last.empty()) {
      card[last] += " " + line.substr(begin);
    } else {
      last = line.substr(begin, gap - begin);
      card.emplace(last, gap == line.npos ? "" : std::string(quantity::trim(line.substr(gap))));
    }
  }
  return card;
}

std::string gib_of(const json& bytes) { return quantity::format_gib(quantity::bytes(bytes.get<std::int64_t>())); }
std::string speed_of(const json& bytes) {
  return quantity::format_bandwidth(quantity::bytes_per_second(bytes.get<double>()));
}

/// What the card of an accelerator says beside each label, from its JSON; nothing where the label is not there.
std::map<std::string, std::string> figures_of_gpu(const json& gpu) {
  const auto share = [&](const char* key, const std::string& of) {
    const json value = at(gpu, std::string("/rates/") + key);
    return value.is_null() ? std::string() : quantity::format_percent(value.get<double>()) + " of " + of;
  };
  const auto number = [&](const char* key, const std::string& unit) {
    return gpu.at(key).is_null() ? std::string() : fmt::format("{:g}{}", gpu.at(key).get<double>(), unit);
  };
  const auto link = [&](const char* key) {
    return gpu.at(key).is_null() ? std::string() : speed_of(gpu.at(key)) + " one way";
  };
  const json& price = gpu.at("price_usd_per_hour");
  std::map<std::string, std::string> figures{
      {"memory", gib_of(gpu.at("memory_nominal_bytes")) + " " + gpu.at("memory_type").get<std::string>()},
      {"usable",
       gib_of(gpu.at("memory_usable_bytes")) + (gpu.at("memory_usable_verified") == true ? "" : ", not verified")},
      {"bandwidth", speed_of(gpu.at("memory_bandwidth_bytes_per_second"))},
      {"to peers", link("link_bytes_per_second")},
      {"to host", link("pcie_bytes_per_second")},
      {"per node", number("gpus_per_node", "")},
      {"network", number("network_gigabits_per_second", " Gbit/s")},
      {"power", number("tdp_watts", " W")},
      {"SMs or CUs", number("units", "")},
      {"products", share("products_share_of_peak", "the dense peak, large ones alone")},
      {"attention", share("attention_share_of_peak", "the peak, long sequences")},
      {"price", price.is_null() ? ""
                                : quantity::format_rate_of_money(quantity::dollars(price.get<double>())) +
                                      " an hour, " + gpu.at("price_source").get<std::string>()}};
  if (!gpu.at("link_joins").is_null()) figures["joins"] = gpu.at("link_joins").dump();
  if (!gpu.at("cache_bytes").is_null()) figures["cache"] = gib_of(gpu.at("cache_bytes"));
  for (const auto& [type, rate] : gpu.at("peaks_flops_per_second").items()) {
    if (!rate.is_null()) figures[type] = quantity::format_rate(quantity::flops_per_second(rate.get<double>()));
  }
  return figures;
}

void check_card(const std::string& text, const std::map<std::string, std::string>& figures) {
  const auto card = card_of(text);
  for (const auto& [label, figure] : figures) {
    CAPTURE(label, text);
    const auto found = card.find(label);
    CHECK((found == card.end() ? std::string() : found->second) == figure);
  }
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

/// A number in one of the ways in which a card writes it.
bool has_number(const std::string& text, double value) {
  for (const int digits : {3, 6, 9, 17}) {
    if (text.find(fmt::format("{:.{}g}", value, digits)) != text.npos) return true;
  }
  for (const auto& shortest : {fmt::format("{}", value), without_blanks(quantity::format_percent(value))}) {
    if (text.find(shortest) != text.npos) return true;
  }
  return false;
}

/// Every sentence and name of an answer stands in its text, line by line or not, and every number but those of what
/// there is none of.
void check_told(const json& value, const std::string& text, bool with_numbers) {
  CAPTURE(text);
  if (value.is_string() && value != "none") CHECK(text.find(without_blanks(value.get<std::string>())) != text.npos);
  if (value.is_number() && value != 0 && with_numbers) {
    CAPTURE(value);
    CHECK(has_number(text, value.get<double>()));
  }
  if (!value.is_structured()) return;
  for (const auto& member : value) check_told(member, text, with_numbers);
}

Words cells_of(const std::string& line) {
  Words cells;
  for (const auto piece : quantity::pieces_of(line, " ")) {
    if (!piece.empty()) cells.emplace_back(piece);
  }
  return cells;
}

}  // namespace

TEST_CASE("every figure of an accelerator that is shown is its preset's") {
  for (const json& entry : entries_of("accelerators")) {
    const auto id = entry.at("id").get<std::string>();
    CAPTURE(id);
    const auto gpu = json::parse(shown({"gpu", "show", id}, "json")).at("gpu");
    check_fields(entry, gpu, fields_of_gpus());
    CHECK(gpu.at("memory_usable_verified") == (at(entry, "/memory/usable_evidence") == "verified"));
    const auto text = shown({"gpu", "show", id}, "text");
    check_card(text, figures_of_gpu(gpu));
    check_told(gpu, without_blanks(text), false);
  }
}

/// Layouts whose scales stand beside or over blocks: one number has no bits of its own there.
constexpr const char* whole_tensors[] = {"nf4-dq", "fp4", "fp4-dq", "int4-gptq", "int8-gptq", "nvfp4"};

TEST_CASE("a format's card has every number of its JSON, whatever it stores") {
  const json all = json::parse(shown({"dtype"}, "json"));
  for (const json& format : all.at("dtypes")) {
    const auto name = format.at("name").get<std::string>();
    for (const std::string value : {"0.3", "-3.14159265", "65504", "1e-7", "0.0009765"}) {
      const bool has_bits = std::ranges::find(whole_tensors, name) == std::end(whole_tensors);
      const auto typed = has_bits ? Words{"dtype", name, "--value", value} : Words{"dtype", name};
      CAPTURE(name, value);
      check_told(json::parse(shown(typed, "json")).at("dtypes"), without_blanks(shown(typed, "text")), true);
    }
  }
  for (const std::string scheme : {"absmax", "zero-point", "affine"}) {
    const Words typed{"dtype", "int8", "--quantize", "1.5,-0.2,3,0.7", "--scheme", scheme};
    json list = json::parse(shown(typed, "json"));
    for (const char* name : {"schema_version", "kind", "tool", "scheme"}) list.erase(name);
    check_told(list, without_blanks(shown(typed, "text")), true);
  }
}

TEST_CASE("the list of accelerators has every preset, each with its figures") {
  const auto lines = render::lines_of(shown({"gpu", "list"}, "text"));
  const auto all = json::parse(shown({"gpu", "list"}, "json")).at("gpus");
  const auto entries = entries_of("accelerators");
  CHECK(all.size() == entries.size());
  REQUIRE(lines.size() == all.size() + 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const json& gpu = all[i];
    const auto entry = std::ranges::find(entries, gpu.at("id"), [](const json& each) { return each.at("id"); });
    REQUIRE(entry != entries.end());
    CAPTURE(lines[i + 1]);
    check_fields(*entry, gpu, fields_of_gpus());
    const auto in_four = [](const json& value, double unit) {
      return value.is_null() ? std::string() : quantity::format_number(value.get<double>() / unit, 4);
    };
    Words expected{gpu.at("id").get<std::string>(),
                   fmt::format("{:.2f}", gpu.at("memory_usable_bytes").get<double>() / gib),
                   in_four(gpu.at("memory_bandwidth_bytes_per_second"), 1e9),
                   in_four(gpu.at("peaks_flops_per_second").at("bf16"), 1e12)};
    const json& price = gpu.at("price_usd_per_hour");
    expected.push_back(price.is_null() ? "" : fmt::format("{:.2f}", price.get<double>()));
    std::erase(expected, "");
    quantity::append(expected, cells_of(gpu.at("arch").get<std::string>()));
    CHECK(cells_of(lines[i + 1]) == expected);
  }
}

namespace {

/// Keys of a published config.json that say a dimension outright (transformers, PretrainedConfig of decoders).
const std::vector<Field>& fields_of_configs() {
  static const std::vector<Field> fields{{"/hidden_size", "/hidden"},
                                         {"/num_hidden_layers", "/layers"},
                                         {"/num_attention_heads", "/heads"},
                                         {"/num_key_value_heads", "/kv_heads"},
                                         {"/vocab_size", "/vocab"},
                                         {"/num_experts_per_tok", "/moe/top_k"},
                                         {"/num_local_experts", "/moe/experts"},
                                         {"/n_routed_experts", "/moe/experts"},
                                         {"/moe_intermediate_size", "/moe/expert_ffn"},
                                         {"/kv_lora_rank", "/latent/kv_rank"}};
  return fields;
}

const std::vector<Field>& fields_of_latents() {
  static const std::vector<Field> fields{
      {"/q_lora_rank", "/latent/q_rank"},           {"/qk_nope_head_dim", "/latent/qk_nope_dim"},
      {"/qk_rope_head_dim", "/latent/qk_rope_dim"}, {"/v_head_dim", "/latent/v_dim"},
      {"/index_n_heads", "/latent/index_heads"},    {"/index_head_dim", "/latent/index_dim"},
      {"/index_topk", "/latent/index_top_k"}};
  return fields;
}

/// The words of a preset that say a shape by hand.
const std::vector<Field>& fields_of_shapes() {
  static const std::vector<Field> fields{{"/layers", "/layers"},
                                         {"/decoder_layers", "/decoder_layers"},
                                         {"/hidden", "/hidden"},
                                         {"/heads", "/heads"},
                                         {"/kv_heads", "/kv_heads"},
                                         {"/head_dim", "/head_dim"},
                                         {"/ffn", "/ffn"},
                                         {"/vocab", "/vocab"},
                                         {"/max_position", "/max_position"},
                                         {"/mlp", "/mlp"},
                                         {"/norm", "/norm"},
                                         {"/position", "/position"},
                                         {"/tied", "/tied"},
                                         {"/qkv_bias", "/qkv_bias"},
                                         {"/out_bias", "/out_bias"},
                                         {"/mlp_bias", "/mlp_bias"},
                                         {"/head_bias", "/head_bias"},
                                         {"/qk_norm", "/qk_norm"},
                                         {"/stack", "/stack"},
                                         {"/norms_per_layer", "/norms_per_layer"},
                                         {"/parallel_residual", "/parallel_residual"},
                                         {"/experts", "/moe/experts"},
                                         {"/top_k", "/moe/top_k"},
                                         {"/expert_ffn", "/moe/expert_ffn"},
                                         {"/shared_ffn", "/moe/shared_ffn"},
                                         {"/dense_layers", "/moe/dense_layers"},
                                         {"/latent/q_rank", "/latent/q_rank"},
                                         {"/latent/kv_rank", "/latent/kv_rank"},
                                         {"/latent/qk_nope_dim", "/latent/qk_nope_dim"},
                                         {"/latent/qk_rope_dim", "/latent/qk_rope_dim"},
                                         {"/latent/v_dim", "/latent/v_dim"}};
  return fields;
}

std::map<std::string, std::string> figures_of_model(const json& model) {
  const json& shape = model.at("shape");
  const auto count = [&](const char* key) {
    const auto value = shape.at(key).get<std::int64_t>();
    return value == 0 ? std::string() : std::to_string(value);
  };
  const auto parameters = [&](const char* key) {
    const auto value = model.at(key).get<std::int64_t>();
    return fmt::format("{} ({})", quantity::format_count(value),
                       quantity::format_parameters(quantity::parameters(value)));
  };
  const auto total = model.at("parameters_total").get<std::int64_t>();
  std::string weights;
  for (const std::int64_t bits : {32, 16, 8, 4}) {
    weights += (weights.empty() ? "" : ", ") + quantity::format_gigabytes(quantity::bytes(total * bits / 8)) + " in " +
               std::to_string(bits) + (weights.empty() ? " bits" : "");
  }
  const bool sparse = model.at("parameters_active") != model.at("parameters_total");
  return {{"parameters", parameters("parameters_total")},
          {"active", sparse ? parameters("parameters_active") : ""},
          {"in tables", parameters("parameters_embedding")},
          {"weights", weights},
          {"layers", count("layers")},
          {"hidden", count("hidden")},
          {"ffn", count("ffn")},
          {"heads", count("heads") + " of " + count("head_dim") + ", " + count("kv_heads") + " for keys and values"},
          {"vocab", quantity::format_count(shape.at("vocab").get<std::int64_t>())},
          {"max position", quantity::format_count(shape.at("max_position").get<std::int64_t>())},
          {"tied", shape.at("tied") == true ? "yes" : "no"}};
}

}  // namespace

TEST_CASE("every figure of a model that is shown is its preset's") {
  int published = 0;
  for (const json& entry : entries_of("models")) {
    const auto id = entry.at("id").get<std::string>();
    CAPTURE(id);
    const auto model = json::parse(shown({"model", "show", id}, "json")).at("model");
    check_fields(entry, model,
                 {{"/id", "/id"}, {"/hf_id", "/hf_id"}, {"/license", "/license"}, {"/family", "/family"}});
    const json config = at(entry, "/config");
    // Zamba's kin run blocks of their own between layers, which count; some list the widths of all layers.
    const bool is_zamba = at(config, "/model_type").dump().starts_with("\"zamba");
    const bool is_plain = config.is_object() && !config.contains("text_config") && !is_zamba;
    if (is_plain && !at(config, "/moe_intermediate_size").is_array())
      check_fields(config, model.at("shape"), fields_of_configs());
    if (is_plain && at(model, "/shape/latent").is_object())
      check_fields(config, model.at("shape"), fields_of_latents());
    check_fields(entry, model.at("shape"), fields_of_shapes());
    check_fields(entry, model, {{"/size/exact", "/published/parameters"}, {"/training/tokens", "/training_tokens"}});
    check_fields(at(entry, "/size"), model.at("published"), {{"/text", "/text"}, {"/check", "/check"}});
    published += at(entry, "/size/exact").is_number() ? 1 : 0;
    const auto text = shown({"model", "show", id}, "text");
    check_card(text, figures_of_model(model));
    json told = model;
    told.at("shape").erase("qk_norm");  // which only JSON says
    if (at(model, "/published/parameters").is_null()) check_told(told, without_blanks(text), false);
  }
  CHECK(published > 50);
}

}  // namespace llmcalc::shown_presets
