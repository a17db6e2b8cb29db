// What the commands of engines have in common.
#pragma once

#include "dialects/core/format.hpp"

#include <initializer_list>
#include <string_view>

namespace llmcalc::dialects {

/// vLLM's numbers: k, m and g are decimal, K, M and G binary (vllm/engine/arg_utils.py, human_readable_int).
void take_human_number(Sheet& sheet, std::initializer_list<std::string_view> keys, std::string_view term);

/// The model, which is a word by itself or an option.
void take_served_model(Sheet& sheet, std::initializer_list<std::string_view> keys);

/// --speculative-config as JSON: {"method": "eagle3", "num_speculative_tokens": 3}.
void take_speculation(Sheet& sheet, std::string_view key);

/// --dtype, as vLLM and SGLang have it: how weights rest that nothing quantizes. bfloat16 is the type of the products
/// as well, and of the weights only where they are not published quantized: it says nothing.
void take_weight_type(Sheet& sheet);

/// No command says how it is used.
void assume_load(Sheet& sheet);

}  // namespace llmcalc::dialects
