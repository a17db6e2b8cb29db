// Options of engines, a row each: what it is called, which term of ours says the same, how their values are spelled,
// and in which releases it is there. Commands are read and printed, and misplaced options refused, from the same rows.
#pragma once

#include <string_view>

namespace llmcalc::serving {

/// How an option says its term.
enum class Says {
  value,
  number,  ///< the same, in vLLM's numbers: "32k", "8Gi"
  yes,     ///< it stands by itself where the term is 1
  no,      ///< it stands by itself where the term is 0
  rule,    ///< the rules of its dialect read and print it
  part     ///< the same, and it says its term with other options alone
};

struct EngineOption {
  std::string_view names;  ///< as they are typed, the one that is printed first: "--tensor-parallel-size -tp"
  std::string_view term;
  Says says = Says::value;
  std::string_view words = {};  ///< "theirs=ours ..."; where empty, values are ours already; the first is printed
  std::string_view since = {};  ///< release; empty: before all whose defaults are known
  std::string_view until = {};  ///< the first release without it

  std::string_view printed() const { return names.substr(0, names.find(' ')); }
  /// \param key  as commands and files have it, without dashes in front and with underscores within
  bool is_called(std::string_view key) const;
};

}  // namespace llmcalc::serving
