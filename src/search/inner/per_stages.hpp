// What is known of each list of stages of a pipeline, made when it is first asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmcalc::search {

/// Storage is kept from pipeline to pipeline.
template <class Walked>
class PerStages {
 public:
  void clear(std::size_t lists) {
    known_.assign(lists, false);
    if (walked_.size() < lists) walked_.resize(lists);
  }

  /// \param walk  makes it, called with what to overwrite
  template <class Walk>
  const Walked& get(std::uint32_t list, const Walk& walk) {
    if (!known_[list]) walk(walked_[list]);
    known_[list] = true;
    return walked_[list];
  }

 private:
  std::vector<bool> known_;
  std::vector<Walked> walked_;
};

}  // namespace llmcalc::search
