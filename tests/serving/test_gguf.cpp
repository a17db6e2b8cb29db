// File types of llama.cpp against files that people published.
#include "catch.hpp"
#include "serving/forward.hpp"
#include "serving/questions.hpp"
#include "serving/weights.hpp"

#include <string>

namespace {

using namespace llmcalc;

struct Published {
  const char* type;
  double measured;
};

spec::Question file_of(const char* model, const char* type) {
  return test::served({"model", model, "engine", "llama.cpp", "quant", type});
}

/// Bits a weight of Llama-3.1-8B, of which there are 8,030,261,248 (llama.cpp tools/quantize/README.md).
constexpr Published llama_8b_bits[] = {
    {"IQ1_S", 2.0042},  {"IQ1_M", 2.1460},   {"IQ2_XXS", 2.3824}, {"IQ2_XS", 2.5882}, {"IQ2_S", 2.7403},
    {"IQ2_M", 2.9294},  {"IQ3_XXS", 3.2548}, {"IQ3_XS", 3.4977},  {"IQ3_S", 3.6606},  {"IQ3_M", 3.7628},
    {"Q2_K_S", 2.9697}, {"Q2_K", 3.1593},    {"Q3_K_S", 3.6429},  {"Q3_K_L", 4.2979}, {"Q4_K_S", 4.6672},
    {"Q4_K_M", 4.8944}, {"Q5_K_S", 5.5704},  {"Q5_K_M", 5.7036},  {"Q6_K", 6.5633},   {"Q8_0", 8.5008},
    {"F16", 16.0005},
};

TEST_CASE("the tensors of a GGUF file follow from its type") {
  for (const Published& file : llama_8b_bits) {
    CAPTURE(file.type);
    const auto bytes = quantity::in_bytes(serving::model_bytes(file_of("llama-3.1-8b", file.type)));
    CHECK(static_cast<double>(bytes) * 8.0 / 8030261248.0 == Approx(file.measured).margin(0.0001));
  }
}

TEST_CASE("an importance matrix spares a few bits") {
  // The same table; those files were made without one.
  constexpr Published without[] = {{"IQ4_XS", 4.4597}, {"IQ4_NL", 4.6818}};
  for (const Published& file : without) {
    CAPTURE(file.type);
    auto question = file_of("llama-3.1-8b", file.type);
    question.serving.imatrix = false;
    const auto bytes = quantity::in_bytes(serving::model_bytes(question));
    CHECK(static_cast<double>(bytes) * 8.0 / 8030261248.0 == Approx(file.measured).margin(0.0001));
  }
}

/// Files of Llama-3-70B in GiB, to two decimals (XiongjieDai/GPU-Benchmarks-on-LLM-Inference, perplexity table).
constexpr Published llama_70b[] = {
    {"IQ1_S", 14.29},  {"IQ1_M", 15.60},  {"IQ2_XXS", 17.79}, {"IQ2_XS", 19.69}, {"IQ2_S", 20.71},  {"Q2_K_S", 22.79},
    {"IQ2_M", 22.46},  {"Q2_K", 24.56},   {"IQ3_XXS", 25.58}, {"IQ3_XS", 27.29}, {"Q3_K_S", 28.79}, {"IQ3_S", 28.79},
    {"IQ3_M", 29.74},  {"Q3_K_M", 31.91}, {"Q3_K_L", 34.59},  {"IQ4_XS", 35.30}, {"IQ4_NL", 37.30}, {"Q4_K_S", 37.58},
    {"Q4_K_M", 39.60}, {"Q5_K_S", 45.32}, {"Q5_K_M", 46.52},  {"Q6_K", 53.91},   {"Q8_0", 69.83},   {"F16", 131.43},
};

TEST_CASE("the size of a GGUF file follows from its type") {
  for (const Published& file : llama_70b) {
    CAPTURE(file.type);
    const auto bytes = quantity::in_bytes(serving::file_bytes(file_of("llama-3-70b", file.type)));
    CHECK(static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0) == Approx(file.measured).epsilon(0.001));
  }
}

/// Files of gpt-oss-120b in GiB (unsloth/gpt-oss-120b-GGUF, as ailocalcheck.com lists their sizes).
constexpr Published gpt_oss_120b[] = {
    {"Q2_K", 58.27},   {"Q3_K_S", 58.27}, {"Q3_K_M", 58.33}, {"Q4_0", 58.32}, {"Q4_K_S", 58.45}, {"Q4_K_M", 58.46},
    {"Q5_K_S", 58.56}, {"Q5_K_M", 58.57}, {"Q6_K", 58.94},   {"Q8_0", 59.03}, {"F16", 60.88},
};

TEST_CASE("experts that are published in MXFP4 stay in it, whatever a file's type") {
  for (const Published& file : gpt_oss_120b) {
    CAPTURE(file.type);
    const auto bytes = quantity::in_bytes(serving::file_bytes(file_of("gpt-oss-120b", file.type)));
    CHECK(static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0) == Approx(file.measured).margin(0.006));
  }
}

TEST_CASE("what a model sees with lies in a file of its own") {
  const auto text = test::served({"model", "ministral-3-3b", "engine", "llama.cpp", "text_only", "1"});
  CHECK(serving::file_bytes(file_of("ministral-3-3b", "Q4_K_M")) == serving::file_bytes(text));
}

// llama.cpp src/llama-quant.cpp, tensor_name_match_token_embd: per_layer_token_embd.weight is taken as the token table
// is.
TEST_CASE("embeddings that each layer has for itself are packed as the table is, and stay on the host") {
  const auto question = file_of("gemma-4-e4b", "Q4_K_M");
  const auto sum = serving::stage_weights(serving::rank_question(question),
                                          serving::forward_program(question, {.fuses_projections = false}), 0)
                       .whole;
  // 42 layers of 256, Q6_K of 210 bytes for 256 elements.
  CHECK(quantity::in_bytes(sum.lookups) == 262144L * 42 * 256 / 256 * 210);
}

}  // namespace
