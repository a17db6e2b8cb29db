// safetensors: eight bytes of length, that much JSON, then the tensors without holes
// (huggingface/safetensors README.md; safetensors/src/tensor.rs).
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint/byte_reader.hpp"
#include "read/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace llmcalc::read {
namespace {

struct StoredTensor {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
};

/// Tensors that hold no weights.
constexpr std::string_view beside_weights[] = {
#include "formats/beside_weights.inc"
};

struct Packing {
  std::string_view ending;
  std::string_view type;
  std::uint64_t weights;  ///< an element
};

constexpr Packing packings[] = {
#include "formats/packed_weights.inc"
};

bool is_beside(std::string_view name) {
  if (name.find(".quant_state.") != std::string_view::npos) return true;
  return std::ranges::any_of(beside_weights, [&](std::string_view ending) { return name.ends_with(ending); });
}

const StoredTensor* ending_with(const std::vector<StoredTensor>& tensors, std::string_view ending) {
  return quantity::find_if_or_null(tensors, [&](const auto& tensor) { return tensor.name.ends_with(ending); });
}

constexpr std::uint64_t most_layers = 100'000;

/// The number behind "layers." in a name, and one more.
std::uint64_t layers_until(std::string_view name) {
  constexpr std::string_view layers = "layers.";
  const auto at = name.find(layers);
  if (at == std::string_view::npos) return 0;
  name.remove_prefix(at + layers.size());
  const auto index = quantity::take_number<std::uint64_t>(name);
  return index && *index < most_layers ? *index + 1 : 0;
}

const Packing* packing_of(const StoredTensor& tensor) {
  const auto packs = [&](const Packing& p) { return tensor.type == p.type && tensor.name.ends_with(p.ending); };
  return quantity::find_if_or_null(packings, packs);
}

bool is_matrix(const StoredTensor* tensor) { return tensor != nullptr && tensor->shape.size() == 2; }

/// The tensors of a layer as Llama and its heirs call them.
struct LlamaTensors {
  explicit LlamaTensors(const std::vector<StoredTensor>& tensors)
      : table(ending_with(tensors, "embed_tokens.weight")),
        query(ending_with(tensors, "self_attn.q_proj.weight")),
        key(ending_with(tensors, "self_attn.k_proj.weight")),
        gate(ending_with(tensors, "mlp.gate_proj.weight")),
        norm(ending_with(tensors, "self_attn.q_norm.weight")) {
    for (const auto& tensor : tensors) layers = std::max(layers, layers_until(tensor.name));
    if (norm != nullptr && norm->shape.size() == 1) head = norm->shape[0];
  }

  /// All are there, and heads of that width divide them.
  bool tell_shape() const {
    const bool there = layers > 0 && is_matrix(table) && is_matrix(query) && is_matrix(key) && is_matrix(gate);
    return there && head > 0 && query->shape[0] % head == 0 && key->shape[0] % head == 0;
  }

  std::uint64_t layers = 0;
  const StoredTensor* table;
  const StoredTensor* query;
  const StoredTensor* key;
  const StoredTensor* gate;
  const StoredTensor* norm;  ///< of each query
  std::uint64_t head = 128;  ///< Llama 2 and 3, Mistral, Qwen: where no norm says it, the names do not either
};

/// The weights that a tensor holds: packed ones unpacked, none in scales, zero points and indices. Empty where how it
/// is packed is not known.
std::optional<std::uint64_t> parameters_of(const StoredTensor& tensor) {
  if (is_beside(tensor.name)) return 0;
  if (tensor.type == "F4") return tensor.elements;
  if (const Packing* packing = packing_of(tensor)) return tensor.elements * packing->weights;
  const bool packed = tensor.type == "I32" || tensor.type == "U8" || tensor.type == "I64";
  return packed ? std::nullopt : std::optional(tensor.elements);
}

/// Layers, widths and vocabulary of a model in transformers' names; empty where it has others.
std::vector<Given> shape_words(const std::vector<StoredTensor>& tensors, std::string_view place) {
  const LlamaTensors of(tensors);
  if (!of.tell_shape()) return {};
  std::vector<Given> words;
  const auto say = [&](std::string_view term, std::string text, const StoredTensor& because) {
    words.push_back({std::string(term), std::move(text), {Source::file, std::string(place) + ":" + because.name}});
  };
  say("layers", std::to_string(of.layers), *of.query);
  say("hidden", std::to_string(of.table->shape[1]), *of.table);
  say("heads", std::to_string(of.query->shape[0] / of.head), *of.query);
  say("kv_heads", std::to_string(of.key->shape[0] / of.head), *of.key);
  say("head_dim", std::to_string(of.head), of.norm == nullptr ? *of.query : *of.norm);
  say("ffn", std::to_string(of.gate->shape[0]), *of.gate);
  say("vocab", std::to_string(of.table->shape[0]), *of.table);
  const StoredTensor* output = ending_with(tensors, "lm_head.weight");
  say("tied", output == nullptr ? "1" : "0", output == nullptr ? *of.table : *output);
  if (of.norm != nullptr) say("qk_norm", "per-head", *of.norm);
  if (const StoredTensor* bias = ending_with(tensors, "self_attn.q_proj.bias")) say("bias", "qkv", *bias);
  return words;
}

using nlohmann::json;
using quantity::BadInput;

constexpr std::uint64_t longest_header = 25'000'000;  // huggingface_hub constants.py, SAFETENSORS_MAX_HEADER_LENGTH

struct Type {
  std::string_view name;
  std::uint64_t bits;
};

constexpr Type types[] = {
#include "formats/safetensors.inc"
};

const Type* find_type(std::string_view name) { return quantity::find_or_null(types, name, &Type::name); }

[[noreturn]] void fail(std::string_view place, const std::string& problem) {
  throw BadInput(std::string(place), problem);
}

/// Reads the header's objects one by one, so that no tree of a hundred megabytes is built, and refuses keys that stand
/// twice, which a tree would hide.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  explicit HeaderReader(std::string_view place) : place_(place) {}

  std::vector<StoredTensor> take() && { return std::move(tensors_); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override {
    if (depth_ > 1 && !in_metadata_) refuse("holds the negative number " + std::to_string(value));
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (in_metadata_) return true;
    if (key_ == "shape") tensor_.shape.push_back(value);
    if (key_ == "data_offsets") offsets_.push_back(value);
    if (tensor_.shape.size() > most_dimensions || offsets_.size() > 2) refuse("has too many numbers");
    return true;
  }
  bool number_float(number_float_t, const string_t&) override {
    if (!in_metadata_) refuse("holds a number with a fraction");
    return true;
  }
  bool string(string_t& value) override {
    if (key_ == "dtype" && depth_ == 2 && !in_metadata_) tensor_.type = value;
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    deepen();
    if (depth_ == 2 && !in_metadata_) begin_tensor();
    return true;
  }
  bool end_object() override {
    if (depth_ == 2) {
      if (!in_metadata_) end_tensor();
      in_metadata_ = false;
    }
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    deepen();
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1) {
      if (!names_.insert(value).second) fail(place_, quantity::quoted(value) + " stands twice in the header");
      name_ = value;
      in_metadata_ = value == "__metadata__";
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail(fmt::format("{}:byte {}", place_, position + 7), "the header is not JSON");
  }

 private:
  static constexpr std::size_t most_dimensions = 16;

  [[noreturn]] void refuse(const std::string& problem) const { fail(place_, quantity::quoted(name_) + " " + problem); }
  void deepen() {
    if (++depth_ > 3) fail(place_, "the header nests deeper than any");
  }
  void begin_tensor() {
    tensor_ = {};
    tensor_.name = name_;
    offsets_.clear();
  }
  void end_tensor() {
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1]) refuse("has no offsets that make a range");
    tensor_.begin = offsets_[0];
    tensor_.bytes = offsets_[1] - offsets_[0];
    tensors_.push_back(std::move(tensor_));
  }

  std::string_view place_;
  std::vector<StoredTensor> tensors_;
  StoredTensor tensor_;
  std::vector<std::uint64_t> offsets_;
  std::unordered_set<std::string> names_;
  std::string name_;
  std::string key_;
  int depth_ = 0;
  bool in_metadata_ = false;
};

/// A tensor of a type that is not known counts in bytes and not in elements.
void count_elements(StoredTensor& tensor, std::string_view place) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t elements = 1;
  for (const auto dimension : tensor.shape) {
    if (dimension != 0 && elements > most / dimension) fail(place, quantity::quoted(tensor.name) + " is too large");
    elements *= dimension;
  }
  tensor.elements = elements;
  const Type* type = find_type(tensor.type);
  if (type == nullptr) return;
  if (elements > most / type->bits) fail(place, quantity::quoted(tensor.name) + " is too large");
  if ((elements * type->bits + 7) / 8 != tensor.bytes) {
    fail(place, fmt::format("{} has {} bytes, which is not its shape in {}", quantity::quoted(tensor.name),
                            tensor.bytes, type->name));
  }
}

/// Tensors follow each other without overlap or hole up to the end of the file.
void check_ranges(std::vector<StoredTensor> tensors, std::uint64_t data_size, std::string_view place) {
  std::ranges::sort(tensors, {}, [](const StoredTensor& tensor) { return std::pair(tensor.begin, tensor.bytes); });
  std::uint64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin != end) {
      fail(place,
           quantity::quoted(tensor.name) + (tensor.begin < end ? " overlaps another" : " leaves a hole before it"));
    }
    end += tensor.bytes;
    if (end > data_size)
      fail(place, quantity::quoted(tensor.name) + " reaches beyond the end of the file, which is cut short");
  }
}

void add_tensor(const StoredTensor& tensor, Checkpoint& checkpoint) {
  checkpoint.count({tensor.type, 1, tensor.bytes});
  checkpoint.bytes += tensor.bytes;
  const auto parameters = parameters_of(tensor);
  checkpoint.parameters += parameters.value_or(0);
  checkpoint.counts_all = checkpoint.counts_all && parameters && find_type(tensor.type) != nullptr;
}

}  // namespace

bool is_safetensors(const FileHead& file) {
  if (file.bytes.size() < 9 || file.bytes[8] != '{') return false;
  const auto length = ByteReader(file, {}).u64();
  return length > 0 && length <= file.size - 8;
}

CheckpointRead read_safetensors(const FileHead& file, std::string_view place) {
  try {
    ByteReader in(file, place);
    const auto length = in.u64();
    if (length > longest_header)
      in.fail(fmt::format("a header of {} bytes, expected at most {}", length, longest_header));
    const auto header = in.bytes(length);
    if (!header.starts_with('{')) in.fail("the header is no JSON object");
    if (header.find('\0') != header.npos) in.fail("the header holds a zero byte, which no JSON has");
    HeaderReader reader(place);
    json::sax_parse(header, &reader);
    auto tensors = std::move(reader).take();
    for (StoredTensor& tensor : tensors) count_elements(tensor, place);
    check_ranges(tensors, file.size - 8 - length, place);
    Checkpoint checkpoint;
    checkpoint.kind = "safetensors";
    checkpoint.tensors = tensors.size();
    for (const StoredTensor& tensor : tensors) add_tensor(tensor, checkpoint);
    checkpoint.words = shape_words(tensors, place);
    return {std::move(checkpoint), 0};
  } catch (const MoreBytes& more) {
    return {std::nullopt, more.needs};
  }
}

}  // namespace llmcalc::read
