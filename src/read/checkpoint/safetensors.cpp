// safetensors: eight bytes of length, that much JSON, then the tensors without holes
// (huggingface/safetensors README.md; safetensors/src/tensor.rs).
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint/byte_reader.hpp"
#include "read/checkpoint/tensor_names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

namespace llmcalc::read {
namespace {

using nlohmann::json;
using quantity::BadInput;

constexpr std::uint64_t longest_header = 25'000'000;  // huggingface_hub constants.py, SAFETENSORS_MAX_HEADER_LENGTH

struct Type {
  std::string_view name;
  std::uint64_t bits;
};

constexpr Type types[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
    {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
    {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64},
};

const Type* find_type(std::string_view name) {
  const auto* found = std::ranges::find(types, name, &Type::name);
  return found == std::end(types) ? nullptr : found;
}

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

/// Of a type that is not known, bytes count and elements do not.
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
  auto found = std::ranges::find(checkpoint.types, tensor.type, &StoredType::name);
  if (found == checkpoint.types.end()) found = checkpoint.types.insert(found, {tensor.type, 0, 0});
  ++found->tensors;
  found->bytes += tensor.bytes;
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
