// An accelerator that may stand in the place of another, read from its preset once somebody looks at more than its
// memory.
#pragma once

#include "llmcalc/spec/accelerator.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace llmcalc::spec {

class ProposedAccelerator {
 public:
  ProposedAccelerator(quantity::Bytes usable, std::function<Accelerator()> read)
      : memory_usable(usable), read_(std::move(read)) {}

  const Accelerator& operator*() const {
    if (!known_) known_ = read_();
    return *known_;
  }
  const Accelerator* operator->() const { return &**this; }

  quantity::Bytes memory_usable;

 private:
  std::function<Accelerator()> read_;
  mutable std::optional<Accelerator> known_;
};

}  // namespace llmcalc::spec
