// How long a trainer's file says that it trains: steps, or epochs of data whose size it may say.
#pragma once

#include "read/launch/sheet.hpp"

#include <initializer_list>
#include <string_view>

namespace llmcalc::read {

/// The keys of one trainer.
struct LengthKeys {
  std::string_view steps;  ///< optimizer steps; empty or below one where epochs count
  std::string_view epochs;
  std::initializer_list<std::string_view> packing = {};
  std::string_view samples = {};  ///< cuts each of its data sets to so many
};

/// Steps win over epochs (transformers trainer.py, set_initial_training_values). Epochs and packing are about samples:
/// they are words, which `with_options` leaves out where nobody says how many samples there are.
void take_length(Sheet& sheet, const LengthKeys& keys);

/// Whether a switch says yes, or "auto".
bool packs(const Sheet& sheet, std::initializer_list<std::string_view> keys);

/// Without packing, samples are shorter than the longest.
void assume_full_sequences(Sheet& sheet, std::initializer_list<std::string_view> packing_keys);

}  // namespace llmcalc::read
