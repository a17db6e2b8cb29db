// Words of a plan that hold several values: "1,2,4".
#pragma once

#include "read/given.hpp"

#include <vector>

namespace llmcalc::read {

/// A word for each of the values.
/// \throws quantity::BadInput where "2,048" could be a number or a list
std::vector<Given> parts_of(const Given& word);

}  // namespace llmcalc::read
