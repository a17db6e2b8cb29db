// How long a trainer's file says that it trains: steps, or epochs of data whose size it may say.
#pragma once

#include "dialects/core/sheet.hpp"

#include <initializer_list>
#include <string_view>

namespace llmcalc::dialects {

/// How often a trainer goes through its data where the file says nothing.
struct UsualEpochs {
  std::string_view count;
  std::string_view whose;
};

/// training_args.py, num_train_epochs; trl's configurations and LLaMA-Factory's and ms-swift's arguments leave it.
inline constexpr UsualEpochs transformers_epochs{"3", "transformers default"};

/// The keys of one trainer.
struct LengthKeys {
  std::string_view steps;  ///< optimizer steps; empty or below one where epochs count
  std::initializer_list<std::string_view> epochs;
  std::initializer_list<std::string_view> packing = {};
  std::string_view samples = {};  ///< cuts each of its data sets to so many
  UsualEpochs usual = {};         ///< empty where a trainer has no default: its files always say it
};

/// Steps win over epochs (transformers trainer.py, set_initial_training_values). Epochs and packing are about samples:
/// they are words, which `with_options` leaves out where nobody says how many samples there are.
void take_length(Sheet& sheet, const LengthKeys& keys);

/// Whether a switch says yes, or "auto".
bool packs(const Sheet& sheet, std::initializer_list<std::string_view> keys);

/// Without packing, samples are shorter than the longest.
void assume_full_sequences(Sheet& sheet, std::initializer_list<std::string_view> packing_keys);

}  // namespace llmcalc::dialects
