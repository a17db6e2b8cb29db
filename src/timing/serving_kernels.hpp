// What the kernels of inference servers take: products of few rows, attention that reads a cache, mixtures of experts,
// all-reduces. Curves measured on parts of each generation, as shares of what the part's data sheet promises.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmcalc::timing {

/// Types in which activations meet weights. "half_by": the kernel widens the weights' codes and multiplies in 16 bits.
enum class Operands { half, fp8, fp8_block, int8, nvfp4, half_by_int4, half_by_mxfp4, fp8_by_mxfp4 };

struct ServingProduct {
  double rows = 0;  ///< of the activations
  double n = 0;
  double k = 0;
  double weight_bytes = 0;  ///< of the matrix at rest
};

/// Reads and FLOPs of one layer's attention in a step that makes one token of each sequence.
struct CacheRead {
  double bytes = 0;
  double flops = 0;
  double positions = 0;  ///< of one sequence
};

/// Work of one layer's attention for the prompt's tokens.
struct PromptAttention {
  double flops = 0;  ///< that the mask leaves
  double moved = 0;  ///< bytes of q, k, v and output
  double positions = 0;
  std::int64_t head_dim = 128;
};

/// The routed experts of one layer on one rank.
struct MixtureWork {
  double sent = 0;          ///< rows that its experts receive together
  double active = 0;        ///< of its experts, those that receive any
  double weight_bytes = 0;  ///< of the active ones
  double flops = 0;
  double hidden_bytes = 0;  ///< hidden states of the tokens, in 16 bits
};

class ServingKernels {
 public:
  /// \param engine  whose kernels multiply, by its name in the tables
  ServingKernels(const spec::Accelerator& gpu, std::string_view engine);

  quantity::Seconds product(const ServingProduct& product, Operands operands) const;
  /// \param narrow  keys and values in 8 bits
  quantity::Seconds decode_attention(const CacheRead& read, bool narrow) const;
  quantity::Seconds prompt_attention(const PromptAttention& work, bool narrow) const;
  quantity::Seconds decode_latent(const CacheRead& read, bool narrow) const;
  quantity::Seconds prompt_latent(const PromptAttention& work, bool narrow) const;
  quantity::Seconds mixture(const MixtureWork& work, Operands operands) const;
  quantity::Seconds all_reduce(double bytes, std::int64_t ranks) const;
  /// Time of a kernel that only moves bytes.
  quantity::Seconds stream(double bytes) const;

  /// The part whose measured curves these are.
  std::string_view measured_on() const { return measured_on_; }
  /// Whether that is the part itself, and more of it was measured than products in few bits.
  bool is_measured() const { return is_measured_; }

 private:
  /// Curves in absolute units: microseconds, FLOP and bytes in a microsecond.
  struct Product {
    double floor, tile, bytes, flops, half_rows, passes, tile_per_row;
  };
  struct Decode {
    double floor, doubling, bytes, flops;
    double operator()(const CacheRead& read) const;
  };
  struct Prompt {
    double floor, flops, passes, heads_of_64, heads_of_256;
  };

  quantity::Seconds mixture_by(const Product& curve, const MixtureWork& work) const;
  void take_products(const spec::Accelerator& gpu, std::string_view engine);
  void take_attention(const spec::Accelerator& gpu, std::string_view engine);
  void take_mixtures(const spec::Accelerator& gpu, std::string_view engine);
  void take_links(const spec::Accelerator& gpu);
  void take_pcie(double own);
  void take_host(double own);

  static constexpr std::size_t kinds = 8;
  static constexpr std::size_t sizes = 17;
  static constexpr std::size_t groups = 3;  ///< 2, 4 and 8 ranks
  struct Reduced {
    std::array<double, sizes> times{};
    double slowdown = 1.0;  ///< of what moves, beside the measured link
  };
  std::string_view measured_on_;
  bool is_measured_ = false;
  double bytes_ = 0;         ///< of memory in a microsecond, of the data sheet
  double stream_share_ = 0;  ///< of those that kernels reach which only move bytes
  std::array<Product, kinds> products_{};
  std::array<Product, kinds> mixtures_{};
  std::array<Decode, 2> decode_{};
  std::array<Decode, 2> decode_latent_{};
  std::array<Prompt, 2> prompt_{};
  std::array<Prompt, 2> prompt_latent_{};
  std::array<Reduced, groups> all_reduce_{};
};

}  // namespace llmcalc::timing
