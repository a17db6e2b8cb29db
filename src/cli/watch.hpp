// Something that somebody waits for: how far it is, on stderr, and Ctrl-C.
#pragma once

#include "api/surroundings.hpp"

#include <chrono>
#include <string_view>

namespace llmcalc::cli {

/// A line on stderr that shows after half a second, is renewed ten times a second, and is gone with its object.
class Notice {
 public:
  Notice() = default;
  ~Notice();
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  /// Whether a new text would be shown now.
  bool is_due() const { return std::chrono::steady_clock::now() >= next_; }
  void show(std::string_view text);

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
};

/// Ctrl-C ends the work with what it has so far.
/// \param draws  how far it is
void watch(const std::function<void(const api::GoesOn&)>& work, bool draws);

}  // namespace llmcalc::cli
