// The parts of the answers for people: what several share, the tables of all of it, the blocks of one screen.
#pragma once

#include "llmcalc/render/report.hpp"
#include "render/answers.hpp"
#include "render/inner/page.hpp"
#include "render/understood.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

/// The unit in which the whole answer states memory.
MemoryUnit memory_unit_of(const answer::Estimate& estimate, const TextStyle& style);

/// The unit that was asked for, or the one that suits so much.
MemoryUnit unit_of(quantity::Bytes size, const TextStyle& style);

/// Formula, numbers and source, a line each, under the row that was added last; nothing unless the style explains.
void add_explanation(Table& table, const answer::Explanation& why, const TextStyle& style);

/// "FITS", "TIGHT", "DOES NOT FIT" or "NO VERDICT", in its colour.
std::string verdict_word(trust::VerdictKind kind, const TextStyle& style);

/// A run or server that would fit and breaks a limit of its caller is no fit.
std::string verdict_word(trust::VerdictKind kind, const std::vector<std::string>& broken_limits,
                         const TextStyle& style);
std::string verdict_word(const Report& report, const TextStyle& style);

/// The value of a term of the effective question; empty where it does not apply.
std::string echoed(const std::vector<spec::Word>& question, std::string_view term);

/// "peak in backward of layer 31 of 32 on pipeline stage 0 of 4"
std::string peak_words(const answer::MemoryAnswer& memory);

/// "host needs 112.00 of 64.00 GiB a machine, 48.00 short"; empty where nothing rests there.
std::string host_need_words(const answer::Verdict& verdict, const TextStyle& style);

/// The options that change a run, as one types them.
inline std::string options_of(const search::Advice& advice) { return options_of(advice.terms); }

/// A figure without unit, to be read: "8,365", "20.4", "3.5e+16".
std::string figure_text(double value);

/// The table of bytes alive at the peak.
std::string ledger_section(const Report& report, const TextStyle& style);

/// When the memory peaks: the phases of a step, the first step against the steady ones.
std::string phases_section(const Report& report, const TextStyle& style);

/// A bar a block of layers through the step, when the style asks for it.
std::string timeline_section(const Report& report, const TextStyle& style);

struct Paragraph {
  std::vector<std::string> lines;
  std::size_t least = 0;               ///< lines that stay however full the screen is
  bool prose = false;                  ///< where it is cut, a mark says that it goes on
  bool adjoins = false;                ///< never an empty line before it
  std::vector<std::size_t> ends = {};  ///< of what is whole or not there, in lines; empty: every line is for itself
};

void add_lines(Paragraph& block, std::vector<std::string> lines);

/// All of which stay.
Paragraph whole(std::vector<std::string> lines);

/// Changes that would make it fit, or how much more would.
Paragraph summary_change(const Report& report, const TextStyle& style);

/// The verdict in a line or two, beside the prompt.
Paragraph summary_last(const Report& report, const TextStyle& style);

/// "needs 44.90 of 23.99 GiB, 20.91 short", "needs 1.47 TiB of 79.11 GiB, 1.39 TiB short".
std::string need_words(const answer::Verdict& verdict, const TextStyle& style);

/// "llama-3-8b, qlora rank 16, seq 1024, micro-batch 8, rtx-4090"
std::string run_words(const Report& report);

/// "as hf runs it: dp 8, zero3"; where nobody named it, the layout did, and the name of another is asked for.
std::string manner_words(const Report& report, const TextStyle& style);

/// \param bar  whether the error bar is told; what trainers need takes its place
std::string need_and_bar_words(const answer::Verdict& verdict, const TextStyle& style, bool bar = true);

/// "1.47 s (±25 %), 2,789 tokens/s a GPU, MFU 56.3 %"
std::string step_words(const answer::TimeAnswer& time);

/// "9.55 days for 20B tokens, 229 GPU-hours, $298 at $1.30/h"; steps where the run is counted in them.
std::string length_words(const Report& report);

/// At most style.lines lines of 80 columns, less those that the warnings beside them take.
std::string summary(const Report& report, const TextStyle& style);

/// Terms that an answer takes for granted; on a full screen the first line of it.
Paragraph assumed_block(const std::vector<spec::Assumption>& assumptions, const TextStyle& style);

/// Terms that a run's answer takes for granted, as the last lines of a longer one, behind an empty line.
std::string assumed_text(const std::vector<spec::Assumption>& assumptions, const TextStyle& style);

/// The blocks one below the other with a blank line between them, shortened from the last on where the screen is full.
std::string on_a_screen(std::span<Paragraph> blocks, std::size_t lines);

/// As many lines as there are, with every blank one.
inline constexpr std::size_t blocks_without_end = 1'000'000;

/// "assumed   text", on as many lines as it takes, those behind the first under the text.
std::vector<std::string> labelled(std::string_view label, std::string_view text, const TextStyle& style);

Paragraph serving_verdict(const ServingReport& report, const TextStyle& style);
Paragraph serving_capacity(const ServingReport& report, const TextStyle& style);
Paragraph serving_speed(const ServingReport& report, const TextStyle& style);
Paragraph serving_changes(const ServingReport& report, const TextStyle& style);
Paragraph serving_plans(const ServingReport& report, const TextStyle& style);

/// A command under a label, broken where a shell lets it be broken.
std::vector<std::string> command_lines(std::string command, std::string_view label, const TextStyle& style);

/// Lines that warnings take, which stand on stderr and on the same screen as the answer.
std::size_t lines_of_warnings(const std::vector<std::string>& warnings);

/// "FITS  best of 11,862 layouts on 8 x a100-80-sxm: 2.07 min a step, ..."
/// \pre something fits
std::string headline(const PlanReport& report, const TextStyle& style);

/// Bytes that a server's cache takes, or that are asked of it where they are not set aside.
quantity::Bytes cache_of(const ServingReport& report);

}  // namespace llmcalc::render
