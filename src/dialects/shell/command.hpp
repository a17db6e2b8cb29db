// What a command line starts, behind the launchers in front of it; those launchers, and the programs that are a trainer
// or a server.
#pragma once

#include "dialects/core/format.hpp"
#include "dialects/reading.hpp"
#include "dialects/shell/shell.hpp"
#include "read/settings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// A program with its arguments.
struct LaunchCommand {
  std::vector<ShellWord> words;           ///< program, or "-m module", first
  Settings launcher;                      ///< of torchrun, accelerate launch, deepspeed, srun: keys "torchrun.nnodes"
  std::vector<std::string> assumed = {};  ///< by whoever made a command of what a file says
  Files files = {};                       ///< that its shell writes
};

/// Takes "env", "nohup", "torchrun ..." and the like away from the front.
LaunchCommand unwrapped(const ShellCommand& command, std::string_view place);

/// Options as settings: "--key=value", "--key value...", "--key", and "key=value" as hydra and torchtune have it.
struct Options {
  Settings settings;
  std::vector<ShellWord> positional;
};
/// \param place  the script, whose lines are the places; or of a typed command what stands in front of the option
Options options_of(const std::vector<ShellWord>& words, std::size_t from, std::string_view place);

/// "train.sh:12", or "command --max-model-len" of a typed one, whose place has no lines.
std::string place_of(std::string_view place, const ShellWord& word, std::string_view flag);

inline constexpr std::string_view typed_place = "command";

/// The last part of a path.
std::string_view base_name(std::string_view path);

/// The words behind a launcher's options.
enum class Behind {
  program,  ///< what it starts
  word,     ///< a word, an image or a time, and what it starts
  image,    ///< an image, and the arguments of what that runs
  named     ///< the same, with a name behind the image
};

/// A program that starts another, and those of its options that take no value.
struct Launcher {
  std::string_view name;   ///< "accelerate launch"
  std::string_view alias;  ///< "accelerate"
  std::string_view switches;
  bool starts_script = true;  ///< what it starts is Python: a file, or a module behind -m
  bool is_program = false;    ///< it is the trainer as well, whose name stays in front
  Behind behind = Behind::program;
};

std::span<const Launcher> launchers();

/// torchrun, deepspeed, srun, mpirun, and the variables CUDA_VISIBLE_DEVICES, NPROC_PER_NODE and NNODES.
void take_processes(const Settings& launcher, Reading& reading);

/// Resources that a container or a batch job is given, where the command itself does not say them: "container.gpus",
/// "slurm.nodes".
void take_machines(const Settings& launcher, Reading& reading);

/// The options of `accelerate launch` under the keys of its configuration file.
Settings accelerate_settings(const Settings& launcher);

/// How a program is called.
struct Starter {
  std::string_view name;  ///< "trl dpo", "axolotl.cli.train"
  Dialect dialect;
  std::string_view algorithm = {};  ///< that its name says
  std::string_view config = {};     ///< the option that names a file of settings; "" where the file stands by itself
};

/// The one whose name the words begin with, and how many words that is; nullptr where nobody knows it.
struct Started {
  const Starter* starter = nullptr;
  std::size_t words = 0;
};
Started starter_of(const std::vector<ShellWord>& words);

/// The algorithm of "dpo_vlm.py" and "train_grpo.py"; empty where the name of a program says none.
std::string_view algorithm_named_in(std::string_view program);

}  // namespace llmcalc::dialects
