// Weights as they lie on a disk: split, sharded, beside copies of themselves, or broken.
#include "../read/gguf_writer.hpp"
#include "catch.hpp"
#include "cli/answered.hpp"
#include "cli/folder.hpp"
#include "cli/things.hpp"
#include "cli/variables.hpp"
#include "llmcalc/quantity/error.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

std::string problem(const std::string& path) {
  try {
    cli::read_path(path);
  } catch (const quantity::BadInput& error) {
    return error.place() + ": " + error.problem();
  }
  return "accepted";
}

/// A header in front of data that is a hole.
void write_sparse(const Folder& folder, const std::string& name, const std::string& header, std::uint64_t size) {
  std::filesystem::resize_file(folder.write(name, header), size);
}

std::string length_of(std::uint64_t length) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i) text += static_cast<char>((length >> (8 * i)) & 0xFFU);
  return text;
}

/// One tensor of that many bf16 numbers.
std::string safetensors(const std::string& name, std::uint64_t count) {
  const std::string bytes = std::to_string(2 * count);
  const std::string header = R"({")" + name + R"(":{"dtype":"BF16","shape":[)" + std::to_string(count) +
                             R"(],"data_offsets":[0,)" + bytes + "]}}";
  return length_of(header.size()) + header + std::string(2 * count, '\0');
}

}  // namespace

TEST_CASE("A broken file of weights is called so, and not taken for text") {
  const Folder folder;
  CHECK_THAT(problem(folder.write("a.safetensors", std::string(8, '\0'))), Contains("no JSON object"));
  CHECK_THAT(problem(folder.write("b.safetensors", length_of(1U << 20U) + "{}")), Contains("bytes short"));
  CHECK_THAT(problem(folder.write("c.safetensors", length_of(2) + "[]")), Contains("no JSON object"));
  CHECK_THAT(problem(folder.write("d.safetensors", "")), Contains("d.safetensors:byte 0: the file ends here"));
  CHECK_THAT(problem(folder.write("e.safetensors", length_of(30'000'000) + "{}")), Contains("expected at most"));
  CHECK_THAT(problem(folder.write("f.gguf", "<html>404</html>")), Contains("does not begin with GGUF"));
}

TEST_CASE("Any file of a split GGUF stands for all of them") {
  const Folder folder;
  const auto split = [](std::uint32_t number) {
    auto file = number == 0 ? test::small_llama() : test::GgufWriter();
    return file.count("split.no", number)
        .count("split.count", 2)
        .tensor("blk." + std::to_string(number + 7) + ".x", {32}, 0, 128);
  };
  for (const std::uint32_t number : {0U, 1U}) {
    const auto file = split(number);
    write_sparse(folder, "m-0000" + std::to_string(number + 1) + "-of-00002.gguf", file.header(), file.size());
  }
  const auto whole = cli::read_path(folder.path() + "/m-00001-of-00002.gguf");
  REQUIRE(whole.weights.has_value());
  CHECK(whole.weights->parameters == test::small_llama_parameters + 2 * 32);
  const auto later = cli::read_path(folder.path() + "/m-00002-of-00002.gguf");
  CHECK(later.weights->parameters == whole.weights->parameters);
  CHECK(later.config->json == whole.config->json);
}

TEST_CASE("Of a split GGUF the files that are missing are as large as those that are there") {
  std::uint64_t whole = 0;
  for (const std::uint32_t count : {1U, 2U, 4U, 8U}) {
    const Folder folder;
    const auto file = test::small_llama().count("split.no", 0).count("split.count", count);
    const auto name = "m-00001-of-0000" + std::to_string(count) + ".gguf";
    write_sparse(folder, name, file.header(), file.size());
    const auto weights = cli::read_path(folder.path() + "/" + name).weights;
    REQUIRE(weights.has_value());
    CAPTURE(count);
    if (count == 1) whole = weights->bytes;
    CHECK(weights->bytes == count * whole);
    CHECK(weights->notes.empty() == (count == 1));
  }
}

// Ollama's store (server/manifest.go): manifests name layers, whose digests are names of files.
TEST_CASE("A Modelfile's model is the blob that Ollama has of it") {
  const Folder folder;
  const auto file = test::small_llama();
  write_sparse(folder, "models/blobs/sha256-abc", file.header(), file.size());
  folder.write("models/manifests/registry.ollama.ai/library/mine/8b",
               R"({"layers": [{"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:no"},
                              {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:abc"}]})");
  const test::Variables variables({{"OLLAMA_MODELS", folder.path() + "/models"}});
  const auto reading = cli::read_path(folder.write("Modelfile", "FROM mine:8b\nPARAMETER num_ctx 4096\n"));
  REQUIRE(reading.weights.has_value());
  CHECK(reading.weights->parameters == test::small_llama_parameters);
  const auto other = cli::read_path(folder.write("Modelfile", "FROM mine\n"));  // of which there is no "latest"
  CHECK_FALSE(other.weights.has_value());
}

TEST_CASE("Of a folder that holds its weights twice they count once") {
  const Folder folder;
  folder.write("config.json", R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 256, "max_position_embeddings": 512})");
  folder.write("model.safetensors", safetensors("a", 8));
  folder.write("consolidated.safetensors", safetensors("b", 8));
  folder.write("adapter_model.safetensors", safetensors("c", 8));
  folder.write("original/model.safetensors", safetensors("d", 8));
  folder.write("pytorch_model.bin", "PK");
  CHECK(cli::read_path(folder.path()).weights->parameters == 8);
}

TEST_CASE("Pointers of Git LFS stand for the bytes that they name, beside files that are there") {
  const auto pointer = [](int size) {
    return "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize " + std::to_string(size) + "\n";
  };
  const std::vector<int> sizes{70'000, 3, 12'345'678};
  for (const bool is_first_there : {false, true}) {
    const Folder folder;
    std::uint64_t expected = 0;
    std::string map;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto name = "model-" + std::to_string(i) + ".safetensors";
      const bool is_there = is_first_there && i == 0;
      const auto text = is_there ? safetensors("a", 8) : pointer(sizes[i]);
      expected += is_there ? 16 : static_cast<std::uint64_t>(sizes[i]);
      folder.write(name, text);
      map += (map.empty() ? "\"t" : ", \"t") + std::to_string(i) + "\": \"" + name + '"';
    }
    folder.write("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
    const auto weights = cli::read_weight_folder(folder.path());
    REQUIRE(weights.has_value());
    CHECK(weights->bytes == expected);
    CHECK_FALSE(weights->counts_all);
  }
}

TEST_CASE("a GGUF of tensors that nobody knows is served as --quant says, and as nothing unasked") {
  const Folder folder;
  test::GgufWriter file;
  file.text("general.architecture", "llama").count("general.file_type", 9999).count("llama.block_count", 2);
  file.count("llama.embedding_length", 64).count("llama.feed_forward_length", 128).count("llama.context_length", 512);
  file.count("llama.attention.head_count", 4).tensor("token_embd.weight", {64, 256}, 999, 5000);
  write_sparse(folder, "a.gguf", file.header(), file.size());
  const auto line = "serve --gpu rtx-4090 --from " + folder.path() + "/a.gguf";
  CHECK(test::answered(line).is_null());
  CHECK(test::answered(line + " --quant q4_k_m").at("verdict") == "fits");
}
