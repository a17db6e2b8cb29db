// States of recurrent layers and the blocks that hold them, against logs that people published.
#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_bytes;

/// Layers that attend after every `period`-th, as the lists of configurations name them.
std::string layer_types(int layers, int period, const std::string& others) {
  std::string list;
  for (int i = 1; i <= layers; ++i) {
    const std::string word = i % period == 0 ? "attention" : others;
    list.append(list.empty() ? "" : ",").append("\"" + word + "\"");
  }
  return "[" + list + "]";
}

/// Qwen/Qwen3.5-4B config.json, text_config.
const std::string qwen_4b =
    R"({"model_type":"qwen3_5_text","hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":16,
    "num_key_value_heads":4,"head_dim":256,"vocab_size":248320,"max_position_embeddings":262144,
    "intermediate_size":9216,"linear_num_key_heads":16,"linear_num_value_heads":32,"linear_key_head_dim":128,
    "linear_value_head_dim":128,"linear_conv_kernel_dim":4,"full_attention_interval":4,"tie_word_embeddings":true,
    "mamba_ssm_dtype":"float32"})";

/// Qwen/Qwen3-Next-80B-A3B-Instruct config.json, which does not say how wide its states are.
const std::string qwen_next =
    R"({"model_type":"qwen3_next","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":16,
    "num_key_value_heads":2,"head_dim":256,"vocab_size":151936,"max_position_embeddings":262144,
    "intermediate_size":5120,"linear_num_key_heads":16,"linear_num_value_heads":32,"linear_key_head_dim":128,
    "linear_value_head_dim":128,"linear_conv_kernel_dim":4,"full_attention_interval":4,"num_experts":512,
    "num_experts_per_tok":10,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,
    "tie_word_embeddings":false})";

/// ibm-granite/granite-4.0-h-small config.json.
const std::string granite_small =
    R"({"model_type":"granitemoehybrid","hidden_size":4096,"num_hidden_layers":40,"num_attention_heads":32,
    "num_key_value_heads":8,"vocab_size":100352,"max_position_embeddings":131072,"intermediate_size":768,
    "shared_intermediate_size":1536,"num_local_experts":72,"num_experts_per_tok":10,"mamba_expand":2,
    "mamba_n_heads":128,"mamba_d_head":64,"mamba_d_state":128,"mamba_n_groups":1,"mamba_d_conv":4,
    "position_embedding_type":"nope","tie_word_embeddings":true,"layer_types":)" +
    layer_types(40, 10, "mamba") + "}";

/// tiiuae/Falcon-H1-7B-Base config.json: every layer attends and scans.
const std::string falcon_7b =
    R"({"model_type":"falcon_h1","hidden_size":3072,"num_hidden_layers":44,"num_attention_heads":12,
    "num_key_value_heads":2,"head_dim":128,"vocab_size":130048,"max_position_embeddings":262144,
    "intermediate_size":12288,"mamba_d_ssm":3072,"mamba_n_heads":24,"mamba_d_head":128,"mamba_d_state":256,
    "mamba_n_groups":1,"mamba_d_conv":4,"mamba_expand":2,"tie_word_embeddings":false})";

/// state-spaces/mamba-2.8b-hf config.json.
const std::string mamba_3b =
    R"({"model_type":"mamba","hidden_size":2560,"num_hidden_layers":64,"intermediate_size":5120,"state_size":16,
    "conv_kernel":4,"time_step_rank":160,"vocab_size":50280,"use_conv_bias":true,"use_bias":false,"expand":2})";

/// ai21labs/Jamba-v0.1 config.json.
const std::string jamba =
    R"({"model_type":"jamba","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
    "num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":262144,"intermediate_size":14336,
    "num_experts":16,"num_experts_per_tok":2,"expert_layer_offset":1,"expert_layer_period":2,"attn_layer_offset":4,
    "attn_layer_period":8,"mamba_expand":2,"mamba_d_state":16,"mamba_d_conv":4,"mamba_dt_rank":256})";

/// LiquidAI/LFM2-1.2B config.json.
const std::string lfm2 =
    R"({"model_type":"lfm2","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":32,
    "num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,"intermediate_size":8192,
    "conv_L_cache":3,"block_auto_adjust_ff_dim":false,"block_ff_dim":8192,
    "full_attn_idxs":[2,5,8,10,12,14]})";

/// NX-AI/xLSTM-7b config.json.
const std::string xlstm_7b =
    R"({"model_type":"xlstm","hidden_size":4096,"embedding_dim":4096,"num_heads":8,"num_blocks":32,
    "num_hidden_layers":32,"qk_dim_factor":0.5,"v_dim_factor":1.0,"ffn_proj_factor":2.667,"vocab_size":50304,
    "tie_word_embeddings":false,"use_bias":false,"add_out_norm":true})";

serving::ServingAnswer serve(const std::string& config, const std::vector<std::string>& words) {
  return serving::serve(test::served(words, config));
}

serving::ServingAnswer on_h100(const std::string& config, std::vector<std::string> words) {
  words.insert(words.end(), {"gpu", "h100-sxm", "context", "16384"});
  return serve(config, words);
}

// hf_quant_config.json of NVIDIA's Qwen3.5 checkpoints, exclude_modules: linear_attn of every layer.
TEST_CASE("checkpoints in four bits leave gated delta nets in sixteen") {
  const auto attention_of = [](const char* quant, std::size_t layer) {
    const auto question = test::served({"quant", quant, "context", "8k"}, qwen_4b);
    return in_bytes(serving::deploy(question).stages.front().weights.layers.at(layer).attention);
  };
  constexpr std::size_t delta_net = 0;
  constexpr std::size_t attention = 3;
  for (const char* quant : {"nvfp4", "int4"}) {
    CHECK(attention_of(quant, delta_net) == attention_of("bf16", delta_net));
    CHECK(attention_of(quant, attention) < attention_of("bf16", attention) / 3);
  }
}

TEST_CASE("vLLM's blocks grow until one holds the state of a layer") {
  // "Setting attention block size to 528 tokens": vllm issue 40696, 0.19.1.
  CHECK(on_h100(qwen_4b, {"engine_version", "0.19.1"}).memory.block == 528);
  // "inflates cache_config.block_size to 528": vllm-gaudi pull 1564, whose states are as wide as the model's weights.
  CHECK(on_h100(granite_small, {"engine_version", "0.19.0"}).memory.block == 528);
  // "Setting attention block size to 1568 tokens", "Padding mamba page size by 0.13%": club-3090 issue 1047, of a model
  // with the shape of Qwen3.6-27B and a cache of 8 bits.
  const auto narrow = serving::serve(test::served({"model", "qwen3.6-27b", "kv_dtype", "fp8", "gpu", "h100-sxm"}));
  CHECK(narrow.memory.block == 1568);
  const std::int64_t state = 4 * 48 * 128 * 128 + 2 * 3 * (2 * 16 + 48) * 128;
  CHECK(1568.0 * 2 * 4 * 256 / static_cast<double>(state) == Approx(1.0013).margin(0.00005));
}

// v1/kv_cache_interface.py, MambaSpec: one block, or 2 where prefixes are cached, and one more where kernels export
// states; each drafted token has one (tests/v1 of vLLM count alike).
TEST_CASE("vLLM holds as many states of a sequence as its cache mode asks for") {
  const auto blocks = [](const std::string& config, const std::vector<std::string>& words) {
    for (const auto& group : on_h100(config, words).memory.groups) {
      if (group.group.layer.reach == serving::Reach::state) return group.blocks;
    }
    return std::int64_t{0};
  };
  CHECK(blocks(qwen_4b, {"engine_version", "0.19.1"}) == 1);
  CHECK(blocks(qwen_4b, {"engine_version", "0.27"}) == 2);
  CHECK(blocks(granite_small, {}) == 3);
  CHECK(blocks(jamba, {}) == 2);
  CHECK(blocks(mamba_3b, {}) == 1);
  CHECK(blocks(qwen_4b, {"engine_version", "0.19.1", "draft", "mtp:2"}) == 3);
}

// transformers models/xlstm/modeling_xlstm.py, xLSTMCache: of each of 8 heads a memory of 256 x 512, a normalizer of
// 256 and a stabilizer, in 32 bits.
TEST_CASE("transformers keeps the memory, the normalizer and the stabilizer of each head of an mLSTM") {
  const auto answer = serve(xlstm_7b, {"engine", "hf", "gpu", "h100-sxm", "context", "4096"});
  CHECK(in_bytes(answer.state) == 32 * 8 * 4 * (256 * 512 + 256 + 1));
  CHECK(in_bytes(answer.bytes_per_token) == 0);
}

// "RS buffer size = 50.25 MiB (1 cells, 32 layers, 1 seqs), R (f32): 2.25 MiB, S (f32): 48.00 MiB" with every fourth
// layer skipped (JamePeng/llama-cpp-python issue 78).
TEST_CASE("llama.cpp keeps the states of its slots in 32 bits") {
  const auto states = [](const char* slots) {
    return in_bytes(serve(qwen_4b, {"engine", "llama.cpp", "slots", slots, "context", "4096"}).state);
  };
  CHECK(states("1") == 50 * 1048576 + 1048576 / 4);
  CHECK(states("4") == 4 * states("1"));
}

// "A cached Mamba state is a full SSM snapshot (~51 MB for Qwen3.5-4B)" (sglang pull 39851).
TEST_CASE("SGLang sets a pool of states aside, of which a request takes five places") {
  const auto answer = on_h100(qwen_4b, {"engine", "sglang"});
  CHECK(static_cast<double>(in_bytes(answer.state)) == Approx(51.5e6).epsilon(0.01));
  REQUIRE(answer.memory.seats.has_value());
  const auto& parts = answer.memory.holdings;
  const auto states = std::find_if(parts.begin(), parts.end(), [](const auto& part) { return part.id == "states"; });
  REQUIRE(states != parts.end());
  // 0.9 parts of states beside one of keys and values, one place more and whole places: kv_cache_configurator.py.
  const double ratio = static_cast<double>(in_bytes(states->size)) / static_cast<double>(in_bytes(answer.memory.pool));
  CHECK(ratio == Approx(0.9).epsilon(0.005));
  CHECK(*answer.memory.seats == (in_bytes(states->size) / in_bytes(answer.state) - 1) / 5);
}

TEST_CASE("where states are few their places are what binds") {
  auto words = std::vector<std::string>{"engine", "sglang", "gpu", "h100-sxm", "context", "1024"};
  const auto answer = serve(qwen_4b, words);
  CHECK(answer.capacity.binding == "places for the states of recurrent layers");
  CHECK(answer.capacity.max_concurrency == *answer.memory.seats);
}

// vLLM model_executor/layers/mamba/mamba_utils.py, MambaStateShapeCalculator: heads and channels over the ranks, and a
// group of its own for each rank where there are fewer. In bytes of one layer and sequence, of a bf16 model.
TEST_CASE("states are cut over tensor-parallel ranks") {
  struct Case {
    const std::string& config;
    std::int64_t layers, one, four;
  };
  const Case cases[] = {
      {qwen_4b, 24, 4 * (32 * 128 * 128) + 2 * 3 * 8192, 4 * (8 * 128 * 128) + 2 * 3 * 2048},
      {qwen_next, 36, 2 * (32 * 128 * 128) + 2 * 3 * 8192, 2 * (8 * 128 * 128) + 2 * 3 * 2048},
      {granite_small, 36, 2 * (128 * 64 * 128) + 2 * 3 * (8192 + 2 * 128),
       2 * (32 * 64 * 128) + 2 * 3 * (2048 + 2 * 128)},
      {falcon_7b, 44, 2 * (24 * 128 * 256) + 2 * 3 * (3072 + 2 * 256), 2 * (6 * 128 * 256) + 2 * 3 * (768 + 2 * 256)},
      {mamba_3b, 64, 2 * (5120 * 16) + 2 * 3 * 5120, 2 * (1280 * 16) + 2 * 3 * 1280},
      {jamba, 28, 2 * (8192 * 16) + 2 * 3 * 8192, 2 * (2048 * 16) + 2 * 3 * 2048},
      {lfm2, 10, 2 * 2 * 2048, 2 * 2 * 512},
  };
  for (const Case& each : cases) {
    CAPTURE(each.config);
    CHECK(in_bytes(on_h100(each.config, {}).state) == each.layers * each.one);
    CHECK(in_bytes(on_h100(each.config, {"gpus", "4", "tp", "4"}).state) == each.layers * each.four);
  }
}

TEST_CASE("a model counts its parameters once, however many ranks hold a copy") {
  CHECK(on_h100(falcon_7b, {}).parameters == on_h100(falcon_7b, {"gpus", "4", "tp", "4"}).parameters);
}

}  // namespace
