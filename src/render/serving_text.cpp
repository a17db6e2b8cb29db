// The answer about a server for people: on one screen, or with --full all of it.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/text.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::render {
namespace {

using serving::MemoryLine;
using serving::RankMemory;

bool reserves(const ServingReport& report) { return serving::reserves(report.answer.deployment); }

bool keeps_nothing(const ServingReport& report) {
  const auto& stages = report.answer.deployment.stages;
  return !stages.empty() && stages.front().cache.empty();
}

/// "16 x 8,192 tokens": the load that was asked for.
std::string load_words(const ServingReport& report) {
  const auto& deployment = report.answer.deployment;
  return fmt::format("{} x {} tokens", quantity::format_count(deployment.question.serving.load.concurrency),
                     quantity::format_count(deployment.setup.context));
}

/// "6,950 blocks of 16 tokens", or the cells that are set aside.
std::string cache_words(const ServingReport& report, bool all) {
  const auto& answer = report.answer;
  const std::string type(spec::name_of(answer.deployment.setup.cache));
  if (keeps_nothing(report)) return "none: nothing is read twice";
  if (answer.verdict == trust::VerdictKind::no_accelerator) return type + ", " + load_words(report);
  if (!reserves(report)) return fmt::format("{}, {} tokens", type, quantity::format_count(answer.capacity.context));
  if (answer.memory.pool <= quantity::bytes(0)) return "none left";
  if (!all) return fmt::format("{}, {} tokens", type, quantity::format_count(answer.capacity.cache_tokens));
  return fmt::format("{}, {} tokens, {} blocks of {}", type, quantity::format_count(answer.capacity.cache_tokens),
                     quantity::format_count(answer.memory.blocks), answer.memory.block);
}

void explain(const MemoryLine& holding, const TextStyle& style, Table& table) {
  if (!style.explain) return;
  table.add_prose(6, paint(holding.formula, Ink::dim, style));
  table.add_prose(6, paint(holding.source, Ink::dim, style));
}

void add_groups(const ServingReport& report, Table& table) {
  for (const serving::BlockGroup& group : report.answer.memory.groups) {
    const auto& layer = group.group.layer;
    const auto window = layer.window > 0 ? fmt::format(" of {}", layer.window) : std::string();
    table.add_prose(
        4, fmt::format("{} layers, reach {}{}: {} elements a token, {} blocks for one request", group.group.layers,
                       serving::name_of(layer.reach), window, layer.elements, group.blocks));
  }
}

/// Bytes of each stage or card, where there are several.
void add_ranks(const ServingReport& report, const MemoryUnit& unit, Table& table) {
  const auto& ranks = report.answer.ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto cache = reserves(report) ? std::max(ranks[i].pool, quantity::bytes(0)) : ranks[i].needed;
    table.add_row({fmt::format("  rank {} of {}", i + 1, ranks.size()), in_unit(ranks[i].held() + cache, unit),
                   fmt::format("{} held, {} cache", in_unit(ranks[i].held(), unit), in_unit(cache, unit))});
  }
}

quantity::Bytes total_of(const ServingReport& report) { return report.answer.memory.held() + cache_of(report); }

/// Parts that are held, so many largest first, and how many that are smaller in one line.
void add_largest(const RankMemory& memory, const MemoryUnit& unit, std::size_t most, Table& table) {
  auto holdings = memory.holdings;
  std::erase_if(holdings, [](const MemoryLine& line) { return line.size == quantity::bytes(0); });
  std::ranges::stable_sort(holdings, std::ranges::greater(), &MemoryLine::size);
  const auto told = holdings.size() == most + 1 ? holdings.size() : std::min(most, holdings.size());
  const auto label = [](const MemoryLine& line) { return std::string(line.label) + (line.measured ? " *" : ""); };
  for (std::size_t i = 0; i < told; ++i) table.add_row({label(holdings[i]), in_unit(holdings[i].size, unit), ""});
  const auto others = quantity::sum_of(std::span(holdings).subspan(told), std::mem_fn(&MemoryLine::size));
  if (others > quantity::bytes(0))
    table.add_row({fmt::format("{} smaller ones", holdings.size() - told), in_unit(others, unit), ""});
}

Paragraph serving_memory(const ServingReport& report, const TextStyle& style, std::size_t largest) {
  const RankMemory& memory = report.answer.memory;
  const auto unit = unit_of(std::max({memory.capacity, total_of(report), quantity::gib(1)}), style);
  const bool all = style.full || style.explain;
  Table table({Align::left, Align::right, Align::left});
  table.wrap_last_column();
  table.add_row({paint("memory of one accelerator", Ink::heading, style), paint(unit.name, Ink::heading, style), ""});
  if (!all) add_largest(memory, unit, largest, table);
  for (const MemoryLine& holding : all ? memory.holdings : std::vector<MemoryLine>()) {
    table.add_row({std::string(holding.label) + (holding.measured ? " *" : ""), in_unit(holding.size, unit), ""});
    explain(holding, style, table);
  }
  table.add_row({"KV cache", in_unit(cache_of(report), unit), cache_words(report, all)});
  if (all) add_groups(report, table);
  if (all) add_ranks(report, unit, table);
  const auto capacity = memory.capacity > quantity::bytes(0) ? "of " + in_unit(memory.capacity, unit) : std::string();
  table.add_row({"total", in_unit(total_of(report), unit), capacity});
  if (const auto& prefill = report.answer.prefill) {
    const auto cache = std::max(prefill->pool, quantity::bytes(0));
    table.add_row({"where prompts are read", in_unit(prefill->held() + cache, unit),
                   fmt::format("{} held, {} cache", in_unit(prefill->held(), unit), in_unit(cache, unit))});
  }
  if (memory.host > quantity::bytes(0)) table.add_row({"host memory", in_unit(memory.host, unit), ""});
  return whole(lines_of(table.render()));
}

using quantity::format_count;
using serving::Candidate;
using trust::VerdictKind;

std::string verdict_word(const ServingReport& report, const TextStyle& style) {
  return verdict_word(report.answer.verdict, report.answer.broken_limits, style);
}

std::string model_of(const ServingReport& report) {
  const auto name = echoed(report.question, "model");
  return name.empty() ? "a model of " + quantity::format_parameters(quantity::parameters(report.answer.parameters))
                      : name;
}

/// "llama-3-8b in awq, vLLM 0.33.0, 2 x h100-sxm, tp 2"
std::string server_of(const ServingReport& report) {
  const auto& question = report.answer.deployment.question;
  const auto& row = serving::row_of(question.serving.engine);
  const auto version =
      question.serving.engine_version.empty() ? std::string(row.newest) : question.serving.engine_version;
  std::string words =
      fmt::format("{} in {}, {} {}", model_of(report), spec::name_of(question.serving.quant), row.program, version);
  if (question.gpu) words += fmt::format(", {} x {}", question.layout.gpus, question.gpu->id);
  for (const auto& [name, degree] : {std::pair{"tp", question.layout.tp}, std::pair{"pp", question.layout.pp},
                                     std::pair{"ep", question.layout.ep}}) {
    if (degree > 1) words += fmt::format(", {} {}", name, degree);
  }
  if (question.layout.dp > 1) words += fmt::format(", {} copies", question.layout.dp);
  const auto& prefill = report.answer.deployment.prefill;
  if (prefill)
    words += fmt::format(", prompts read by {} of tp {}", prefill->question.layout.dp, prefill->question.layout.tp);
  return words;
}

/// ", 22 layers' experts in host memory", or whole layers.
std::string host_words(const serving::Setup& setup) {
  if (setup.host_layers > 0)
    return fmt::format(", {} in host memory", quantity::format_counted(setup.host_layers, "layer"));
  if (setup.host_experts == 1) return ", one layer's experts in host memory";
  return setup.host_experts > 0 ? fmt::format(", {} layers' experts in host memory", setup.host_experts) : "";
}

std::string start_of(const ServingReport& report) {
  const auto& answer = report.answer;
  if (answer.verdict == VerdictKind::does_not_fit) return answer.reason;
  if (answer.verdict == VerdictKind::no_accelerator) {
    const auto needed = answer.memory.held() + answer.memory.needed;
    const auto unit = memory_unit_for(needed);
    return fmt::format("needs {} {} of an accelerator for {}; --gpu names one for a verdict", in_unit(needed, unit),
                       unit.name, load_words(report));
  }
  const auto& broken = answer.broken_limits;
  return fmt::format("starts, with room for {} x {} tokens{}{}{}", format_count(answer.capacity.max_concurrency),
                     format_count(answer.capacity.context), host_words(answer.deployment.setup),
                     broken.empty() ? "" : ", but ", quantity::joined(broken, " and "));
}

std::string longest_of(const ServingReport& report) {
  const auto& capacity = report.answer.capacity;
  const auto concurrency = report.answer.deployment.question.serving.load.concurrency;
  if (capacity.max_context == 0) return "none fits";
  auto words = fmt::format("{} tokens, one request", format_count(capacity.max_context));
  if (concurrency == 1) return words;
  return words + (capacity.shared_context == 0
                      ? fmt::format("; {} at once do not fit", concurrency)
                      : fmt::format("; {} each, {} at once", format_count(capacity.shared_context), concurrency));
}

std::string at_once_of(const ServingReport& report) {
  const auto& capacity = report.answer.capacity;
  return fmt::format("{} of {} tokens, limited by {}", format_count(capacity.max_concurrency),
                     format_count(capacity.context), capacity.binding);
}

/// "rtx-5090 yes, l40s yes, ...": from the first that takes it.
std::string cards_of(const ServingReport& report) {
  const auto& cards = report.cards;
  if (cards.empty()) return {};
  const auto first = std::ranges::find(cards, true, &serving::CardAnswer::takes_it);
  if (first == cards.end()) return fmt::format("none of these alone, up to {}", cards.back().gpu);
  const auto told = [](const auto& card) { return card.gpu + (card.takes_it ? " yes" : " no"); };
  return quantity::joined(std::span(first, cards.end()), ", ", told);
}

std::string bytes_of(const ServingReport& report) {
  const auto& answer = report.answer;
  auto words = fmt::format("{} bytes a token on a rank", format_count(quantity::in_bytes(answer.bytes_per_token)));
  if (answer.reach > 0) words += fmt::format(" for the last {}", format_count(answer.reach));
  if (answer.state > quantity::bytes(0)) {
    words += fmt::format("; states of recurrent layers {}", quantity::format_gib(answer.state));
  }
  for (const serving::BlockGroup& each : answer.memory.groups) {
    if (each.group.layer.reach != serving::Reach::memory) continue;
    const auto size = each.group.layers * serving::position_bytes(answer.deployment.setup.cache, each.group.layer);
    words += fmt::format("; a request's {} positions of the encoder {}", format_count(each.group.layer.window),
                         quantity::format_gib(size * each.group.layer.window));
  }
  return words;
}

std::vector<std::string> header_of(std::span<const serving::CapacityCell> cells) {
  std::vector<std::string> header{"context"};
  for (const auto& cell : cells) {
    if (cell.context != cells.front().context) break;
    header.push_back(std::to_string(cell.concurrency));
  }
  return header;
}

std::string share_of_cache(const serving::CapacityCell& cell) {
  return cell.fits ? fmt::format("{:.0f} %", 100.0 * cell.cache_share) : "-";
}

std::vector<std::string> row_of(std::span<const serving::CapacityCell> cells) {
  std::vector<std::string> row{format_count(cells.front().context)};
  quantity::append(row, quantity::mapped(cells, share_of_cache));
  return row;
}

Paragraph table_of(const ServingReport& report, const TextStyle& style) {
  const std::span<const serving::CapacityCell> cells(report.table);
  if (cells.empty()) return {};
  const auto header = header_of(cells);
  const std::size_t width = header.size() - 1;
  Table table(std::vector<Align>(header.size(), Align::right));
  table.add_line("  " + paint("share of the cache, by context and concurrency; -: does not fit", Ink::heading, style));
  table.add_row(header);
  for (std::size_t row = 0; row + width <= cells.size(); row += width) table.add_row(row_of(cells.subspan(row, width)));
  return whole(lines_of(table.render()));
}

Paragraph serving_remarks(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  add_lines(block, labelled("notes", quantity::joined(report.answer.notes, "; "), style));
  add_lines(block, labelled("assumed", quantity::joined(sentences(report.assumptions), "; "), style));
  block.least = std::min<std::size_t>(1, block.lines.size());
  block.prose = true;
  return block;
}

}  // namespace

std::vector<std::string> command_lines(std::string command, std::string_view label, const TextStyle& style) {
  for (auto at = command.find(" \\\n"); at != std::string::npos; at = command.find(" \\\n"))
    command.replace(at, 5, " ");
  constexpr std::size_t column = 12;
  constexpr std::size_t room_for_break = 2;
  constexpr std::size_t room = page_columns - room_for_break;
  constexpr std::string_view kept =
      "\u00A0";  // no line is broken at it: an option stays beside a value that fits there
  for (auto at = command.find(" --"); at != std::string::npos; at = command.find(" --", at + 1)) {
    const auto end = std::min(command.find(' ', at + 1), command.size());
    const auto value_end = std::min(command.find(' ', std::min(end + 1, command.size())), command.size());
    const bool has_value = end + 1 < command.size() && command[end + 1] != '-' && command[end + 1] != '&';
    if (has_value && value_end - at - 1 <= room - column) command.replace(end, 1, kept);
  }
  auto lines = lines_of(wrapped(command, column, column, room));
  if (lines.empty()) return lines;
  for (auto& line : lines) {
    for (auto at = line.find(kept); at != std::string::npos; at = line.find(kept)) line.replace(at, kept.size(), " ");
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += " \\";
  const std::string padding(column - 2 - std::min(column - 2, label.size()), ' ');
  lines.front().insert(0, "  " + (label.empty() ? std::string() : paint(label, Ink::heading, style)) + padding);
  return lines;
}

Paragraph serving_verdict(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  constexpr std::size_t indent = 2;
  add_lines(block, lines_of(wrapped(verdict_word(report, style) + "  " + server_of(report), 0, indent)));
  add_lines(block, page_lines(start_of(report), indent));
  add_lines(block, gauge(total_of(report), report.answer.memory.capacity, style));
  block.least = block.lines.size();
  return block;
}

Paragraph serving_capacity(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  if (report.answer.verdict != VerdictKind::no_accelerator) {
    add_lines(block, labelled("longest", longest_of(report), style));
    add_lines(block, labelled("at once", at_once_of(report), style));
  }
  add_lines(block, labelled("cards", cards_of(report), style));
  block.least = block.lines.size();
  if (!keeps_nothing(report)) add_lines(block, labelled("cache", bytes_of(report), style));
  return block;
}

quantity::Bytes cache_of(const ServingReport& report) {
  const RankMemory& memory = report.answer.memory;
  const bool takes_all = reserves(report) && report.answer.verdict != trust::VerdictKind::no_accelerator;
  return takes_all ? std::max(memory.pool, quantity::bytes(0)) : memory.needed;
}

/// A command stays on any screen unless it is several.
Paragraph serving_launch(const ServingReport& report, const TextStyle& style) {
  Paragraph block;
  if (!report.prefill_launch.empty() && !report.plans && !style.full && !style.explain)
    return {labelled(report.launch_label(), "servers of two kinds: their commands with --full", style), 1};
  const spec::Layout& layout = report.answer.deployment.question.layout;
  const auto& prefill = report.answer.deployment.prefill;
  const std::int64_t readers = prefill ? prefill->question.layout.gpus : 0;
  std::string_view label = report.launch_label();
  const auto add = [&](std::string_view what, const std::string& launch, std::int64_t servers, std::int64_t gpus) {
    if (launch.empty()) return;
    std::string heading(what);
    if (servers > 1)
      heading += fmt::format("{}{} times, each with {} and a port of its own", heading.empty() ? "" : ", ", servers,
                             gpus == servers ? "an accelerator" : fmt::format("{} accelerators", gpus / servers));
    if (!heading.empty()) add_lines(block, labelled(std::exchange(label, ""), heading + ":", style));
    add_lines(block, command_lines(launch, std::exchange(label, ""), style));
  };
  add("to read prompts", report.prefill_launch, report.prefill_servers, readers);
  constexpr std::string_view on_card = "--gpu ";
  const bool elsewhere = report.launched_with.starts_with(on_card) && report.servers == 1;
  const std::string what = prefill     ? "to write answers"
                           : elsewhere ? "on " + report.launched_with.substr(on_card.size())
                                       : std::string();
  add(what, report.launch, report.servers, layout.gpus - readers);
  constexpr std::size_t comment = 14;
  for (const auto& note : report.launch_notes) {
    for (const auto& line : lines_of(wrapped(note, 0, 0, page_columns - comment)))
      add_lines(block, labelled(std::exchange(label, ""), "# " + line, style));
  }
  block.ends = {0, block.lines.size()};
  block.adjoins = true;
  block.least = block.lines.size();
  return block;
}

/// The verdict again, beside the prompt.
Paragraph serving_last(const ServingReport& report, const TextStyle& style) {
  constexpr std::size_t hanging = 2;
  const auto& broken = report.answer.broken_limits;
  const std::string why = broken.empty() ? start_of(report) : quantity::joined(broken, " and ");
  return {lines_of(wrapped(verdict_word(report, style) + "  " + why, 0, hanging)), blocks_without_end};
}

std::string to_text(const ServingReport& report, const TextStyle& style) {
  // What a search found takes the place of what the question's own layout holds.
  const bool searched = report.plans && !style.full && !style.explain;
  const bool whole = style.full || style.explain || !report.table.empty();
  const bool warned = report.answer.capacity.queued > 0;  // on a line beside the answer
  const auto lines = whole ? blocks_without_end : style.lines - std::min<std::size_t>(style.lines, warned ? 1 : 0);
  auto launch = serving_launch(report, style);
  constexpr std::size_t short_command = 2;
  std::size_t largest = 4 - std::min<std::size_t>(3, launch.least - std::min(launch.least, short_command));
  const auto composed = [&] {
    auto memory = searched ? Paragraph() : serving_memory(report, style, largest);
    if (!report.found.empty()) memory.least = 0;
    if (!report.found.empty()) memory.ends = {0, memory.lines.size()};
    std::array blocks{serving_verdict(report, style),
                      std::move(memory),
                      table_of(report, style),
                      serving_capacity(report, style),
                      serving_speed(report, style),
                      serving_plans(report, style),
                      serving_changes(report, style),
                      serving_remarks(report, style),
                      launch,
                      serving_last(report, style)};
    return on_a_screen(blocks, lines);
  };
  const auto is_too_long = [&](const std::string& text) {
    return std::cmp_greater(std::ranges::count(text, '\n'), lines);
  };
  std::string text = composed();
  if (is_too_long(text) && !report.launch_notes.empty()) {
    constexpr std::string_view elsewhere = "--full prints the command, and what has to be put in it";
    launch = {labelled(report.launch_label(), elsewhere, style), 1};
    text = composed();
  }
  for (; is_too_long(text) && largest > 1; text = composed()) --largest;
  return on_screen(text, style);
}

}  // namespace llmcalc::render
