// The parts of the text answer about a server.
#pragma once

#include "render/inner/summary.hpp"
#include "render/serving.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

Paragraph serving_verdict(const ServingReport& report, const TextStyle& style);
Paragraph serving_memory(const ServingReport& report, const TextStyle& style);
Paragraph serving_capacity(const ServingReport& report, const TextStyle& style);
Paragraph serving_speed(const ServingReport& report, const TextStyle& style);
Paragraph serving_plans(const ServingReport& report, const TextStyle& style);
Paragraph serving_changes(const ServingReport& report, const TextStyle& style);
Paragraph serving_remarks(const ServingReport& report, const TextStyle& style);

/// "12.34"
std::string gib_text(quantity::Bytes size);
/// "16 x 8,192 tokens": the load that was asked for.
std::string load_words(const ServingReport& report);

/// The value of a term of the effective question; empty where it does not apply.
std::string echoed(const ServingReport& report, std::string_view term);

}  // namespace llmcalc::render
