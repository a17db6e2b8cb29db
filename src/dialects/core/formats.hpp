// The formats that are known, each in its file.
#pragma once

#include "dialects/core/format.hpp"

#include <span>

namespace llmcalc::dialects {

const Format& accelerate_format();
const Format& axolotl_format();
const Format& deepspeed_format();
const Format& lightning_format();
const Format& litgpt_format();
const Format& llama_factory_format();
const Format& megatron_format();
const Format& ms_swift_format();
const Format& ms_swift_megatron_format();
const Format& nemo_format();
const Format& torchtitan_format();
const Format& torchtune_format();
const Format& trainer_format();
const Format& unsloth_format();

const Format& llama_factory_server_format();
const Format& llama_server_format();
const Format& modelfile_format();
const Format& ollama_create_format();
const Format& ollama_format();
const Format& sglang_format();
const Format& trtllm_format();
const Format& vllm_format();

/// Those that a file of settings may be in, the most particular first.
std::span<const Format* const> file_formats();

}  // namespace llmcalc::dialects
