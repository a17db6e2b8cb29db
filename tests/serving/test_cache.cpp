// What is kept of sequences, against logs and formulas that others published.
#include "catch.hpp"
#include "llmcalc/spec/model.hpp"
#include "quantity/lists.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <algorithm>

namespace {

using namespace llmcalc;
using quantity::in_bytes;
using quantity::mib;

std::int64_t token_bytes(const std::vector<std::string>& words) {
  return in_bytes(serving::serve(test::served(words)).bytes_per_token);
}

TEST_CASE("keys and values of a token take what engines logged") {
  // 2 x 32 layers x 8 heads x 128 x 2 bytes (vllm issue 10517).
  CHECK(token_bytes({"model", "llama-3.1-8b"}) == 131072);
  // SGLang's log of a 70B on eight ranks: 53.31 + 53.31 GiB for 2,795,207 tokens.
  CHECK(token_bytes({"model", "llama-3-70b", "engine", "sglang", "tp", "8"}) == 40960);
  // TensorRT-LLM's log of a 7B: 69,524,783,104 bytes for 132,608 tokens.
  CHECK(token_bytes({"model", "llama-2-7b", "engine", "trtllm"}) == 524288);
  // Latents of 576 in 61 layers, whole on every rank (DeepSeek-V3, arXiv:2412.19437 section 2.1).
  CHECK(token_bytes({"model", "deepseek-v3", "tp", "8"}) == 70272);
  // And with them a key of 128 of the indexer, in 8 bits with a scale (DeepSeek-V3.2-Exp, inference/kernel.py,
  // fp8_index): GLM-5.1 on eight H200 has room for 343,744 tokens in 32.06 GiB (vLLM 0.19.1, a log of 19 May 2026).
  CHECK(token_bytes({"model", "deepseek-v3.2", "tp", "8"}) == 70272 + (128 + 4) * 61);
  const auto room = 32.06 * 1024 * 1024 * 1024;
  CHECK(room / static_cast<double>(token_bytes({"model", "glm-5", "tp", "8"})) == Approx(343'744.0).margin(100.0));
}

/// Counted one by one: those before the end that a token there sees, of all, of the last ones, or of its own chunk
/// (transformers masking_utils.py, causal_mask_function, sliding_window_overlay and chunked_overlay). What an encoder
/// gave is read whole.
TEST_CASE("a token reads the positions that its mask leaves") {
  using serving::Reach;
  serving::LayerCache layer;
  layer.window = 5;
  for (layer.reach = Reach::full; layer.reach != Reach::state; layer.reach = Reach(static_cast<int>(layer.reach) + 1)) {
    for (std::int64_t length = 0; length < 17; ++length) {
      const std::int64_t last = length - 1;
      std::int64_t seen = 0;
      for (std::int64_t p = 0; p < length; ++p) {
        const bool is_near = layer.reach != Reach::window || last - p < layer.window;
        seen += is_near && (layer.reach != Reach::chunk || p / layer.window == last / layer.window) ? 1 : 0;
      }
      CHECK(serving::positions_read(layer, length) == (layer.reach == Reach::memory ? layer.window : seen));
    }
  }
}

// vLLM issue 44376: 30,000 tokens of DeepSeek-V4-Flash need 6.66 GiB under 0.22 in steps of 16,384, and in 5.44 GiB
// 13,528 fit. A log of 0.25.0 on two RTX PRO 6000: 10.29 GiB have room for 1,993,100 tokens, as requests of 2^20.
TEST_CASE("compressed keys lie beside windows of every layer and what keys are made of") {
  const auto asked = [](std::vector<std::string> words) {
    words.insert(words.end(),
                 {"model", "deepseek-v4-flash", "kv-dtype", "fp8", "gpu", "h200-sxm", "gpus", "2", "tp", "2"});
    return serving::serve(test::served(words));
  };
  const auto needy =
      asked({"engine-version", "0.22", "context", "30000", "batched-tokens", "16384", "kv-bytes", "5.44GiB"});
  CHECK(static_cast<double>(in_bytes(needy.memory.needed)) / (1U << 30U) == Approx(6.66).margin(0.005));
  CHECK(static_cast<double>(needy.capacity.max_context) == Approx(13'528.0).margin(16.0));
  const auto roomy = asked({"engine-version", "0.25", "context", "1048576", "batched-tokens", "4096", "kv-bytes",
                            "10.29GiB", "draft", "mtp:2"});
  CHECK(static_cast<double>(roomy.capacity.cache_tokens) == Approx(1'993'100.0).margin(2'000.0));
}

/// Bits of an element with its share of scales: ggml-common.h's blocks of 32 (block_q8_0 34 bytes, q5_1 24, q5_0 22,
/// q4_1 20, q4_0 and iq4_nl 18); NVFP4 has a byte for sixteen codes of four bits (vllm v1/kv_cache_interface.py).
TEST_CASE("a cache takes the bits of its format, scales among them") {
  const std::vector<std::pair<spec::CacheType, double>> bits{
      {spec::CacheType::f32, 32},   {spec::CacheType::f16, 16},   {spec::CacheType::bf16, 16},
      {spec::CacheType::fp8, 8},    {spec::CacheType::int8, 8},   {spec::CacheType::nvfp4, 4.5},
      {spec::CacheType::q8_0, 8.5}, {spec::CacheType::q5_1, 6},   {spec::CacheType::q5_0, 5.5},
      {spec::CacheType::q4_1, 5},   {spec::CacheType::q4_0, 4.5}, {spec::CacheType::iq4_nl, 4.5}};
  for (const auto& [type, of_element] : bits) {
    CAPTURE(static_cast<int>(type));
    CHECK(static_cast<double>(in_bytes(serving::cache_bytes(type, 4096))) == 4096 * of_element / 8);
  }
}
// Mistral 7B v0.1: 2 x 32 layers x 8 heads x 128 x 2 bytes, which each of them keeps of 4,096 positions (its
// config.json).
TEST_CASE("where all layers have windows a token takes room while it is in reach") {
  const auto answer = serving::serve(test::served({"model", "mistral-7b-v0.1", "gpu", "h100-sxm"}));
  CHECK(in_bytes(answer.bytes_per_token) == 131072);
  CHECK(answer.reach == 4096);
  CHECK(serving::serve(test::served({"model", "llama-3.1-8b", "gpu", "h100-sxm"})).reach == 0);
}

// Qwen/Qwen3.5-9B: 9,653,104,368 published elements less 8,953,803,264 of the text and 243,290,624 of a layer that
// proposes tokens.
TEST_CASE("vLLM and SGLang load the vision tower of a checkpoint with its text") {
  const auto tower = [](const char* engine, const char* ranks) {
    const auto answer = serving::serve(
        test::served({"model", "qwen3.5-9b", "engine", engine, "gpu", "h100-sxm", "gpus", ranks, "context", "8192"}));
    std::int64_t bytes = 0;
    for (const auto& line : answer.memory.holdings) bytes += line.id == "weights_tower" ? in_bytes(line.size) : 0;
    return bytes;
  };
  CHECK(tower("vllm", "1") == 2LL * (9653104368 - 8953803264 - 243290624));
  CHECK(tower("sglang", "2") == tower("vllm", "1") / 2);
  CHECK(tower("hf", "1") == 0);
  CHECK(tower("llama.cpp", "1") == 0);
}

// Qwen/Qwen2.5-VL-7B-Instruct-AWQ has "visual" among modules_to_not_convert (config.json).
TEST_CASE("published checkpoints leave towers in 16 bits, and what quantizes as it loads does not") {
  const auto tower = [](const char* scheme) {
    const auto answer =
        serving::serve(test::served({"model", "qwen2.5-vl-7b", "engine", "vllm", "quant", scheme, "gpu", "h100-sxm"}));
    const auto* line = quantity::find_or_null(answer.memory.holdings, "weights_tower", &serving::MemoryLine::id);
    return line == nullptr ? 0 : quantity::in_bytes(line->size);
  };
  CHECK(tower("bf16") > 2 * 600'000'000);
  CHECK(tower("awq") == tower("bf16"));
  CHECK(tower("nvfp4") == tower("bf16"));
  CHECK(tower("fp8") < tower("bf16"));
}

// Gemma 2 9B: 42 layers with 2 x 8 heads of 256 in 16 bits, every other one windowed, whose pool SGLang makes 0.8 times
// as long as the others' (server_args.py, swa_full_tokens_ratio).
TEST_CASE("SGLang keeps four fifths of the positions for windowed layers") {
  const auto answer =
      serving::serve(test::served({"model", "gemma-2-9b", "engine", "sglang", "gpu", "h100-sxm", "context", "8000"}));
  CHECK(in_bytes(answer.memory.needed) == 21LL * (8000 + 6400) * (2 * 8 * 256 * 2));
}

TEST_CASE("few heads of keys and values are repeated on many ranks") {
  CHECK(token_bytes({"model", "llama-3.1-8b", "tp", "8"}) == token_bytes({"model", "llama-3.1-8b", "tp", "16"}));
}

/// Qwen3.6-27B (config.json): 64 layers of which every fourth is softmax attention over 4 heads of 256, the others keep
/// 48 matrices of 128 x 128.
spec::Question qwen_27b(const std::vector<std::string>& more) {
  std::vector<std::string> words{"model", "qwen3-4b", "engine", "llama.cpp"};
  words.insert(words.end(), more.begin(), more.end());
  spec::Question question = test::served(words);
  spec::Shape shape = question.model.shape;
  shape.layers = 64;
  shape.hidden = 5120;
  shape.heads = 24;
  shape.kv_heads = 4;
  shape.head_dim = 256;
  shape.max_position = 262144;
  shape.linear = {
      .full_every = 4, .key_heads = 16, .value_heads = 48, .key_dim = 128, .value_dim = 128, .conv_kernel = 4};
  question.model = spec::build_model(shape);
  return question;
}

TEST_CASE("llama.cpp's cache has a cell for each position of each layer with keys and values") {
  const auto cells = [](const spec::Question& question) {
    return *serving::predicted(serving::serve(question), spec::Measure::kv_cache, serving::Scope::all_cards);
  };
  // Command-R 35B, 4,096 cells: 5,120 MiB (llama.cpp pull 6122).
  CHECK(cells(test::served({"model", "command-r", "engine", "llama.cpp", "context", "4096"})) ==
        static_cast<double>(in_bytes(mib(5120))));
  // 262,144 cells in 16 of 64 layers: 16,384 MiB, and 4 sequences' states 598.5 MiB (lmstudio-bug-tracker issue 1862).
  const auto answer = serving::serve(qwen_27b({"context", "262144", "slots", "4"}));
  CHECK(in_bytes(answer.memory.needed - answer.state) == in_bytes(mib(16384)));
  CHECK(in_bytes(answer.state) == 627572736);
}

// llama.cpp src/llama-context.cpp: "V cache quantization requires flash_attn".
TEST_CASE("builds without the fused kernel by default use it for quantized keys and values") {
  const auto is_fused = [](const char* version, const char* cache) {
    return serving::deploy(test::served({"model", "llama-3-8b", "engine", "llama.cpp", "engine_version", version,
                                         "quant", "q4_k_m", "kv_dtype", cache}))
        .setup.flash;
  };
  CHECK_FALSE(is_fused("b4000", "fp16"));
  CHECK(is_fused("b4000", "q8_0"));
  CHECK(is_fused("b4000", "q4_0"));
  CHECK(is_fused("b7000", "fp16"));
}

TEST_CASE("llama.cpp's buffers grow by what a cell takes") {
  // Twice 131,072 cells in q4_0 take 2,944 MiB more (sudoingX/qwen38-mtp, RTX 5090, 24,441 to 27,385 MiB).
  const auto total = [](const char* context) {
    return serving::device_total(serving::serve(qwen_27b({"context", context, "kv_dtype", "q4_0"})));
  };
  CHECK(in_bytes(total("262144") - total("131072")) == in_bytes(mib(2944)));
}

TEST_CASE("vLLM's groups of layers draw blocks from one pool") {
  // gpt-oss-20b on four ranks: 12 layers see all of 131,072 tokens, 12 a window of 128 and what a step schedules
  // beyond it (vLLM tests/v1/core/test_kv_cache_utils.py states the sum).
  const auto answer =
      serving::serve(test::served({"model", "gpt-oss-20b", "quant", "mxfp4", "engine_version", "0.11", "gpu",
                                   "h100-sxm", "gpus", "4", "tp", "4", "context", "131072", "batched_tokens", "2048"}));
  const std::int64_t layer = 12 * 512;
  const std::int64_t window = (127 + 2048 + 15) / 16 + 1;
  const std::int64_t null_block = layer * 16;
  CHECK(in_bytes(answer.memory.needed) == layer * 131072 + layer * window * 16 + null_block);
}

// Gemma 4 31B in 16 bits on a card of Kaggle's, vLLM 0.23.0: 28.41 GiB of cache are 2.98 requests of 32,768 tokens,
// each of five groups of windowed layers and one of layers that see all. From 0.26 on two steps of 8,192 tokens may be
// at work (config/vllm.py, max_in_flight_tokens).
TEST_CASE("windows hold what steps at work have not settled") {
  const auto needed = [](const char* release) {
    const auto answer = serving::serve(
        test::served({"model", "gemma-4-31b", "gpu", "rtx-pro-6000-blackwell", "engine", "vllm", "engine_version",
                      release, "context", "32768", "concurrency", "1", "batched_tokens", "8192", "max_seqs", "20"}));
    return static_cast<double>(in_bytes(answer.memory.needed)) / 1073741824.0;
  };
  CHECK(needed("0.23") == Approx(28.41 / 2.98).epsilon(2e-3));
  const double windows = 5.0 * 10 * 8192 * 16384 / 1073741824.0;
  CHECK(needed("0.26") - needed("0.23") == Approx(windows).epsilon(1e-3));
}

// transformers modeling_mllama.py: eight of Llama 3.2 11B's forty layers attend to what its tower hands over, with keys
// and values of 8 heads of 128 elements, 2 bytes each: 32,768 bytes a position. The others cache 131,072 a token.
TEST_CASE("what layers keep of images is said where it is not counted") {
  const auto question = test::served({"gpu", "h100-sxm"}, R"({"model_type": "mllama",
    "text_config": {"model_type": "mllama_text_model", "hidden_size": 4096, "num_hidden_layers": 40,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
      "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38], "tie_word_embeddings": false},
    "vision_config": {"model_type": "mllama_vision_model"}})");
  const auto notes = serving::serve(question).notes;
  const auto said = std::ranges::count_if(notes, [](const std::string& note) {
    return note.find("32,768 bytes for each position of a request's images") != std::string::npos;
  });
  CHECK(said == 1);
  auto narrow = question;
  narrow.serving.cache = spec::CacheType::fp8;
  CHECK(serving::serve(narrow).notes.back().find("keep 16,384 bytes") != std::string::npos);
  const auto plain = serving::serve(test::served({"model", "llama-3.1-8b", "gpu", "h100-sxm"})).notes;
  CHECK(std::ranges::none_of(plain, [](const std::string& note) { return note.find("images") != std::string::npos; }));
}

// transformers modeling_t5.py, T5Attention.forward: keys and values of the decoder's own positions and of the encoder's
// output are kept, of 24 layers with 16 heads of 64; the encoder's own layers keep none.
TEST_CASE("an encoder is passed once, and a decoder keeps what it made of it") {
  const auto answer = serving::serve(test::served({"model", "t5-large", "gpu", "l40s", "context", "512"}));
  CHECK(in_bytes(answer.bytes_per_token) == 24 * 2 * (2 * 16 * 64) * 2);
}

// config.json of both: "sliding_window": null, 8 heads of 128 in 40 and 34 layers. transformers' MistralConfig has 4096
// where nothing is said.
TEST_CASE("a window that a config.json says is null is none") {
  const auto token = [](const char* model) {
    return in_bytes(serving::serve(test::served({"model", model, "gpu", "h100-sxm"})).bytes_per_token);
  };
  CHECK(token("mistral-small-3.2-24b") == 40 * 2 * 8 * 128 * 2);
  CHECK(token("ministral-3-8b") == 34 * 2 * 8 * 128 * 2);
}

}  // namespace
