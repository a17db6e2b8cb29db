// What trainers and servers call the options of a run.
#pragma once

#include <string_view>
#include <vector>

namespace llmcalc::read {

/// The options that another program's name stands for, of a trainer's first: "micro-batch" and "concurrency" of
/// "batch-size". Underscores count as dashes.
std::vector<std::string_view> synonyms_of(std::string_view name);

/// What to say in the place of another program's switch that is no option here: "--method qlora" of "qlora"; empty
/// where the name is nobody's.
std::string_view saying_of(std::string_view name);

}  // namespace llmcalc::read
