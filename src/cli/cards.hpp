// The accelerators of this machine, as their drivers tell of them: what `--gpu local` stands for.
#pragma once

#include "dialects/cards.hpp"
#include "dialects/reading.hpp"
#include "read/presets.hpp"

#include <filesystem>
#include <vector>

namespace llmcalc::cli {

using dialects::Card;
using dialects::Holder;

/// By NVML, which comes with NVIDIA's driver and is loaded for this; empty where it is not installed.
/// \throws quantity::BadInput at --gpu where the driver does not answer
std::vector<Card> nvidia_cards();

/// By what the kernel shows of amdgpu and xe. Names come from the tables of libdrm and pciutils.
/// \param root  "/", or a folder that stands for it
std::vector<Card> kernel_cards(const std::filesystem::path& root);

/// Cards that drivers, the kernel below `root` or the processor itself tell of.
/// \throws quantity::BadInput at --gpu where there is no card, or its driver does not answer
std::vector<Card> local_cards(const std::filesystem::path& root);

/// Puts the presets of cards, and the memory that is free on them, in the place of "local" or "local:2".
/// \throws quantity::BadInput at --gpu where several differ, or one is like none that is known
void take_local_cards(dialects::Reading& reading, std::vector<read::Given>& words, const read::Catalogue& catalogue,
                      std::vector<Card> cards);

}  // namespace llmcalc::cli
