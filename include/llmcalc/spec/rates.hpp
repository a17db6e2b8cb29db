// What kernels and hosts of one kind of accelerator were measured to reach: the numbers by which time is told; and
// what a generation of them can do.
// presets/README.md has the same with the names of the fields in a file, presets/rates the numbers and their sources.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace llmcalc::spec {

/// How fast the library multiplies matrices, alone. Shares are of the dense peak of the type.
struct ProductRates {
  double tile = 0.0;       ///< that one tile of 256 x 128 reaches once its pipeline is full; 0: only `ceiling` is known
  double ceiling = 0.0;    ///< that large products reach as a whole
  double best_tile = 0.0;  ///< that no tile exceeds, however much power it has
  double fill = 0.0;       ///< what it takes to fill and drain a tile's pipeline, as so many 16-bit elements of k
  double whole_waves = 0.0;  ///< 1: the last wave of tiles takes as long as a full one; 0: work is spread evenly
  double narrow = 0.0;       ///< share of products in less than 16 bit over that of 16-bit ones
  double four_bits = 1.0;    ///< and of 4-bit ones over those
};

/// Shares of those rates that are left inside a training run.
struct RunRates {
  double products = 0.0;  ///< of 16-bit products, over alone
  double narrow = 0.0;    ///< the same of 8- and 4-bit ones
  double large = 0.0;     ///< and of large products when there is nothing else, over the others
};

/// How the clock follows the power that a part has for each FLOP.
struct PowerRates {
  double watts = 0.0;       ///< of the measured part; 0: not known to be limited by power
  quantity::FlopRate peak;  ///< its dense 16-bit peak
  double exponent = 0.0;
};

/// How fast a fused attention kernel works.
struct AttentionRates {
  double share = 0.0;        ///< of the peak, with long sequences and heads of 128; 0: by `of_products`
  double fixed_keys = 0.0;   ///< what a query costs before its first key, as so many keys
  double exponential = 0.0;  ///< what the exponential of a score costs, as so many elements of a head
  double queries = 0.0;      ///< in one block of the forward kernel
};

struct AttentionKernels {
  double of_products = 0.0;  ///< share that kernels reach of what products reach, where they were not measured
  AttentionRates native;     ///< of the kernel written for this generation
  AttentionRates flash_2;    ///< of FlashAttention-2
};

/// Shares of the memory's bandwidth.
struct MemoryRates {
  double kernels = 0.0;    ///< that large kernels reach
  double eager = 0.0;      ///< and PyTorch's own ones
  double cached = 0.0;     ///< and those on what the cache holds
  double permuting = 0.0;  ///< kernels that gather and scatter rows, over those that do not
};

struct KernelRates {
  quantity::Seconds start;         ///< what a kernel takes beside its work
  quantity::Seconds further_call;  ///< and each further product of an operation that is many
};

/// Times of the machine around it.
struct HostRates {
  quantity::Seconds operation;     ///< to hand over an eager operation that is one kernel
  quantity::Seconds module;        ///< a module around a product
  quantity::Seconds heavy_module;  ///< the same of a framework whose modules do more
  double backward = 0.0;           ///< over forward
  double compiled = 0.0;           ///< over eager
  quantity::Seconds launch;        ///< of each further kernel of an operation
  double pinned = 0.0;             ///< share of the link that copies to the host reach
  quantity::Seconds update;        ///< of one parameter by Adam on the host
  quantity::Bandwidth drive;       ///< of one node's drives
};

struct MeasuredRates {
  ProductRates products;
  RunRates run;
  PowerRates power;
  double units = 0.0;  ///< that work on tiles at the same time, of parts that do not say
  AttentionKernels attention;
  MemoryRates memory;
  KernelRates kernels;
  HostRates host;
};

struct Rates : MeasuredRates {
  std::string id;
  std::string measured;    ///< the part that was measured
  std::string operations;  ///< whose curves under presets/operations tell the speed of servers

  bool stands_in = false;  ///< no part of its kind was measured

  /// Whether anything was looked up; an accelerator that was put together by hand has none.
  bool known() const { return !id.empty(); }
};

/// How fast llama.cpp is on a generation's parts. Of a product's bandwidth and peak it reaches shares.
struct GgmlRates {
  double half = 0.0;         ///< of the bandwidth, by products with one row and 16-bit weights
  double codes = 0.0;        ///< and by quantized ones
  double unpacked = 0.0;     ///< bytes of quantized weights unpacked for each FLOP of the fp32 peak; 0: any
  double cache = 0.0;        ///< of the bandwidth, by attention without a fused kernel
  quantity::Seconds layer;   ///< a layer's launches
  quantity::Seconds fused;   ///< and since several kernels were made one
  quantity::Seconds token;   ///< a token: sampling, and the graph
  quantity::Seconds card;    ///< each card more that a token passes
  double prompt_half = 0.0;  ///< of the peak, by prompts with 16-bit weights
  double prompt = 0.0;       ///< and with quantized ones
  double scores = 0.0;       ///< passes over fp32 scores, which attention without a fused kernel writes out
  double cards = 0.0;        ///< what a pipeline over cards loses
  double activations = 0.0;  ///< passes over fp32 activations
  quantity::Seconds chunk;   ///< a layer's launches for a chunk of a prompt

  bool known() const { return codes > 0.0; }
};

/// Abilities that some generations of accelerators have and others lack: presets/generations, each with its source.
enum class Ability : std::uint8_t {
  flash_attention,          ///< FlashAttention has kernels for it
  triton_attention,         ///< PyTorch's fused attention was compiled from Triton
  narrow_attention,         ///< attention kernels multiply in 8 bits
  large_workspaces,         ///< cuBLAS takes 32 MiB a handle
  grows_segments,           ///< PyTorch's allocator extends what it has
  nccl,                     ///< NCCL, or RCCL, which is a fork of it
  multicast,                ///< its switch reduces and copies
  codes,                    ///< kernels unpack weights of AWQ and in 8 bits
  nvfp4,                    ///< and of 4-bit floats with NVIDIA's scales
  mixtures_in_mxfp4,        ///< kernels of routed experts read MXFP4 as it is
  grouped_products,         ///< PyTorch multiplies the rows of all experts in one kernel
  states_in_prompts,        ///< kernels of gated delta nets hand out states inside a prompt
  fused_ggml,               ///< llama.cpp joins kernels on it
  prompt_graphs,            ///< SGLang replays graphs of prompts on it
  torch_servers,            ///< vLLM and SGLang run on it
  small_steps,              ///< vLLM gives its parts fewer tokens a step, however large they are
  measured_servers,         ///< kernels of servers were measured on parts of it
  measured_runs,            ///< what runs of trainers take of its memory was measured
  any_order,                ///< 8-bit products take the summed dimension of their factors first or last
  flash_for_equal_results,  ///< cuDNN has no backward pass with equal results in all runs: Transformer Engine goes
                            ///< round it
  superchip,                ///< the same since it tells them by their host
  eager,                    ///< takes kernel after kernel; others run whole programs that XLA compiled
};

/// Numbers of a generation that are no rates of kernels.
struct GenerationFacts {
  std::uint64_t abilities = 0;  ///< a bit for each
  std::int64_t year = 0;
  quantity::Bytes driver_keeps;    ///< of the marketed memory
  quantity::Bytes ggml_context;    ///< that llama.cpp's runtime holds
  std::int64_t largest_graph = 0;  ///< sequences of the largest step that vLLM captures
  double prompts_in_a_row = 1.0;   ///< time of prompts one after another over that of their kernels
  GgmlRates ggml;

  bool can(Ability ability) const { return (abilities >> static_cast<unsigned>(ability) & 1U) != 0; }
};

struct Generation : GenerationFacts {
  std::string_view id;
  std::string_view ggml_of;  ///< the generation whose parts llama.cpp was measured on
  std::string_view arch;     ///< with which the architecture of its parts begins
  bool is_nearest = false;   ///< the accelerator's own is not known: this one stands for it
  bool ggml_is_nearest = false;
};

}  // namespace llmcalc::spec
