#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/checkpoint.hpp"

#include <algorithm>
#include <string>
#include <string_view>

using namespace llmcalc;

namespace {

/// The header in front of data of so many bytes; eight bytes of length come first.
struct File {
  std::string head;
  std::uint64_t size;
};

File file_of(const std::string& header, std::uint64_t data) {
  std::string head;
  for (unsigned i = 0; i < 8; ++i) head += static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
  return {head + header, 8 + header.size() + data};
}

read::Checkpoint read_all(const std::string& header, std::uint64_t data) {
  const File file = file_of(header, data);
  auto result = read::read_safetensors({file.head, file.size}, "m.safetensors");
  REQUIRE(result.checkpoint.has_value());
  return *result.checkpoint;
}

std::string refusal(const std::string& header, std::uint64_t data) {
  try {
    const File file = file_of(header, data);
    read::read_safetensors({file.head, file.size}, "m.safetensors");
  } catch (const quantity::BadInput& error) {
    return error.problem();
  }
  return "accepted";
}

std::string tensor(const std::string& name, const std::string& type, const std::string& shape, std::uint64_t begin,
                   std::uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace

TEST_CASE("A safetensors header says parameters and bytes by type") {
  const auto checkpoint =
      read_all("{\"__metadata__\":{\"format\":\"pt\"}," + tensor("a.weight", "BF16", "[4,8]", 0, 64) + "," +
                   tensor("b.weight", "F32", "[2]", 64, 72) + "," + tensor("c.weight", "F32", "[]", 72, 76) + "}   ",
               76);
  CHECK(checkpoint.parameters == 4 * 8 + 2 + 1);
  CHECK(checkpoint.bytes == 76);
  CHECK(checkpoint.counts_all);
  REQUIRE(checkpoint.types.size() == 2);
}

TEST_CASE("Packed weights are counted unpacked, scales and indices are none") {
  // AutoGPTQ packs eight 4-bit weights in an int32; ModelOpt's NVFP4 two in an octet.
  const auto gptq = read_all(
      "{" + tensor("l.qweight", "I32", "[8,16]", 0, 512) + "," + tensor("l.qzeros", "I32", "[1,2]", 512, 520) + "," +
          tensor("l.scales", "F16", "[1,16]", 520, 552) + "," + tensor("l.g_idx", "I32", "[64]", 552, 808) + "}",
      808);
  CHECK(gptq.parameters == 8 * 8 * 16);
  CHECK(gptq.counts_all);
  const auto nvfp4 = read_all("{" + tensor("l.weight", "U8", "[4,8]", 0, 32) + "," +
                                  tensor("l.weight_scale", "F8_E4M3", "[4,1]", 32, 36) + "," +
                                  tensor("l.weight_scale_2", "F32", "[]", 36, 40) + "}",
                              40);
  CHECK(nvfp4.parameters == 2 * 4 * 8);
  const auto mxfp4 = read_all("{" + tensor("l.gate_up_proj_blocks", "U8", "[2,4,1,16]", 0, 128) + "," +
                                  tensor("l.gate_up_proj_scales", "U8", "[2,4,1]", 128, 136) + "}",
                              136);
  CHECK(mxfp4.parameters == 2 * 2 * 4 * 16);
}

// compressed-tensors quantization/quant_args.py, QuantizationType: "int" or "float".
TEST_CASE("a checkpoint says in which type its keys and values were calibrated") {
  const auto stored = [](const std::string& type, const std::string& bits) {
    return read::stored_cache([&](std::string_view key, read::Holds) {
      return key == "kv_cache_scheme.type" ? type : key == "kv_cache_scheme.num_bits" ? bits : std::string();
    });
  };
  CHECK(stored("float", "8") == "fp8");
  CHECK(stored("float", "4") == "fp4");
  CHECK(stored("int", "8") == "int8");
  CHECK(stored("float", "").empty());
}

TEST_CASE("Bytes of a type that is not known count, its parameters are open") {
  const auto checkpoint = read_all("{" + tensor("a.weight", "F2", "[8]", 0, 2) + "}", 2);
  CHECK(checkpoint.bytes == 2);
  CHECK_FALSE(checkpoint.counts_all);
}

namespace {

/// A model of three layers; one of the tensors may have another shape.
std::vector<read::Given> words_of_llama(const std::string& odd = {}, const std::string& odd_shape = {}) {
  std::string header = "{";
  std::uint64_t at = 0;
  const auto add = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    const auto end = at + 2 * rows * columns;
    const std::string shape = "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
    const bool is_odd = !odd.empty() && name.ends_with(odd);
    header += (header.size() > 1 ? "," : "") + tensor(name, "BF16", is_odd ? odd_shape : shape, at, end);
    at = end;
  };
  add("model.embed_tokens.weight", 1000, 512);
  for (const std::string layer : {"0", "1", "2"}) {
    add("model.layers." + layer + ".self_attn.q_proj.weight", 512, 512);
    add("model.layers." + layer + ".self_attn.k_proj.weight", 128, 512);
    add("model.layers." + layer + ".mlp.gate_proj.weight", 1024, 512);
  }
  return read_all(header + "}", at).words;
}

}  // namespace

TEST_CASE("Names and shapes of tensors say the shape of the model") {
  const auto words = words_of_llama();
  const auto said = [&](std::string_view term) {
    const auto found = std::ranges::find(words, term, &read::Given::term);
    return found == words.end() ? std::string() : found->text;
  };
  CHECK(said("layers") == "3");
  CHECK(said("hidden") == "512");
  CHECK(said("heads") == "4");
  CHECK(said("kv_heads") == "1");
  CHECK(said("ffn") == "1024");
  CHECK(said("vocab") == "1000");
  CHECK(said("tied") == "1");
}

TEST_CASE("Tensors of a model's names that are no matrices say no shape") {
  const std::pair<std::string, int> sizes[] = {{"embed_tokens.weight", 1000 * 512},
                                               {"q_proj.weight", 512 * 512},
                                               {"k_proj.weight", 128 * 512},
                                               {"gate_proj.weight", 1024 * 512}};
  for (const auto& [name, size] : sizes) {
    CAPTURE(name);
    CHECK(words_of_llama(name, "[" + std::to_string(size) + "]").empty());
    CHECK(words_of_llama(name, "[" + std::to_string(size / 512) + ",256,2]").empty());
  }
}

TEST_CASE("A header that lies is refused with what is wrong") {
  const std::string good = tensor("a", "BF16", "[4]", 0, 8);
  CHECK(refusal("{" + good + "}", 8) == "accepted");
  CHECK_THAT(refusal("{" + good + "}", 7), Catch::Matchers::Contains("cut short"));
  CHECK_THAT(refusal("{" + good + "," + tensor("b", "BF16", "[4]", 4, 12) + "}", 12),
             Catch::Matchers::Contains("overlaps"));
  CHECK_THAT(refusal("{" + good + "," + tensor("b", "BF16", "[4]", 16, 24) + "}", 24),
             Catch::Matchers::Contains("hole"));
  CHECK_THAT(refusal("{" + tensor("a", "BF16", "[4]", 8, 0) + "}", 8), Catch::Matchers::Contains("range"));
  CHECK_THAT(refusal("{" + tensor("a", "BF16", "[5]", 0, 8) + "}", 8), Catch::Matchers::Contains("its shape"));
  CHECK_THAT(refusal("{" + good + "," + good + "}", 8), Catch::Matchers::Contains("twice"));
  CHECK_THAT(refusal("{" + tensor("a", "BF16", "[-4]", 0, 8) + "}", 8), Catch::Matchers::Contains("negative"));
  CHECK_THAT(refusal("{" + tensor("a", "BF16", "[9999999999,9999999999]", 0, 8) + "}", 8),
             Catch::Matchers::Contains("too large"));
  CHECK_THAT(refusal("{\"a\":[[[[1]]]]}", 8), Catch::Matchers::Contains("nests"));
  CHECK_THAT(refusal("{nonsense", 8), Catch::Matchers::Contains("not JSON"));
  CHECK_THAT(refusal("{" + good + "}" + std::string(1, '\0'), 8), Catch::Matchers::Contains("zero byte"));
}

TEST_CASE("A length beyond the file is no safetensors") {
  const File file = file_of("{}", 0);
  CHECK(read::is_safetensors({file.head, file.size}));
  std::string longer = file.head;
  longer[3] = 1;
  CHECK_FALSE(read::is_safetensors({longer, file.size}));
}

TEST_CASE("An index names its shards once, and none outside its folder") {
  const auto index = read::read_shard_index(
      R"({"metadata":{"total_size":12.0},"weight_map":{"a":"x.safetensors","b":"x.safetensors","c":"y.safetensors"}})",
      "model.safetensors.index.json");
  CHECK(index.files == std::vector<std::string>{"x.safetensors", "y.safetensors"});
  CHECK(index.tensors == 3);
  CHECK(index.total_size == 12);
  CHECK_THROWS_AS(read::read_shard_index(R"({"weight_map":{"a":"../x.safetensors"}})", "i"), quantity::BadInput);
  CHECK_THROWS_AS(read::read_shard_index(R"({"weight_map":{"a":7}})", "i"), quantity::BadInput);
}

TEST_CASE("A pointer of Git LFS says the size of what it stands for") {
  constexpr std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 4976698672\n";
  CHECK(read::lfs_pointer_size(pointer) == 4976698672ULL);
  CHECK_FALSE(read::lfs_pointer_size("version 1\nsize 3\n").has_value());
}
