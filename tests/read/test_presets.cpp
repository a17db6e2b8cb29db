#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/fields.hpp"
#include "read/presets/names.hpp"
#include "read/typed.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

using Catch::Matchers::Contains;
using namespace llmcalc;
using read::Catalogue;

namespace {

Catalogue with_models(const std::string& json) { return Catalogue({{"mine.json", json}}, {}); }
Catalogue with_accelerators(const std::string& json) { return Catalogue({}, {{"mine.json", json}}); }

/// The mistake that `action` reports.
template <class Action>
quantity::BadInput mistake(Action action) {
  try {
    action();
  } catch (const quantity::BadInput& error) {
    return error;
  }
  FAIL("nothing was refused");
  return {"", ""};
}

quantity::BadInput model_mistake(const std::string& json) {
  return mistake([&] { with_models(json); });
}

quantity::BadInput accelerator_mistake(const std::string& json) {
  return mistake([&] { with_accelerators(json); });
}

/// Every name in a table must lead to the entry that carries it, and to no other.
template <class FindId>
void check_names(std::span<const read::EmbeddedPreset> table, FindId find_id) {
  for (const auto& entry : table) {
    const read::PresetNames names{entry.id, read::split_aliases(entry.aliases), entry.hf_id};
    std::vector<std::string_view> all;
    names.append_to(all);
    for (const auto name : all) {
      CAPTURE(entry.id, name);
      CHECK(find_id(name) == entry.id);
    }
  }
}

constexpr const char* small_model =
    R"({"id": "tiny", "layers": 2, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 100})";
constexpr const char* small_gpu =
    R"({"id": "toy", "memory": {"usable_mib": 1000, "bandwidth_gb_s": 100}, "peak_tflops": {"bf16": 10}})";

}  // namespace

TEST_CASE("every embedded model loads, complete and with its size") {
  const auto models = Catalogue().models();
  CHECK(models.size() == 579);
  for (const auto& model : models) {
    CAPTURE(model.id);
    CHECK(model.published.exact.has_value() != model.published.counted.has_value());
    CHECK_FALSE(model.published.check.empty());
    CHECK_FALSE(model.license.empty());
    CHECK(model.shape.name == model.id);
    CHECK(model.shape.max_position > 0);
    CHECK(model.file.starts_with("presets/models/"));
    CHECK_FALSE((model.sources.read.empty() && model.sources.cited.empty()));
  }
}

TEST_CASE("every embedded accelerator loads, complete and with its source") {
  const auto accelerators = Catalogue().accelerators();
  CHECK(accelerators.size() == 217);
  for (const auto& preset : accelerators) {
    const auto& gpu = preset.accelerator;
    CAPTURE(gpu.id);
    CHECK(gpu.memory_usable > quantity::Bytes());
    CHECK(gpu.memory_usable <= gpu.memory_nominal);
    CHECK_FALSE(gpu.vendor.empty());
    CHECK(std::set<std::string>{"A", "B", "C"}.contains(gpu.verification));
    CHECK(preset.file.starts_with("presets/accelerators/"));
  }
}

TEST_CASE("every name leads to its own entry") {
  const Catalogue catalogue;
  check_names(read::embedded_models(), [&](std::string_view name) { return catalogue.model(name, "--model").id; });
  check_names(read::embedded_accelerators(),
              [&](std::string_view name) { return catalogue.accelerator(name, "--gpu").accelerator.id; });
}

TEST_CASE("a card's name written together is still that card's, and no number of others") {
  for (const auto& entry : Catalogue().accelerators()) {
    std::vector<std::string> names = entry.aliases;
    names.push_back(entry.accelerator.id);
    for (std::string name : names) {
      if (!quantity::is_digit(name.front()) || name.find('x') != std::string::npos) continue;  // "8xh100" is eight
      std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == ' '; });
      CAPTURE(name);
      const auto question = test::ask("--params 1e9 --dtype bf16 --gpu " + name).question;
      CHECK(question.gpu->id == entry.accelerator.id);
      CHECK(question.layout.gpus == 1);
    }
  }
}

TEST_CASE("of models that share a shape the one that was named is meant") {
  for (const auto& preset : Catalogue().models()) {
    read::NamedModel meant{preset.id, preset.hf_id.empty() ? preset.id : preset.hf_id};
    const auto check = [&](const std::string& name) {
      CAPTURE(name);
      CHECK(preset.named(name).name == meant.name);
      CHECK(preset.named(name).repository == meant.repository);
    };
    check(preset.id);
    if (!preset.hf_id.empty()) check(preset.hf_id);
    for (const auto& alias : preset.aliases) {
      const auto slash = alias.find('/');
      if (slash != std::string::npos) meant = {quantity::to_lower(alias.substr(slash + 1)), alias};
      check(alias);
      if (slash != std::string::npos) check(quantity::to_lower(alias.substr(slash + 1)));
    }
  }
}

TEST_CASE("names of repackings lead to the model that was packed, and how far it reaches") {
  const auto lead = [](std::string_view name, std::string_view id, std::int64_t positions) {
    CAPTURE(name);
    const auto preset = Catalogue().model(name, "--model");
    CHECK(preset.id == id);
    CHECK(preset.shape.max_position == positions);
  };
  lead("bartowski/Qwen_Qwen3-32B-GGUF:Q6_K_L", "qwen3-32b", 40960);
  lead("bartowski/Qwen_QwQ-32B-GGUF", "qwen2.5-32b", 40960);
  lead("bartowski/nvidia_Llama-3_3-Nemotron-Super-49B-v1-GGUF", "llama-3.3-nemotron-super-49b", 131072);
  lead("google_gemma-3-27b-it-Q4_K_M.gguf", "gemma-3-27b", 131072);
  lead("unsloth/Qwen3-30B-A3B-GGUF:UD-Q4_K_XL", "qwen3-30b-a3b", 40960);
  lead("amd/Llama-3.1-70B-Instruct-FP8-KV", "llama-3.1-70b", 131072);
  lead("huihui-ai/Huihui-Qwen3-30B-A3B-Instruct-2507-abliterated", "qwen3-30b-a3b", 262144);
  lead("internlm/internlm2_5-7b-chat", "internlm2-7b", 32768);
  lead("internlm/internlm2_5-7b-chat-1m", "internlm2-7b", 262144);
  CHECK(read::is_mixed_by_hand("Qwen3-8B-UD-IQ2_XXS.gguf"));
  CHECK_FALSE(read::is_mixed_by_hand("Qwen3-8B-cloud-IQ2_XXS.gguf"));
  CHECK(!Catalogue().find_model("bartowski/google_Qwen3-32B-GGUF"));  // none of that maker's
}

TEST_CASE("a name that is none of a preset's own stays what it is") {
  const auto v3 = Catalogue().model("deepseek-v3", "--model");
  CHECK(v3.named("unsloth/DeepSeek-R1").repository == "unsloth/DeepSeek-R1");
  CHECK(v3.named("DeepSeek_R1").repository == "deepseek-ai/DeepSeek-R1");
  const auto llama = Catalogue().model("llama-3.1-8b", "--model");
  CHECK(llama.named("llama3.1:8b").name == "llama-3.1-8b");
  CHECK(llama.named("llama3.1:8b-instruct-q4_K_M").repository == "meta-llama/Llama-3.1-8B");  // no name of the Hub
}

TEST_CASE("models that share a shape reach as far as each of them was published") {
  const Catalogue catalogue;
  std::ifstream file(LLMCALC_TEST_DATA "/read/contexts.txt");
  REQUIRE(file);
  int models = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string repository;
    std::int64_t context = 0;
    words >> repository >> context;
    CAPTURE(repository);
    CHECK(catalogue.model(repository, "--model").shape.max_position == context);
    ++models;
  }
  CHECK(models > 350);
  const auto positions = [&](const char* name) { return catalogue.find_model(name)->shape.max_position; };
  CHECK(positions("qwen2.5-7b") == 131'072);
  CHECK(positions("qwen2.5-7b-instruct") == 32'768);
  CHECK(positions("unsloth/Qwen2.5-7B-Instruct-bnb-4bit") == 32'768);
}

TEST_CASE("people's names for accelerators and models are known") {
  const Catalogue catalogue;
  const std::map<std::string, std::string> gpus{
      {"a100-80", "a100-80-sxm"}, {"a100-40", "a100-40-sxm"}, {"h100", "h100-sxm"},     {"H100-SXM", "h100-sxm"},
      {"h200", "h200-sxm"},       {"b200", "b200-sxm"},       {"RTX-4090", "rtx-4090"}, {"4090", "rtx-4090"}};
  for (const auto& [name, id] : gpus) CHECK(catalogue.accelerator(name, "--gpu").accelerator.id == id);
  for (const auto* name : {"llama-3-8b", "LLAMA3-8B", "meta-llama/Meta-Llama-3-8B", "Meta-Llama-3-8B"}) {
    CHECK(catalogue.model(name, "--model").id == "llama-3-8b");
  }
}

TEST_CASE("a model's fields arrive in its shape") {
  const auto deepseek = Catalogue().model("deepseek-v3", "--model");
  CHECK(deepseek.shape.latent.q_rank == 1536);
  CHECK(deepseek.shape.latent.v_dim == 128);
  CHECK(deepseek.shape.moe.experts == 256);
  CHECK(deepseek.shape.moe.dense_layers == 3);
  CHECK(deepseek.shape.moe.correction_bias);
  CHECK(deepseek.published.exact == 671'026'419'200);  // arXiv:2412.19437: 671B; formulas of its published tensors
  CHECK(deepseek.checkpoint.fp8_scales == 41'540'496);
  const auto gemma = Catalogue().model("gemma-3-27b", "--model").shape;
  CHECK(gemma.window.window == 1024);
  CHECK(gemma.window.full_every == 6);  // five local layers, then a global one: arXiv:2503.19786 §2
  CHECK(gemma.mlp == spec::Mlp::geglu);
  CHECK(gemma.qk_norm == spec::QkNorm::per_head);
  const auto scout = Catalogue().model("llama-4-scout", "--model").shape;
  CHECK(scout.window.chunked);
  CHECK(Catalogue().model("opt-350m", "--model").shape.embedding_width == 512);
}

TEST_CASE("an accelerator's units are those of its file") {
  const auto h100 = Catalogue().accelerator("h100-sxm", "--gpu").accelerator;
  CHECK(h100.memory_usable == quantity::mib(81'008));  // torch: 79.11 GiB (vllm-project/vllm issue 27508)
  CHECK(h100.memory_bandwidth == quantity::gigabytes_per_second(3350));
  CHECK(h100.peaks.bf16 == quantity::teraflops(989.4));
  CHECK(h100.link == quantity::gigabytes_per_second(450));
  CHECK(h100.network_gbps == 400.0);
  CHECK(h100.gpus_per_node == 8);
  CHECK(h100.usable_verified);
  CHECK_FALSE(Catalogue().accelerator("tpu-v4", "--gpu").accelerator.usable_verified);
  CHECK(Catalogue().accelerator("rtx-4090", "--gpu").accelerator.cache == quantity::mib(72));  // NVIDIA Ada white paper
}

TEST_CASE("an unknown name is answered with the nearest ones") {
  const auto model = mistake([] { Catalogue().model("llama-3-8bb", "--model"); });
  CHECK(model.place() == "--model");
  CHECK_THAT(model.problem(), Contains("llama-3-8bb"));
  CHECK_THAT(model.hint(), Contains("llama-3-8b"));
  const auto gpu = mistake([] { Catalogue().accelerator("zzzzzzzzzzzzzzzzzzzz", "--gpu"); });
  CHECK_THAT(gpu.hint(), Contains("llmcalc gpu list"));
}

TEST_CASE("a user's model is found by all its names") {
  const auto catalogue = with_models(
      R"([{"id": "tiny", "aliases": ["wee"], "hf_id": "me/Tiny-1", "layers": 2, "hidden": 64, "heads": 4, "ffn": 256,
           "vocab": 100}])");
  for (const auto* name : {"tiny", "WEE", "me/tiny-1", "tiny-1"}) CHECK(catalogue.model(name, "--model").id == "tiny");
  const auto tiny = catalogue.model("tiny", "--model");
  CHECK(tiny.shape.kv_heads == 4);
  CHECK(tiny.shape.head_dim == 16);
  CHECK(tiny.file == "mine.json");
  CHECK(catalogue.models().size() == 580);
}

TEST_CASE("a user's entry inherits from its base what it does not say") {
  const auto catalogue = with_models(R"([{"id": "short", "base": "llama-3-8b", "layers": 12},
                                         {"id": "shorter", "base": "short", "layers": 6}])");
  const auto base = catalogue.model("llama-3-8b", "--model");
  const auto shorter = catalogue.model("shorter", "--model");
  CHECK(shorter.shape.layers == 6);
  CHECK(shorter.shape.kv_heads == base.shape.kv_heads);
  CHECK(shorter.shape.vocab == base.shape.vocab);
  CHECK(shorter.base == "short");
  CHECK_FALSE(shorter.published.exact.has_value());  // what Meta counted is not true of six layers
}

TEST_CASE("a user's entry overrides the preset of the same name") {
  const auto catalogue = with_models(R"({"id": "llama-3-8b", "base": "llama-3-8b", "layers": 12})");
  CHECK(catalogue.model("LLAMA-3-8B", "--model").shape.layers == 12);
  CHECK(catalogue.model("meta-llama/Meta-Llama-3-8B", "--model").shape.layers == 12);
  CHECK(catalogue.models().size() == 579);
  const auto gpus = with_accelerators(R"({"id": "h100-sxm", "base": "h100-sxm", "price": {"usd_per_hour": 1.5}})");
  const auto h100 = gpus.accelerator("h100-sxm", "--gpu").accelerator;
  CHECK(h100.price_per_hour == quantity::dollars(1.5));
  CHECK(h100.memory_usable == quantity::mib(81'008));
}

TEST_CASE("of two files the later one counts") {
  const Catalogue catalogue(
      {}, {{"first.json", small_gpu}, {"second.json", R"({"id": "TOY", "base": "toy", "gpus_per_node": 4})"}});
  CHECK(catalogue.accelerator("toy", "--gpu").file == "second.json");
  CHECK(catalogue.accelerator("toy", "--gpu").accelerator.gpus_per_node == 4);
  CHECK(catalogue.accelerators().size() == 218);
}

TEST_CASE("mistakes in a user's model file are named with file and JSON pointer") {
  const auto unknown = model_mistake(R"([{"id": "tiny", "layrs": 2}])");
  CHECK(unknown.place() == "mine.json:/0/layrs");
  CHECK_THAT(unknown.hint(), Contains("layers"));
  CHECK(model_mistake(R"([{"id": "tiny", "latent": {"rank": 2}}])").place() == "mine.json:/0/latent/rank");
  CHECK(model_mistake(R"({"id": "a b"})").place() == "mine.json:/id");
  CHECK(model_mistake(R"({"id": "tiny", "aliases": ["ok", ""]})").place() == "mine.json:/aliases/1");
  CHECK_THAT(model_mistake(R"({"id": "tiny", "mlp": "swiglo"})").hint(), Contains("swiglu"));
  CHECK(model_mistake(R"({"id": "tiny", "a/b~c": 1})").place() == "mine.json:/a~1b~0c");
  CHECK_THAT(model_mistake(R"([{"id": "tiny")").place(), Contains("mine.json"));
}

TEST_CASE("a value of another type or out of range is refused") {
  const auto* value =
      GENERATE("-1", "2.5", "1e3", "\"12\"", "true", "null", "[]", "4294967296", "18446744073709551615");
  CAPTURE(value);
  const auto error = model_mistake(R"({"id": "tiny", "hidden": )" + std::string(value) + "}");
  CHECK(error.place() == "mine.json:/hidden");
}

TEST_CASE("an incomplete entry says what it lacks") {
  CHECK_THAT(model_mistake(R"({"layers": 2})").problem(), Contains("\"id\""));
  CHECK_THAT(model_mistake(R"({"id": "tiny", "layers": 2})").problem(), Contains("\"hidden\""));
  CHECK_THAT(model_mistake(R"({"id": "t", "layers": 2, "hidden": 65, "heads": 4, "ffn": 1, "vocab": 9})").hint(),
             Contains("head_dim"));
  CHECK_THAT(model_mistake("3").problem(), Contains("object"));
  CHECK_THAT(accelerator_mistake(R"({"id": "toy"})").problem(), Contains("usable_mib"));
  CHECK_THAT(accelerator_mistake(R"({"id": "toy", "memory": {"usable_mib": 9}})").problem(),
             Contains("bandwidth_gb_s"));
  CHECK_THAT(accelerator_mistake(R"({"id": "toy", "memory": {"usable_mib": 9, "bandwidth_gb_s": 9}})").problem(),
             Contains("peak_tflops"));
}

TEST_CASE("an unknown base and a name taken twice are refused") {
  const auto base = model_mistake(R"([{"id": "mine", "base": "llama-3-8bb"}])");
  CHECK(base.place() == "mine.json:/0/base");
  CHECK_THAT(base.hint(), Contains("llama-3-8b"));
  const auto taken = model_mistake("[" + std::string(small_model) + "," + small_model + "]");
  CHECK(taken.place() == "mine.json:/1");
  CHECK_THAT(taken.problem(), Contains("tiny"));
}

TEST_CASE("mistakes in a user's accelerator file are named with file and JSON pointer") {
  CHECK(accelerator_mistake(R"({"id": "toy", "memory": {"usable_gb": 9}})").place() == "mine.json:/memory/usable_gb");
  CHECK(accelerator_mistake(R"({"id": "toy", "peak_tflops": {"bf16": -1}})").place() == "mine.json:/peak_tflops/bf16");
  CHECK(accelerator_mistake(R"({"id": "toy", "peak_tflops": {"bf16": 1e300}})").place() ==
        "mine.json:/peak_tflops/bf16");
  CHECK(accelerator_mistake(R"({"id": "toy", "memory": {"usable_mib": 9000000000000000000}})").place() ==
        "mine.json:/memory/usable_mib");
  CHECK_THAT(accelerator_mistake(R"({"id": "toy", "memory": {"usable_evidence": "verfied"}})").hint(),
             Contains("verified"));
  CHECK_THAT(accelerator_mistake(R"({"id": "h", "base": "h100", "gpus_per_node": 0})").problem(),
             Contains("at least 1"));
}
