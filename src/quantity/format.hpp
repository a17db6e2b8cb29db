// Quantities as people read them. Every function names the unit that it prints.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"

#include <string>
#include <string_view>

namespace llmcalc::quantity {

std::string format_gib(Bytes b);           ///< "12.34 GiB"; "512 MiB" below 1 GiB; "1.2 TiB" from 1024 GiB
std::string format_gigabytes(Bytes b);     ///< "24 GB", "0.33 GB", "4,200 GB": decimal, at most 3 significant decimals
std::string format_count(std::int64_t n);  ///< "8,030,261,248"
std::string format_counted(std::int64_t n, std::string_view what);  ///< "1 layer", "22 layers"
std::string format_counted(double n, std::string_view what);        ///< "1 request", "2.5 requests"
std::string format_parameters(Parameters p);                        ///< "8.03B", "124.4M", "1.01T"
std::string format_tokens(Tokens t);                                ///< "15T", "20B"
std::string format_flops(Flops f);                                  ///< "3.14e+23 FLOP"
std::string format_rate(FlopRate r);                                ///< "312 TFLOP/s"
std::string format_bandwidth(Bandwidth b);                          ///< "2,039 GB/s"
std::string format_duration(Seconds s);                             ///< "34 days", "5.2 h", "12 min", "350 ms"
std::string format_money(Money m);                                  ///< "$1,234", "$0.79"
std::string format_rate_of_money(Money an_hour);                    ///< "$3.99", "$0.085"
std::string format_power(Power p);                                  ///< "700 W", "1.2 MW"
std::string format_energy(Energy e);                                ///< "48 kWh", "1,287 MWh"
std::string format_mass(Mass m);                                    ///< "25 kg", "552 t"
std::string format_percent(double share);                           ///< "41.5 %" of 0.415
std::string format_number(double value, int significant_digits);    ///< shortest of fixed and exponent form

}  // namespace llmcalc::quantity
