// Encoders: what servers of embeddings and scores hold and how fast they read, and what tokens pass of two stacks.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_seconds;

serving::ServingAnswer answer(const std::vector<std::string>& words) { return serving::serve(test::served(words)); }

// vLLM v1/engine/core.py, has_kv_cache: models without a cache are not profiled, and take no share of the card;
// engine/arg_utils.py: a step holds the longest input, and no part of one.
TEST_CASE("an encoder keeps nothing of what it reads") {
  const auto served = answer({"model", "bge-m3", "gpu", "rtx-4090"});
  const auto& setup = served.deployment.setup;
  CHECK(served.deployment.stages.front().cache.empty());
  CHECK_FALSE(serving::reserves(served.deployment));
  CHECK(served.memory.needed == quantity::bytes(0));
  CHECK(serving::device_total(served) < quantity::gib(4));
  CHECK(setup.batched_tokens == 8192);  // "max_seq_length" of BAAI/bge-m3 sentence_bert_config.json
  CHECK(setup.reads_whole);
  CHECK(served.capacity.max_concurrency == 256);
}

// Of 109,482,240 parameters (transformers BertModel of BAAI/bge-base-en-v1.5) each token is multiplied by those of the
// layers, 12 x 12 x 768^2, and each pair of an input's n tokens takes 4 x 768 FLOPs a layer, of which no mask spares
// half.
TEST_CASE("no input is read faster than its products are multiplied") {
  const auto served = answer({"model", "bge-base", "gpu", "l4", "prompt", "512", "concurrency", "256"});
  CHECK(served.parameters == 109'482'240 + 6 * 768);  // the table comes out in whole rows of 64
  const double products = 2.0 * 12 * 12 * 768 * 768 * 512;
  const double pairs = 4.0 * 12 * 768 * 512 * 512;
  const double peak = quantity::in_flops_per_second(spec::half_peak(*served.deployment.question.gpu));
  REQUIRE(served.speed.has_value());
  CHECK(served.speed->requests_per_s < peak / (products + pairs));
  CHECK(served.speed->requests_per_s > 0.3 * peak / (products + pairs));
  CHECK(served.speed->tpot == quantity::seconds(0));
  CHECK(served.speed->tokens_per_s == 0.0);
}

// vllm pull 23000: 414.91 requests a second of 512 tokens on a model of bge-base's shape, of which card is not said:
// one process takes them up.
TEST_CASE("a server's front bounds what small models read") {
  const auto served = answer(
      {"model", "bge-base", "gpu", "h100-sxm", "engine_version", "0.10.1", "prompt", "512", "concurrency", "1000"});
  CHECK(served.speed->requests_per_s == Approx(415).epsilon(0.08));
}

// vllm pull 39113: 1,089 requests a second of bge-base, 64 at once of 32 tokens each; of which card is not said, and
// small inputs wait for launches on any.
TEST_CASE("short inputs are read as fast as their launches come") {
  const auto served = answer({"model", "bge-base", "gpu", "h100-sxm", "prompt", "32", "concurrency", "64"});
  CHECK(served.speed->requests_per_s == Approx(1089).epsilon(0.4));
}

// vLLM config/model.py, _get_default_runner_type: sentence-transformers' decoders are pooled, whose cache is that of
// any decoder, and which draw no token.
TEST_CASE("a decoder that embeds keeps a cache and draws nothing") {
  const auto embeds = answer({"model", "qwen3-embedding-0.6b", "gpu", "l4"});
  const auto writes = answer({"model", "qwen3-0.6b", "gpu", "l4", "context", "32768"});
  CHECK(embeds.deployment.question.serving.load.output == 0);
  CHECK(embeds.bytes_per_token == writes.bytes_per_token);
  CHECK(embeds.memory.pool > writes.memory.pool);
}

// SGLang arg_groups/kv_cache_hook.py: the pool is there unless --prefill-only-disable-kv-cache is said.
TEST_CASE("SGLang fills its share beside an encoder as well") {
  const auto served = answer({"model", "bge-m3", "gpu", "h100-sxm", "engine", "sglang"});
  CHECK(serving::device_total(served) / served.memory.capacity > 0.9);
}

TEST_CASE("an encoder is asked for no tokens, and no engine without a route for embeddings") {
  CHECK_THROWS_AS(test::served({"model", "bge-m3", "gpu", "l4", "output", "1"}), quantity::BadInput);
  CHECK_THROWS_AS(answer({"model", "bge-m3", "gpu", "l4", "engine", "trtllm"}), quantity::BadInput);
}

// openai/whisper model-card.md: 1,550M parameters, of which the 32 layers of the decoder and the table are 906M (turbo
// has four of these layers, and 809M). A token passes the decoder alone, without what makes keys and values of sound.
TEST_CASE("a token does not pass the encoder") {
  const auto on_t4 = [](const char* model) {
    return answer({"model", model, "gpu", "t4", "prompt", "4", "output", "100"}).speed.value();
  };
  constexpr double bandwidth = 320e9;
  const auto read = [&](double parameters) { return 2 * parameters / bandwidth; };
  const auto large = on_t4("whisper-large-v3");
  CHECK(in_seconds(large.decode_step) > read(801e6));
  CHECK(in_seconds(large.decode_step) < read(1550e6));
  CHECK(large.decode_step - on_t4("whisper-large-v3-turbo").decode_step > quantity::seconds(read(28 * 22.9e6)));
}

}  // namespace
