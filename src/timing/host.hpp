// What the host takes to hand operations to an accelerator, one after another.
#pragma once

#include "frameworks/profile.hpp"
#include "layers/block.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/training.hpp"

namespace llmcalc::timing {

/// Which release of FSDP gathers the weights, unit by unit.
enum class Units { fsdp1, fsdp2 };

class HostPrices {
 public:
  HostPrices(const spec::HostRates& rates, const spec::Training& training, const frameworks::Profile& profile);

  /// Time to hand one operation over; the host works ahead while the accelerator is busy.
  quantity::Seconds dispatch(const layers::Op& op, bool backward) const;

  /// Time to run an operation's forward pass in a block of which checkpoints are made, the first time or again.
  quantity::Seconds checkpointed(const layers::Op& op, bool again) const;

  /// Time that the hooks of one unit of FSDP take in a pass. \param tensors  of the unit; backward, those trained
  quantity::Seconds hooks(Units units, std::int64_t tensors, bool backward) const;

  bool has_units_of_adapters() const { return units_of_adapters_; }

  /// Time for what could be so many eager operations.
  quantity::Seconds handing_over(double operations) const { return quantity::seconds(operations * operation_); }

  /// How long the accelerator, which works for `busy`, waits for a host that needs `dispatch` to hand that work over.
  quantity::Seconds waiting(quantity::Seconds dispatch, quantity::Seconds busy) const;

 private:
  double operation_;   ///< seconds of an operation of the forward pass
  double uncompiled_;  ///< and of one that no compiler sees
  double module_;      ///< and of a product
  double launch_;      ///< and of each further kernel of the same operation
  double backward_;    ///< over forward
  double routed_;      ///< of operations on routed rows, over others
  bool hands_over_ahead_;
  bool hooks_checkpoints_;
  bool units_of_adapters_;
  spec::CudaGraph graphs_;
};

}  // namespace llmcalc::timing
