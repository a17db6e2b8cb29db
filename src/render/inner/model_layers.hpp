// What differs from layer to layer of a model, and what stands beside its layers, in words; empty where nothing does.
#pragma once

#include "llmcalc/spec/shape.hpp"

#include <string>

namespace llmcalc::render {

std::string windows_text(const spec::Shape& shape);
std::string mixers_text(const spec::Shape& shape);
std::string borrowed_text(const spec::Shape& shape);
std::string towers_text(const spec::Shape& shape);

}  // namespace llmcalc::render
