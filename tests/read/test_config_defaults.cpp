// Keys that a config.json leaves out have the defaults of the class that would read it.
#include "catch.hpp"
#include "read/config.hpp"

#include <string>

using namespace llmcalc;

TEST_CASE("a Falcon without its optional keys is a 7B: one key-value head, rotary, no biases") {
  // transformers falcon/configuration_falcon.py: multi_query True, alibi False, bias False,
  // new_decoder_architecture False, parallel_attn True, ffn_hidden_size 4 x hidden_size.
  const auto shape = read::read_config(R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
    "num_attention_heads": 71, "vocab_size": 65024})",
                                       "config.json")
                         .shape;
  CHECK(shape.kv_heads == 1);
  CHECK(shape.position == spec::Position::rope);
  CHECK(shape.ffn == 4 * 4544);
  CHECK_FALSE(shape.qkv_bias);
  CHECK_FALSE(shape.out_bias);
  CHECK_FALSE(shape.mlp_bias);
  CHECK(shape.parallel_residual);
}

TEST_CASE("a ChatGLM without its optional keys has as many key-value heads as queries and no biases") {
  // THUDM/chatglm3-6b configuration_chatglm.py: multi_query_attention False, add_bias_linear False,
  // add_qkv_bias False, rmsnorm True.
  const auto shape = read::read_config(R"({"model_type": "chatglm", "hidden_size": 4096, "num_layers": 28,
    "num_attention_heads": 32, "kv_channels": 128, "ffn_hidden_size": 13696, "padded_vocab_size": 65024,
    "seq_length": 8192})",
                                       "config.json")
                         .shape;
  CHECK(shape.kv_heads == 32);
  CHECK_FALSE(shape.qkv_bias);
  CHECK_FALSE(shape.mlp_bias);
  CHECK(shape.norm == spec::Norm::rmsnorm);
}

TEST_CASE("a ChatGLM's number of groups counts only where it says multi-query attention") {
  // THUDM/chatglm3-6b modeling_chatglm.py, SelfAttention: num_multi_query_groups_per_partition is set inside of
  // `if self.multi_query_attention`.
  const std::string config = R"({"model_type": "chatglm", "hidden_size": 4096, "num_layers": 28,
    "num_attention_heads": 32, "kv_channels": 128, "ffn_hidden_size": 13696, "padded_vocab_size": 65024,
    "seq_length": 8192, "multi_query_group_num": 2)";
  CHECK(read::read_config(config + "}", "config.json").shape.kv_heads == 32);
  CHECK(read::read_config(config + R"(, "multi_query_attention": true})", "config.json").shape.kv_heads == 2);
}
