// What a server holds: the tightest accelerator's ledger, the cache and how it is cut.
#include "quantity/format.hpp"
#include "render/inner/serving_lines.hpp"
#include "render/inner/style.hpp"
#include "render/inner/table.hpp"
#include "render/inner/wrap.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::render {
namespace {

using serving::MemoryLine;
using serving::RankMemory;

bool reserves(const ServingReport& report) {
  return serving::row_of(report.answer.deployment.question.serving.engine).reserves;
}

/// "6,950 blocks of 16 tokens", or the cells that are set aside.
std::string cache_words(const ServingReport& report) {
  const auto& answer = report.answer;
  const std::string type(spec::name_of(answer.deployment.setup.cache));
  if (answer.verdict == serving::ServingVerdict::no_accelerator) return type + ", " + load_words(report);
  if (!reserves(report)) return fmt::format("{}, {} tokens", type, quantity::format_count(answer.capacity.context));
  if (answer.memory.pool <= quantity::bytes(0)) return "none left";
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

/// What stage or card holds how much, where there are several.
void add_ranks(const ServingReport& report, Table& table) {
  const auto& ranks = report.answer.ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto cache = reserves(report) ? std::max(ranks[i].pool, quantity::bytes(0)) : ranks[i].needed;
    table.add_row({fmt::format("  rank {} of {}", i + 1, ranks.size()), gib_text(ranks[i].held() + cache),
                   fmt::format("{} held, {} cache", gib_text(ranks[i].held()), gib_text(cache))});
  }
}

}  // namespace

std::string load_words(const ServingReport& report) {
  const auto& deployment = report.answer.deployment;
  return fmt::format("{} x {} tokens", quantity::format_count(deployment.question.serving.load.concurrency),
                     quantity::format_count(deployment.setup.context));
}

std::string gib_text(quantity::Bytes size) {
  return fmt::format("{:.2f}", static_cast<double>(quantity::in_bytes(size)) / 1073741824.0);
}

Paragraph serving_memory(const ServingReport& report, const TextStyle& style) {
  const RankMemory& memory = report.answer.memory;
  const bool all = style.full || style.explain;
  Table table({Align::left, Align::right, Align::left});
  table.add_row({paint("memory of one accelerator", Ink::heading, style), paint("GiB", Ink::heading, style), ""});
  for (const MemoryLine& holding : memory.holdings) {
    if (!all && gib_text(holding.size) == "0.00") continue;
    table.add_row({std::string(holding.label) + (holding.measured ? " *" : ""), gib_text(holding.size), ""});
    explain(holding, style, table);
  }
  const bool takes_all = reserves(report) && report.answer.verdict != serving::ServingVerdict::no_accelerator;
  const auto cache = takes_all ? std::max(memory.pool, quantity::bytes(0)) : memory.needed;
  table.add_row({"KV cache", gib_text(cache), cache_words(report)});
  if (all) add_groups(report, table);
  if (all) add_ranks(report, table);
  table.add_row(
      {"total", gib_text(memory.held() + cache),
       memory.capacity > quantity::bytes(0) ? fmt::format("of {}", gib_text(memory.capacity)) : std::string()});
  if (memory.host > quantity::bytes(0)) table.add_row({"host memory", gib_text(memory.host), ""});
  Paragraph block{lines_of(table.render()), 0};
  block.least = block.lines.size();
  return block;
}

}  // namespace llmcalc::render
