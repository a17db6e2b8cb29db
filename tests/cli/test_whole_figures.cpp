// Every number of a whole answer stands in its JSON, in the unit beside it and to the digits that are shown, whichever
// verb answers: a text makes no figure of its own but shares of a table and what two of its figures are apart.
#include "catch.hpp"
#include "cli/answered.hpp"
#include "frameworks/table.hpp"
#include "quantity/lists.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"
#include "tools/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::whole_figures {
namespace {

using nlohmann::json;
using quantity::is_digit;

/// Units behind a number, and what one of them is in the JSON: seconds, bytes, shares, kilowatt-hours, kilograms.
constexpr std::pair<std::string_view, double> units[] = {{" us", 1e-6},
                                                         {" ms", 1e-3},
                                                         {" s", 1},
                                                         {" min", 60},
                                                         {" h", 3600},
                                                         {" days", 86400},
                                                         {" years", 31557600},
                                                         {" GB", 1e9},
                                                         {" MB", 1e6},
                                                         {" TiB", 1099511627776},
                                                         {" TB", 1e12},
                                                         {" months", 2629800},
                                                         {" GiB", 1073741824},
                                                         {" MiB", 1048576},
                                                         {" %", 0.01},
                                                         {" Wh", 1e-3},
                                                         {" kWh", 1},
                                                         {" MWh", 1e3},
                                                         {" GWh", 1e6},
                                                         {" g", 1e-3},
                                                         {" kg", 1},
                                                         {" t", 1e3},
                                                         {" TFLOP/s", 1e12},
                                                         {" PFLOP/s", 1e15},
                                                         {" TB/s", 1e12},
                                                         {" GB/s", 1e9},
                                                         {" a billion tokens", 1e-3},
                                                         {"K", 1e3},
                                                         {"k", 1e3},
                                                         {"M", 1e6},
                                                         {"B", 1e9},
                                                         {"T", 1e12}};

/// A number as it is shown, with half of its last digit.
struct Shown {
  std::string line;
  std::string digits;
  double value = 0;
  double half = 0;

  bool is(double other) const { return std::abs(value - other) <= half * 1.0001 + 1e-9 * std::abs(other); }
};

/// Numbers of one or two digits without a unit are as good as all somewhere.
bool says_little(const std::string& digits, bool has_unit) {
  return !has_unit && digits.size() < 3 && digits.find('.') == std::string::npos;
}

Shown shown_at(const std::string& line, std::size_t begin, std::size_t end) {
  const std::string_view behind = std::string_view(line).substr(end);
  double worth = 1;
  bool has_unit = begin > 0 && line[begin - 1] == '$';
  for (const auto& [unit, value] : units) {
    const bool is_whole =
        behind.size() == unit.size() || (behind.size() > unit.size() && !quantity::is_name_char(behind[unit.size()]));
    if (!behind.starts_with(unit) || !is_whole || behind.substr(unit.size()).starts_with('/')) continue;
    worth = value;
    has_unit = true;
  }
  auto digits = line.substr(begin, end - begin);
  std::erase(digits, ',');
  if (says_little(digits, has_unit)) return {};
  const auto power = std::min(digits.find('e'), digits.size());
  const auto dot = std::min(digits.find('.'), power);
  const auto places = power - std::min(dot + 1, power);
  const double scale = worth * std::pow(10.0, power < digits.size() ? std::stod(digits.substr(power + 1)) : 0);
  return {line, digits, std::stod(digits.substr(0, power)) * scale,
          0.5 * std::pow(10.0, -static_cast<double>(places)) * scale};
}

/// Numbers that are no part of a name.
std::vector<Shown> numbers_in(const std::string& text) {
  std::vector<Shown> all;
  for (const auto& own :
       quantity::mapped(quantity::pieces_of(text, "\n"), [](auto line) { return std::string(line); })) {
    for (std::size_t at = 0; at < own.size();) {
      const char before = at > 0 ? own[at - 1] : ' ';
      const bool begins = is_digit(own[at]) && !quantity::is_name_char(before) &&
                          std::string_view(".-+/:").find(before) == std::string_view::npos;
      const auto end = std::min(own.find_first_not_of("0123456789.,", at), own.size());
      if (!begins) {
        at += is_digit(own[at]) ? std::max<std::size_t>(end - at, 1) : 1;
        continue;
      }
      auto last = end;
      const bool has_power = own.substr(last, 2) == "e+" || own.substr(last, 2) == "e-";
      if (has_power) last = std::min(own.find_first_not_of("0123456789", last + 2), own.size());
      while (last > at && !is_digit(own[last - 1])) --last;  // the end of a sentence
      const auto shown = shown_at(own, at, last);
      if (!shown.digits.empty()) all.push_back(shown);
      at = std::max(last, at + 1);
    }
  }
  return all;
}

/// Every number of the answer, and of sentences in it those that stand there.
void collect(const json& value, std::vector<double>& numbers) {
  if (value.is_number()) numbers.push_back(std::abs(value.get<double>()));
  if (value.is_string()) {
    for (const auto& shown : numbers_in(value.get<std::string>())) numbers.push_back(shown.value);
  }
  if (!value.is_structured()) return;
  for (const auto& member : value) collect(member, numbers);
}

double number_at(const json& answer, const char* pointer) {
  const json::json_pointer place(pointer);
  return answer.contains(place) && answer.at(place).is_number() ? answer.at(place).get<double>() : 0;
}

/// Figures that a text works out: the share of a line of memory, what a server takes with its cache, what is left.
void derive(const json& answer, std::vector<double>& numbers) {
  const double whole = std::max(number_at(answer, "/needed_bytes"), number_at(answer, "/best/0/figures/needed_bytes"));
  const double capacity = number_at(answer, "/capacity_bytes");
  if (whole > 0 && capacity > 0) numbers.insert(numbers.end(), {whole / capacity, std::abs(capacity - whole)});
  const json::json_pointer ledger("/memory/ledger");
  if (answer.contains(ledger)) {
    for (const json& line : answer.at(ledger)) numbers.push_back(line["bytes"].get<double>() / whole);
  }
  const json::json_pointer ranks("/memory/ranks");
  if (answer.contains(ranks)) {
    for (const json& rank : answer.at(ranks))
      numbers.push_back(rank["held_bytes"].get<double>() + rank["needed_bytes"].get<double>());
  }
  const double fast = number_at(answer, "/best/0/figures/step_seconds");
  if (fast > 0) numbers.push_back(number_at(answer, "/sure/figures/step_seconds") / fast - 1);
  for (const double beside : {0.0, number_at(answer, "/memory/beside_bytes")}) {
    const double held = number_at(answer, "/memory/held_bytes") + beside;
    for (const char* cache : {"/kv/bytes", "/kv/needed_bytes"}) numbers.push_back(held + number_at(answer, cache));
  }
}

/// A line that goes on below as one.
std::string unwrapped(const std::string& text) {
  std::string one;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool goes_on = text[at] == '\n' && text.substr(at + 1, 2) == "  " && !one.empty();
    if (goes_on) one += ' ';
    if (goes_on) at = std::min(text.find_first_not_of(' ', at + 1), text.size()) - 1;
    if (!goes_on) one += text[at];
  }
  return one;
}

/// \return how many numbers the text shows
std::size_t check_form(const std::string& line, const std::string& form, const json& answer,
                       double unit_of_tables = 1073741824) {
  const auto text = test::outcome_of(line + form);
  if (!text) return 0;
  std::vector<double> numbers{0.95};  // of requests, which are told as shares of a hundred
  collect(answer, numbers);
  derive(answer, numbers);
  std::ranges::sort(numbers);
  std::size_t count = 0;
  for (const auto& shown : numbers_in(unwrapped(text->answer))) {
    const auto is_there = [&](double unit) {
      const double least = (shown.value - shown.half * 1.001) * unit * (1 - 1e-9);
      const auto at = std::ranges::lower_bound(numbers, least);
      return at != numbers.end() && *at <= (shown.value + shown.half * 1.001) * unit * (1 + 1e-9);
    };
    ++count;
    const bool is_of_table = shown.half < 0.006 && shown.half > 0.004;  // two places, their unit above them
    if (is_there(1) || (is_of_table && is_there(unit_of_tables))) continue;
    CAPTURE(line, form, shown.line, shown.digits);
    FAIL_CHECK("a number that the JSON does not have");
  }
  return count;
}

/// A figure that is there has a source where one is told of such figures, and what is not there has none.
void check_sources(const json& answer) {
  constexpr std::string_view ending = "_source";
  for (const auto& [key, value] : answer.items()) {
    if (value.is_structured()) check_sources(value);
    if (!answer.is_object() || !key.ends_with(ending)) continue;
    const auto stem = key.substr(0, key.size() - ending.size());
    for (const auto& [of, figure] : answer.items()) {
      if (of == key || !of.starts_with(stem)) continue;
      CAPTURE(key, of, value.dump(), figure.dump());
      CHECK(value.is_null() == figure.is_null());
      break;
    }
  }
}

/// A token takes half a byte to four for each number that layers keep of it, those without a window where there are
/// any.
void check_cache(const json& kv) {
  double in_full = 0, in_all = 0;
  for (const auto& group : kv.at("groups")) {
    const double kept = group.at("layers").get<double>() * group.at("elements_per_token").get<double>();
    in_all += kept;
    if (group.at("kind") == "full") in_full += kept;
  }
  const double kept = in_full > 0 ? in_full : in_all;
  CHECK(kv.at("bytes_per_token").get<double>() >= 0.5 * kept);
  CHECK(kv.at("bytes_per_token").get<double>() <= 4.0 * kept);
}

/// \return how many numbers all texts show
std::size_t check(const std::string& line) {
  const json answer = test::answered(line);
  if (!answer.is_object()) return 0;
  const bool is_run = line.starts_with("fit"), is_whole = line.starts_with("serve") || line.starts_with("plan");
  check_sources(answer);
  if (line.starts_with("serve") && !answer.at("kv").at("groups").empty()) check_cache(answer.at("kv"));
  for (const auto& broken : test::disagreements(line.substr(0, line.find(' ')), answer)) {
    CAPTURE(line);
    FAIL_CHECK(broken);
  }
  std::size_t count = is_run ? 0 : check_form(line, is_whole ? " --full" : "", answer);
  for (const auto& [unit, bytes] : {std::pair("GiB", 1073741824.0), {"GB", 1e9}, {"MiB", 1048576.0}, {"MB", 1e6}}) {
    if (is_run) count += check_form(line, std::string(" --full --unit ") + unit, answer, bytes);
  }
  if (is_run || line.starts_with("serve")) count += check_form(line, " --format markdown", answer);
  return count;
}

/// Each with the next of every list, as often as the longest has members.
std::vector<std::string> in_turns(const std::vector<std::vector<std::string>>& lists) {
  std::size_t most = 0;
  for (const auto& list : lists) most = std::max(most, list.size());
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < most; ++i) {
    std::string line;
    for (const auto& list : lists) line += list[i % list.size()] + " ";
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("every number of a whole answer of a run is its JSON's") {
  std::vector<std::string> frameworks;
  for (const auto* row : frameworks::rows()) frameworks.push_back("--framework " + std::string(row->words.front()));
  std::size_t count = 0;
  for (const auto& line : in_turns({{"fit"},
                                    frameworks,
                                    {"llama-3-8b", "mixtral-8x7b", "qwen2.5-0.5b", "gpt2", "llama-3.1-70b"},
                                    {"--gpu a100-40:8", "--gpu h100-sxm:8", "--gpu rtx-4090:2", "--gpu mi300x:8", ""},
                                    {"", "--tokens 3B", "--mtbf 1000", "--method lora", "--offload optimizer"}})) {
    count += check(line);
  }
  CHECK(count > 1500);
}

TEST_CASE("every number of a whole answer of a server is its JSON's") {
  std::size_t count = 0;
  for (const auto& row : serving::all_engines()) {
    const std::string engine = "--engine " + std::string(spec::name_of(row.engine));
    for (const auto& line :
         in_turns({{"serve " + engine},
                   {"llama-3-8b", "qwen3-30b-a3b", "gpt2", "mistral-7b-v0.1"},
                   {"--gpu h100-sxm", "--gpu rtx-4090", "--gpu a100-40:2", "--gpu l40s --price 1.25"},
                   {"", "--rate 0.5 --ttft-p95 2s", "--concurrency 8 --prompt 500 --output 50", "--context 2k"}})) {
      count += check(line);
    }
  }
  CHECK(count > 500);
}

TEST_CASE("every number of a whole plan, a law and a search is its JSON's") {
  std::size_t count = 0;
  for (const char* line :
       {"scale --params 7e9 --tokens 2e12 --gpu h100-sxm:512", "scale --cost 10000 --gpu h100-sxm:8",
        "scale llama-3-8b --tokens 1T --smaller 2 --price 2", "plan llama-3.2-1b --gpu a100-80:4 --tokens 1B",
        "plan gpt2 --gpu rtx-4090,a100-40 --method full", "plan llama-3.2-1b --gpu l40s:2 --objective cost --tokens 1B",
        "serve llama-3.1-8b --gpu h100-sxm --find context", "serve llama-3.1-8b --gpu h100-sxm:2 --find layout",
        "plan llama-3.1-8b --serve --gpu l40s:2,h100-sxm", "serve bge-m3 --gpu l40s --engine vllm", "dtype",
        "dtype --quantize 1.25,-2.5,0.375", "dtype int4 --quantize 1.25,-2.5,0.375 --scheme affine"}) {
    count += check(line);
  }
  CHECK(count > 200);
}

}  // namespace llmcalc::whole_figures
