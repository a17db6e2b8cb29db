// What people already have, as a question: files of trainers and servers, their command lines, scripts around them.
#pragma once

#include "read/checkpoint.hpp"
#include "read/words.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

using namespace read;

/// One thing as it was understood. Its words are defaults: those of the command line win.
struct Reading {
  std::string kind;                           ///< "axolotl configuration"
  std::string place;                          ///< the file's name, or "--from"
  std::vector<Given> words;                   ///< with the line or key of each
  std::vector<Given> open;                    ///< terms whose value nobody knows; the text says on what it hangs
  std::vector<Given> in_folders;              ///< of them, paths of which nobody knows the folder alone
  std::vector<spec::Assumption> assumptions;  ///< keys that move the answer and have no term, and what was assumed
  std::vector<std::string> unread;            ///< keys that nobody knows, with their places
  std::vector<spec::Word> missing;            ///< files that were named and not found, by their option
  std::optional<ConfigText> config;           ///< the model's own config.json, where the thing holds one
  std::optional<Checkpoint> weights;          ///< where the thing holds weights
  std::string_view usual_framework = {};      ///< whose allocations are meant where no file says a framework
  std::string hub_name = {};                  ///< "org/name", where the model is one of the Hub
  bool serves = false;                        ///< it starts a server and trains nothing
};

/// A file that another one names ("deepspeed: ds_config.json"), or nothing where it may not be read.
struct NamedFile {
  std::string place;
  std::string text;
};
using FindFile = std::function<std::optional<NamedFile>(const std::string& path)>;
/// Where none may be read.
inline const FindFile no_files = [](const std::string&) { return std::optional<NamedFile>(); };

/// A file's text. What it is, is recognized by its content.
/// \param place  the file's name, for origins and messages
/// \throws quantity::BadInput when it is none that is known, or what it says cannot be understood
Reading read_launch_file(std::string_view text, std::string_view place, const FindFile& find);

/// The model as its weights alone tell of it.
/// \param place  the file's name, for origins
Reading weights_alone(Checkpoint weights, std::string place);

/// hf_quant_config.json, which NVIDIA's ModelOpt writes beside a config.json that does not say it: the word --quant.
void add_stored_quant(std::string_view text, std::string_view place, Reading& reading);

/// Options that a key or flag of a trainer or server stands for, whichever says it: "micro-batch" for
/// "per_device_train_batch_size".
std::vector<std::string> options_of_key(std::string_view key);

/// True for a text whose first words start a trainer or a server.
bool is_launch_command(std::string_view text);

/// A command as it is typed into a shell. Nothing is executed.
Reading read_launch_command(std::string_view text, std::string_view place, const FindFile& find);

/// Several things together: later ones win, and where they disagree an assumption names both.
Reading merge(std::vector<Reading> readings);

/// The words of a command line on top of those of files: an option wins over everything that says the same in other
/// words.
/// \throws quantity::BadInput for a term that is open and that no option says
std::vector<Given> with_options(const Reading& reading, const std::vector<Given>& options);

/// Words of files about their data, of no use as nobody says how many samples there are.
/// \param words  those that with_options gave
std::vector<spec::Assumption> unused_data(const Reading& reading, const std::vector<Given>& words);

}  // namespace llmcalc::dialects
