// config.json files of every family, spelled as the real ones are, against the presets of the same models. The
// presets' parameter counts are proved against published integers, so equal shapes prove the reader's counts too.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/config.hpp"
#include "read/presets.hpp"
#include "read/shape_difference.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> fixtures() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/read/configs")) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

read::ConfigShape fixture(const std::string& id) {
  return read::read_config(text_of(LLMCALC_TEST_DATA "/read/configs/" + id + ".json"), "config.json");
}

std::string origin_of(const read::ConfigShape& config, const std::string& term) {
  for (const auto& origin : config.origins) {
    if (origin.term == term) return origin.pointer;
  }
  return "none";
}

bool noted(const read::ConfigShape& config, const std::string& part) {
  return std::ranges::any_of(config.notes,
                             [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// The smallest file that is read: every test of a mistake changes one thing of it.
std::string llama(const std::string& changed = "") {
  return R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
             "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 512)" +
         (changed.empty() ? "" : ", " + changed) + "}";
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

quantity::BadInput mistake(const std::string& json) {
  try {
    read::read_config(json, "config.json");
  } catch (const quantity::BadInput& error) {
    return error;
  }
  FAIL("accepted: " << json.substr(0, 200));
  throw std::logic_error("unreachable");
}

}  // namespace

TEST_CASE("every config.json gives the shape of its preset") {
  const read::Catalogue catalogue;
  REQUIRE(fixtures().size() >= 80);
  for (const auto& path : fixtures()) {
    const std::string id = path.stem().string();
    if (id.starts_with("bert-")) continue;  // presets are the encoder alone, the files name its head too
    const auto shape = read::read_config(text_of(path), "config.json").shape;
    CHECK(id + ": " + difference(shape, catalogue.model(id, "test").shape) == id + ": ");
  }
}

TEST_CASE("a file that names BertForMaskedLM has that class's head and no pooler") {
  const auto masked = fixture("bert-base-uncased").shape;
  CHECK(masked.head_transform);
  CHECK(masked.head_bias);
  CHECK_FALSE(masked.pooler);
  const auto encoder = read::read_config(R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 768,
      "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522,
      "max_position_embeddings": 512, "type_vocab_size": 2})",
                                         "x")
                           .shape;
  CHECK("bert-base-uncased: " + difference(encoder, read::Catalogue().model("bert-base-uncased", "test").shape) ==
        "bert-base-uncased: ");
}

TEST_CASE("towers are read from the file's own objects") {
  const auto towers = fixture("gemma-3-4b").shape.towers;
  REQUIRE(towers.size() == 1);
  CHECK(towers[0].layers.layers == 27);
  CHECK(towers[0].layers.hidden == 1152);
  CHECK(towers[0].positions == 4096);  // (896 / 14) squared
  REQUIRE(towers[0].projector.size() == 1);
  CHECK(towers[0].projector[0].outputs == 2560);
}

TEST_CASE("a tower that no family describes is refused, and left out on request") {
  const std::string file = llama(R"("vision_config": {"hidden_size": 8})");
  const auto error = mistake(file);
  CHECK(error.place() == "config.json:/vision_config");
  CHECK_THAT(error.hint(), Catch::Matchers::Contains("--as llama"));
  const auto text = read::read_config(file, "x", {"llama", {}});
  CHECK(text.shape.layers == 4);
  CHECK(noted(text, "vision"));
  CHECK(noted(text, "read as llama"));
}

TEST_CASE("a tower of a type that no family describes is refused at its type") {
  const auto file = [](const std::string& tower) {
    return R"({"model_type": "llava", "text_config": {"model_type": "llama"}, "vision_config": )" + tower + "}";
  };
  const auto unknown = mistake(file(R"({"model_type": "eye"})"));
  CHECK(unknown.place() == "config.json:/vision_config/model_type");
  CHECK_THAT(unknown.hint(), Catch::Matchers::Contains("--as llama"));
  CHECK(mistake(file(R"({"model_type": "bert"})")).place() == "config.json:/vision_config/model_type");
  CHECK(mistake(file("{}")).place() == "config.json:/vision_config");
}

TEST_CASE("a user's description of a family says what differs") {
  const read::PresetFile mine{"mine.json", R"([{"id": "mine", "like": "llama", "defaults": {"width": 64},
      "shape": {"hidden": "width", "qkv_bias": true, "ffn": "4 * $hidden"}}])"};
  const auto shape = read::read_config(llama(R"("model_type": "mine")"), "x", {"", {mine}}).shape;
  CHECK(shape.hidden == 64);
  CHECK(shape.ffn == 256);
  CHECK(shape.qkv_bias);
  CHECK(shape.norm == spec::Norm::rmsnorm);
}

TEST_CASE("a mistake in a description is named with its place") {
  const auto wrong = [](const std::string& entry) {
    try {
      read::read_config(llama(R"("model_type": "mine")"), "x", {"", {{"mine.json", entry}}});
    } catch (const quantity::BadInput& error) {
      return error;
    }
    FAIL("accepted: " << entry);
    throw std::logic_error("unreachable");
  };
  const auto unknown = wrong(R"([{"id": "mine", "like": "llama", "shape": {"hiden": 4}}])");
  CHECK(unknown.place() == "mine.json:/0/shape/hiden");
  CHECK_THAT(unknown.hint(), Catch::Matchers::Contains("hidden"));
  const auto unclosed = wrong(R"([{"id": "mine", "like": "llama", "shape": {"hidden": "(4 * vocab_size"}}])");
  CHECK(unclosed.place() == "mine.json: mine /shape/hidden");
  CHECK_THAT(unclosed.problem(), Catch::Matchers::Contains("lacks ')'"));
  CHECK_THAT(wrong(R"([{"id": "mine", "like": "mine"}])").problem(), Catch::Matchers::Contains("goes round"));
}

TEST_CASE("origins name the key or the family's default") {
  const auto gpt2 = fixture("gpt2");
  CHECK(origin_of(gpt2, "hidden") == "/n_embd");
  CHECK(origin_of(gpt2, "layers") == "/n_layer");
  CHECK(origin_of(gpt2, "ffn") == "transformers default");
  CHECK(origin_of(gpt2, "tied") == "transformers default");
  const auto gemma = fixture("gemma-3-27b");
  CHECK(origin_of(gemma, "layers") == "/text_config/num_hidden_layers");
  CHECK(origin_of(gemma, "vocab") == "transformers default");
  CHECK(origin_of(fixture("llama-4-scout"), "tied") == "/tie_word_embeddings");
  CHECK(origin_of(fixture("dbrx"), "kv_heads") == "/attn_config/kv_n_heads");
  CHECK(origin_of(fixture("command-r"), "max_position") == "/model_max_length");
}

TEST_CASE("a checkpoint says in which type its weights are") {
  const auto quant = [](const std::string& block) {
    return read::read_config(llama("\"quantization_config\": {" + block + "}"), "x").quant;
  };
  using formats::Quant;
  CHECK(fixture("deepseek-v3").quant == Quant::fp8_block);
  CHECK(fixture("gpt-oss-20b").quant == Quant::mxfp4);
  CHECK_FALSE(fixture("llama-3-8b").quant);
  CHECK(quant(R"("quant_method": "gptq", "bits": 8)") == Quant::gptq_8bit);
  CHECK(quant(R"("quant_method": "gptq", "bits": 4)") == Quant::gptq);
  CHECK(quant(R"("quant_method": "gptq", "bits": 4, "format": "gptq", "checkpoint_format": "gptq_v2")") == Quant::gptq);
  CHECK_FALSE(quant(R"("quant_method": "gptq", "bits": 3)"));
  CHECK_FALSE(quant(R"("quant_method": "gptq")"));
  CHECK(quant(R"("quant_method": "auto-round", "bits": 4)") == Quant::gptq);
  CHECK(quant(R"("quant_method": "awq")") == Quant::awq);
  CHECK(quant(R"("quant_method": "awq", "w_bit": 4)") == Quant::awq);
  CHECK(quant(R"("quant_method": "fp8")") == Quant::fp8);
  CHECK(quant(R"("quant_method": "fp8", "weight_block_size": null)") == Quant::fp8);
  constexpr auto blocks = R"("quant_method": "fp8", "weight_block_size": [128, 128], "expert_dtype": "fp4")";
  CHECK(quant(blocks) == Quant::fp8_mxfp4);
  const auto beside =
      R"("expert_dtype": "fp4", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128]})";
  CHECK(read::read_config(llama(beside), "x").quant == Quant::fp8_mxfp4);
  CHECK(quant(R"("quant_method": "bitsandbytes", "load_in_4bit": true)") == Quant::bnb_nf4);
  CHECK(quant(R"("quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": false)") ==
        Quant::bnb_nf4_single);
  CHECK(quant(R"("quant_method": "bitsandbytes", "load_in_8bit": true)") == Quant::bnb_int8);
  CHECK(quant(R"("quant_method": "compressed-tensors", "format": "pack-quantized")") == Quant::int4);
  CHECK(quant(R"("quant_method": "compressed-tensors", "format": "pack-quantized",
                 "config_groups": {"group_0": {"weights": {"num_bits": 8}}})") == Quant::int8_a16);
  CHECK(quant(R"("quant_method": "compressed-tensors", "format": "float-quantized",
                 "config_groups": {"group_0": {"weights": {"num_bits": 8, "strategy": "block"}}})") ==
        Quant::fp8_block);
  CHECK(quant(R"("quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized")") == Quant::mxfp4);
  CHECK(quant(R"("quant_method": "modelopt", "quant_algo": "NVFP4")") == Quant::nvfp4);
  const auto packed_nvfp4 = [&](const std::string& inputs) {
    return quant(R"("quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups":
                    {"group_0": {"input_activations": )" +
                 inputs + R"(, "weights": {"num_bits": 4}}})");
  };
  CHECK(packed_nvfp4(R"({"num_bits": 4, "type": "float"})") == Quant::nvfp4);
  CHECK(packed_nvfp4("null") == Quant::nvfp4_a16);
  CHECK(quant(R"("quant_method": "modelopt", "quant_algo": "W4A16_AWQ")") == Quant::awq);
  CHECK(quant(R"("quant_algo": "FP8_PB_WO")") == Quant::fp8_block);
  CHECK_FALSE(quant(R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION")"));
}

TEST_CASE("notes say what the shape leaves out") {
  CHECK(noted(fixture("deepseek-v3"), "1 multi-token-prediction layer"));
  CHECK(noted(read::read_config(llama(R"("quantization_config": {"quant_method": "quip"})"), "x"), "not known"));
  CHECK(noted(fixture("gpt2"), "dropout 0.1"));
  CHECK(fixture("llama-3-8b").notes.empty());
  CHECK(noted(read::read_config(llama(R"("qk_layernorm": true)"), "x"), "norms of queries"));
  CHECK(noted(read::read_config(llama(R"("auto_map": {"AutoModel": "modeling_mine.MyModel"})"), "x"),
              "own code (auto_map) is not read, transformers models/llama stands for it"));
}

TEST_CASE("a class name stands for a missing or foreign model_type") {
  const std::string sizes = R"("hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
                               "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 512})";
  CHECK(read::read_config(R"({"architectures": ["LlamaForCausalLM"], )" + sizes, "x").shape.layers == 4);
  CHECK(read::read_config(R"({"model_type": "mine", "architectures": ["Qwen2ForCausalLM"], )" + sizes, "x")
            .shape.qkv_bias);
}

TEST_CASE("families say how transformers writes them") {
  CHECK(fixture("gpt2").shape.writing.chained_gelu);
  CHECK_FALSE(read::read_config(llama(R"("model_type": "gpt2", "activation_function": "gelu_pytorch_tanh")"), "x")
                  .shape.writing.chained_gelu);
  CHECK(fixture("pythia-160m").shape.writing.fused_qkv);
  CHECK(fixture("gemma-2-9b").shape.writing.caps_scores);
  CHECK_FALSE(fixture("gemma-3-1b").shape.writing.caps_scores);
  CHECK(fixture("gemma-3-1b").shape.writing.norm == spec::NormForm::offset);
  CHECK(fixture("llama-3-8b").shape.writing == spec::Writing{});
}

TEST_CASE("Granite is built like Llama, with experts or without") {
  CHECK(read::read_config(llama(R"("model_type": "granite")"), "x").shape.norm == spec::Norm::rmsnorm);
  const std::string experts = R"("model_type": "granitemoe", "num_local_experts": 8, "num_experts_per_tok": 2)";
  const auto shape = read::read_config(llama(experts), "x").shape;
  CHECK(shape.moe.experts == 8);
  CHECK(shape.moe.expert_ffn == 128);
}

TEST_CASE("StableLM's layers share a norm where attention and MLP stand side by side") {
  const auto norms = [](const std::string& changed) {
    return read::read_config(llama(R"("model_type": "stablelm", "num_key_value_heads": 4, )" + changed), "x")
        .shape.norms_per_layer;
  };
  CHECK(norms(R"("use_parallel_residual": false)") == 2);
  CHECK(norms(R"("use_parallel_residual": true)") == 1);
}

TEST_CASE("YaRN stretches the original length") {
  const auto shape = read::read_config(llama(R"("rope_scaling": {"type": "yarn", "factor": 4.0,
                                 "original_max_position_embeddings": 512})"),
                                       "x")
                         .shape;
  CHECK(shape.max_position == 2048);
}

TEST_CASE("a key that is missing is named with the model type that needs it") {
  const auto error = mistake(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
                                 "intermediate_size": 128, "max_position_embeddings": 512})");
  CHECK(error.place() == "config.json");
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("'num_hidden_layers' (layers), 'vocab_size' (vocab)"));
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("'llama'"));
}

TEST_CASE("an unknown model type is refused with its neighbours and with what is missing") {
  const auto error = mistake(R"({"model_type": "lama", "hidden_size": 64, "num_hidden_layers": 4})");
  CHECK(error.place() == "config.json:/model_type");
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("'lama'"));
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("'num_attention_heads' (heads)"));
  CHECK_THAT(error.hint(), Catch::Matchers::Contains("llama"));
  CHECK(mistake("{}").place() == "config.json:/model_type");
}

TEST_CASE("a value of the wrong kind is refused at its pointer") {
  const auto wrong = [](const std::string& changed, const std::string& place, const std::string& part) {
    INFO(changed);
    const auto error = mistake(llama(changed));
    CHECK(error.place() == place);
    CHECK_THAT(error.problem(), Catch::Matchers::Contains(part));
  };
  wrong(R"("num_hidden_layers": "32")", "config.json:/num_hidden_layers", "\"32\"");
  wrong(R"("num_hidden_layers": 0)", "config.json:/num_hidden_layers", "from 1 to");
  wrong(R"("num_hidden_layers": -1)", "config.json:/num_hidden_layers", "-1");
  wrong(R"("num_hidden_layers": 4.5)", "config.json:/num_hidden_layers", "4.5");
  wrong(R"("num_hidden_layers": true)", "config.json:/num_hidden_layers", "true");
  wrong(R"("num_hidden_layers": null)", "config.json:/num_hidden_layers", "null");
  wrong(R"("vocab_size": 99999999999999999999)", "config.json:/vocab_size", "whole number");
  wrong(R"("hidden_size": 1000000000000)", "config.json:/hidden_size", "1000000000000");
  wrong(R"("num_attention_heads": 5)", "config.json:/num_attention_heads", "divide");
  wrong(R"("num_key_value_heads": 3)", "config.json:/num_key_value_heads", "divisor of the 4 heads");
  wrong(R"("num_attention_heads": 0, "num_key_value_heads": null)", "config.json:/num_attention_heads", "from 1 to");
  wrong(R"("tie_word_embeddings": 1)", "config.json:/tie_word_embeddings", "true or false");
  wrong(R"("hidden_act": "mish")", "config.json:/hidden_act", "'mish'");
  wrong(R"("model_type": 7)", "config.json:/model_type", "7");
  wrong(R"("rope_scaling": {"type": "yarn", "factor": 1e20, "original_max_position_embeddings": 512})",
        "config.json:/rope_scaling/factor", "out of range");
}

TEST_CASE("layers that follow no period are read one by one") {
  const auto shape = read::read_config(llama(R"("model_type": "gemma2", "sliding_window": 8,
      "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"])"),
                                       "x")
                         .shape;
  REQUIRE(shape.plan.size() == 4);
  CHECK_FALSE(shape.plan[0].windowed);
  CHECK(shape.plan[1].windowed);
  CHECK_FALSE(shape.plan[3].windowed);
  const auto dense = read::read_config(llama(R"("model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2,
                           "mlp_only_layers": [0, 1, 2, 3])"),
                                       "x")
                         .shape;
  CHECK(dense.moe.experts == 0);
}

TEST_CASE("a list of layers that does not fit is refused at its key") {
  auto error = mistake(llama(R"("model_type": "gemma2", "sliding_window": 8, "layer_types": ["full_attention"])"));
  CHECK(error.place() == "config.json:/layer_types");
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("lists 1 layers, expected 4"));
  const auto with_a_fifth = llama(R"("model_type": "gemma2", "sliding_window": 8, "num_nextn_predict_layers": 1,
      "layer_types": ["full_attention", "full_attention", "full_attention", "sliding_attention", "full_attention"])");
  CHECK(read::read_config(with_a_fifth, "x").shape.layers == 4);
  error = mistake(llama(R"("model_type": "gemma2", "sliding_window": 8,
      "layer_types": ["full_attention", "mamba", "mamba", "mamba"])"));
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("'mamba'"));
}

TEST_CASE("leading dense layers and strides become a period") {
  const auto moe = [](const std::string& changed) {
    const auto shape =
        read::read_config(llama(R"("model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, )" + changed),
                          "x")
            .shape;
    return std::pair(shape.moe.dense_layers, shape.moe.every);
  };
  CHECK(moe(R"("mlp_only_layers": [0, 1])") == std::pair<std::int64_t, std::int64_t>(2, 1));
  CHECK(moe(R"("decoder_sparse_step": 2)") == std::pair<std::int64_t, std::int64_t>(0, 2));
  CHECK(moe(R"("mlp_only_layers": [0, 1, 3])") == std::pair<std::int64_t, std::int64_t>(0, 3));
}

TEST_CASE("text that is not JSON is refused at its byte") {
  const std::string whole = llama();
  const auto error = mistake(whole.substr(0, whole.size() - 1));
  CHECK(error.place() == "config.json:byte " + std::to_string(whole.size()));
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("not JSON"));
  CHECK(mistake("").place() == "config.json:byte 1");
  CHECK_THAT(mistake("[1]").problem(), Catch::Matchers::Contains("object"));
  for (const auto at : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size()}) {
    auto cut = whole;
    cut.insert(at, 1, '\0');
    CHECK(mistake(cut).place() == "config.json:byte " + std::to_string(at));
  }
}

TEST_CASE("deep nesting is refused before it is parsed") {
  const auto error = mistake("{\"a\": " + nested(1'000'000) + "}");
  CHECK(error.place() == "config.json:byte 69");
  CHECK_THAT(error.problem(), Catch::Matchers::Contains("deeper than 64"));
  CHECK(read::read_config(llama("\"a\": " + nested(63)), "x").shape.layers == 4);
}

TEST_CASE("a nested configuration may hold only what differs from its class") {
  // liuhaotian's LLaVA-1.5 as llava-hf converted it: of Vicuna only the vocabulary and the positions.
  const auto shape = read::read_config(R"({"model_type": "llava", "vision_feature_layer": -2,
      "text_config": {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096},
      "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336,
                        "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
                        "patch_size": 14}})",
                                       "x")
                         .shape;
  CHECK(shape.hidden == 4096);
  CHECK(shape.ffn == 11008);
  CHECK(shape.vocab == 32064);
  REQUIRE(shape.towers.size() == 1);
  CHECK(shape.towers[0].positions == 577);
}

/// docs.python.org/3/library/json.html, "Infinite and NaN Number Values".
TEST_CASE("a file may hold the numbers that Python writes and JSON lacks, where nobody needs them") {
  CHECK_NOTHROW(
      read::read_config(llama(R"("time_step_limit": [0.0, Infinity, -Infinity], "note": "NaN", "x": NaN)"), "c"));
  CHECK(mistake(llama(R"("rope_theta": NaN, "num_key_value_heads": Infinity)")).place() ==
        "config.json:/num_key_value_heads");
  CHECK(mistake(llama(R"("x": Infinity, "y": })")).place().find("config.json") == 0);
}
