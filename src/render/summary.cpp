// The answer of `fit` on one screen.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::render {
namespace {

constexpr std::size_t hanging = 2;
constexpr std::size_t label_columns = 10;  // "assumed", "run", ... and what follows them
constexpr std::string_view indent = "  ";

std::size_t lines_in(std::span<const Paragraph> blocks) {
  std::size_t lines = 0;
  for (const Paragraph& block : blocks) lines += block.lines.size();
  return lines;
}

void mark_as_cut(std::string& line) {
  constexpr std::string_view mark = " ...";
  while (display_width(line) + mark.size() > page_columns && line.find(' ') != line.npos) line.erase(line.rfind(' '));
  line += mark;
}

void shorten(Paragraph& block, std::size_t lines) {
  lines = std::max(lines, block.least);
  if (lines >= block.lines.size()) return;
  if (!block.ends.empty()) {
    const auto* end = quantity::find_last_if_or_null(block.ends, [&](std::size_t at) { return at <= lines; });
    lines = end == nullptr ? block.least : *end;
  }
  block.lines.resize(lines);
  if (block.prose && !block.lines.empty()) mark_as_cut(block.lines.back());
}

/// Takes lines from the blocks that give way first, which are the last ones.
void shorten(std::span<Paragraph> blocks, std::size_t most) {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const std::size_t all = lines_in(blocks);
    const std::size_t excess = all - std::min(all, most);
    shorten(*block, block->lines.size() - std::min(block->lines.size(), excess));
  }
}

using answer::Verdict;
using trust::VerdictKind;

/// The model as it was named: a preset, a file, or the size that was given.
std::string model_of(const Report& report) {
  auto name = echoed(report.question, "model");
  if (name.empty()) name = echoed(report.question, "config");
  return name.empty() ? quantity::format_parameters(report.estimate.size.total) + " parameters" : name;
}

/// "qlora rank 8", "training", "dpo with lora rank 16"
std::string method_of(const Report& report) {
  const auto method = echoed(report.question, "method");
  const auto algorithm = echoed(report.question, "algorithm");
  const auto rank = echoed(report.question, "lora_rank");
  auto words = method == "full" ? std::string("full training") : method;
  if (!rank.empty() && rank != "0") words += " rank " + rank;
  return algorithm.empty() || algorithm == "sft" ? words : algorithm + ", " + words;
}

std::string batch_of(const Report& report) {
  const auto micro = echoed(report.question, "micro_batch");
  const auto global = echoed(report.question, "global_batch");
  auto words = fmt::format("seq {}, micro-batch {}", echoed(report.question, "seq"), micro);
  if (!global.empty() && global != micro) words += ", global batch " + global;
  return words;
}

std::string accelerators_of(const Report& report) {
  const auto gpu = echoed(report.question, "gpu");
  const auto gpus = echoed(report.question, "gpus");
  if (gpu.empty()) return {};
  return gpus.empty() || gpus == "1" ? ", " + gpu : fmt::format(", {} x {}", gpus, gpu);
}

struct SpreadTerm {
  std::string_view term;
  std::string_view word;        ///< before the value
  std::string_view plain = {};  ///< the value that nobody needs to hear of
};
constexpr SpreadTerm spread_terms[] = {
#include "shown/spread_terms.inc"
};

/// The ways in which a run is spread that are in use, and what else it does unlike a plain one.
std::string layout_of(const Report& report) {
  std::vector<std::string> words;
  for (const auto& [term, word, plain] : spread_terms) {
    const auto value = echoed(report.question, term);
    if (!value.empty() && value != plain) words.push_back(fmt::format("{}{}{}", word, word.empty() ? "" : " ", value));
  }
  return quantity::joined(words, ", ");
}

/// "; trainers need hf 15.2, deepspeed 22.1 GiB"
std::string trainers_of(const Report& report, const TextStyle& style) {
  if (report.trainers.empty()) return {};
  const auto unit = unit_of(std::ranges::max(report.trainers, {}, &TrainerNeed::needed).needed, style);
  const auto need = [&](const TrainerNeed& each) {
    return fmt::format("{} {}", each.framework, in_unit(each.needed, unit));
  };
  return fmt::format("; trainers need {} {}", quantity::joined(report.trainers, ", ", need), unit.name);
}

bool is_of_batch(const spec::Word& changed) {
  return changed.term == "micro_batch" || changed.term == "grad_accum" || changed.term == "global_batch";
}

/// "; fits with --micro-batch 2 --grad-accum 4" where nothing but a batch that nobody said keeps the run from fitting.
std::string smaller_batch_of(const Report& report) {
  const auto* line = quantity::find_or_null(report.question, "micro_batch", &spec::Word::term);
  const bool is_said = line == nullptr || line->origin.source != spec::Source::assumed;
  if (is_said || report.estimate.verdict.kind != VerdictKind::does_not_fit) return {};
  const auto* advice = quantity::find_if_or_null(report.advised.changes, [](const search::Advice& one) {
    return std::ranges::all_of(one.terms, is_of_batch) && !one.terms.empty();
  });
  return advice == nullptr ? std::string() : "; fits with " + options_of(*advice);
}

/// Verdict, model, method, sequence, batch and accelerators; how they are run; need, room and error bar.
Paragraph summary_verdict(const Report& report, const TextStyle& style) {
  const Verdict& verdict = report.estimate.verdict;
  Paragraph block;
  add_lines(block, lines_of(wrapped(verdict_word(report, style) + "  " + run_words(report), 0, hanging)));
  add_lines(block, page_lines(manner_words(report, style), hanging));
  const auto is_unmeasured = [](const std::string& note) { return note.starts_with("nothing was measured"); };
  if (const auto* note = quantity::find_if_or_null(report.estimate.notes, is_unmeasured))
    add_lines(block, page_lines(*note, hanging));
  add_lines(block, page_lines(need_and_bar_words(verdict, style, report.trainers.empty()), hanging));
  const bool judged = verdict.kind != VerdictKind::no_accelerator;
  if (judged) add_lines(block, gauge(verdict.needed, verdict.capacity, style));
  if (const auto host = host_need_words(verdict, style); !host.empty()) add_lines(block, page_lines(host, hanging));
  for (const auto& limit : report.broken_limits) add_lines(block, page_lines(limit, hanging));
  block.least = block.lines.size();
  return block;
}

using answer::LedgerLine;

constexpr std::size_t most_parts = 4;

std::vector<LedgerLine> largest_first(std::vector<LedgerLine> ledger) {
  std::ranges::stable_sort(ledger, std::ranges::greater{}, &LedgerLine::size);
  return ledger;
}

/// The largest parts of the peak, and where it is.
Paragraph summary_memory(const Report& report, const TextStyle& style) {
  const auto& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate, style);
  const auto parts = largest_first(memory.ledger);
  const auto told = parts.size() == most_parts + 1 ? parts.size() : std::min(most_parts, parts.size());
  Table table({Align::left, Align::right, Align::right, Align::left});
  const auto add = [&](std::string label, quantity::Bytes size) {
    const double share = memory.peak_needed == quantity::Bytes{} ? 0.0 : size / memory.peak_needed;
    table.add_row({std::move(label), in_unit(size, unit), share_text(share),
                   style.bars ? paint(bar(share, bar_columns), Ink::dim, style) : std::string()});
  };
  table.add_row({paint("largest at the peak", Ink::heading, style), std::string(unit.name), "share"});
  quantity::Bytes others;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i < told) {
      add(parts[i].label, parts[i].size);
    } else {
      others = others + parts[i].size;
    }
  }
  if (told < parts.size()) add(fmt::format("{} smaller ones", parts.size() - told), others);
  Paragraph block{lines_of(table.render()), 0};
  add_lines(block, page_lines(peak_words(memory), hanging));
  constexpr std::size_t always = 3;  // the heading and two parts: the rest gives way where all else is needed
  block.least = std::min(always, block.lines.size());
  return block;
}

using quantity::format_duration;

std::string cost_of(const answer::TimeAnswer& time) {
  if (!time.cost) return "no public rate: --price";
  if (!time.price) return quantity::format_money(*time.cost);
  return fmt::format("{} at {}/h", quantity::format_money(*time.cost), quantity::format_rate_of_money(*time.price));
}

/// A step, the run, what it costs.
Paragraph summary_time(const Report& report, const TextStyle& style) {
  const answer::TimeAnswer& time = report.estimate.compute;
  if (!report.estimate.timed) return {labelled("time", "needs an accelerator: name one with --gpu", style), 1};
  auto lines = labelled("step", step_words(time), style);
  quantity::append(lines, labelled("run", length_words(report), style));
  return whole(std::move(lines));
}

constexpr std::string_view not_modelled = "not modelled: ";

void append(std::string& list, std::string_view item, std::string_view separator) {
  list.append(list.empty() ? "" : separator).append(item);
}

/// Options to be typed come together, what is said in words behind them.
std::string in_words(const std::vector<spec::Assumption>& assumptions) {
  std::string options;
  std::string words;
  for (const auto& assumption : assumptions) {
    const bool bare = assumption.is_option() && assumption.words.empty();
    append(bare ? options : words, assumption.sentence(), bare ? " " : "; ");
  }
  if (!words.empty()) append(options, words, "; ");
  return options;
}

/// The first of them; how many more there are is for the last line to say.
std::string left_out(const Report& report) {
  std::string words;
  for (const std::string_view note : report.estimate.notes) {
    if (note.starts_with(not_modelled)) append(words, note.substr(not_modelled.size()), "; ");
  }
  return words;
}

/// Terms that nobody said and the answer depends on.
Paragraph summary_assumed(const Report& report, const TextStyle& style) {
  auto assumptions = report.assumptions;
  std::erase_if(assumptions, [](const auto& each) { return each.term == "framework"; });  // the second line says so
  Paragraph block = assumed_block(assumptions, style);
  add_lines(block, labelled("left out", left_out(report), style));
  return block;
}

/// Where the rest is.
Paragraph summary_more(const Report&, const TextStyle& style) {
  return {labelled("more", "--full tables, --explain formulas, --timeline, --format json", style), 0};
}

}  // namespace

void add_lines(Paragraph& block, std::vector<std::string> lines) {
  std::ranges::move(lines, std::back_inserter(block.lines));
}

Paragraph whole(std::vector<std::string> lines) {
  const auto count = lines.size();
  return {std::move(lines), count};
}

std::size_t lines_of_warnings(const std::vector<std::string>& warnings) {
  constexpr std::size_t lead = std::string_view("llmcalc: warning: ").size();
  std::size_t lines = 0;
  for (const auto& warning : warnings) lines += lines_of(wrapped(warning, lead, indent.size())).size();
  return lines;
}

std::vector<std::string> labelled(std::string_view label, std::string_view text, const TextStyle& style) {
  const auto column = indent.size() + label_columns;
  auto lines = lines_of(wrapped(text, column, column));
  const std::string padding(label_columns - std::min(label_columns, label.size()), ' ');
  if (!lines.empty()) lines.front().insert(0, std::string(indent) + paint(label, Ink::heading, style) + padding);
  return lines;
}

std::string on_a_screen(std::span<Paragraph> blocks, std::size_t lines) {
  shorten(blocks, lines);
  auto gaps = lines - std::min(lines, lines_in(blocks));
  std::string text;
  for (const Paragraph& block : blocks) {
    if (!text.empty() && !block.lines.empty() && !block.adjoins && gaps > 0) {
      text += '\n';
      --gaps;
    }
    for (const auto& line : block.lines) text.append(line).append("\n");
  }
  return text;
}

std::string run_words(const Report& report) {
  return fmt::format("{}, {}, {}{}", model_of(report), method_of(report), batch_of(report), accelerators_of(report));
}

std::string manner_words(const Report& report, const TextStyle& style) {
  const auto* line = quantity::find_or_null(report.question, "framework", &spec::Word::term);
  if (line == nullptr) return {};
  const bool is_named = line->origin.source != spec::Source::assumed;
  const auto layout = layout_of(report);
  auto words = line->text == "generic" ? std::string("the textbook's memory") : "as " + line->text + " runs it";
  if (!is_named) words += " (name yours with --framework)";
  if (!layout.empty()) words += ": " + layout;
  return words + smaller_batch_of(report) + trainers_of(report, style);
}

std::string need_and_bar_words(const Verdict& verdict, const TextStyle& style, bool bar) {
  auto words = need_words(verdict, style);
  if (verdict.kind == VerdictKind::no_accelerator) words += "; name an accelerator with --gpu for a verdict";
  if (verdict.error.above <= 0 || !bar) return words;
  const auto unit = unit_of(verdict.high, style);
  return fmt::format("{}; error bar {} to {} {}", words, in_unit(verdict.low, unit), in_unit(verdict.high, unit),
                     unit.name);
}

std::string step_words(const answer::TimeAnswer& time) {
  const auto error = time.error.above > 0 ? fmt::format(" ({})", spread_text(time.error)) : std::string();
  return fmt::format("{}{}, {} tokens/s a GPU, MFU {}", format_duration(time.step), error,
                     figure_text(time.tokens_per_gpu), quantity::format_percent(time.mfu));
}

std::string length_words(const Report& report) {
  const answer::TimeAnswer& time = report.estimate.compute;
  const auto steps = echoed(report.question, "steps");
  const auto length = steps.empty() ? quantity::format_tokens(time.tokens) + " tokens" : steps + " steps";
  if (time.goodput && !time.goodput->makes_progress()) return "never ends: failures come faster than it restarts";
  constexpr double worth_a_word = 0.9;
  const bool loses = time.goodput && time.goodput->share < worth_a_word;
  const auto lost = loses ? ", " + quantity::format_percent(1 - time.goodput->share) + " of it lost to failures" : "";
  return fmt::format("{} for {}{}, {} GPU-hours, {}", format_duration(time.total), length, lost,
                     figure_text(time.gpu_hours), cost_of(time));
}

std::vector<std::string> sentences(const std::vector<spec::Assumption>& assumptions) {
  return quantity::mapped(assumptions, &spec::Assumption::sentence);
}

std::string assumed_text(const std::vector<spec::Assumption>& assumptions, const TextStyle& style) {
  std::string text;
  for (const auto& line : labelled("assumed", in_words(assumptions), style)) text.append("\n").append(line);
  return text.empty() ? text : text + "\n";
}

Paragraph assumed_block(const std::vector<spec::Assumption>& assumptions, const TextStyle& style) {
  Paragraph block{labelled("assumed", in_words(assumptions), style), 0, true};
  block.least = std::min<std::size_t>(1, block.lines.size());
  return block;
}

Paragraph summary_last(const Report& report, const TextStyle& style) {
  const auto& verdict = report.estimate.verdict;
  const auto why = report.broken_limits.empty() ? need_words(verdict, style) : report.broken_limits.front();
  const auto words = verdict_word(report, style) + "  " + why;
  return {lines_of(wrapped(words, 0, hanging)), blocks_without_end};
}

std::string summary(const Report& report, const TextStyle& style) {
  std::array blocks{summary_verdict(report, style), summary_memory(report, style),  summary_time(report, style),
                    summary_change(report, style),  summary_assumed(report, style), summary_more(report, style),
                    summary_last(report, style)};
  constexpr std::size_t fewest = 14;  // below, an answer would lose what it is about
  const auto screen =
      std::max(fewest, style.lines - std::min(style.lines, lines_of_warnings(report.estimate.warnings)));
  return on_a_screen(blocks, screen);
}

}  // namespace llmcalc::render
