#include "read/checkpoint/gguf.hpp"

#include "llmcalc/formats/ggml_type.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint/byte_reader.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>
#include <utility>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t swapped_v3 = 0x03000000;  // what version 3 reads as in a big-endian file
constexpr std::uint64_t longest_key = 65'535;     // docs/gguf.md
constexpr std::uint64_t longest_list = 4096;      // a value for each layer; vocabularies are only counted
constexpr int deepest_list = 4;
constexpr std::uint64_t usual_alignment = 32;
constexpr std::uint64_t least_key_value = 8 + 4 + 1;       // an empty key, its type, the smallest value
constexpr std::uint64_t least_tensor = 8 + 4 + 8 + 4 + 8;  // an empty name and one dimension

/// Nothing where nobody knows its number.
const formats::GgmlFacts* type_of(const GgufTensor& tensor) {
  return quantity::find_or_null(formats::all_ggml_types(), tensor.type, &formats::GgmlFacts::id);
}

enum ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, list, u64, i64, f64, value_types };

std::uint64_t size_of(std::uint32_t type) {
  constexpr std::uint64_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
  return sizes[type];
}

class Parser {
 public:
  Parser(const FileHead& file, std::string_view place) : size_(file.size), in_(file, place) {}

  Gguf parse() {
    read_magic();
    read_version();
    const auto tensors = in_.u64();
    const auto pairs = in_.u64();
    in_.check_count(pairs, least_key_value, "keys");
    for (std::uint64_t i = 0; i < pairs; ++i) read_pair();
    in_.check_count(tensors, least_tensor, "tensors");
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor();
    check_data();
    return std::move(gguf_);
  }

 private:
  void read_magic() {
    if (in_.left() < magic.size() || in_.bytes(magic.size()) != magic)
      in_.fail("does not begin with GGUF, so it is none");
  }

  void read_version() {
    gguf_.version = in_.u32();
    if (gguf_.version == swapped_v3) in_.fail("is a big-endian GGUF, which no accelerator's host reads");
    if (gguf_.version == 1)
      in_.fail("is GGUF version 1, whose counts have 32 bits: convert it with a current llama.cpp");
    if (gguf_.version < 2 || gguf_.version > 3)
      in_.fail(fmt::format("is GGUF version {}: known are 2 and 3", gguf_.version));
  }

  std::string_view read_string(std::uint64_t longest) {
    const auto length = in_.u64();
    if (length > longest) in_.fail(fmt::format("a text of {} bytes, expected at most {}", length, longest));
    return in_.bytes(length);
  }

  double number(std::uint32_t type) {
    switch (type) {
      case u8:
      case boolean: return in_.u8();
      case i8: return static_cast<std::int8_t>(in_.u8());
      case u16: return in_.u16();
      case i16: return static_cast<std::int16_t>(in_.u16());
      case u32: return in_.u32();
      case i32: return static_cast<std::int32_t>(in_.u32());
      case f32: return static_cast<double>(std::bit_cast<float>(in_.u32()));
      case u64: return static_cast<double>(in_.u64());
      case i64: return static_cast<double>(static_cast<std::int64_t>(in_.u64()));
      default: return std::bit_cast<double>(in_.u64());
    }
  }

  std::uint32_t read_type() {
    const auto type = in_.u32();
    if (type >= value_types) in_.fail(fmt::format("there is no value type {}", type));
    return type;
  }

  /// A list is kept where it is short and of numbers; of others only the length.
  GgufValue read_list(int depth) {
    if (depth > deepest_list) in_.fail(fmt::format("lists nest deeper than {}", deepest_list));
    const auto type = read_type();
    GgufValue value;
    value.length = in_.u64();
    in_.check_count(value.length, size_of(type), "values");
    if (type == list) {
      for (std::uint64_t i = 0; i < value.length; ++i) read_list(depth + 1);
    } else if (type == string) {
      for (std::uint64_t i = 0; i < value.length; ++i) in_.skip(in_.u64());
    } else if (value.length <= longest_list) {
      for (std::uint64_t i = 0; i < value.length; ++i) value.numbers.push_back(number(type));
    } else {
      in_.skip(value.length * size_of(type));
    }
    return value;
  }

  void read_pair() {
    std::string key(read_string(longest_key));
    const auto type = read_type();
    GgufValue value;
    if (type == list) {
      value = read_list(1);
    } else if (type == string) {
      constexpr std::uint64_t longest_kept = 256;  // names; licences and chat templates are long
      const auto text = read_string(std::numeric_limits<std::uint64_t>::max());
      value.text = std::string(text.substr(0, longest_kept));
    } else {
      value.number = number(type);
    }
    if (!gguf_.metadata.emplace(std::move(key), std::move(value)).second) in_.fail("a key stands twice");
  }

  void read_tensor() {
    constexpr std::uint64_t longest_name = 1024;  // ggml allows 64; forks go beyond
    GgufTensor tensor;
    tensor.name = std::string(read_string(longest_name));
    const auto rank = in_.u32();
    if (rank > tensor.dimensions.size()) in_.fail(fmt::format("a tensor of {} dimensions, expected at most 4", rank));
    for (std::uint32_t i = 0; i < rank; ++i) tensor.dimensions[i] = in_.u64();
    tensor.type = in_.u32();
    tensor.offset = in_.u64();
    measure(tensor);
    if (!names_.insert(tensor.name).second) in_.fail("a tensor's name stands twice");
    gguf_.tensors.push_back(std::move(tensor));
  }

  void measure(GgufTensor& tensor) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t elements = 1;
    for (const auto dimension : tensor.dimensions) {
      if (dimension != 0 && elements > most / dimension) in_.fail("a tensor has more elements than 63 bits count");
      elements *= dimension;
    }
    tensor.elements = elements;
    const auto* type = type_of(tensor);
    if (type == nullptr) {
      gguf_.knows_types = false;
      return;
    }
    const auto block = static_cast<std::uint64_t>(type->block);
    const auto bytes = static_cast<std::uint64_t>(type->bytes);
    if (tensor.dimensions[0] % block != 0) {
      in_.fail(fmt::format("rows of {} do not come out in blocks of {}", tensor.dimensions[0], block));
    }
    if (elements / block > most / bytes) in_.fail("a tensor has more bytes than 63 bits count");
    tensor.bytes = elements / block * bytes;
  }

  /// Tensors lie aligned behind the header, inside the file.
  void check_data() {
    const auto alignment = gguf_.count("general.alignment").value_or(usual_alignment);
    constexpr std::uint64_t most = 1U << 20U;
    if (alignment == 0 || alignment > most || !std::has_single_bit(alignment))
      in_.fail("the alignment is no power of two");
    const auto start = (in_.position() + alignment - 1) / alignment * alignment;
    gguf_.data_size = size_ > start ? size_ - start : 0;
    for (const GgufTensor& tensor : gguf_.tensors) {
      if (tensor.offset % alignment != 0)
        in_.fail(fmt::format("'{}' is not aligned", quantity::printable(tensor.name)));
      if (tensor.bytes > gguf_.data_size || tensor.offset > gguf_.data_size - tensor.bytes) {
        in_.fail(fmt::format("'{}' reaches beyond the end of the file, which is cut short",
                             quantity::printable(tensor.name)));
      }
    }
  }

  std::uint64_t size_;
  ByteReader in_;
  Gguf gguf_;
  std::unordered_set<std::string> names_;
};

void refuse_what_is_no_model(const Gguf& file, std::string_view place) {
  const std::string type = file.text("general.type");
  const std::string architecture = file.text("general.architecture");
  if (!type.empty() && type != "model") {
    throw BadInput(std::string(place), "holds " + quantity::quoted(type) + " and no model",
                   "name the model's own GGUF");
  }
  if (architecture == "clip") throw BadInput(std::string(place), "holds a vision tower and no language model");
  if (file.tensors.empty() && file.count("split.count").value_or(1) <= 1) {
    throw BadInput(std::string(place), "holds a vocabulary and no tensors");
  }
}

void add_tensor(const GgufTensor& tensor, Checkpoint& checkpoint) {
  const auto* type = type_of(tensor);
  const std::string name = type == nullptr ? fmt::format("type {}", tensor.type) : std::string(type->name);
  checkpoint.count({name, 1, tensor.bytes});
  checkpoint.bytes += tensor.bytes;
  if (!tensor.name.starts_with("rope_")) checkpoint.parameters += tensor.elements;
  hold(tensor, checkpoint.held);
}

}  // namespace

const GgufValue* Gguf::find(std::string_view key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

constexpr double most_countable = 9e15;

std::optional<std::uint64_t> Gguf::count(std::string_view key) const {
  const GgufValue* value = find(key);
  const double number = value == nullptr ? -1.0 : value->number.value_or(-1.0);
  return number >= 0 && number < most_countable ? std::optional(static_cast<std::uint64_t>(number)) : std::nullopt;
}

std::string Gguf::text(std::string_view key) const {
  const GgufValue* value = find(key);
  return value == nullptr ? std::string() : value->text;
}

namespace {

/// The word of a file that says nothing of itself, or what only a fork of llama.cpp knows, is that of the block format
/// that most of it is in, as llama.cpp guesses (src/llama-model-loader.cpp, LLAMA_FTYPE_GUESSED).
std::string gguf_quant(const Gguf& gguf, const Checkpoint& checkpoint) {
  const auto said = gguf.count("general.file_type");
  const auto known = said ? gguf_file_type(*said) : std::string_view();
  if (!known.empty() || !gguf.knows_types || checkpoint.types.empty()) return std::string(known);
  const auto word = quantity::to_lower(std::ranges::max(checkpoint.types, {}, &StoredType::bytes).name);
  const auto* of_engines = spec::find_name<formats::Quant>(word);
  if (of_engines != nullptr && formats::is_file_type(of_engines->value))
    return std::string(spec::name_of(of_engines->value));
  const auto* of_files = quantity::find_if_or_null(formats::all_quants(), [&](const formats::QuantFacts& each) {
    return each.covers == formats::Coverage::file && each.name.starts_with(word);
  });
  if (of_files != nullptr) return std::string(of_files->name);
  return of_engines == nullptr ? std::string() : std::string(spec::name_of(of_engines->value));
}

/// \throws MoreBytes, quantity::BadInput
Gguf parse_gguf(const FileHead& file, std::string_view place) { return Parser(file, place).parse(); }

}  // namespace

bool is_gguf(std::string_view head) { return head.starts_with(magic); }

CheckpointRead read_gguf(const FileHead& file, std::string_view place) {
  try {
    const Gguf gguf = parse_gguf(file, place);
    refuse_what_is_no_model(gguf, place);
    Checkpoint checkpoint;
    checkpoint.kind = fmt::format("GGUF v{}", gguf.version);
    checkpoint.tensors = gguf.tensors.size();
    checkpoint.shards = std::max<std::uint64_t>(1, gguf.count("split.count").value_or(1));
    for (const GgufTensor& tensor : gguf.tensors) add_tensor(tensor, checkpoint);
    if (!gguf.knows_types) {
      checkpoint.bytes = gguf.data_size;
      checkpoint.counts_all = false;
      checkpoint.notes.emplace_back("it has tensors of a type that is not known: their bytes are what the file holds");
    }
    checkpoint.quantization = gguf_quant(gguf, checkpoint);
    describe_model(gguf, place, checkpoint);
    return {std::move(checkpoint), 0};
  } catch (const MoreBytes& more) {
    return {std::nullopt, more.needs};
  }
}

}  // namespace llmcalc::read
