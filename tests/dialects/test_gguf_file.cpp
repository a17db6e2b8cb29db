// A GGUF file that is at hand: its weights take what its own tensors take, whatever types whoever made it chose.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/formats/ggml_type.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/gguf_writer.hpp"
#include "read/resolve.hpp"
#include "serving/weights.hpp"
#include "spec/names.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using formats::GgmlType;

namespace {

constexpr std::uint64_t hidden = 1024, ffn = 2048, kv = 512, vocabulary = 4096, depth = 3, expert_ffn = 512,
                        experts = 8;

/// A tensor of each layer, as {inputs, outputs, experts}.
struct Matrix {
  std::string name;
  std::vector<std::uint64_t> size;
  bool narrow = true;  ///< else in fp32, as norms and routers are in every file
};

struct Model {
  const char* architecture;
  std::vector<Matrix> matrices;
  std::vector<std::pair<const char*, std::uint32_t>> metadata;
};

/// gguf-py/gguf/constants.py, MODEL_TENSORS of each.
const Model models[] = {
    {"llama",
     {{"attn_q", {hidden, hidden}},
      {"attn_k", {hidden, kv}},
      {"attn_v", {hidden, kv}},
      {"attn_output", {hidden, hidden}},
      {"ffn_gate", {hidden, ffn}},
      {"ffn_up", {hidden, ffn}},
      {"ffn_down", {ffn, hidden}}},
     {}},
    {"qwen3moe",
     {{"attn_q", {hidden, hidden}},
      {"attn_k", {hidden, kv}},
      {"attn_v", {hidden, kv}},
      {"attn_output", {hidden, hidden}},
      {"attn_q_norm", {128}, false},
      {"attn_k_norm", {128}, false},
      {"ffn_gate_inp", {hidden, experts}, false},
      {"ffn_gate_exps", {hidden, expert_ffn, experts}},
      {"ffn_up_exps", {hidden, expert_ffn, experts}},
      {"ffn_down_exps", {expert_ffn, hidden, experts}}},
     {{"expert_count", experts}, {"expert_used_count", 2}, {"expert_feed_forward_length", expert_ffn}}},
    {"phi3",
     {{"attn_qkv", {hidden, hidden + 2 * kv}},
      {"attn_output", {hidden, hidden}},
      {"ffn_up", {hidden, 2 * ffn}},
      {"ffn_down", {ffn, hidden}}},
     {}},
};

std::uint64_t elements_of(const std::vector<std::uint64_t>& size) {
  std::uint64_t elements = 1;
  for (const auto each : size) elements *= each;
  return elements;
}

class File {
 public:
  /// \param file_type  llama_ftype
  File(const Model& model, std::uint32_t file_type) {
    const std::string prefix = std::string(model.architecture) + ".";
    file_.text("general.architecture", model.architecture).count("general.file_type", file_type);
    for (const auto& [key, value] :
         {std::pair{"block_count", depth}, std::pair{"embedding_length", hidden}, std::pair{"feed_forward_length", ffn},
          std::pair{"attention.head_count", std::uint64_t{8}}, std::pair{"attention.head_count_kv", std::uint64_t{4}},
          std::pair{"attention.key_length", std::uint64_t{128}}, std::pair{"context_length", std::uint64_t{4096}}})
      file_.count(prefix + key, static_cast<std::uint32_t>(value));
    for (const auto& [key, value] : model.metadata) file_.count(prefix + key, value);
  }

  void add(const std::string& name, const std::vector<std::uint64_t>& size, GgmlType type) {
    const auto& facts = formats::facts(type);
    const auto bytes =
        elements_of(size) / static_cast<std::uint64_t>(facts.block) * static_cast<std::uint64_t>(facts.bytes);
    file_.tensor(name + ".weight", size, facts.id, bytes);
    bytes_ += static_cast<std::int64_t>(bytes);
  }

  template <class Type>
  void add_all(const Model& model, const Type& type) {
    add("token_embd", {hidden, vocabulary}, type());
    add("output", {hidden, vocabulary}, type());
    add("output_norm", {hidden}, GgmlType::f32);
    for (std::uint64_t layer = 0; layer < depth; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      for (const Matrix& each : model.matrices) add(block + each.name, each.size, each.narrow ? type() : GgmlType::f32);
      for (const char* norm : {"attn_norm", "ffn_norm"}) add(block + norm, {hidden}, GgmlType::f32);
    }
  }

  dialects::Reading read() const {
    const auto header = file_.header();
    return dialects::weights_alone(*read::read_gguf({header, file_.size()}, "m.gguf").checkpoint, "m.gguf");
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  test::GgufWriter file_;
  std::int64_t bytes_ = 0;
};

std::int64_t weights_of(const dialects::Reading& reading, std::vector<read::Given> words) {
  words.push_back({"engine", "llama.cpp", {}});
  const read::Catalogue catalogue;
  const auto question = read::resolve_serving(words, reading.config, catalogue, {}).question;
  return quantity::in_bytes(serving::model_bytes(question));
}

}  // namespace

TEST_CASE("weights of a GGUF file take what its tensors take, whatever their types") {
  constexpr GgmlType types[] = {GgmlType::q4_k, GgmlType::q5_k,  GgmlType::q6_k,  GgmlType::q8_0,
                                GgmlType::bf16, GgmlType::iq3_s, GgmlType::nvfp4, GgmlType::q2_0};
  std::mt19937 draw(20261130);
  for (const Model& model : models) {
    for (const std::uint32_t file_type : {15U, 39U, 1024U}) {
      File file(model, file_type);
      file.add_all(model, [&] { return types[draw() % std::size(types)]; });
      const auto reading = file.read();
      CAPTURE(model.architecture, file_type);
      CHECK(weights_of(reading, reading.words) == file.bytes());
    }
  }
}

TEST_CASE("a GGUF file asked in another type than its own is quantized anew") {
  const Model& model = models[0];
  File file(model, 15);
  file.add_all(model, [] { return GgmlType::q4_k; });
  const auto reading = file.read();
  const auto in = [&](const char* type) { return weights_of(reading, {{"quant", type, {}}}); };
  CHECK(in("q4_k_m") == file.bytes());
  constexpr std::int64_t norms = 4 * hidden * (2 * depth + 1);
  const auto elements = static_cast<std::int64_t>(2 * hidden * vocabulary +
                                                  depth * (2 * hidden * hidden + 2 * hidden * kv + 3 * hidden * ffn));
  CHECK(in("q8_0") == elements / 32 * 34 + norms);
}

TEST_CASE("a GGUF file whose type nobody knows goes by the type of most of it") {
  struct Named {
    std::uint32_t file_type;
    GgmlType most;
    const char* quant;
  };
  // include/llama.h, llama_ftype; src/llama-model-loader.cpp, the types that are guessed.
  const Named named[] = {{39, GgmlType::nvfp4, "nvfp4"},  {40, GgmlType::q1_0, "q1_0"},
                         {41, GgmlType::q2_0, "q2_0"},    {1024, GgmlType::q4_k, "q4_k_m"},
                         {200, GgmlType::q3_k, "q3_k_m"}, {1024, GgmlType::iq4_xs, "iq4_xs"},
                         {9999, GgmlType::bf16, "bf16"},  {1024, GgmlType::mxfp4, "mxfp4_moe"}};
  for (const Named& each : named) {
    CAPTURE(each.file_type, each.quant);
    File file(models[0], each.file_type);
    file.add_all(models[0], [&] { return each.most; });
    CHECK(read::find_word(file.read().words, "quant")->text == each.quant);
  }
}
