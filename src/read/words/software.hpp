// Software stacks as people write them.
#pragma once

#include "llmcalc/spec/software.hpp"

#include <string>
#include <string_view>

namespace llmcalc::read {

/// Reads "transformers==4.40.0", "torch 2.4, 2024-08", "Megatron-LM core_v0.12.0", "NeMo container 25.09", "Sep 2020",
/// and takes the same out of longer text. What is none of these is in `unread`.
spec::Software read_software(std::string_view text);

/// What was understood, in words that read_software() reads again: "transformers 4.40.0, torch 2.4, 2024-08".
std::string write_software(const spec::Software& software);

}  // namespace llmcalc::read
