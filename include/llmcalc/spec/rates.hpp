// What kernels and hosts of one kind of accelerator were measured to reach: the numbers by which time is told.
// presets/README.md has the same with the names of the fields in a file, presets/rates the numbers and their sources.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <string>

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

/// What of that is left inside a training run.
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

/// What the machine around it takes.
struct HostRates {
  quantity::Seconds operation;     ///< to hand over an eager operation that is one kernel
  quantity::Seconds module;        ///< a module around a product
  quantity::Seconds heavy_module;  ///< the same of a framework whose modules do more
  double backward = 0.0;           ///< over forward
  double compiled = 0.0;           ///< over eager
  std::int64_t newer_since = 0;    ///< hosts of accelerators of that year and later
  double newer = 0.0;              ///< take so much of the others' time
  quantity::Seconds newer_launch;  ///< of each further kernel of an operation
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

  /// Whether anything was looked up; an accelerator that was put together by hand has none.
  bool known() const { return !id.empty(); }
};

}  // namespace llmcalc::spec
