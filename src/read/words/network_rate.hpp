// The network of a machine as people write it, where bits and bytes are easily confused.
#pragma once

#include <string_view>

namespace llmcalc::read {

/// "400Gbps", "8x400Gbps" (eight adapters), "50GB/s", "3.2 Tbit/s": gigabits per second.
/// \throws quantity::BadInput at `place`, also where no unit says whether bits or bytes are meant
double parse_network_rate(std::string_view text, std::string_view place);

}  // namespace llmcalc::read
