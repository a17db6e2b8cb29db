// nvidia-smi's table of cards and processes (drivers 390 to 580), its list (-L), its log (-q, and as XML with -x) and
// its query as CSV, with or without a header.

#include "dialects/cards.hpp"
#include "dialects/machine/texts.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmcalc::dialects {
namespace {

using quantity::BadInput;

/// Cards as they are found, with the line of the first.
struct Told {
  std::vector<Card> cards;
  int line = 0;
  bool is_cut = false;      ///< into slices, of which the table says no names
  bool has_others = false;  ///< amounts of memory without a name

  void add(Card card, int at) {
    cards.push_back(std::move(card));
    if (line == 0) line = at;
  }
};

/// The number of "17878MiB", of " 23028 MiB" and of "23028".
std::optional<std::uint64_t> mib(std::string_view text) {
  text = quantity::trim(text);
  const auto number = quantity::take_number<std::uint32_t>(text);
  text = quantity::trim(text);
  if (!number || (!text.empty() && text != "MiB")) return std::nullopt;
  return std::uint64_t{*number} << 20U;
}

/// "   0  NVIDIA A10G                    On  ": its number, its name, and a switch that is none of either.
bool begin_card(std::string_view cell, int line, Told& told) {
  cell = quantity::trim(cell);
  const auto number = quantity::take_number<std::uint32_t>(cell);
  if (!number || !cell.starts_with(' ')) return false;
  cell = quantity::trim(cell);
  const auto mode = cell.find_last_of(' ');
  if (mode == cell.npos) return false;
  told.add({.name = std::string(quantity::trim(cell.substr(0, mode)))}, line);
  return true;
}

/// "  17878MiB /  23028MiB "
void take_memory(std::string_view cell, Card& card) {
  const auto slash = cell.find('/');
  if (slash == cell.npos || card.total) return;
  const auto used = mib(cell.substr(0, slash));
  const auto total = mib(cell.substr(slash + 1));
  if (!used || !total) return;
  card.total = total;
  card.free = *total - std::min(*used, *total);
  card.free_with_reserved = true;
}

/// "|    0   N/A  N/A      1234      C   python3    4783MiB |", before driver 450 without the two instances.
void take_process(std::string_view row, std::vector<Card>& cards) {
  auto words = words_of_line(row);
  if (words.size() < 4) return;
  auto number = words.front();
  const auto at = quantity::take_number<std::size_t>(number);
  const auto type = std::ranges::find_if(
      words, [](std::string_view word) { return word == "C" || word == "G" || word == "C+G" || word == "M+C"; });
  if (!at || !number.empty() || *at >= cards.size() || type == words.end() || type == words.begin()) return;
  auto id = *std::prev(type);
  const auto process = quantity::take_number<std::uint32_t>(id);
  if (process && id.empty()) cards[*at].holders.push_back({*process, mib(words.back()).value_or(0)});
}

Told table(std::string_view text) {
  Told told;
  bool processes = false;
  each_line(text, [&](std::string_view line, int number) {
    if (!line.starts_with('|')) return;
    if (line.starts_with("| Processes:")) processes = true;
    if (line.starts_with("| MIG devices:")) told.is_cut = true;
    if (processes) return take_process(quantity::trim(quantity::without_end(line.substr(1), "|")), told.cards);
    const auto cells = quantity::pieces_of(line.substr(1), "|");
    constexpr std::size_t columns = 3;
    if (told.is_cut || cells.size() < columns) return;
    if (!begin_card(cells[0], number, told) && !told.cards.empty()) take_memory(cells[1], told.cards.back());
  });
  return told;
}

/// "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-...)", and below it "  MIG 1g.10gb     Device  0: (UUID: MIG-...)".
Told list(std::string_view text) {
  Told told;
  std::string whole;  // of which the slices are that follow
  each_line(text, [&](std::string_view line, int number) {
    const auto end = line.find(" (UUID: ");
    const auto colon = line.find(": ");
    if (line.starts_with("GPU ") && end != line.npos && colon < end) {
      whole = line.substr(colon + 2, end - colon - 2);
      told.add({.name = whole}, number);
    } else if (line.starts_with("MIG ") && !told.cards.empty()) {
      if (told.cards.back().name == whole) told.cards.pop_back();
      told.cards.push_back({.name = whole + " MIG " + std::string(words_of_line(line)[1])});
    }
  });
  return told;
}

/// "    Product Name                          : NVIDIA A10", and what stands below "    FB Memory Usage".
Told log(std::string_view text) {
  Told told;
  std::string_view part;  // whose keys follow
  each_line(text, [&](std::string_view line, int number) {
    const auto colon = line.find(" : ");
    const auto key = quantity::trim(line.substr(0, colon));
    auto value = colon == line.npos ? std::string_view() : quantity::trim(line.substr(colon + 3));
    if (colon == line.npos) part = key;
    if (key == "Product Name") told.add({.name = std::string(value)}, number);
    if (told.cards.empty()) return;
    Card& card = told.cards.back();
    if (part == "MIG Mode" && key == "Current" && value == "Enabled") told.is_cut = true;
    if (part == "FB Memory Usage" && key == "Total") card.total = mib(value);
    if (part == "FB Memory Usage" && key == "Free") card.free = mib(value);
    if (key == "Process ID") card.holders.push_back({quantity::take_number<std::uint32_t>(value).value_or(0), 0});
    if (key == "Used GPU Memory" && !card.holders.empty()) card.holders.back().bytes = mib(value).value_or(0);
  });
  return told;
}

/// The fields of a query that say what is asked here (nvidia-smi --help-query-gpu); others say something else.
constexpr std::string_view names[] = {"name", "gpu_name"};

std::vector<std::string_view> fields_of(std::string_view line) {
  return quantity::mapped(quantity::pieces_of(line, ","), [](std::string_view field) { return quantity::trim(field); });
}

std::string_view field(const std::vector<std::string_view>& header, const std::vector<std::string_view>& row,
                       std::string_view name) {
  for (std::size_t at = 0; at < std::min(header.size(), row.size()); ++at) {
    if (header[at].substr(0, header[at].find(" [")) == name) return row[at];
  }
  return {};
}

bool is_header(const std::vector<std::string_view>& fields) {
  const auto is_field = [](std::string_view field) {
    const auto key = field.substr(0, field.find(" ["));
    const bool plain = std::ranges::all_of(key, [](char c) { return quantity::is_name_char(c) || c == '.'; });
    return !key.empty() && plain;
  };
  const auto is_memory = [](std::string_view field) {
    return field.starts_with("memory.") && field.ends_with("[MiB]");
  };
  return std::ranges::all_of(fields, is_field) && std::ranges::any_of(fields, is_memory);
}

Told query(std::string_view text, std::string_view place) {
  Told told;
  std::vector<std::string_view> header;
  each_line(text, [&](std::string_view line, int number) {
    if (line.empty()) return;
    const auto row = fields_of(line);
    if (header.empty()) {
      header = row;
      return;
    }
    Card card;
    for (const auto name : names) card.name += field(header, row, name);
    if (card.name.empty())
      throw BadInput(fmt::format("{}:{}", place, number), "says no card's name",
                     "nvidia-smi --query-gpu=name,... does");
    card.total = mib(field(header, row, "memory.total"));
    card.free = mib(field(header, row, "memory.free"));
    const auto used = mib(field(header, row, "memory.used"));
    if (!card.free && card.total && used) {
      card.free = *card.total - std::min(*used, *card.total);
      card.free_with_reserved = true;
    }
    told.is_cut = told.is_cut || field(header, row, "mig.mode.current") == "Enabled";
    told.add(std::move(card), number);
  });
  return told;
}

/// A field that begins as drivers begin the names of cards.
bool is_card_name(std::string_view field) {
  constexpr std::string_view makes[] = {"NVIDIA ", "Tesla ", "GeForce ", "Quadro ", "GRID ", "TITAN "};
  return field.find(':') == field.npos &&
         std::ranges::any_of(makes, [&](std::string_view make) { return field.starts_with(make); });
}

bool is_amount(std::string_view field) { return field.ends_with(" MiB") && mib(field); }

/// Rows of --format=csv,noheader: no amount is larger than the total, and of the others nobody knows which is which.
std::optional<Told> rows_alone(std::string_view text) {
  Told told;
  std::size_t width = 0;
  bool fits = true;
  each_line(text, [&](std::string_view line, int number) {
    if (line.empty() || !fits) return;
    const auto row = fields_of(line);
    const auto* name = quantity::find_if_or_null(row, is_card_name);
    fits = name != nullptr && (width == 0 || row.size() == width);
    width = row.size();
    if (!fits) return;
    Card card{.name = std::string(*name)};
    for (const auto field : row) {
      if (is_amount(field)) card.total = std::max(card.total, mib(field));
      told.has_others = told.has_others || is_amount(field);
    }
    told.add(std::move(card), number);
  });
  return fits && !told.cards.empty() ? std::optional(std::move(told)) : std::nullopt;
}

/// The log as -x writes it: `<product_name>NVIDIA A10</product_name>` is a line "product_name : NVIDIA A10" of what
/// <fb_memory_usage> begins, under the names that the log itself has for them.
std::string log_of_xml(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> names_of[] = {{"product_name", "Product Name"},
                                                                        {"fb_memory_usage", "FB Memory Usage"},
                                                                        {"mig_mode", "MIG Mode"},
                                                                        {"current_mig", "Current"},
                                                                        {"total", "Total"},
                                                                        {"free", "Free"},
                                                                        {"pid", "Process ID"},
                                                                        {"used_memory", "Used GPU Memory"}};
  std::string lines;
  each_line(text, [&](std::string_view line, int) {
    const auto end = line.find('>');
    const bool opens = line.starts_with('<') && !line.starts_with("</") && end != line.npos;
    const auto key = opens ? line.substr(1, end - 1) : std::string_view();
    const auto value = opens ? line.substr(end + 1, line.find('<', end) - end - 1) : std::string_view();
    const auto* known = std::ranges::find(names_of, key, [](const auto& each) { return each.first; });
    const auto name = known == std::end(names_of) ? key : known->second;
    lines += opens && !value.empty() ? fmt::format("{} : {}\n", name, value) : fmt::format("{}\n", name);
  });
  return lines;
}

std::optional<Told> told_in(std::string_view text, std::string_view place) {
  auto rest = text;
  const auto first = quantity::trim(quantity::take_until(rest, "\n"));
  if (is_header(fields_of(first))) return query(text, place);
  if (first.starts_with("GPU ") && first.find(" (UUID: GPU-") != first.npos) return list(text);
  if (text.find("=NVSMI LOG=") != text.npos) return log(text);
  if (text.find("<nvidia_smi_log>") != text.npos) return log(log_of_xml(text));
  return text.find("| NVIDIA-SMI ") == text.npos ? rows_alone(text) : std::optional(table(text));
}

/// The largest amount of a row is the memory of the card that it names, or used or free of it.
void keep_totals(std::vector<Card>& cards, const read::Catalogue& catalogue, Reading& reading) {
  Card by_name = cards.back();
  by_name.total.reset();
  const auto match = preset_of(by_name, catalogue);
  const bool is_total = !match.id.empty() && preset_of(cards.back(), catalogue).id == match.id &&
                        is_as_large(cards.back(), catalogue.accelerator(match.id, "--gpu"));
  if (!is_total) {
    for (Card& card : cards) card.total.reset();
  }
  reading.assumptions.push_back(
      {"used and free memory has no name in rows without a header: what others hold is not read", "memory"});
}

}  // namespace

std::optional<Reading> read_nvidia_smi(std::string_view text, std::string_view place) {
  auto told = told_in(text, place);
  if (!told) return std::nullopt;
  auto& cards = told->cards;
  if (cards.empty()) throw BadInput(std::string(place), "is nvidia-smi's output and tells of no card");
  const std::string where = fmt::format("{}:{}", place, told->line);
  if (told->is_cut) {
    throw BadInput(where, "the cards are cut into slices (MIG), which this output does not name",
                   "nvidia-smi -L does, and --gpu a100-80-mig-3g.40gb");
  }
  sort_by_free(cards);
  if (const auto different = mixed_names(cards); !different.empty()) {
    throw BadInput(where, "the cards are not alike: " + different, "nvidia-smi -i 0,1 tells of some alone");
  }
  Reading reading;
  reading.kind = "nvidia-smi's output";
  reading.place = place;
  const spec::Origin origin{Source::file, where};
  const read::Catalogue catalogue;
  if (told->has_others) keep_totals(cards, catalogue, reading);
  const auto match = preset_of(cards.back(), catalogue);
  reading.words.push_back({"gpus", std::to_string(cards.size()), origin});
  if (match.id.empty() && cards.back().name.ends_with("...")) {
    reading.open.push_back({"gpu", match.unlike, origin});
    return reading;
  }
  if (match.id.empty()) {  // which a preset of one's own may be called
    const Card& fullest = cards.back();
    reading.words.push_back({"gpu", fullest.name, origin});
    if (!fullest.free || fullest.free == fullest.total) return reading;
    reading.words.push_back({"memory", fmt::format("{}MiB", *fullest.free >> 20U), origin});
    reading.assumptions.push_back({fmt::format("{}: as much as was free then", fullest.name), "memory"});
    return reading;
  }
  reading.words.push_back({"gpu", match.id, origin});
  if (!match.unlike.empty()) reading.assumptions.push_back({match.unlike});
  if (const auto room = room_on(cards, catalogue.accelerator(match.id, where), "then")) {
    reading.words.push_back({"memory", fmt::format("{}MiB", room->bytes >> 20U), origin});
    reading.assumptions.push_back({room->told, "memory"});
  }
  return reading;
}

}  // namespace llmcalc::dialects
