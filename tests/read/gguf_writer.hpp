// Writes GGUF files of headers alone, as ggml's docs/gguf.md lays them out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t version = 3) : version_(version) {}

  GgufWriter& text(std::string_view key, std::string_view value) {
    put_text(pairs_, key);
    put(pairs_, 8U, 4);
    put_text(pairs_, value);
    ++pair_count_;
    return *this;
  }
  GgufWriter& count(std::string_view key, std::uint32_t value) {
    put_text(pairs_, key);
    put(pairs_, 4U, 4);
    put(pairs_, value, 4);
    ++pair_count_;
    return *this;
  }
  GgufWriter& counts(std::string_view key, std::initializer_list<std::uint32_t> values) {
    put_text(pairs_, key);
    put(pairs_, 9U, 4);
    put(pairs_, 4U, 4);
    put(pairs_, values.size(), 8);
    for (const auto value : values) put(pairs_, value, 4);
    ++pair_count_;
    return *this;
  }
  /// A list of so many texts.
  GgufWriter& texts(std::string_view key, std::size_t size) {
    put_text(pairs_, key);
    put(pairs_, 9U, 4);
    put(pairs_, 8U, 4);
    put(pairs_, size, 8);
    for (std::size_t i = 0; i < size; ++i) put_text(pairs_, "token");
    ++pair_count_;
    return *this;
  }
  /// A list of so many values of a type, all of whose bytes are zero: numbers, or texts without letters.
  GgufWriter& zeros(std::string_view key, std::uint32_t type, std::size_t values, std::size_t bytes_each) {
    put_text(pairs_, key);
    put(pairs_, 9U, 4);
    put(pairs_, type, 4);
    put(pairs_, values, 8);
    pairs_.append(values * bytes_each, '\0');
    ++pair_count_;
    return *this;
  }
  /// \param bytes  that it takes, in a type of that number
  GgufWriter& tensor(std::string_view name, std::vector<std::uint64_t> dimensions, std::uint32_t type,
                     std::uint64_t bytes) {
    put_text(tensors_, name);
    put(tensors_, dimensions.size(), 4);
    for (const auto dimension : dimensions) put(tensors_, dimension, 8);
    put(tensors_, type, 4);
    put(tensors_, offset_, 8);
    constexpr std::uint64_t alignment = 32;
    end_ = offset_ + bytes;
    offset_ = (end_ + alignment - 1) / alignment * alignment;
    ++tensor_count_;
    return *this;
  }

  std::string header() const {
    std::string file = "GGUF";
    put(file, version_, 4);
    put(file, tensor_count_, 8);
    put(file, pair_count_, 8);
    return file + pairs_ + tensors_;
  }
  std::uint64_t size() const { return (header().size() + 31) / 32 * 32 + end_; }

 private:
  static void put(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>((value >> (8 * i)) & 0xFF);
  }
  static void put_text(std::string& to, std::string_view text) {
    put(to, text.size(), 8);
    to += text;
  }

  std::uint32_t version_;
  std::string pairs_;
  std::string tensors_;
  std::uint64_t pair_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t end_ = 0;
};

/// A Llama of two layers with the tensors that llama.cpp's converter writes.
inline GgufWriter small_llama(std::uint32_t version = 3) {
  GgufWriter file(version);
  file.text("general.architecture", "llama").count("general.file_type", 1);
  file.count("llama.block_count", 2).count("llama.embedding_length", 64).count("llama.feed_forward_length", 128);
  file.count("llama.attention.head_count", 4).count("llama.attention.head_count_kv", 2);
  file.count("llama.context_length", 512).texts("tokenizer.ggml.tokens", 256);
  file.tensor("token_embd.weight", {64, 256}, 1, 2 * 64 * 256);
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    file.tensor(layer + "attn_norm.weight", {64}, 0, 4 * 64).tensor(layer + "ffn_norm.weight", {64}, 0, 4 * 64);
    file.tensor(layer + "attn_q.weight", {64, 64}, 1, 2 * 64 * 64)
        .tensor(layer + "attn_k.weight", {64, 32}, 1, 2 * 64 * 32);
    file.tensor(layer + "attn_v.weight", {64, 32}, 1, 2 * 64 * 32);
    file.tensor(layer + "attn_output.weight", {64, 64}, 1, 2 * 64 * 64);
    file.tensor(layer + "ffn_gate.weight", {64, 128}, 1, 2 * 64 * 128);
    file.tensor(layer + "ffn_up.weight", {64, 128}, 1, 2 * 64 * 128);
    file.tensor(layer + "ffn_down.weight", {128, 64}, 1, 2 * 64 * 128);
  }
  return file.tensor("output_norm.weight", {64}, 0, 4 * 64).tensor("output.weight", {64, 256}, 1, 2 * 64 * 256);
}

/// Its parameters: two tables, two layers of attention (q and o, k and v), MLP and norms, and the last norm.
inline constexpr std::uint64_t small_llama_parameters =
    2 * 64 * 256 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64) + 64;

}  // namespace llmcalc::test
