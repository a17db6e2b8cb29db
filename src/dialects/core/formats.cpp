#include "dialects/core/formats.hpp"

namespace llmcalc::dialects {

std::span<const Format* const> file_formats() {
  static const Format* const all[] = {&accelerate_format(),    &deepspeed_format(), &torchtune_format(),
                                      &torchtitan_format(),    &unsloth_format(),   &litgpt_format(),
                                      &nemo_format(),          &lightning_format(), &axolotl_format(),
                                      &megatron_format(),      &ms_swift_format(),  &llama_factory_server_format(),
                                      &llama_factory_format(), &trainer_format(),   &sglang_format(),
                                      &trtllm_format(),        &vllm_format()};
  return all;
}

}  // namespace llmcalc::dialects
