// No server is faster than its accelerator: reading all weights for each token, and multiplying them by each token of a
// prompt, take their time at the data sheet's rates (Pope et al. 2022, arXiv:2211.05102, section 2).
#include "catch.hpp"
#include "program/build.hpp"
#include "program/count.hpp"
#include "quantity/lists.hpp"
#include "read/presets.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using quantity::in_seconds;

constexpr std::int64_t prompt = 8192;

/// Text models that read so much: what a tower has, a text prompt does not meet, and an encoder's half of the layers
/// reads it.
std::vector<std::string> text_models() {
  std::vector<std::string> ids;
  for (const auto& preset : read::Catalogue().models()) {
    const auto question = test::served({"model", preset.id, "engine", "vllm", "gpu", "h100-sxm"});
    const auto& shape = question.model.shape;
    const bool is_text = shape.stack == spec::Stack::decoder && shape.towers.empty();
    const bool ends = shape.position == spec::Position::learned && shape.max_position <= prompt;
    if (is_text && !ends && serving::can_run(question)) ids.push_back(preset.id);
  }
  return ids;
}

struct Served {
  program::Size size;
  serving::ServingAnswer answer;
  double bandwidth = 0;  ///< bytes a second
  double peak = 0;       ///< FLOP a second in 16 bits

  double layers() const { return static_cast<double>(size.active - size.tables); }
  double decode() const { return in_seconds(answer.speed->decode_step); }
  double prefill() const { return in_seconds(answer.speed->prefill); }
};

Served serve(const std::string& model, const std::string& engine, const std::string& quant) {
  const auto question = test::served({"model", model, "engine", engine, "quant", quant, "gpu", "h100-sxm", "memory",
                                      "8000GiB", "prompt", std::to_string(prompt), "output", "64"});
  auto training = question;
  training.layout = {};
  Served served{program::count_parameters(program::build_program(training, {})), serving::serve(question)};
  served.bandwidth = quantity::in_bytes_per_second(question.gpu->memory_bandwidth);
  served.peak = quantity::in_flops_per_second(spec::half_peak(*question.gpu));
  return served;
}

TEST_CASE("no token comes before the weights are read and no prompt before they are multiplied") {
  for (const std::string& model : text_models()) {
    CAPTURE(model);
    const auto served = serve(model, "vllm", "bf16");
    REQUIRE(served.answer.speed.has_value());
    CHECK(served.decode() >= 2 * served.layers() / served.bandwidth);
    CHECK(served.prefill() >= 2 * served.layers() * prompt / served.peak);
  }
}

/// Times reading and multiplying alone.
void check_bound(const std::string& model, double decode, double prefill) {
  CAPTURE(model);
  const auto served = serve(model, "vllm", "bf16");
  CHECK(served.decode() <= decode * 2 * served.layers() / served.bandwidth);
  CHECK(served.prefill() <= prefill * 2 * served.layers() * prompt / served.peak);
}

TEST_CASE("dense models of some size are bound by little else") {
  for (const char* model : {"llama-3.1-8b", "llama-3-70b", "qwen3-32b", "gemma-2-27b", "mistral-7b-v0.1"})
    check_bound(model, 1.8, 2.5);
}

TEST_CASE("mixtures read the experts of a token and multiply by those of a prompt") {
  for (const char* model : {"mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "gpt-oss-120b"}) check_bound(model, 4, 8);
}

/// Beside products, each pair of a position with one before it is multiplied in each head by a key and by a value: of
/// latents those that are made again of them (DeepSeek-V2, arXiv:2405.04434, section 2.1).
TEST_CASE("attention of a long prompt is not read before its pairs are multiplied") {
  for (const char* model : {"llama-3.1-8b", "deepseek-v2-lite", "deepseek-v3", "kimi-k2"}) {
    CAPTURE(model);
    const auto read_in = [&](std::int64_t tokens) {
      const auto served = serving::serve(test::served(
          {"model", model, "gpu", "h100-sxm", "memory", "8000GiB", "prompt", std::to_string(tokens), "output", "64"}));
      return in_seconds(served.speed->prefill);
    };
    const auto question = test::served({"model", model, "gpu", "h100-sxm"});
    const auto& shape = question.model.shape;
    const auto& latent = shape.latent;
    const std::int64_t wide =
        latent.kv_rank > 0 ? latent.qk_nope_dim + latent.qk_rope_dim + latent.v_dim : 2 * shape.head_dim;
    constexpr double tokens = 32768;
    const double flops = 2.0 * static_cast<double>(shape.heads * wide * shape.layers) * tokens * tokens;
    const double beyond_products = read_in(65536) - 2 * read_in(32768);
    CHECK(beyond_products >= flops / quantity::in_flops_per_second(spec::half_peak(*question.gpu)));
    CHECK(beyond_products <= 3 * flops / quantity::in_flops_per_second(spec::half_peak(*question.gpu)));
  }
}

TEST_CASE("llama.cpp reads a file's layers for each token") {
  for (const char* model : {"llama-3.1-8b", "llama-3-70b", "qwen3-32b", "mistral-7b-v0.1"}) {
    CAPTURE(model);
    const auto served = serve(model, "llama.cpp", "q4_k_m");
    const double bits = 8.0 * static_cast<double>(quantity::in_bytes(served.answer.model)) /
                        static_cast<double>(served.answer.parameters);
    CHECK(served.decode() >= bits / 8 * served.layers() / served.bandwidth);
    CHECK(served.decode() <= 4.5 * bits / 8 * served.layers() / served.bandwidth);
    CHECK(served.prefill() >= 2 * served.layers() * prompt / served.peak);
    CHECK(served.prefill() <= 8 * 2 * served.layers() * prompt / served.peak);
  }
}

/// Seconds of one layer's sums over two ranks for a token.
double sums_of_a_layer(const std::string& model) {
  const auto question = test::served({"model", model, "gpu", "b200-sxm", "gpus", "2", "tp", "2", "engine", "vllm"});
  const auto answer = serving::serve(question);
  const auto* between = quantity::find_or_null(answer.speed->parts, "exchange", &serving::SpeedPart::id);
  return in_seconds(between->time) / static_cast<double>(question.model.layer_count());
}

// transformers modeling_nemotron_h.py, NemotronHBlock: one mixer, or one MLP, or experts, and one residual.
TEST_CASE("a layer sums over the ranks as often as it adds to what flows through") {
  CHECK(sums_of_a_layer("nemotron-3-nano-30b-a3b") / sums_of_a_layer("qwen2.5-3b") == Approx(0.5).epsilon(0.05));
  CHECK(sums_of_a_layer("mixtral-8x7b") / sums_of_a_layer("mistral-7b-v0.1") == Approx(1.0).epsilon(0.001));
}

// Raffel et al. 2020, arXiv:1910.10683: a decoder of 24 layers with 32 heads of 128, two attentions and an MLP, has
// more than half of 2.85 billion parameters, which 1,008 GB/s read in 5.65 ms.
TEST_CASE("llama.cpp reads an encoder for a text and not for each token") {
  const auto answer = serving::serve(
      test::served({"model", "flan-t5-xl", "gpu", "rtx-4090", "engine", "llama.cpp", "quant", "f16", "prompt", "512"}));
  CHECK(quantity::in_seconds(answer.speed->tpot) > 0.5 * 5.65e-3);
  CHECK(quantity::in_seconds(answer.speed->tpot) < 0.9 * 5.65e-3);
}

}  // namespace
