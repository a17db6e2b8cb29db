// Electricity and what producing it emits.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

namespace llmcalc::quantity {

using Power = Quantity<struct PowerUnit, double>;
using Energy = Quantity<struct EnergyUnit, double>;
using Mass = Quantity<struct MassUnit, double>;                        ///< of CO2, or what warms as much
using CarbonIntensity = Quantity<struct CarbonIntensityUnit, double>;  ///< that mass for each unit of energy

inline constexpr double joules_per_kilowatt_hour = kilo * seconds_per_hour;

constexpr Power watts(double n) { return UnitAccess::make<Power>(n); }
constexpr double in_watts(Power p) { return UnitAccess::raw(p); }

constexpr Energy kilowatt_hours(double n) { return UnitAccess::make<Energy>(n); }
constexpr double in_kilowatt_hours(Energy e) { return UnitAccess::raw(e); }

constexpr Mass kilograms(double n) { return UnitAccess::make<Mass>(n); }
constexpr double in_kilograms(Mass m) { return UnitAccess::raw(m); }

constexpr CarbonIntensity grams_per_kilowatt_hour(double n) { return UnitAccess::make<CarbonIntensity>(n); }
constexpr double in_grams_per_kilowatt_hour(CarbonIntensity c) { return UnitAccess::raw(c); }

constexpr Energy operator*(Power power, Seconds time) {
  return kilowatt_hours(in_watts(power) * in_seconds(time) / joules_per_kilowatt_hour);
}
constexpr Mass operator*(Energy energy, CarbonIntensity intensity) {
  return kilograms(in_kilowatt_hours(energy) * in_grams_per_kilowatt_hour(intensity) / kilo);
}

}  // namespace llmcalc::quantity
