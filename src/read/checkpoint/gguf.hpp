// A GGUF header as it stands in the file (ggml docs/gguf.md; llama.cpp ggml/src/gguf.cpp).
#pragma once

#include "read/checkpoint.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct GgufValue {
  std::string text;              ///< of a string; empty for others
  std::optional<double> number;  ///< of a number or truth value
  std::vector<double> numbers;   ///< of a short list of them
  std::uint64_t length = 0;      ///< of a list
};

struct GgufTensor {
  std::string name;
  std::array<std::uint64_t, 4> dimensions{1, 1, 1, 1};
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  ///< from where tensors begin
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;  ///< 0 where the type is not known
};

struct Gguf {
  std::uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;
  std::uint64_t data_size = 0;  ///< what follows the header
  bool knows_types = true;

  const GgufValue* find(std::string_view key) const;
  std::optional<std::uint64_t> count(std::string_view key) const;
  std::string text(std::string_view key) const;
};

/// "q4_k_m" of general.file_type; empty where it is not known.
std::string_view gguf_file_type(std::uint64_t id);

/// Adds the tensor to those that a model's matrices are looked up among, if it is one of theirs.
void hold(const GgufTensor& tensor, spec::FileTensors& held);

/// The model as the metadata tells of it: a config.json of its family, or words where no family has that name.
void describe_model(const Gguf& file, std::string_view place, Checkpoint& checkpoint);

}  // namespace llmcalc::read
