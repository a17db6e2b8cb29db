// Checkpoints whose files give single modules a scheme of their own.
#include "catch.hpp"
#include "read/config.hpp"
#include "read/settings.hpp"
#include "serving/questions.hpp"
#include "serving/weights.hpp"
#include "spec/file_tensors.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace {

using namespace llmcalc;
using formats::Quant;
using spec::Role;

bool names(std::string_view pattern, Role role) {
  return spec::modules_named(pattern).roles.test(static_cast<std::size_t>(role));
}

/// The scheme that a file's quantization gives to a matrix.
std::optional<Quant> scheme(const std::string& block, Role role, bool expert = false, std::int64_t layer = 1) {
  const auto tensors = read::stored_modules(R"({"quantization_config": {)" + block + "}}", "config.json");
  return tensors == nullptr ? std::nullopt : tensors->said(role, expert, layer);
}

double gigabytes(const std::string& model) {
  const auto question = test::served({"model", model, "engine", "vllm", "context", "4096"});
  return static_cast<double>(quantity::in_bytes(serving::model_bytes(question))) / 1e9;
}

}  // namespace

TEST_CASE("names of modules stand for their matrices") {
  CHECK(names("model.layers.3.self_attn*", Role::attention_out));
  CHECK_FALSE(names("model.layers.3.self_attn*", Role::down));
  CHECK_FALSE(names("model.layers.3.self_attn*", Role::delta_out));
  CHECK(names("*.linear_attn.out_proj", Role::delta_out));
  CHECK_FALSE(names("*.linear_attn.out_proj", Role::attention_out));
  CHECK(names("re:.*mlp\\.(gate|up)_proj$", Role::gate));
  CHECK(names("re:.*mlp\\.(gate|up)_proj$", Role::up));
  CHECK_FALSE(names("re:.*mlp\\.(gate|up)_proj$", Role::down));
  CHECK(names("re:.*lm_head", Role::head));
  CHECK(names("model.layers.0*", Role::down));
  CHECK(names("backbone.layers.4.mixer.in_proj", Role::state_in));
  for (const auto* none : {"mtp.layers.0*", "model.visual*", "vision_tower", "model.layers.0.input_layernorm",
                           "re:.*layers\\.([0-9]|1[0-9])\\.mlp", "model.layers.0.self_attn.indexer*"}) {
    INFO(none);
    CHECK(spec::modules_named(none).roles.none());
  }
  CHECK(spec::modules_named("model.layers.3.self_attn*").layer == 3);
  CHECK(spec::modules_named("layers.7.ffn.experts").expert == true);
  CHECK(spec::modules_named("model.layers.1.mlp.experts.12.down_proj").layer == 1);
  CHECK(spec::modules_named("*.mlp.shared_expert.*").expert == false);
  CHECK_FALSE(spec::modules_named("*.self_attn.*").layer);
}

TEST_CASE("each module rests by its own algorithm, and one that is not listed as it was") {
  const std::string mixed = R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
      "model.layers.1.self_attn.q_proj": {"quant_algo": "FP8"},
      "model.layers.1.mlp.experts.0.w1": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
      "model.layers.2.mlp.down_proj": {"quant_algo": "MXFP8"}, "lm_head": {"quant_algo": "NVFP4"}})";
  CHECK(scheme(mixed, Role::query) == Quant::fp8);
  CHECK(scheme(mixed, Role::gate, true) == Quant::nvfp4_a16);
  CHECK(scheme(mixed, Role::down, false, 2) == Quant::mxfp8);
  CHECK(scheme(mixed, Role::head, false, 0) == Quant::nvfp4);
  CHECK(scheme(mixed, Role::query, false, 2) == Quant::bf16);
  CHECK(scheme(mixed, Role::gate) == Quant::bf16);
  const std::string beside_fp8 = R"("quant_method": "fp8", "weight_block_size": [128, 128], "ignore": ["*.attn.*"],
      "quantized_layers": {"layers.1.ffn.experts": {"quant_algo": "NVFP4"}})";
  CHECK(scheme(beside_fp8, Role::down, true) == Quant::nvfp4);
  CHECK(scheme(beside_fp8, Role::attention_out) == Quant::fp8_block);
}

TEST_CASE("groups of a mixture rest by their own schemes") {
  const std::string groups =
      R"("quant_method": "compressed-tensors", "format": "mixed-precision", "ignore": ["lm_head"],
      "config_groups": {"group_0": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}},
      "group_1": {"targets": ["re:.*down_proj"], "input_activations": null,
                  "weights": {"num_bits": 4, "type": "float", "group_size": 16}},
      "group_2": {"targets": ["re:.*up_proj"], "input_activations": {"num_bits": 4, "type": "float"},
                  "weights": {"num_bits": 4, "type": "float", "group_size": 16}}})";
  CHECK(scheme(groups, Role::query) == Quant::fp8);
  CHECK(scheme(groups, Role::down) == Quant::nvfp4_a16);
  CHECK(scheme(groups, Role::up) == Quant::nvfp4);
  CHECK(scheme(groups, Role::delta_out) == Quant::bf16);
}

TEST_CASE("what a list leaves out rests in 16 bits, experts beside an MLP not with it") {
  const std::string nvfp4 = R"("quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": )";
  const std::string within = nvfp4 + R"(["lm_head", "model.layers.1.mlp*"])";
  CHECK(scheme(within, Role::down, true) == Quant::bf16);
  CHECK_FALSE(scheme(within, Role::query));
  const std::string beside = nvfp4 + R"(["model.layers.1.mlp*", "model.layers.1.router*"])";
  CHECK(scheme(beside, Role::down) == Quant::bf16);
  CHECK_FALSE(scheme(beside, Role::down, true));
}

TEST_CASE("a file that names each expert of each layer is read") {
  std::string layers;
  for (int expert = 0; expert < 20'000; ++expert) {
    layers += (expert == 0 ? "" : ",") + std::string(R"("model.layers.1.mlp.experts.)") + std::to_string(expert) +
              R"(.down_proj": {"quant_algo": "NVFP4", "group_size": 16})";
  }
  const std::string config =
      R"({"model_type": "llama", "quantization_config": {"quantized_layers": {)" + layers + "}}}";
  REQUIRE(config.size() > read::largest_settings);
  CHECK(read::parse_commented_json(config, "config.json").find("model_type") != nullptr);
}

TEST_CASE("published mixtures are as large as their files") {
  struct Published {
    std::string model;
    double gigabytes;  ///< vllm-project/recipes pull request 606, NVIDIA-NeMo/Nemotron pull request 257; of RedHatAI's
                       ///< what the elements of their safetensors files (llmfit 1.1.17) take, packed ones as they count
    double beside;     ///< in 16 bits: 460M of a tower and 424M of an MTP layer; an MTP layer; a tower
  };
  for (const auto& [model, size, beside] :
       {Published{"nvidia/Qwen3.6-27B-NVFP4", 22.0, 1.77},
        Published{"nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4", 331.0, 0.0},
        Published{"RedHatAI/Llama-4-Scout-17B-16E-Instruct-NVFP4", 69.70, 1.74},
        Published{"RedHatAI/Llama-4-Scout-17B-16E-Instruct-quantized.w4a16", 64.88, 1.74},
        Published{"RedHatAI/Qwen3-235B-A22B-NVFP4", 143.74, 0.0},
        Published{"RedHatAI/Qwen3-Coder-Next-FP8-dynamic", 81.87, 0.0}}) {
    INFO(model);
    CHECK(gigabytes(model) + beside <= size);
    CHECK(gigabytes(model) + beside > 0.99 * size);
  }
}
