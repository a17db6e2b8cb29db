// How fast a server answers: the lines of the text answer, and what a search found.
#include "quantity/format.hpp"
#include "render/inner/text.hpp"
#include "spec/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::render {

namespace {

using quantity::format_count;
using quantity::format_duration;
using serving::Speed;

std::string rate_text(double rate) {
  return rate < 10 ? quantity::format_number(rate, 2) : quantity::format_count(std::llround(rate));
}

std::string first_line(const spec::Load& load, const Speed& speed) {
  const auto first =
      speed.saturated ? "ever later" : fmt::format("{} ({})", format_duration(speed.ttft), spread_text(speed.ttft_bar));
  if (spec::reads_only(load)) return (speed.saturated ? "an answer comes " : "an answer in ") + first;
  if (speed.tpot == quantity::seconds(0)) return fmt::format("first token {}; the others elsewhere", first);
  return fmt::format("first token {}; then {} a token ({})", first, format_duration(speed.tpot),
                     spread_text(speed.tpot_bar));
}

/// "95 % of 500 drawn: first token within 410 ms; then 31 ms a token"
std::string tail_line(const spec::Load& load, const serving::Tail& tail) {
  const bool reads = spec::reads_only(load);
  auto words =
      fmt::format("95 % of {}{}: {} within {}", quantity::format_count(tail.requests), load.trace ? "" : " drawn",
                  reads ? "an answer" : "first token", format_duration(tail.ttft.p95));
  if (!reads) words += fmt::format("; then {} a token", format_duration(tail.tpot.p95));
  if (tail.preempted > 0)
    words += fmt::format("; room taken from one {} times", quantity::format_count(tail.preempted));
  return words;
}

/// "64 requests at once, each a prompt of 7,168 tokens and 1,024 of output": what the speed is that of.
std::string load_line(const spec::Load& load) {
  const bool alone = !load.rate && !load.prompts && load.concurrency == 1;
  const bool for_example = spec::is_example(load);
  const auto at_once = quantity::format_count(load.concurrency);
  const auto many = load.rate ? quantity::format_counted(*load.rate, "request") + " a second"
                    : load.prompts
                        ? fmt::format("{} requests, {} at once", quantity::format_count(*load.prompts), at_once)
                    : alone ? for_example ? "one at a time" : "one request at a time"
                            : at_once + " requests at once";
  const auto* of_each = load.trace ? ", in the mean" : for_example ? ", such as" : alone ? ":" : ", each";
  if (spec::reads_only(load))
    return fmt::format("{}{} an input of {} tokens", many, of_each, quantity::format_count(load.prompt));
  return fmt::format("{}{} a prompt of {} tokens and {} of output", many, of_each, quantity::format_count(load.prompt),
                     quantity::format_count(load.output));
}

/// "1,210 requests/s, 619,520 tokens/s at 32 at once": of servers that only read.
std::string reading_line(const Speed& speed) {
  return fmt::format("{} requests/s, {} tokens/s at {} at once", rate_text(speed.requests_per_s),
                     rate_text(speed.prompt_tokens_per_s), rate_text(speed.running));
}

std::string throughput_line(const Speed& speed) {
  const auto share = speed.tokens_per_s_per_gpu < speed.tokens_per_s
                         ? fmt::format(", {} an accelerator", rate_text(speed.tokens_per_s_per_gpu))
                         : std::string();
  auto words = fmt::format("{} tokens/s at {} at once{}, {} a user", rate_text(speed.tokens_per_s),
                           rate_text(speed.running), share, rate_text(speed.tokens_per_s_per_user));
  if (speed.saturated) {
    words +=
        fmt::format("; requests come faster than the {} a second that it answers", rate_text(speed.requests_per_s));
  } else if (speed.queued > 0 && speed.admission > quantity::seconds(0)) {
    words += fmt::format("; {} wait {} for room", rate_text(speed.queued), format_duration(speed.admission));
  }
  return words;
}

/// A million tokens are read for less than a cent.
std::string reading_cost(const serving::TokenCost& cost) {
  return cost.input ? quantity::format_money(1000 * *cost.input) + " a billion tokens" : std::string();
}

std::string cost_line(const serving::TokenCost& cost) {
  std::string words;
  if (cost.input) words = fmt::format("{} in", quantity::format_money(*cost.input));
  if (cost.output) words += fmt::format("{}{} out", words.empty() ? "" : ", ", quantity::format_money(*cost.output));
  if (!words.empty()) words += " a million tokens";
  if (!cost.energy) return words;
  return (words.empty() ? "no public rate: --price" : words) + "; " + quantity::format_energy(*cost.energy) +
         " for a million out";
}

std::string parts_line(const spec::Load& load, const Speed& speed) {
  std::string words =
      (spec::reads_only(load) ? "its kernels" : "a step of " + format_duration(speed.decode_step)) + ":";
  for (const serving::SpeedPart& part : speed.parts) {
    if (part.time > quantity::seconds(0)) words += fmt::format(" {} {},", part.label, format_duration(part.time));
  }
  words.pop_back();
  return words;
}

std::string layout_of(const search::ServerPlan& plan, bool names_gpu, bool names_count) {
  const auto& question = plan.question;
  std::string words = names_gpu ? fmt::format("--gpu {} ", question.gpu->id) : std::string();
  if (names_count) words += fmt::format("--gpus {} ", question.layout.gpus);
  words += search::change_of(plan);
  const bool leaves_copies = !spec::reads_gguf(question.serving.engine) && question.layout.dp > 1;
  return leaves_copies ? words + fmt::format(" ({} copies)", question.layout.dp) : words;
}

std::string change_of(const serving::Candidate& candidate, bool limited) {
  if (!candidate.starts) return candidate.change + ": does not start";
  if (limited) return candidate.change + ": carries the load";
  return fmt::format("{}: {} at once, context {}{}", candidate.change, format_count(candidate.max_concurrency),
                     format_count(candidate.max_context), candidate.uses_host ? ", partly on the host" : "");
}

}  // namespace

Paragraph serving_speed(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  if (!report.answer.speed) return block;
  const Speed& speed = *report.answer.speed;
  const spec::Load& load = report.answer.deployment.question.serving.load;
  add_lines(block, labelled("load", load_line(load), style));
  add_lines(block, labelled("speed", first_line(load, speed), style));
  if (speed.tail) add_lines(block, labelled("", tail_line(load, *speed.tail), style));
  const bool reads = spec::reads_only(load);
  if (reads) add_lines(block, labelled("input", reading_line(speed), style));
  const auto cost = reads ? reading_cost(speed.cost) : cost_line(speed.cost);
  if (reads) block.least = block.lines.size();
  if (!cost.empty()) add_lines(block, labelled("cost", cost, style));
  if (!reads) block.least = block.lines.size();
  if (!reads) add_lines(block, labelled("output", throughput_line(speed), style));
  if (!style.full && !style.explain) return block;
  if (!speed.parts.empty() && speed.parts.front().time > quantity::seconds(0))
    add_lines(block, labelled("", parts_line(load, speed), style));
  const auto sent = speed.handover > quantity::seconds(0)
                        ? fmt::format(", its cache {} on its way", format_duration(speed.handover))
                        : std::string();
  add_lines(block, labelled("",
                            fmt::format("a prompt alone {}{}; kernels measured on {}", format_duration(speed.prefill),
                                        sent, speed.measured_on),
                            style));
  return block;
}

Paragraph serving_plans(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  if (!report.plans) return block;
  const auto counted =
      fmt::format("{} layouts, {} start, {} loads priced", quantity::format_count(report.plans->layouts),
                  quantity::format_count(report.plans->starting), quantity::format_count(report.plans->estimates));
  const auto& best = report.plans->best;
  const bool has_rate = report.answer.deployment.question.serving.load.rate.has_value();
  const auto differs = [&](const auto& plan) { return plan.question.gpu->id != best.front().question.gpu->id; };
  const bool names_gpu = std::ranges::any_of(best, differs);
  const auto* none = has_rate ? "none carries the rate within the limits; " : "none keeps the limits; ";
  add_lines(block, labelled("best", (best.empty() ? none : "of ") + counted, style));
  block.least = block.lines.size();
  for (const search::ServerPlan& plan : best) {
    const Speed& speed = plan.speed;
    const spec::Load& load = plan.question.serving.load;
    auto words = fmt::format("{}: {} tokens/s, {} {}", layout_of(plan, names_gpu, report.plans->counted),
                             rate_text(serving::compared(load, speed)),
                             spec::reads_only(load) ? "an answer in" : "first token", format_duration(speed.ttft));
    if (!spec::reads_only(load)) words += ", then " + format_duration(speed.tpot);
    if (speed.cost.all) words += fmt::format(", {} a million with prompts", quantity::format_money(*speed.cost.all));
    const bool first = &plan == &best.front();
    add_lines(block, labelled("", words, style));
    block.ends.push_back(block.lines.size());
    if (first) block.least = block.lines.size();
  }
  return block;
}

Paragraph serving_changes(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  for (const auto& candidate : report.found) {
    const bool is_short = candidate.starts && !candidate.carries && !candidate.uses_host;
    const auto* lacks = is_short ? "; does not carry the load" : "";
    add_lines(block, labelled(block.lines.empty() ? "found" : "", change_of(candidate, false) + lacks, style));
  }
  constexpr std::size_t few = 5;  // the verdict is that of the best
  const bool limited = !report.answer.broken_limits.empty();
  const std::size_t found = block.lines.size();
  block.least = std::min(few, found);
  for (const auto& candidate : report.advice) {
    const bool first = block.lines.size() == found;
    add_lines(block, labelled(first ? "try" : "", change_of(candidate, limited), style));
  }
  if (!report.advice.empty()) ++block.least;
  return block;
}

}  // namespace llmcalc::render
