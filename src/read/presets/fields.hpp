// Reading the JSON of a preset file: every value knows the file and the JSON pointer at which it stands, and an object
// is read by a table of its fields, so that an unknown key is a mistake with a place and a suggestion.
// The value of a field becomes a member: chosen by its type, each type having one unit in preset files.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "read/inner/numbers.hpp"
#include "read/presets.hpp"
#include "read/presets/names.hpp"
#include "spec/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace llmcalc::read {

/// A JSON value and its place.
class JsonPlace {
 public:
  /// \pre `value` and `file` outlive this object
  JsonPlace(const nlohmann::json& value, std::string_view file, std::string pointer = {})
      : value_(&value), file_(file), pointer_(std::move(pointer)) {}

  const nlohmann::json& value() const { return *value_; }
  std::string_view file() const { return file_; }
  const std::string& pointer() const { return pointer_; }
  JsonPlace member(const std::string& key) const;
  JsonPlace item(std::size_t index) const;
  std::vector<JsonPlace> items() const;  ///< of a list
  bool has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

  /// "my-models.json:/0/layers"
  std::string text() const;
  [[noreturn]] void fail(const std::string& problem, const std::string& hint = {}) const;

  std::int64_t integer(std::int64_t largest, std::int64_t smallest = 0) const;
  double number() const;  ///< finite and not negative
  bool boolean() const;
  std::string string() const;
  std::vector<std::string> strings() const;
  std::string sentences() const;          ///< a string, or an array of strings that are joined by "; "
  std::vector<std::string> keys() const;  ///< of an object; anything else is refused

 private:
  const nlohmann::json* value_;
  std::string_view file_;
  std::string pointer_;
};

/// The entries of a preset file: an array of objects, or one object alone.
class PresetDocument {
 public:
  /// \throws quantity::BadInput with the byte offset when `json` is not JSON
  PresetDocument(std::string_view json, std::string_view file);

  std::vector<JsonPlace> entries() const;
  JsonPlace root() const { return {value_, file_}; }

 private:
  nlohmann::json value_;
  std::string file_;
};

/// One key of an object, "memory/type" of one inside another, and what it sets. They are rows of presets/fields.
template <class Target>
struct Field {
  std::string_view key;
  void (*read)(Target& target, const JsonPlace& value);
};

[[noreturn]] void fail_unknown_key(const JsonPlace& object, const std::string& key,
                                   std::span<const std::string_view> known);

/// Names that follow a path in keys, up to the next "/": "type" behind "memory/".
std::vector<std::string_view> names_below(const std::vector<std::string_view>& keys, std::string_view path);

/// Fields of the object at a path, which stand together in a table.
template <class Target>
std::span<const Field<Target>> fields_within(std::span<const Field<Target>> fields, std::string_view path) {
  const auto is_within = [&](const Field<Target>& field) {
    return field.key.size() > path.size() && field.key[path.size()] == '/' && field.key.starts_with(path);
  };
  const auto first = std::ranges::find_if(fields, is_within);
  return {first, std::find_if_not(first, fields.end(), is_within)};
}

/// Reads every key of `object` into `target` by the field of its name.
/// \param root  where paths begin in the pointer of the object
template <class Target>
void read_fields(Target& target, const JsonPlace& object, std::span<const Field<Target>> fields, std::size_t root) {
  for (const std::string& key : object.keys()) {
    const JsonPlace value = object.member(key);
    const auto path = std::string_view(value.pointer()).substr(root);
    if (const auto* field = quantity::find_or_null(fields, path, &Field<Target>::key)) {
      field->read(target, value);
    } else if (const auto inner = fields_within(fields, path); !inner.empty()) {
      read_fields(target, value, inner, root);
    } else {
      const auto above = path.substr(0, path.rfind('/') + 1);
      fail_unknown_key(object, key, names_below(quantity::mapped(fields, &Field<Target>::key), above));
    }
  }
}

template <class Target>
void read_fields(Target& target, const JsonPlace& object, std::span<const Field<std::type_identity_t<Target>>> fields) {
  read_fields(target, object, fields, object.pointer().size() + 1);
}

inline void assign(std::int64_t& member, const JsonPlace& value) { member = value.integer(max_dimension); }
inline void assign(int& member, const JsonPlace& value) { member = static_cast<int>(value.integer(max_dimension)); }
inline void assign(bool& member, const JsonPlace& value) { member = value.boolean(); }
inline void assign(std::string& member, const JsonPlace& value) { member = value.string(); }
inline void assign(std::vector<std::string>& member, const JsonPlace& value) { member = value.strings(); }
inline void assign(double& member, const JsonPlace& value) { member = value.number(); }
inline void assign(std::optional<std::int64_t>& member, const JsonPlace& value) {
  member = value.integer(std::numeric_limits<std::int64_t>::max());
}
inline void assign(quantity::FlopRate& member, const JsonPlace& value) { member = quantity::teraflops(value.number()); }
inline void assign(quantity::Bandwidth& member, const JsonPlace& value) {
  member = quantity::gigabytes_per_second(value.number());
}
inline void assign(quantity::Money& member, const JsonPlace& value) { member = quantity::dollars(value.number()); }

/// A word of a closed vocabulary.
template <class E>
requires std::is_enum_v<E>
void assign(E& member, const JsonPlace& value) {
  const std::string word = value.string();
  const auto* found = spec::find_name<E>(word);
  if (found == nullptr) value.fail("unknown word '" + word + "'", quantity::did_you_mean(word, spec::all_names<E>()));
  member = found->value;
}

template <class T>
void assign(std::optional<T>& member, const JsonPlace& value) {
  assign(member.emplace(), value);
}

/// The reader of a field whose value goes to the member at the end of a chain of member pointers.
template <auto... members, class Target>
void set(Target& target, const JsonPlace& value) {
  assign((target.*....*members), value);
}

/// A number that something is divided by.
template <auto... members, class Target>
void set_positive(Target& target, const JsonPlace& value) {
  if (!(value.number() > 0.0)) value.fail("expected a number above 0", "what is not known is left out");
  set<members...>(target, value);
}

/// A number that is a part of a whole.
template <auto... members, class Target>
void set_share(Target& target, const JsonPlace& value) {
  if (value.number() > 1.0) value.fail("expected a number from 0 to 1");
  set<members...>(target, value);
}

/// A value that is read in its own way, or in the unit that the key names.
template <auto read, auto... members, class Target>
void by(Target& target, const JsonPlace& value) {
  (target.*....*members) = std::invoke(read, value);
}

/// A value that is checked, and kept for the person who reads the file: nothing is computed from it.
template <auto read, class Target>
void for_reference(Target& /*target*/, const JsonPlace& value) {
  std::invoke(read, value);
}

quantity::Bytes gibibytes(const JsonPlace& value);  ///< up to a pebibyte: a thousand times the largest accelerator
quantity::Bytes mebibytes(const JsonPlace& value);

/// Names are single words, so that they can be typed on a command line and joined in lists.
/// \throws quantity::BadInput for an empty one, white space, ':', ',' and '|'
std::string read_name(const JsonPlace& value);
std::vector<std::string> read_names(const JsonPlace& value);

/// \param base      the preset named by the entry's "base": what the entry does not say is taken from its shape or its
///     numbers; or nullptr
/// \param families  that read a "config" beside those that ship
/// \throws quantity::BadInput with file and JSON pointer
ModelPreset read_model_entry(const JsonPlace& entry, const ModelPreset* base,
                             const std::vector<PresetFile>& families = {});
AcceleratorPreset read_accelerator_entry(const JsonPlace& entry, const AcceleratorPreset* base);

RatesPreset read_rates_entry(const JsonPlace& entry, const RatesPreset* base);

PresetNames names_of(const ModelPreset& preset);
PresetNames names_of(const AcceleratorPreset& preset);

/// A slice as its name tells of it.
struct Slice {
  std::string whole;         ///< what stands before: the name of the accelerator, or nothing
  std::string profile;       ///< "3g.40gb"
  std::int64_t compute = 0;  ///< slices of the multiprocessors
  std::int64_t memory = 0;   ///< gigabytes as marketed
};

/// "h100-sxm-mig-3g.40gb", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "MIG 1g.10gb".
std::optional<Slice> find_slice(std::string_view name);

bool has_slice(const spec::Accelerator& whole, const Slice& slice);

/// One such slice of an accelerator.
/// \throws quantity::BadInput at `place` where it has no slices of that size
spec::Accelerator cut(const spec::Accelerator& whole, const Slice& slice, std::string_view place);

/// Fields that an entry leaves out that names no base.
inline constexpr std::string_view usual_rates = "unmeasured";

/// The entries of a user's files. \throws quantity::BadInput with file and JSON pointer
std::vector<RatesPreset> read_rates(const std::vector<PresetFile>& files);

/// The entry of that name. \throws quantity::BadInput at `place` with the nearest names
spec::Rates named_rates(const std::vector<RatesPreset>& users, std::string_view name, std::string_view place);

/// The first entry that stands for the accelerator, the user's latest before those that ship; else the usual rates.
spec::Rates rates_for(const std::vector<RatesPreset>& users, const spec::Accelerator& gpu);

/// An entry of presets/generations. It stands for accelerators of one make whose architecture begins so, and of those,
/// where it says so, only for the ones whose type of memory does.
struct GenerationPreset {
  spec::GenerationFacts facts = {};
  std::string id = {};
  std::string vendor = {};
  std::string arch = {};
  std::string memory = {};
  std::string ggml_as = {};  ///< the generation whose rates of llama.cpp it has
};

/// \param base  the entry named by the entry's "base": what the entry does not say is that one's
/// \throws quantity::BadInput with file and JSON pointer
GenerationPreset read_generation_entry(const JsonPlace& entry, const GenerationPreset* base);

/// The first entry that stands for the accelerator. Where none does, the nearest: of the same make and kind of memory,
/// else of the same kind of memory, the newest that is not newer than it, else the oldest. Where llama.cpp was not
/// measured on a generation, its rates are those of the nearest on which it was.
spec::Generation generation_for(const spec::Accelerator& gpu);

}  // namespace llmcalc::read
