// The answer for people: on one screen (summary.hpp), or every table of it: verdict, ledger, phases, timeline, advice,
// compute, time, notes.
//
//   FITS  71.30 of 79.15 GiB (90 %), a100-80-sxm x1, peak in backward of layer 31 of 32
//
//     memory at the peak    GiB  share
//     weights (bf16)      14.96   21 %  █████
//     ...
//     total               71.30  100 %
#include "render/foreign.hpp"
#include "render/inner/summary.hpp"
#include "render/inner/text_sections.hpp"

#include <array>

namespace llmcalc::render {

std::string to_text(const Report& report, const TextStyle& style) {
  if (!style.full && !style.explain && !style.timeline) return on_screen(summary(report, style), style);
  constexpr std::array sections{verdict_section, ledger_section, phases_section, timeline_section, advice_section,
                                compute_section, step_section,   time_section,   notes_section};
  std::string text;
  for (const auto section : sections) {
    const auto part = section(report, style);
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  }
  return on_screen(text, style);
}

}  // namespace llmcalc::render
