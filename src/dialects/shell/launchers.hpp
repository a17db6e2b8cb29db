// The programs that start others.
#pragma once

#include <span>
#include <string_view>

namespace llmcalc::dialects {

/// What stands behind a launcher's options.
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

}  // namespace llmcalc::dialects
