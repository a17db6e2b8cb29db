// What trainers and servers call the options of a run.
#pragma once

#include <string_view>

namespace llmcalc::read {

/// The option that another program's name stands for: "micro-batch" of "per-device-train-batch-size"; empty where the
/// name is nobody's. Underscores count as dashes.
std::string_view synonym_of(std::string_view name);

/// What to say in the place of another program's switch that is no option here: "--method qlora" of "qlora"; empty
/// where the name is nobody's.
std::string_view saying_of(std::string_view name);

}  // namespace llmcalc::read
