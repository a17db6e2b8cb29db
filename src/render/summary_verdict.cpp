#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/inner/style.hpp"
#include "render/inner/summary.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace llmcalc::render {
namespace {

using answer::Verdict;
using trust::VerdictKind;

/// The model as it was named: a preset, a file, or the size that was given.
std::string model_of(const Report& report) {
  auto name = echoed(report, "model");
  if (name.empty()) name = echoed(report, "config");
  return name.empty() ? quantity::format_parameters(report.estimate.size.total) + " parameters" : name;
}

/// "qlora rank 8", "training", "dpo with lora rank 16"
std::string method_of(const Report& report) {
  const auto method = echoed(report, "method");
  const auto algorithm = echoed(report, "algorithm");
  const auto rank = echoed(report, "lora_rank");
  auto words = method == "full" ? std::string("full training") : method;
  if (!rank.empty() && rank != "0") words += " rank " + rank;
  return algorithm.empty() || algorithm == "sft" ? words : algorithm + ", " + words;
}

std::string batch_of(const Report& report) {
  const auto micro = echoed(report, "micro_batch");
  const auto global = echoed(report, "global_batch");
  auto words = fmt::format("seq {}, micro-batch {}", echoed(report, "seq"), micro);
  if (!global.empty() && global != micro) words += " of " + global;
  return words;
}

std::string accelerators_of(const Report& report) {
  const auto gpu = echoed(report, "gpu");
  const auto gpus = echoed(report, "gpus");
  if (gpu.empty()) return {};
  return gpus.empty() || gpus == "1" ? ", " + gpu : fmt::format(", {} x {}", gpus, gpu);
}

std::string run_of(const Report& report) {
  return fmt::format("{}, {}, {}{}", model_of(report), method_of(report), batch_of(report), accelerators_of(report));
}

struct SpreadTerm {
  std::string_view term;
  std::string_view word;   ///< before the value
  std::string_view plain;  ///< the value that nobody needs to hear of
};
constexpr std::array spread_terms{
    SpreadTerm{"dp", "dp ", "1"},
    SpreadTerm{"tp", "tp ", "1"},
    SpreadTerm{"pp", "pp ", "1"},
    SpreadTerm{"cp", "cp ", "1"},
    SpreadTerm{"ep", "ep ", "1"},
    SpreadTerm{"sharding", "", "none"},
    SpreadTerm{"recompute", "recompute ", "none"},
    SpreadTerm{"offload", "offload ", "none"},
};

/// The ways in which a run is spread that are in use, and what else it does unlike a plain one.
std::string layout_of(const Report& report) {
  std::vector<std::string> words;
  for (const auto& [term, word, plain] : spread_terms) {
    const auto value = echoed(report, term);
    if (!value.empty() && value != plain) words.push_back(std::string(word) + value);
  }
  return quantity::joined(words, ", ");
}

/// "; trainers need hf 15.2, deepspeed 22.1 GiB"
std::string trainers_of(const Report& report, const TextStyle& style) {
  const auto unit = memory_unit_of(report.estimate, style);
  std::string words;
  for (const auto& [framework, needed] : report.trainers) {
    words += fmt::format("{}{} {}", words.empty() ? "; trainers need " : ", ", framework, in_unit(needed, unit));
  }
  return words.empty() ? words : fmt::format("{} {}", words, unit.name);
}

bool is_of_batch(const search::ChangedTerm& changed) {
  return changed.term == "micro_batch" || changed.term == "grad_accum" || changed.term == "global_batch";
}

/// "; fits with --micro-batch 2 --grad-accum 4" where nothing but a batch that nobody said keeps the run from fitting.
std::string smaller_batch_of(const Report& report) {
  const auto* line = quantity::find_or_null(report.question, "micro_batch", &EchoLine::term);
  const bool is_said = line == nullptr || line->origin != "assumed";
  if (is_said || report.estimate.verdict.kind != VerdictKind::does_not_fit) return {};
  const auto* advice = quantity::find_if_or_null(report.advised.changes, [](const search::Advice& one) {
    return std::ranges::all_of(one.terms, is_of_batch) && !one.terms.empty();
  });
  return advice == nullptr ? std::string() : "; fits with " + options_of(*advice);
}

/// "as hf runs it: dp 8, zero3"; where nobody named it, the layout did, and the name of another is asked for.
std::string manner_of(const Report& report, const TextStyle& style) {
  const auto* line = quantity::find_or_null(report.question, "framework", &EchoLine::term);
  if (line == nullptr) return {};
  const bool is_named = line->origin != "assumed";
  const auto layout = layout_of(report);
  auto words = line->value == "generic" ? std::string("the textbook's memory") : "as " + line->value + " runs it";
  if (!is_named) words += " (name yours with --framework)";
  if (!layout.empty()) words += ": " + layout;
  return words + smaller_batch_of(report) + trainers_of(report, style);
}

/// "needs 44.90 of 23.99 GiB, 20.91 short; likely range 42.21 to 47.60"
/// \param bar  whether the error bar is told; what trainers need takes its place
std::string need_of(const Verdict& verdict, const MemoryUnit& unit, bool bar) {
  auto words = "needs " + in_unit(verdict.needed, unit);
  const auto [capacity, needed] = std::pair(verdict.capacity, verdict.needed);
  if (verdict.kind == VerdictKind::no_accelerator) {
    words += fmt::format(" {}; name an accelerator with --gpu for a verdict", unit.name);
  } else if (needed > capacity) {
    words += fmt::format(" of {} {}, {} short", in_unit(capacity, unit), unit.name, in_unit(needed - capacity, unit));
  } else {
    words += fmt::format(" of {} {} ({}), {} free", in_unit(capacity, unit), unit.name, share_text(needed / capacity),
                         in_unit(capacity - needed, unit));
  }
  if (verdict.error.above <= 0 || !bar) return words;
  return fmt::format("{}; error bar {} to {}", words, in_unit(verdict.low, unit), in_unit(verdict.high, unit));
}

}  // namespace

Paragraph summary_verdict(const Report& report, const TextStyle& style) {
  const Verdict& verdict = report.estimate.verdict;
  Paragraph block;
  constexpr std::size_t indent = 2;
  add_lines(block, lines_of(wrapped(verdict_word(verdict.kind, style) + "  " + run_of(report), 0, indent)));
  add_lines(block, page_lines(manner_of(report, style), indent));
  add_lines(block,
            page_lines(need_of(verdict, memory_unit_of(report.estimate, style), report.trainers.empty()), indent));
  if (const auto host = host_need_words(verdict); !host.empty()) add_lines(block, page_lines(host, indent));
  block.least = block.lines.size();
  return block;
}

}  // namespace llmcalc::render
