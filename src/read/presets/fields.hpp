// How the value of a field becomes a member: chosen by the member's type, each type having one unit in preset files.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "quantity/suggest.hpp"
#include "read/presets/json.hpp"
#include "read/words/numbers.hpp"
#include "spec/names.hpp"

#include <limits>
#include <optional>
#include <type_traits>

namespace llmcalc::read {

inline void assign(std::int64_t& member, const JsonPlace& value) { member = value.integer(max_dimension); }
inline void assign(int& member, const JsonPlace& value) { member = static_cast<int>(value.integer(max_dimension)); }
inline void assign(bool& member, const JsonPlace& value) { member = value.boolean(); }
inline void assign(std::string& member, const JsonPlace& value) { member = value.string(); }
inline void assign(std::vector<std::string>& member, const JsonPlace& value) { member = value.strings(); }
inline void assign(double& member, const JsonPlace& value) { member = value.number(); }
inline void assign(std::optional<double>& member, const JsonPlace& value) { member = value.number(); }
inline void assign(std::optional<std::int64_t>& member, const JsonPlace& value) {
  member = value.integer(std::numeric_limits<std::int64_t>::max());
}
inline void assign(quantity::FlopRate& member, const JsonPlace& value) { member = quantity::teraflops(value.number()); }
inline void assign(std::optional<quantity::FlopRate>& member, const JsonPlace& value) {
  assign(member.emplace(), value);
}
inline void assign(quantity::Bandwidth& member, const JsonPlace& value) {
  member = quantity::gigabytes_per_second(value.number());
}
inline void assign(std::optional<quantity::Bandwidth>& member, const JsonPlace& value) {
  assign(member.emplace(), value);
}
inline void assign(std::optional<quantity::Money>& member, const JsonPlace& value) {
  member = quantity::dollars(value.number());
}

/// A word of a closed vocabulary.
template <class E>
requires std::is_enum_v<E>
void assign(E& member, const JsonPlace& value) {
  const std::string word = value.string();
  const auto* found = spec::find_name<E>(word);
  if (found == nullptr) value.fail("unknown word '" + word + "'", quantity::did_you_mean(word, spec::all_names<E>()));
  member = found->value;
}

/// The reader of a field whose value goes to the member at the end of a chain of member pointers.
template <auto... members, class Target>
void set(Target& target, const JsonPlace& value) {
  assign((target.*....*members), value);
}

/// The same of what something is divided by.
template <auto... members, class Target>
void set_positive(Target& target, const JsonPlace& value) {
  if (!(value.number() > 0.0)) value.fail("expected a number above 0", "what is not known is left out");
  set<members...>(target, value);
}

/// The same of a part of a whole.
template <auto member, class Target>
void set_share(Target& target, const JsonPlace& value) {
  if (value.number() > 1.0) value.fail("expected a number from 0 to 1");
  set<member>(target, value);
}

/// The same of an object of its own, read by the table of its fields.
template <auto member, const auto& fields, class Target>
void set_group(Target& target, const JsonPlace& value) {
  read_fields(target.*member, value, fields);
}

/// Names are single words, so that they can be typed on a command line and joined in lists.
/// \throws quantity::BadInput for an empty one, white space, ':', ',' and '|'
std::string read_name(const JsonPlace& value);
std::vector<std::string> read_names(const JsonPlace& value);

}  // namespace llmcalc::read
