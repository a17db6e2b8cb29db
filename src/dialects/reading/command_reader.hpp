// Reads the command that a script or a person's line starts.
#pragma once

#include "dialects/core/sheet.hpp"
#include "dialects/reading.hpp"
#include "dialects/shell/command.hpp"
#include "read/settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

class CommandReader {
 public:
  CommandReader(const Reader& reader, const FindFile& find, std::string_view place)
      : reader_(reader), find_(find), place_(place) {}

  /// \param job  what a scheduler or a container says of the machines
  /// Empty for a command that starts no trainer or server.
  std::optional<Reading> read(const ShellCommand& command, const Settings& job = {});

 private:
  /// With the configuration that `accelerate launch` is given, in a file or in its options.
  void take_accelerate(const Settings& launcher, std::vector<Reading>& readings) const;
  /// The options with those of the file below them that one of them, or a word by itself, names.
  Settings with_file(Options options, std::string_view key);
  bool add_file(const std::string& path, const std::string& where, std::vector<Settings>& files);

  const Reader& reader_;
  const FindFile& find_;
  std::string place_;
  std::vector<spec::Assumption> assumptions_;
};

/// `ollama serve`, which loads what `ollama run` names; `ollama create` names what a Modelfile says.
bool calls_ollama(const ShellCommand& command, std::string_view verb);

/// Of several programs that a file starts the first is asked about, and the others are named.
void name_further(const ShellCommand& command, std::string_view place, Reading& first);

}  // namespace llmcalc::dialects
