// Numbers as people write them: 1e9 1B 7b 350M 15T 64k 80GB 80GiB 24G 20x.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

namespace llmcalc::quantity {

/// Every function throws BadInput(place, ...) when `text` is not a number of the kind asked for, is negative, is
/// not finite or does not fit. `place` names the flag, column or key that held the text. Suffixes and units are read
/// in either case. Digits may be grouped: 1_000_000 anywhere, 1,000,000 where the comma can only mean thousands.
/// Whole numbers never pass through a double: 1.5B is exactly 1,500,000,000, and "1.5" is refused as a count.

/// "4096", "8k", "64K": a context length, in which k = 1024, so 8k = 8192, and "1M" is 1,048,576 (vLLM
/// utils/argparse_utils.py, human_readable_int). B is refused.
std::int64_t parse_length(std::string_view text, std::string_view place);

/// "32", "1_000", "1e3": a whole number without unit; k = 1000, M = 1e6, B/G = 1e9, T = 1e12.
std::int64_t parse_count(std::string_view text, std::string_view place);

/// "1e9", "1B", "7b", "350M", "1.5T": a number of parameters, at least one.
Parameters parse_parameters(std::string_view text, std::string_view place);

/// "15T", "300B", "1e12" absolute, or "20x": that many tokens for each parameter. More than none.
struct TokensPerParameter {
  double ratio;
};
std::variant<Tokens, TokensPerParameter> parse_tokens(std::string_view text, std::string_view place);

/// "80GiB", "80GB", "24G" (= GiB, as every accelerator vendor and nvidia-smi means it), "512MiB", "1024" (bytes).
/// A fraction of a byte that a unit leaves ("39.07GiB") is rounded to the nearest byte. "80Gb" (bits) is refused.
Bytes parse_bytes(std::string_view text, std::string_view place);

/// The memory of a device, in the same words. What is less than any has forgotten its unit: "24" is refused.
Bytes parse_capacity(std::string_view text, std::string_view place);

/// "0.4", "40%": a share between 0 and 1, both included.
double parse_share(std::string_view text, std::string_view place);

/// "2.5", "1e3", "300B": any finite number >= 0 with the decimal suffixes of parse_count.
double parse_number(std::string_view text, std::string_view place);

/// "2.50", "$50", "50 USD", "10k".
Money parse_money(std::string_view text, std::string_view place);

/// "3" are days, "12h" is what it says.
Seconds parse_days(std::string_view text, std::string_view place);

/// "-3.14159265", "1e-8", "inf", "nan": any number, to be looked at in another number format.
double parse_real(std::string_view text, std::string_view place);

/// "30d 12h 90min 45s", "34 days", "350 ms": numbers each with its unit, added up.
Seconds parse_duration(std::string_view text, std::string_view place);

/// "3.2e23", "3.2e23 FLOP", "1.5 PFLOP-days" of work, or "100 GPU-hours" of accelerators' time.
struct AcceleratorTime {
  Seconds time;  ///< summed over the accelerators
};
std::variant<Flops, AcceleratorTime> parse_compute(std::string_view text, std::string_view place);

/// "312 TFLOP/s", "312T", "1.98e15".
FlopRate parse_flop_rate(std::string_view text, std::string_view place);

/// "2039 GB/s", "3.35TB/s", "2.039e12": decimal units, as data sheets have them.
Bandwidth parse_bandwidth(std::string_view text, std::string_view place);

/// "700", "700 W", "0.7kW".
Power parse_power(std::string_view text, std::string_view place);

/// "400", "400 g/kWh", "0.4kg/kWh", "0.4 t/MWh": CO2 or what warms as much; grams a kilowatt-hour where no unit is
/// said.
CarbonIntensity parse_carbon_intensity(std::string_view text, std::string_view place);

/// "0", "1", "true", "false", "yes", "no", "on", "off".
bool parse_bool(std::string_view text, std::string_view place);

}  // namespace llmcalc::quantity
