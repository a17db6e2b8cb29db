// Keys with their values, whatever they were written in: a table's key is "fsdp_config.version", a flag's is its name.
#pragma once

#include "read/node.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct Setting {
  std::string key;                 ///< with '_' where a flag has '-'
  std::string text;                ///< a list's items joined by commas; empty where nothing is said
  std::vector<std::string> items;  ///< of a list
  std::string where;
  std::string unknown = {};  ///< a shell variable that the value hangs on and nobody set
};

class Settings {
 public:
  /// Takes the place of an earlier one of the same key.
  /// \throws quantity::BadInput at a setting beyond `most_settings`
  void put(Setting setting);

  void remove(std::string_view key);

  const Setting* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const std::vector<Setting>& all() const { return all_; }
  std::vector<Setting>& all() { return all_; }

 private:
  std::vector<Setting> all_;
};

/// "a-b" is "a_b".
std::string with_underscores(std::string_view name);

/// The values below a table, each under its dotted key. Those that are null are left out.
Settings flat(const Node& table);

/// Puts values in the place of "${key}", as OmegaConf does (torchtune); what names no value stays as it is.
void interpolate(Settings& settings);

}  // namespace llmcalc::read
