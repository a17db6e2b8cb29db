#include "read/run_rows.hpp"

#include "llmcalc/quantity/error.hpp"
#include "read/csv.hpp"
#include "read/node.hpp"
#include "read/settings.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

constexpr std::string_view example = "a header of options, as model,gpu,seq, and a row a run";

void put(RunRow& row, std::string_view key, const std::string& text, std::string where) {
  if (text.empty()) return;
  if (key == "id") {
    row.name = text;
  } else {
    row.words.push_back({with_underscores(key), text, {Source::row, std::move(where)}});
  }
}

std::vector<RunRow> rows_of_csv(std::string_view text, const std::string& place) {
  const auto rows = read_csv(text, place);
  if (rows.size() < 2) throw BadInput(place, "has no rows", std::string(example));
  const auto& header = rows.front().cells;
  std::vector<RunRow> runs;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto line = place + ":" + std::to_string(rows[i].line);
    if (rows[i].cells.size() != header.size()) throw BadInput(line, "has another number of cells than the header");
    RunRow run{line, {}};
    for (std::size_t column = 0; column < header.size(); ++column) {
      put(run, header[column], rows[i].cells[column], line + ":" + header[column]);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

/// The list itself, or the one below a key "runs".
const Node& list_of(const Node& file, const std::string& place) {
  const Node* list = file.kind == Node::Kind::table ? file.find("runs") : &file;
  if (list != nullptr && list->kind == Node::Kind::list && !list->items.empty()) return *list;
  throw BadInput(place, "has no list of runs", "entries as - {model: llama-3.1-8b, gpu: rtx-4090, seq: 4096}");
}

std::vector<RunRow> rows_of_yaml(std::string_view text, const std::string& place) {
  const Node file = parse_yaml(text, place);
  std::vector<RunRow> runs;
  for (const Node& entry : list_of(file, place).items) {
    if (entry.kind != Node::Kind::table) throw BadInput(entry.where, "is no table of options");
    RunRow run{entry.where, {}};
    const Settings settings = flat(entry);
    for (const Setting& setting : settings.all()) put(run, setting.key, setting.text, setting.where);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

constexpr std::array<std::string_view, 3> endings_of_yaml{".yaml", ".yml", ".json"};

std::vector<RunRow> read_run_rows(std::string_view text, std::string_view place) {
  const bool is_list = text.starts_with('-') || text.starts_with('[');  // of what is piped in there is no ending
  const bool is_yaml =
      is_list || std::ranges::any_of(endings_of_yaml, [&](auto ending) { return place.ends_with(ending); });
  const std::string path(place);
  return is_yaml ? rows_of_yaml(text, path) : rows_of_csv(text, path);
}

}  // namespace llmcalc::read
