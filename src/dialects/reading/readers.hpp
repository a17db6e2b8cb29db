// The command that a script or a person's line starts, read; and what a text without a name is: how it is written,
// whose settings it holds, a file of a model itself, a program.
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

struct Format;

class CommandReader {
 public:
  CommandReader(const Reader& reader, const FindFile& find, std::string_view place)
      : reader_(reader), find_(find), place_(place) {}

  /// \param job  what a scheduler or a container says of the machines
  /// Empty for a command that starts no trainer or server.
  std::optional<Reading> read(const ShellCommand& command, const Settings& job = {});

 private:
  /// Takes the configuration that `accelerate launch` is given, in a file or in its options.
  void take_accelerate(const Settings& launcher, std::vector<Reading>& readings) const;
  /// The options with those of the file below them that one of them, or a word by itself, names.
  Settings with_file(Options options, std::string_view key);
  bool add_file(const std::string& path, const std::string& where, std::vector<Settings>& files);

  const Reader& reader_;
  const FindFile& find_;
  std::string place_;
  std::vector<spec::Assumption> assumptions_;
  std::vector<spec::Word> missing_;
};

/// `ollama serve`, which loads what `ollama run` names; `ollama create` names what a Modelfile says.
bool calls_ollama(const ShellCommand& command, std::string_view verb);

/// The first of several programs that a file starts is asked about, and the others are named.
/// \param which  of them is asked about
void name_further(const ShellCommand& command, std::string_view place, Reading& first, std::string_view which);
/// Whether it starts a trainer that is known: what a script is about, whatever servers it starts beside it.
bool starts_training(const ShellCommand& command, std::string_view place);

/// The next line, trimmed, that is no comment; false at the end of the text.
bool take_line(std::string_view& text, std::string_view& line);

bool looks_like_shell(std::string_view text);

/// Whether the text is a Dockerfile, whose FROM is no model.
bool looks_like_dockerfile(std::string_view text);

/// The commands in the code blocks of a Markdown page, or those that a unit of systemd starts, on the lines where they
/// stand; nothing where a text is neither.
std::optional<std::string> commands_in(std::string_view text);

/// Commands of batch files, Makefiles and justfiles as a script of a shell, on the lines where they stand; nothing
/// where a text is none of them.
std::optional<std::string> commands_in_rules(std::string_view text);

/// The command of a container of the image that a Dockerfile builds, in the same way; nothing where that is left to
/// whoever runs it.
std::optional<std::string> command_of_image(std::string_view dockerfile);

/// YAML and TOML begin with a key, JSON with a brace: its first line that says anything.
bool begins_like_settings(std::string_view text);

/// A file's settings, whatever it is written in; no table where it is in none of those ways.
Node parse_settings(std::string_view text, std::string_view place);

/// wandb's config.yaml keeps each argument below `value`.
void unwrap_wandb(Settings& settings);

/// Whose arguments a class holds, and the algorithm of the trainer whose configuration it is, by the words of
/// `arguments_of` and `algorithm`: "trl.trainer.dpo_config DPOConfig", "axolotl.core.training_args AxolotlKTOConfig".
void name_trainer(std::string_view python_class, Settings& settings);

/// Whose settings they are; nullptr where nobody knows them.
const Format* format_of(const Settings& settings);

/// Whether the line begins as one of a Python program does that stands outside of any block.
bool is_line_of_python(std::string_view line);
/// \throws quantity::BadInput where the text is Python, whose hint is made of what stands in it as plain values
void refuse_python(std::string_view text, std::string_view place);
/// Lines that a notebook of Jupyter hands to a shell; nothing where the file is none.
/// \throws quantity::BadInput where no trainer or server is started so, as of a program
std::optional<std::string> commands_in_notebook(const Node& file, std::string_view text, std::string_view place);

/// \param text  what `file` was parsed from
std::optional<Reading> model_file(const Node& file, std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
