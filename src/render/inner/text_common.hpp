// What several sections of an answer share.
#pragma once

#include "llmcalc/render/report.hpp"
#include "render/inner/memory_unit.hpp"
#include "render/inner/table.hpp"

#include <string>
#include <string_view>

namespace llmcalc::render {

/// The unit in which the whole answer states memory.
MemoryUnit memory_unit_of(const answer::Estimate& estimate, const TextStyle& style);

/// Formula, numbers and source, a line each, under the row that was added last; nothing unless the style explains.
void add_explanation(Table& table, const answer::Explanation& why, const TextStyle& style);

/// "FITS", "TIGHT", "DOES NOT FIT" or "NO VERDICT", in its colour.
std::string verdict_word(trust::VerdictKind kind, const TextStyle& style);

/// The value of a term of the effective question; empty where it does not apply.
std::string echoed(const Report& report, std::string_view term);

/// "peak in backward of layer 31 of 32 on pipeline stage 0 of 4"
std::string peak_words(const answer::MemoryAnswer& memory);

/// "host needs 112.00 of 64.00 GiB a machine, 48.00 short"; empty where nothing rests there.
std::string host_need_words(const answer::Verdict& verdict);

/// The options that change a run, as one types them: "--tp 2 --sp 1".
std::string options_of(const search::Advice& advice);

/// A figure without unit, to be read: "8,365", "20.4", "3.5e+16".
std::string figure_text(double value);

}  // namespace llmcalc::render
