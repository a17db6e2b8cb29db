// Written by scripts/update-error-bars, which says how; do not edit.
// clang-format off
#include "trust/inner/measured_bars.hpp"

namespace llmcalc::trust {

namespace {

using frameworks::MemoryRuns;
using spec::Framework;

constexpr MeasuredMemory of_memory[] = {
    {Framework::accelerate, Tuned::adapters, 0.06, 2, 0.31, 2},
    {Framework::accelerate, Tuned::four_bits, 0.06, 1, 0.31, 1},
    {Framework::axolotl, Tuned::adapters, 0.06, 0, 0.31, 1},
    {Framework::axolotl, Tuned::four_bits, 0.06, 0, 0.31, 5},
    {Framework::axolotl, Tuned::whole, 0.06, 0, 0.31, 1},
    {Framework::fsdp_qlora, Tuned::adapters, 0.06, 2, 0.31, 6},
    {Framework::fsdp_qlora, Tuned::four_bits, 0.06, 0, 0.31, 6},
    {Framework::hf, Tuned::adapters, 0.05, 82, 0.08, 50},
    {Framework::hf, Tuned::four_bits, 0.05, 184, 0.17, 90},
    {Framework::hf, Tuned::whole, 0.05, 68, 0.16, 35},
    {Framework::litgpt, Tuned::adapters, 0.06, 22, 0.31, 0},
    {Framework::litgpt, Tuned::four_bits, 0.06, 14, 0.31, 0},
    {Framework::litgpt, Tuned::whole, 0.06, 9, 0.31, 0},
    {Framework::megatron, Tuned::whole, 0.04, 541, 0.27, 12},
    {Framework::ms_swift, Tuned::adapters, 0.05, 0, 0.97, 43},
    {Framework::ms_swift, Tuned::four_bits, 0.05, 0, 1.28, 6},
    {Framework::ms_swift, Tuned::whole, 0.05, 0, 1.28, 9},
    {Framework::torch, Tuned::adapters, 0.06, 0, 0.31, 5},
    {Framework::torch, Tuned::four_bits, 0.06, 0, 0.31, 5},
    {Framework::torch, Tuned::whole, 0.06, 0, 0.31, 2},
    {Framework::torchtitan, Tuned::whole, 0.06, 4, 0.31, 39},
    {Framework::torchtune, Tuned::adapters, 0.18, 3, 0.31, 1},
    {Framework::torchtune, Tuned::four_bits, 0.18, 2, 0.31, 1},
    {Framework::torchtune, Tuned::whole, 0.18, 12, 0.31, 0},
    {Framework::unsloth, Tuned::four_bits, 0.05, 0, 0.82, 4},
};

constexpr FamilyMemory of_families[] = {
    {MemoryRuns::huggingface, 0.05, 334, 1.28, 237},
    {MemoryRuns::megatron, 0.04, 541, 0.27, 12},
    {MemoryRuns::other_torch, 0.18, 71, 0.31, 75},
};

constexpr MeasuredTime of_time[] = {
    {Framework::composer, false, "Ampere", 0.25, 566},
    {Framework::composer, false, "Hopper", 0.25, 68},
    {Framework::deepspeed, false, "Ampere", 0.30, 21},
    {Framework::deepspeed, false, "Hopper", 0.45, 1},
    {Framework::fms_fsdp, false, "Ampere", 0.30, 2},
    {Framework::fms_fsdp, false, "Hopper", 0.30, 3},
    {Framework::hf, false, "Ada", 0.31, 13},
    {Framework::hf, false, "Ampere", 0.25, 116},
    {Framework::internevo, false, "Ampere", 0.19, 48},
    {Framework::litgpt, false, "Ampere", 0.30, 1},
    {Framework::llm_c, false, "Ada", 0.15, 18},
    {Framework::llm_c, false, "Ampere", 0.18, 1},
    {Framework::llm_c, false, "Blackwell", 0.06, 21},
    {Framework::llm_c, false, "Hopper", 0.18, 9},
    {Framework::maxtext, false, "Hopper", 0.30, 17},
    {Framework::maxtext, false, "TPU", 0.32, 11},
    {Framework::megatron, false, "Ampere", 0.09, 21},
    {Framework::megatron, false, "Blackwell", 0.15, 15},
    {Framework::megatron, false, "Hopper", 0.18, 7},
    {Framework::megatron, false, "Volta", 0.18, 2},
    {Framework::megatron, true, "Blackwell", 0.43, 9},
    {Framework::megatron, true, "Hopper", 0.31, 20},
    {Framework::megatron_bridge, false, "Blackwell", 0.19, 39},
    {Framework::megatron_bridge, false, "Hopper", 0.19, 10},
    {Framework::megatron_bridge, true, "Blackwell", 0.35, 76},
    {Framework::megatron_bridge, true, "Hopper", 0.35, 12},
    {Framework::megatron_deepspeed, false, "Ampere", 0.20, 843},
    {Framework::megatron_deepspeed, false, "Volta", 0.67, 15},
    {Framework::nemo, false, "Ada", 0.26, 2},
    {Framework::nemo, false, "Blackwell", 0.18, 39},
    {Framework::nemo, false, "CDNA3", 0.26, 2},
    {Framework::nemo, false, "CDNA4", 0.26, 3},
    {Framework::nemo, false, "Hopper", 0.22, 162},
    {Framework::nemo, true, "Blackwell", 0.24, 14},
    {Framework::nemo, true, "Hopper", 0.20, 24},
    {Framework::pax, false, "Ampere", 0.39, 9},
    {Framework::pax, false, "Hopper", 0.28, 17},
    {Framework::torch, false, "Ada", 0.27, 2},
    {Framework::torch, false, "Ampere", 0.19, 12},
    {Framework::torch, false, "Pascal", 0.27, 4},
    {Framework::torchtitan, false, "Ampere", 0.35, 5},
    {Framework::torchtitan, false, "CDNA3", 0.35, 3},
    {Framework::torchtitan, false, "Hopper", 0.35, 29},
    {Framework::torchtune, false, "Ampere", 0.30, 9},
    {Framework::composer, false, "", 0.30, 634},
    {Framework::deepspeed, false, "", 0.45, 22},
    {Framework::fms_fsdp, false, "", 0.30, 5},
    {Framework::hf, false, "", 0.37, 129},
    {Framework::internevo, false, "", 0.23, 48},
    {Framework::litgpt, false, "", 0.30, 1},
    {Framework::llm_c, false, "", 0.18, 49},
    {Framework::maxtext, false, "", 0.38, 28},
    {Framework::megatron, false, "", 0.18, 45},
    {Framework::megatron, true, "", 0.43, 29},
    {Framework::megatron_bridge, false, "", 0.23, 49},
    {Framework::megatron_bridge, true, "", 0.42, 88},
    {Framework::megatron_deepspeed, false, "", 0.29, 858},
    {Framework::nemo, false, "", 0.26, 208},
    {Framework::nemo, true, "", 0.24, 38},
    {Framework::pax, false, "", 0.39, 26},
    {Framework::torch, false, "", 0.27, 18},
    {Framework::torchtitan, false, "", 0.35, 37},
    {Framework::torchtune, false, "", 0.30, 9},
};

constexpr FamilyTime of_time_families[] = {
    {MemoryRuns::huggingface, false, 0.47, 129},
    {MemoryRuns::huggingface, true, 0.53, 0},
    {MemoryRuns::megatron, false, 0.29, 1257},
    {MemoryRuns::megatron, true, 0.53, 155},
    {MemoryRuns::other_torch, false, 0.37, 726},
    {MemoryRuns::other_torch, true, 0.53, 0},
    {MemoryRuns::textbook, false, 0.50, 54},
    {MemoryRuns::textbook, true, 0.53, 0},
};

}  // namespace

std::span<const MeasuredMemory> measured_memory() { return of_memory; }
std::span<const FamilyMemory> family_memory() { return of_families; }
std::span<const MeasuredTime> measured_time() { return of_time; }
std::span<const FamilyTime> family_time() { return of_time_families; }

}  // namespace llmcalc::trust
