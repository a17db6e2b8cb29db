// Written by scripts/update-error-bars, which says how; do not edit.
// clang-format off
#include "trust/inner/measured_bars.hpp"

namespace llmcalc::trust {

namespace {

using frameworks::MemoryRuns;
using spec::Framework;

constexpr MeasuredBar of_frameworks[] = {
    {Framework::accelerate, Level::allocated, 0.027, 3},
    {Framework::accelerate, Level::reserved, 0.162, 3},
    {Framework::axolotl, Level::reserved, 0.244, 7},
    {Framework::composer, Level::dense, 0.181, 604},
    {Framework::deepspeed, Level::dense, 0.225, 22},
    {Framework::fms_fsdp, Level::dense, 0.181, 5},
    {Framework::fsdp_qlora, Level::allocated, 0.030, 2},
    {Framework::fsdp_qlora, Level::reserved, 0.199, 12},
    {Framework::hf, Level::allocated, 0.027, 334},
    {Framework::hf, Level::dense, 0.210, 129},
    {Framework::hf, Level::device, 0.124, 165},
    {Framework::hf, Level::reserved, 0.162, 10},
    {Framework::internevo, Level::dense, 0.181, 48},
    {Framework::litgpt, Level::allocated, 0.030, 45},
    {Framework::litgpt, Level::dense, 0.181, 1},
    {Framework::llm_c, Level::dense, 0.181, 49},
    {Framework::maxtext, Level::dense, 0.242, 28},
    {Framework::megatron, Level::allocated, 0.027, 541},
    {Framework::megatron, Level::dense, 0.216, 45},
    {Framework::megatron, Level::mixture, 0.278, 29},
    {Framework::megatron, Level::reserved, 0.162, 12},
    {Framework::megatron_bridge, Level::dense, 0.216, 49},
    {Framework::megatron_bridge, Level::mixture, 0.275, 88},
    {Framework::megatron_deepspeed, Level::dense, 0.181, 858},
    {Framework::nemo, Level::dense, 0.247, 208},
    {Framework::nemo, Level::mixture, 0.275, 38},
    {Framework::pax, Level::dense, 0.259, 26},
    {Framework::torch, Level::dense, 0.181, 18},
    {Framework::torch, Level::reserved, 0.162, 12},
    {Framework::torchtitan, Level::allocated, 0.041, 4},
    {Framework::torchtitan, Level::dense, 0.303, 37},
    {Framework::torchtitan, Level::reserved, 0.162, 39},
    {Framework::torchtune, Level::allocated, 0.030, 17},
    {Framework::torchtune, Level::dense, 0.181, 9},
    {Framework::torchtune, Level::reserved, 0.366, 2},
};

constexpr EngineBar of_engines[] = {
    {MemoryRuns::huggingface, Level::allocated, 0.027},
    {MemoryRuns::huggingface, Level::reserved, 0.162},
    {MemoryRuns::huggingface, Level::device, 0.124},
    {MemoryRuns::huggingface, Level::dense, 0.210},
    {MemoryRuns::huggingface, Level::mixture, 0.275},
    {MemoryRuns::megatron, Level::allocated, 0.027},
    {MemoryRuns::megatron, Level::reserved, 0.162},
    {MemoryRuns::megatron, Level::device, 0.124},
    {MemoryRuns::megatron, Level::dense, 0.216},
    {MemoryRuns::megatron, Level::mixture, 0.275},
    {MemoryRuns::other_torch, Level::allocated, 0.030},
    {MemoryRuns::other_torch, Level::reserved, 0.162},
    {MemoryRuns::other_torch, Level::device, 0.124},
    {MemoryRuns::other_torch, Level::dense, 0.181},
    {MemoryRuns::other_torch, Level::mixture, 0.275},
    {MemoryRuns::textbook, Level::allocated, 0.027},
    {MemoryRuns::textbook, Level::reserved, 0.162},
    {MemoryRuns::textbook, Level::device, 0.124},
    {MemoryRuns::textbook, Level::dense, 0.210},
    {MemoryRuns::textbook, Level::mixture, 0.275},
};

}  // namespace

std::span<const MeasuredBar> measured_bars() { return of_frameworks; }
std::span<const EngineBar> engine_bars() { return of_engines; }

}  // namespace llmcalc::trust
