#include "catch.hpp"
#include "gguf_writer.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/checkpoint.hpp"
#include "read/config.hpp"

#include <algorithm>
#include <utility>

using namespace llmcalc;
using test::GgufWriter;
using test::small_llama;

namespace {

read::Checkpoint read_all(const GgufWriter& file) {
  const std::string header = file.header();
  auto result = read::read_gguf({header, file.size()}, "m.gguf");
  REQUIRE(result.checkpoint.has_value());
  return *result.checkpoint;
}

std::string refusal(std::string_view bytes, std::uint64_t size) {
  try {
    read::read_gguf({bytes, size}, "m.gguf");
  } catch (const quantity::BadInput& error) {
    return error.problem();
  }
  return "accepted";
}

std::string refusal(const GgufWriter& file) { return refusal(file.header(), file.size()); }

}  // namespace

TEST_CASE("A GGUF header says parameters, bytes and shape") {
  const auto version = GENERATE(2U, 3U);
  const auto checkpoint = read_all(small_llama(version));
  CHECK(checkpoint.parameters == test::small_llama_parameters);
  CHECK(checkpoint.tensors == 21);
  CHECK(checkpoint.quantization == "f16");
  // F16 is two bytes, the five norms of 64 are F32
  CHECK(checkpoint.bytes == 2 * (test::small_llama_parameters - 5 * 64) + 4 * 5 * 64);
  REQUIRE(checkpoint.config.has_value());
  const auto shape = read::read_config(checkpoint.config->json, "m.gguf").shape;
  CHECK(shape.layers == 2);
  CHECK(shape.kv_heads == 2);
  CHECK(shape.vocab == 256);
  CHECK_FALSE(shape.tied);
}

TEST_CASE("A GGUF header that is longer than what was read says how much it needs") {
  const auto file = small_llama();
  const std::string header = file.header();
  const auto result = read::read_gguf({std::string_view(header).substr(0, 100), file.size()}, "m.gguf");
  CHECK_FALSE(result.checkpoint.has_value());
  CHECK(result.needs > 100);
  CHECK(result.needs <= header.size());
}

TEST_CASE("A GGUF that is read in parts is the one that is read whole") {
  const auto file = small_llama();
  const std::string header = file.header();
  std::uint64_t parts = 0;
  std::string window;  // what was handed out before is gone
  const auto part = [&](std::uint64_t from, std::uint64_t count) {
    ++parts;
    window = header.substr(from, std::max<std::uint64_t>(count, 64));
    return std::string_view(window);
  };
  const auto result = read::read_gguf({{}, file.size(), part}, "m.gguf");
  REQUIRE(result.checkpoint.has_value());
  CHECK(result.checkpoint->parameters == read_all(file).parameters);
  CHECK(result.checkpoint->config->json == read_all(file).config->json);
  CHECK(parts > 10);
}

TEST_CASE("What only calls itself GGUF is refused") {
  CHECK_THAT(refusal("GGU", 3), Catch::Matchers::Contains("does not begin with GGUF"));
  CHECK_THAT(refusal("", 0), Catch::Matchers::Contains("does not begin with GGUF"));
  CHECK_THAT(refusal("llama model", 11), Catch::Matchers::Contains("does not begin with GGUF"));
}

TEST_CASE("Without an output matrix the tables are tied") {
  GgufWriter file;
  file.text("general.architecture", "qwen3").count("qwen3.block_count", 1).count("qwen3.embedding_length", 64);
  file.count("qwen3.feed_forward_length", 128).count("qwen3.attention.head_count", 4);
  file.count("qwen3.attention.head_count_kv", 2).count("qwen3.attention.key_length", 32);
  file.count("qwen3.context_length", 512).tensor("token_embd.weight", {64, 256}, 1, 2 * 64 * 256);
  const auto shape = read::read_config(read_all(file).config->json, "m.gguf").shape;
  CHECK(shape.tied);
  CHECK(shape.head_dim == 32);
  CHECK(shape.qk_norm == spec::QkNorm::per_head);
}

TEST_CASE("Heads that differ from layer to layer are said") {
  GgufWriter file;
  file.text("general.architecture", "llama").count("llama.block_count", 2).count("llama.embedding_length", 64);
  file.count("llama.feed_forward_length", 128).count("llama.attention.head_count", 4);
  file.counts("llama.attention.head_count_kv", {2, 0}).count("llama.context_length", 512);
  file.tensor("token_embd.weight", {64, 256}, 1, 2 * 64 * 256);
  const auto checkpoint = read_all(file);
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK(read::read_config(checkpoint.config->json, "m.gguf").shape.kv_heads == 2);
}

TEST_CASE("An architecture that nobody knows is counted by its sizes") {
  GgufWriter file;
  file.text("general.architecture", "newarch").count("newarch.block_count", 3).count("newarch.embedding_length", 64);
  file.tensor("token_embd.weight", {64, 256}, 1, 2 * 64 * 256);
  const auto checkpoint = read_all(file);
  CHECK_FALSE(checkpoint.config.has_value());
  REQUIRE_FALSE(checkpoint.words.empty());
  CHECK(checkpoint.words.front().term == "layers");
  CHECK(checkpoint.words.front().origin.where == "m.gguf:newarch.block_count");
}

TEST_CASE("A tensor type that is not known falls back to the file's size") {
  GgufWriter file;
  file.text("general.architecture", "llama").tensor("token_embd.weight", {64, 256}, 999, 5000);
  const auto checkpoint = read_all(file);
  CHECK_FALSE(checkpoint.counts_all);
  CHECK(checkpoint.bytes == 5000);
}

TEST_CASE("What is no model in a GGUF is refused by name") {
  CHECK_THAT(refusal(GgufWriter().text("general.architecture", "llama")), Catch::Matchers::Contains("vocabulary"));
  CHECK_THAT(refusal(GgufWriter().text("general.type", "mmproj").tensor("a", {32}, 0, 128)),
             Catch::Matchers::Contains("mmproj"));
  CHECK_THAT(refusal(GgufWriter().text("general.architecture", "clip").tensor("a", {32}, 0, 128)),
             Catch::Matchers::Contains("vision"));
  CHECK_THAT(refusal(small_llama(1)), Catch::Matchers::Contains("version 1"));
  CHECK_THAT(refusal(small_llama(0x03000000)), Catch::Matchers::Contains("big-endian"));
}

TEST_CASE("Counts and lengths that the file has no room for are refused before anything is allocated") {
  std::string header = small_llama().header();
  const auto with = [&](std::size_t at, std::uint64_t value) {
    std::string changed = header;
    for (std::size_t i = 0; i < 8; ++i) changed[at + i] = static_cast<char>((value >> (8 * i)) & 0xFFU);
    return refusal(changed, small_llama().size());
  };
  CHECK_THAT(with(8, 1ULL << 60U), Catch::Matchers::Contains("tensors do not fit"));
  CHECK_THAT(with(16, 1ULL << 60U), Catch::Matchers::Contains("keys do not fit"));
  CHECK_THAT(with(24, 1ULL << 40U), Catch::Matchers::Contains("a text of"));
}

TEST_CASE("A list that just has room is read whatever its values are, and one a byte longer is not") {
  constexpr std::pair<std::uint32_t, std::size_t> least[] = {
      {0, 1}, {1, 1}, {2, 2}, {3, 2},  {4, 4},  {5, 4},
      {6, 4}, {7, 1}, {8, 8}, {10, 8}, {11, 8}, {12, 8}};  // docs/gguf.md
  for (const auto& [type, size] : least) {
    for (const std::size_t values : {1U, 100U, 5000U}) {
      CAPTURE(type, values);
      const auto file = GgufWriter().text("general.architecture", "llama").zeros("a.list", type, values, size);
      const auto header = file.header();
      CHECK_THAT(refusal(header, header.size()), Catch::Matchers::Contains("vocabulary"));  // behind the list
      CHECK_THAT(refusal(header, header.size() - 1), Catch::Matchers::Contains("do not fit"));
    }
  }
}

TEST_CASE("Tensors lie inside the file, aligned, in whole blocks, once each") {
  const auto llama = [] { return GgufWriter().text("general.architecture", "llama"); };
  CHECK_THAT(refusal(llama().tensor("a", {33}, 2, 18)), Catch::Matchers::Contains("blocks of 32"));
  CHECK_THAT(refusal(llama().tensor("a", {32}, 0, 128).tensor("a", {32}, 0, 128)), Catch::Matchers::Contains("twice"));
  CHECK_THAT(refusal(llama().tensor("a", {1ULL << 40U, 1ULL << 40U}, 0, 128)), Catch::Matchers::Contains("63 bits"));
  const auto file = llama().tensor("a", {32}, 0, 128);
  CHECK_THAT(refusal(file.header(), file.size() - 1), Catch::Matchers::Contains("cut short"));
  const auto aligned = [&](std::uint32_t to) {
    return refusal(llama().count("general.alignment", to).tensor("a", {32}, 0, 128));
  };
  CHECK(aligned(16) == "accepted");
  for (const auto to : {0U, 48U}) CHECK_THAT(aligned(to), Catch::Matchers::Contains("power of two"));
}

TEST_CASE("Lists within lists end") {
  std::string file = "GGUF";
  const auto put = [&](std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) file += static_cast<char>((value >> (8 * i)) & 0xFFU);
  };
  constexpr std::uint64_t list = 9;
  put(3, 4);
  put(0, 8);
  put(1, 8);
  put(1, 8);
  file += 'k';
  put(list, 4);
  for (int depth = 0; depth < 6; ++depth) {
    put(list, 4);
    put(1, 8);
  }
  CHECK_THAT(refusal(file, file.size() + 4096), Catch::Matchers::Contains("nest deeper than 4"));
}

// llama.cpp tools/gguf-split, --no-tensor-first-split: the first of several files holds the description alone.
TEST_CASE("A GGUF without tensors is a vocabulary, unless it is the first of several files") {
  for (const std::uint32_t files : {0U, 1U, 2U, 9U}) {
    CAPTURE(files);
    GgufWriter header;
    header.text("general.architecture", "llama");
    if (files > 0) header.count("split.count", files);
    CHECK(refusal(header) == (files > 1 ? "accepted" : "holds a vocabulary and no tensors"));
  }
}
