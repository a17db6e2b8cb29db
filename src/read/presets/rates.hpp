// Which measured rates stand for an accelerator, of the user's entries and of those that ship; and its generation.
#pragma once

#include "read/presets.hpp"
#include "read/presets/fields.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// What an entry leaves out that names no base.
inline constexpr std::string_view usual_rates = "unmeasured";

/// The entries of a user's files. \throws quantity::BadInput with file and JSON pointer
std::vector<RatesPreset> read_rates(const std::vector<PresetFile>& files);

/// The entry of that name. \throws quantity::BadInput at `place` with the nearest names
spec::Rates named_rates(const std::vector<RatesPreset>& users, std::string_view name, std::string_view place);

/// The first entry that stands for the accelerator, the user's latest before those that ship; else the usual rates.
spec::Rates rates_for(const std::vector<RatesPreset>& users, const spec::Accelerator& gpu);

/// An entry of presets/generations. It stands for accelerators of one make whose architecture begins so, and of those,
/// where it says so, only for the ones whose type of memory does.
struct GenerationPreset {
  spec::GenerationFacts facts = {};
  std::string id = {};
  std::string vendor = {};
  std::string arch = {};
  std::string memory = {};
  std::string ggml_as = {};  ///< the generation whose rates of llama.cpp it has
};

/// \param base  the entry named by the entry's "base": what the entry does not say is that one's
/// \throws quantity::BadInput with file and JSON pointer
GenerationPreset read_generation_entry(const JsonPlace& entry, const GenerationPreset* base);

/// The first entry that stands for the accelerator. Where none does, the nearest: of the same make and kind of memory,
/// else of the same kind of memory, the newest that is not newer than it, else the oldest. Where llama.cpp was not
/// measured on a generation, its rates are those of the nearest on which it was.
spec::Generation generation_for(const spec::Accelerator& gpu);

}  // namespace llmcalc::read
