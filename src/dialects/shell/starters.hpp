// The programs whose arguments are understood.
#pragma once

#include "dialects/core/format.hpp"
#include "dialects/shell/shell.hpp"

#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// How a program is called.
struct Starter {
  std::string_view name;  ///< "trl dpo", "axolotl.cli.train"
  const Format& (*format)();
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
