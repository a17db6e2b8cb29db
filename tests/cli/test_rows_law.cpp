// A list of runs says of each what the question alone answers: every cell of every form, and the exit code.
#include "catch.hpp"
#include "cli/rows.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/rows.hpp"
#include "render/inner/page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace llmcalc::rows_law {

using Catch::Matchers::Contains;

namespace {

/// What a line of a list says, by the keys of its JSON and its CSV.
using Line = std::map<std::string, json>;

json words_of_change(const json& answer, const char* key) {
  const bool helps = answer.at("verdict") == "does_not_fit" || key == std::string("change");
  return helps && !answer.at("advice").empty() ? answer.at("advice").at(0).at(key) : json();
}

Line line_of_run(const json& answer) {
  return {{"verdict", answer.at("verdict")},
          {"needed_bytes", answer.at("needed_bytes")},
          {"high_bytes", at(answer, "/error_bar/high_bytes")},
          {"capacity_bytes", answer.at("capacity_bytes")},
          {"step_seconds", at(answer, "/time/step_seconds")},
          {"total_seconds", at(answer, "/time/total_seconds")},
          {"cost_usd", at(answer, "/time/cost_usd")},
          {"reasons", answer.at("broken_limits")},
          {"advice", words_of_change(answer, "flag")}};
}

Line line_of_server(const json& answer) {
  auto reasons = answer.at("broken_limits");
  if (answer.at("reason").is_string()) reasons.insert(reasons.begin(), answer.at("reason"));
  const bool fails = answer.at("verdict") == "does_not_fit" || !answer.at("broken_limits").empty();
  const bool judged = answer.at("verdict") != "no_accelerator";
  return {{"verdict", answer.at("verdict")},
          {"capacity_bytes", judged ? at(answer, "/memory/capacity_bytes") : json()},
          {"first_token_seconds", at(answer, "/speed/ttft_s")},
          {"token_seconds", at(answer, "/speed/tpot_s")},
          {"token_cost_usd", at(answer, "/speed/cost/output_with_prompts_usd_per_million")},
          {"at_once", at(answer, "/capacity/max_concurrency")},
          {"reasons", reasons},
          {"advice", fails ? words_of_change(answer, "change") : json()}};
}

/// What a plan tells of its best layout.
Line line_of_plan(const json& answer) {
  const bool found = !answer.at("best").empty();
  const auto figure = [&](const char* key) {
    return found ? at(answer, std::string("/best/0/figures/") + key) : json();
  };
  return {{"needed_bytes", found ? figure("needed_bytes") : json(0)},
          {"capacity_bytes", found ? answer.at("capacity_bytes") : json(0)},
          {"step_seconds", figure("step_seconds")},
          {"total_seconds", figure("total_seconds")},
          {"cost_usd", figure("cost_usd")}};
}

struct Kind {
  std::string verb;
  Line (*line)(const json& answer);
};

/// A list asked in every form.
struct Listed {
  std::vector<Run> runs;
  std::vector<Alone> each;
  json lines;
  std::vector<read::CsvRow> csv;
  std::vector<Words> markdown;
  std::string text;
  std::string junit;
};

std::vector<Words> cells_of_markdown(const std::string& table) {
  std::vector<Words> rows;
  for (const auto& line : render::lines_of(table)) {
    if (!line.starts_with('|') || line.starts_with("|--") || line.starts_with("|:")) continue;
    auto& cells = rows.emplace_back();
    const auto inside = line.substr(1, line.size() - 2);
    for (const auto piece : quantity::pieces_of(inside, "|")) cells.emplace_back(quantity::trim(piece));
  }
  return rows;
}

/// The verdict of a line as its table says it.
std::string verdict_in(const json& line) {
  const auto verdict = line.at("verdict").get<std::string>();
  return verdict != "does_not_fit" && !line.at("reasons").empty() ? "over limit" : verdict;
}

void check_figures(const json& line, const Line& expected, const std::string& why) {
  CAPTURE(why);
  for (const auto& [key, value] : expected) {
    CAPTURE(key);
    CHECK(line.at(key) == value);
  }
}

/// A cell of CSV is the figure of the JSON, a blank what is null or nothing.
void check_csv(const read::CsvRow& head, const read::CsvRow& row, const json& line) {
  REQUIRE(head.cells.size() == row.cells.size());
  for (std::size_t i = 0; i < head.cells.size(); ++i) {
    const auto& key = head.cells[i];
    const auto& cell = row.cells[i];
    CAPTURE(key, cell);
    if (key == "run") {
      CHECK(cell == line.at("name"));
    } else if (key == "reason") {
      CHECK(cell == quantity::joined(line.at("reasons").get<Words>(), "; "));
    } else if (key == "verdict") {
      auto verdict = verdict_in(line);
      std::ranges::replace(verdict, ' ', '_');
      CHECK(cell == verdict);
    } else if (line.at(key).is_number()) {
      const auto value = line.at(key).get<double>();
      CHECK((cell.empty() ? 0.0 : std::stod(cell)) == value);
    } else {
      CHECK(cell == (line.at(key).is_null() ? std::string() : line.at(key).get<std::string>()));
    }
  }
}

std::string gib_in(const json& bytes) {
  return bytes.is_number() && bytes > 0 ? fmt::format("{:.2f}", bytes.get<double>() / 1073741824.0) : std::string();
}
std::string time_in(const json& seconds) {
  return seconds.is_number() ? quantity::format_duration(quantity::seconds(seconds.get<double>())) : std::string();
}
std::string money_in(const json& dollars) {
  return dollars.is_number() ? quantity::format_money(quantity::dollars(dollars.get<double>())) : std::string();
}
std::string count_in(const json& count) { return count.is_number() ? count.dump() : std::string(); }

/// Why a run fails and what helps, or why there is no answer.
std::string why_in(const json& line) {
  if (line.at("error").is_string()) return line.at("error").get<std::string>();
  auto text = quantity::joined(line.at("reasons").get<Words>(), "; ");
  if (!line.at("advice").is_null())
    text += (text.empty() ? "fits with " : "; fits with ") + line.at("advice").get<std::string>();
  return text;
}

/// What stands under a head of a table that people read.
std::string cell_under(const std::string& head, const json& line) {
  if (head == "run") return line.at("name").get<std::string>();
  if (head == "layout") return line.at("layout").is_null() ? std::string() : line.at("layout").get<std::string>();
  if (head == "verdict") {
    auto verdict = verdict_in(line);
    std::ranges::replace(verdict, '_', ' ');
    return verdict;
  }
  if (head == "why") return why_in(line);
  struct Figure {
    std::string head, key;
    std::string (*text)(const json&);
  };
  static const std::vector<Figure> figures{{"needs GiB", "needed_bytes", gib_in},
                                           {"up to", "high_bytes", gib_in},
                                           {"of", "capacity_bytes", gib_in},
                                           {"step", "step_seconds", time_in},
                                           {"whole", "total_seconds", time_in},
                                           {"cost", "cost_usd", money_in},
                                           {"first token", "first_token_seconds", time_in},
                                           {"a token", "token_seconds", time_in},
                                           {"a million", "token_cost_usd", money_in},
                                           {"at once", "at_once", count_in}};
  const auto* figure = quantity::find_or_null(figures, head, &Figure::head);
  REQUIRE(figure != nullptr);
  // A run whose step has a time, or a server whose later tokens have one, has a time for the rest, or never comes to
  // it.
  const bool never = (head == "whole" && line.at("step_seconds").is_number()) ||
                     (head == "first token" && line.at("token_seconds").is_number());
  return never && line.at(figure->key).is_null() ? "never" : figure->text(line.at(figure->key));
}

/// Pieces of a line that two spaces or more part.
Words columns_of(const std::string& line) {
  Words cells;
  for (std::size_t at = line.find_first_not_of(' '); at < line.size(); at = line.find_first_not_of(' ', at)) {
    const auto end = std::min(line.find("  ", at), line.size());
    cells.push_back(std::string(quantity::trim(line.substr(at, end - at))));
    at = end;
  }
  return cells;
}

/// Without what breaks it into lines.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const auto& piece : render::lines_of(text)) line += std::string(quantity::trim(piece)) + ' ';
  return line;
}

/// The table of a terminal: each of its columns says what the JSON does, and what it has no room for stands below.
void check_text(const Listed& list) {
  const auto lines = render::lines_of(list.text);
  const auto heads = columns_of(lines.front());
  const auto below = in_one_line(list.text);
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const json& line = list.lines[i];
    Words expected;
    for (const auto& head : heads) {
      auto cell = cell_under(head, line);
      if (!cell.empty()) expected.push_back(std::move(cell));
    }
    CAPTURE(lines[i + 1]);
    CHECK(columns_of(lines[i + 1]) == expected);
    if (!why_in(line).empty())
      CHECK_THAT(below, Contains(line.at("name").get<std::string>() + ": " + why_in(line).substr(0, 40)));
  }
}

void check_markdown(const Listed& list) {
  REQUIRE(list.markdown.size() == list.runs.size() + 1);
  const auto& heads = list.markdown.front();
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const auto& cells = list.markdown[i + 1];
    REQUIRE(cells.size() == heads.size());
    for (std::size_t k = 0; k < heads.size(); ++k) {
      CAPTURE(heads[k]);
      CHECK(cells[k] == cell_under(heads[k], list.lines[i]));
    }
  }
}

/// Cases of a test report: as many failures and errors as runs that alone end with 1 and 2.
void check_junit(const Listed& list) {
  const auto ends_with = [&](ExitCode code) { return std::ranges::count(list.each, code, &Alone::code); };
  const auto counted = [&](std::string_view part) {
    std::ptrdiff_t count = 0;
    for (auto at = list.junit.find(part); at != list.junit.npos; at = list.junit.find(part, at + 1)) ++count;
    return count;
  };
  CHECK_THAT(list.junit, Contains(fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", list.runs.size(),
                                              ends_with(ExitCode::does_not_fit), ends_with(ExitCode::bad_question))));
  CHECK(counted("<testcase ") == static_cast<std::ptrdiff_t>(list.runs.size()));
  CHECK(counted("<failure ") == ends_with(ExitCode::does_not_fit));
  CHECK(counted("<error ") == ends_with(ExitCode::bad_question));
  for (std::size_t i = 0; i < list.runs.size(); ++i) {
    const json& line = list.lines[i];
    if (list.each[i].code != ExitCode::does_not_fit) continue;
    CHECK_THAT(list.junit, Contains(fmt::format("name=\"{}\"><failure message=\"{}: needs {} of {} GiB",
                                                line.at("name").get<std::string>(), cell_under("verdict", line),
                                                cell_under("needs GiB", line), cell_under("of", line))));
  }
}

Listed listed(const std::string& verb, const std::vector<Run>& runs, const Words& more) {
  const Folder folder;
  const auto file = folder.write("runs.csv", csv_of(runs));
  Listed list;
  list.runs = runs;
  const auto in = [&](const char* form) {
    const auto outcome = asked({verb, "--rows", file, "--format", form}, more);
    auto worst = ExitCode::fits;
    for (const Alone& each : list.each) worst = std::max(worst, each.code);
    CHECK(outcome.code == worst);
    return outcome.answer;
  };
  for (const Run& run : runs) list.each.push_back(alone(verb, run, more));
  list.lines = json::parse(in("json")).at("runs");
  list.csv = read::read_csv(in("csv"), "csv");
  list.markdown = cells_of_markdown(in("markdown"));
  list.text = in("text");
  list.junit = in("junit");
  return list;
}

/// A sentence about the cells of a file as about the options of a command line.
std::string as_typed(std::string text) {
  static const std::regex place("[^ ]*runs\\.csv:[0-9]+:([a-z-]+)");
  return std::regex_replace(text, place, "--$1");
}

void check_list(const Kind& kind, const std::vector<Run>& runs, const Words& more) {
  CAPTURE(kind.verb, more);
  const auto list = listed(kind.verb, runs, more);
  REQUIRE(list.lines.size() == runs.size());
  REQUIRE(list.csv.size() == runs.size() + 1);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CAPTURE(runs[i]);
    const Alone& one = list.each[i];
    const json& line = list.lines[i];
    CHECK(line.at("name") == runs[i].front().second);
    CHECK(line.at("error").is_string() == (line.at("verdict") == "error"));
    check_csv(list.csv.front(), list.csv[i + 1], line);
    if (one.code != ExitCode::bad_question) {
      check_figures(line, kind.line(one.answer), one.answer.at("kind").get<std::string>());
    } else if (line.at("error").is_string()) {
      CHECK_THAT(as_typed(line.at("error").get<std::string>()), Contains(one.problem));
    }
  }
  check_markdown(list);
  check_text(list);
  check_junit(list);
}

}  // namespace

TEST_CASE("every cell of a list of runs is what the run alone answers, in every form") {
  const Kind fit{"fit", line_of_run};
  check_list(fit, drawn(axes_of_runs, 24, 1), {});
  check_list(fit, drawn(axes_of_runs, 24, 2), {"--strict"});
  check_list(fit, drawn(axes_of_runs, 20, 3), {"--max-memory", "30GiB", "--max-days", "30", "--max-cost", "1000"});
  check_list(fit, drawn(axes_of_runs, 16, 4), {"--strict", "--margin", "10%"});
}

TEST_CASE("every cell of a list of servers is what the server alone answers, in every form") {
  const Kind serve{"serve", line_of_server};
  check_list(serve, drawn(axes_of_servers, 24, 5), {});
  check_list(serve, drawn(axes_of_servers, 20, 6), {"--tpot", "20ms"});
  check_list({"serve", line_of_server}, drawn(axes_of_servers, 20, 8), {"--strict"});
}

TEST_CASE("every cell of a list of plans is the best of the plan alone, in every form") {
  const std::vector<Run> runs = drawn({{"model", {"llama-3.2-1b", "gpt2"}},
                                       {"gpu", {"h100-sxm:8", "rtx-4090", "a100-40:2", "nosuchcard"}},
                                       {"seq", {"1k", "64k"}},
                                       {"global-batch", {"8", "64"}},
                                       {"method", {"full", "lora"}}},
                                      10, 7);
  check_list({"plan", line_of_plan}, runs, {});
  check_list({"plan", line_of_plan}, runs, {"--max-memory", "20GiB"});
}

}  // namespace llmcalc::rows_law
