// What the answer about a server says to each thing that can be measured of one.
#pragma once

#include "serving/answer.hpp"
#include "spec/measurement.hpp"

#include <optional>

namespace llmcalc::serving {

/// Which accelerators a measured number is of.
enum class Scope { one_card, all_cards };

/// In the unit of read::MeasuredRun::value; empty where the answer has no such figure.
std::optional<double> predicted(const ServingAnswer& answer, spec::Measure measure, Scope scope);

}  // namespace llmcalc::serving
