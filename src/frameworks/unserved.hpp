// Families that an engine has no code for, or has none any more.
#pragma once

#include "llmcalc/spec/serving.hpp"
#include "llmcalc/spec/software.hpp"

#include <string_view>

namespace llmcalc::frameworks {

struct Unserved {
  std::string_view families;  ///< as their files call them, apart by blanks
  spec::Engine engine;
  spec::Release last;  ///< that served them; zeros: none did
  std::string_view source;
};

/// Row of a family under an engine; null where nothing says that the engine lacks it.
const Unserved* find_unserved(spec::Engine engine, std::string_view family);

}  // namespace llmcalc::frameworks
