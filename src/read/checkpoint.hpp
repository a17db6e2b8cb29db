// What the headers of weight files say: GGUF and safetensors, of which nothing but the beginning is looked at.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "read/words.hpp"
#include "spec/file_tensors.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// At least `count` bytes of a file from an offset on, which stay until the next are asked for.
using FilePart = std::function<std::string_view(std::uint64_t from, std::uint64_t count)>;

/// The beginning of a file. Where it does not reach, the rest is asked for; without it a reader says how much it needs.
struct FileHead {
  std::string_view bytes;
  std::uint64_t size = 0;  ///< of the whole file
  FilePart further = {};
};

/// The tensors of one type.
struct StoredType {
  std::string name;  ///< "BF16", "Q4_K"
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const StoredType&, const StoredType&) = default;
};

struct Checkpoint {
  std::string kind;  ///< "GGUF v3", "safetensors"
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;       ///< of all tensors
  std::uint64_t parameters = 0;  ///< their elements, packed ones unpacked, without scales and zero points
  bool counts_all = true;        ///< false where a tensor's type or packing is not known
  std::vector<StoredType> types;
  std::string quantization;          ///< word of --quant, where the file says one or its tensors do
  std::optional<ConfigText> config;  ///< the shape, as the config.json of its family would say it
  std::vector<Given> words;          ///< the shape of a family that nobody knows, dimension by dimension
  std::vector<std::string> notes;
  spec::FileTensors held;    ///< of GGUF, by what they are for
  std::uint64_t shards = 1;  ///< files that the whole is split into

  void count(const StoredType& more);
};

/// Either the checkpoint, or how many bytes of the file must be at hand to read on.
struct CheckpointRead {
  std::optional<Checkpoint> checkpoint;
  std::uint64_t needs = 0;
};

bool is_gguf(std::string_view head);
/// \throws quantity::BadInput at "PLACE:byte N" for what no GGUF holds, and by name for a file that is no model
CheckpointRead read_gguf(const FileHead& file, std::string_view place);

/// True for eight bytes of length and a brace, with a length that the file has room for.
bool is_safetensors(const FileHead& file);
CheckpointRead read_safetensors(const FileHead& file, std::string_view place);

/// The files that model.safetensors.index.json names, each once, and the size of all tensors that it states.
struct ShardIndex {
  std::vector<std::string> files;
  std::uint64_t tensors = 0;
  std::optional<std::uint64_t> total_size;
};
ShardIndex read_shard_index(std::string_view json, std::string_view place);

/// Shards of one checkpoint, counted together; the first says what the model is.
Checkpoint join(std::vector<Checkpoint> shards);

/// The size that a Git LFS pointer stands for; empty where the text is none.
std::optional<std::uint64_t> lfs_pointer_size(std::string_view text);

// How a checkpoint's own files say that its weights are quantized, whichever reader looks their keys up.

/// The type that a key holds: a reader that checks types can refuse anything else.
enum class Holds { word, bits, size, flag, list };

/// The text of a key of quantization_config, "config_groups.group_0.weights.num_bits" of one inside objects; empty
/// where it is absent or null.
using KeyText = std::function<std::string(std::string_view key, Holds holds)>;

struct StoredQuant {
  std::string scheme;                   ///< in the file's own words: "gptq 8"
  std::optional<formats::Quant> quant;  ///< empty where that scheme is not known
};

/// The type of keys and values that the checkpoint has scales for, which engines take where nobody says another: "fp8",
/// or the file's own word where that is not known. Empty where the keys name none.
std::string stored_cache(const KeyText& text);

/// Empty where the keys name no scheme. Of a mixture, the narrowest of its schemes.
std::optional<StoredQuant> stored_quant(const KeyText& text);

/// ModelOpt's list of modules with the algorithm of each.
inline constexpr std::string_view modules_by_name = "quantized_layers";
/// The scheme that ModelOpt calls so: "W4A16_NVFP4".
std::optional<formats::Quant> quant_of_modelopt(std::string_view algorithm);

/// The keys under which compressed-tensors has its schemes, "config_groups.group_0".
std::vector<std::string> groups_of(const KeyText& text);
std::optional<formats::Quant> quant_of_group(const KeyText& text, const std::string& group);

}  // namespace llmcalc::read
