// The first screen of an answer against its JSON, figure by figure: whatever number stands there is the JSON's, in the
// unit beside it and to the digits that are shown.
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace llmcalc::screen_figures {
namespace {

using nlohmann::json;

/// What stands beside a number, in the JSON's unit; counts may have a letter of thousands.
double worth_of(const std::string& unit) {
  static const std::map<std::string, double> worths{
      {"us", 1e-6},        {"ms", 1e-3},        {"s", 1},    {"min", 60},  {"h", 3600}, {"days", 86400},
      {"years", 31557600}, {"GiB", 1073741824}, {"%", 0.01}, {"Wh", 1e-3}, {"kWh", 1},  {"MWh", 1e3},
      {"K", 1e3},          {"M", 1e6},          {"B", 1e9},  {"T", 1e12},  {"", 1}};
  const auto found = worths.find(unit);
  if (found == worths.end()) FAIL("no unit is called " << unit);
  return found->second;
}

/// A number as it is shown, with half of its last digit.
struct Figure {
  double value = 0;
  double half = 0;

  bool is(double other) const { return std::abs(value - other) <= half * 1.0001 + 1e-9 * std::abs(other); }
};

Figure figure_of(std::string shown, double unit) {
  std::erase(shown, ',');
  const auto end = std::min(shown.find_first_not_of("0123456789."), shown.size());
  const std::string letter = std::string(quantity::trim(std::string_view(shown).substr(end)));
  const double worth = unit * worth_of(letter);
  const auto dot = shown.substr(0, end).find('.');
  const auto digits = dot == shown.npos ? 0 : end - dot - 1;
  return {std::stod(shown.substr(0, end)) * worth, 0.5 * std::pow(10.0, -static_cast<double>(digits)) * worth};
}

const std::string number = "([0-9][0-9.,]*)";
const std::string duration = "([0-9][0-9.,]* (?:us|ms|s|min|h|days|years))";
const std::string count = "([0-9][0-9.,]*[KMBT]?)";

/// Each figure of a pattern, its place in the JSON ("/a+/b" for a sum, "/a or /b" for servers that take all memory and
/// those that do not), and what one of it is there.
struct Shown {
  std::string pattern;
  std::vector<std::pair<std::string, double>> figures;
};

class Screen {
 public:
  explicit Screen(const Reply& answer) : json_(json::parse(answer.show("json"))), text_(answer.show("text")) {
    std::istringstream words(text_);
    for (std::string word; words >> word;) flowed_ += word + ' ';
    for (const char* member : {"schema_version", "kind", "tool"}) CHECK(json_.contains(member));  // docs/json.md
  }

  const json& answer() const { return json_; }

  void check(const std::string& shown, double value, double unit = 1.0) {
    const Figure figure = figure_of(shown, unit);
    CAPTURE(shown, value, text_);
    ++figures_;
    if (!figure.is(value)) FAIL_CHECK("another figure");
  }

  /// Whether the screen shows it, with the JSON's figures.
  bool check(const Shown& shown) {
    std::smatch found;
    if (!std::regex_search(flowed_, found, std::regex(shown.pattern))) return false;
    for (std::size_t i = 0; i < shown.figures.size(); ++i) {
      const auto& [place, unit] = shown.figures[i];
      CAPTURE(shown.pattern, place);
      double value = value_at(place.substr(place.find(" or ") == place.npos ? 0 : place.find(" or ") + 4));
      const double first = value_at(place.substr(0, place.find(" or ")));
      if (figure_of(found[i + 1].str(), unit).is(std::abs(first))) value = first;
      check(found[i + 1].str(), std::abs(value), unit);
    }
    return true;
  }

  /// The lines of a table of memory, of which the small ones stand together.
  void check_table(const json& lines, std::optional<double> whole) {
    double others = 0;
    int left_out = 0;
    for (const auto& line : lines) {
      const auto shown = row_of(line["label"].get<std::string>());
      if (shown) check_row(*shown, line["bytes"].get<double>(), whole);
      if (!shown) others += line["bytes"].get<double>();
      left_out += shown ? 0 : 1;
    }
    if (const auto shown = row_of(std::to_string(left_out) + " smaller ones")) check_row(*shown, others, whole);
  }

  /// A line that begins so, split at its blanks.
  std::vector<std::string> words_of_line(const std::string& begin) const {
    const auto at = text_.find("\n" + begin);
    REQUIRE(at != text_.npos);
    std::istringstream line(text_.substr(at + 1, text_.find('\n', at + 1) - at - 1));
    std::vector<std::string> words;
    for (std::string word; line >> word;) words.push_back(word);
    return words;
  }

  /// Whether a line is labelled so.
  bool has_label(const std::string& label) const { return text_.find("\n  " + label + "  ") != text_.npos; }

  const std::string& text() const { return text_; }
  int figures() const { return figures_; }

 private:
  double value_at(const std::string& places) const {
    double sum = 0;
    for (const auto part : quantity::pieces_of(places, "+")) {
      const auto& found = json_.at(json::json_pointer(std::string(part)));
      REQUIRE(found.is_number());
      sum += found.get<double>();
    }
    return sum;
  }

  /// What stands behind a label at the beginning of a line.
  std::optional<std::string> row_of(const std::string& label) const {
    const auto at = text_.find("\n  " + label + ' ');
    if (at == text_.npos) return std::nullopt;
    const auto begin = at + 3 + label.size();
    return text_.substr(begin, text_.find('\n', begin) - begin);
  }

  void check_row(const std::string& row, double bytes, std::optional<double> whole) {
    std::smatch found;
    const std::regex pattern(" *\\*? *([0-9.]+)(?: +([0-9]+) %)?.*");
    if (!std::regex_match(row, found, pattern)) return;  // a label that another line begins with
    check(found[1].str(), bytes, worth_of("GiB"));
    if (whole && found[2].matched) check(found[2].str(), bytes / *whole, worth_of("%"));
  }

  json json_;
  std::string text_;
  std::string flowed_;
  int figures_ = 0;
};

const double gib = 1073741824;
const double percent = 0.01;

const std::vector<Shown> of_run{
    {"needs " + number + " of " + number + " GiB", {{"/needed_bytes", gib}, {"/capacity_bytes", gib}}},
    {"needs " + number + " GiB; name an accelerator", {{"/needed_bytes", gib}}},
    {"GiB \\([0-9]+ %\\), " + number + " free", {{"/headroom_bytes", gib}}},
    {"GiB, " + number + " short", {{"/headroom_bytes", gib}}},
    {"error bar " + number + " to " + number + " GiB", {{"/error_bar/low_bytes", gib}, {"/error_bar/high_bytes", gib}}},
    {" step " + duration + " \\(±" + number + " %\\), " + number + " tokens/s a GPU, MFU " + number + " %",
     {{"/time/step_seconds", 1},
      {"/time/step_error_bar", percent},
      {"/time/tokens_per_second_per_gpu", 1},
      {"/time/mfu", percent}}},
    {" run " + duration + " for " + count + " tokens, " + number + " GPU-hours, \\$" + number + " at \\$" + number +
         "/h",
     {{"/time/total_seconds", 1},
      {"/compute/tokens", 1},
      {"/time/gpu_hours", 1},
      {"/time/cost_usd", 1},
      {"/time/price_usd_per_gpu_hour", 1}}},
    {"up to --micro-batch " + number, {{"/room/largest_micro_batch", 1}}},
    {" room up to (?:--micro-batch [0-9]+, or )?--seq " + number, {{"/room/longest_seq", 1}}}};

const std::vector<Shown> of_server{
    {" total " + number + " of " + number,
     {{"/memory/held_bytes+/kv/bytes or /memory/held_bytes+/kv/needed_bytes", gib}, {"/memory/capacity_bytes", gib}}},
    {" at once " + number + " of " + number + " tokens", {{"/capacity/max_concurrency", 1}, {"/capacity/context", 1}}},
    {" cache " + number + " bytes a token on a rank", {{"/kv/bytes_per_token", 1}}},
    {" KV cache [0-9.]+ [a-z0-9_]+, " + number + " tokens", {{"/kv/tokens or /capacity/context", 1}}},
    {" longest " + number + " tokens, one request", {{"/capacity/max_context", 1}}},
    {"first token within " + duration + "; then " + duration + " a token",
     {{"/speed/tail/ttft/p95_s", 1}, {"/speed/tail/tpot/p95_s", 1}}},
    {" then " + duration + " a token \\(±" + number + " %\\)",
     {{"/speed/tpot_s", 1}, {"/speed/error_bar/tpot/above", percent}}},
    {" first token " + duration, {{"/speed/ttft_s", 1}}},
    {" cost \\$" + number + " in, \\$" + number + " out a million tokens; ([0-9.,]+ [kM]?Wh) for a million out",
     {{"/speed/cost/input_usd_per_million", 1},
      {"/speed/cost/output_usd_per_million", 1},
      {"/speed/cost/energy_kwh_per_million", 1}}},
    {" output " + number + " tokens/s at " + number + " at once, " + number + " a user",
     {{"/speed/tokens_per_s", 1}, {"/speed/running", 1}, {"/speed/tokens_per_s_per_user", 1}}}};

const std::vector<std::string> machines_asked{"a100-40:8", "h100-sxm:8", "rtx-4090:2", "mi300x:8", "", "l40s"};

/// Asks them all; each pattern stands on one of their screens at least.
void ask_all(const std::string& verb, const std::vector<std::vector<Word>>& questions,
             const std::vector<Shown>& shown) {
  std::vector<bool> seen(shown.size());
  for (const auto& words : questions) {
    CAPTURE(verb, words.size());
    std::string line;
    for (const auto& word : words) line += " --" + word.term + ' ' + word.text;
    CAPTURE(line);
    try {
      Screen screen(ask(verb, words));
      const json& memory = screen.answer()["memory"];
      const bool trains = memory.contains("ledger");
      screen.check_table(memory[trains ? "ledger" : "parts"],
                         trains ? std::optional(screen.answer()["needed_bytes"].get<double>()) : std::nullopt);
      for (std::size_t i = 0; i < shown.size(); ++i) seen[i] = screen.check(shown[i]) || seen[i];
      CHECK(screen.figures() > 5);
    } catch (const quantity::BadInput&) {
      continue;  // what a framework or an engine does not do
    }
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    CAPTURE(shown[i].pattern);
    CHECK(seen[i]);
  }
}

}  // namespace

TEST_CASE("the screen of a run has the figures of its JSON, whatever trains it") {
  std::vector<std::vector<Word>> questions;
  const std::vector<std::string> models{"llama-3-8b", "mixtral-8x7b", "qwen2.5-0.5b", "gpt2", "llama-3.1-70b"};
  for (const auto* row : frameworks::rows()) {
    const auto turn = questions.size();
    questions.push_back(
        {{"framework", std::string(row->words.front())}, {"model", models[turn % models.size()]}, {"unit", "GiB"}});
    const auto& machine = machines_asked[turn % machines_asked.size()];
    if (!machine.empty()) questions.back().push_back({"gpu", machine});
    if (turn % 4 == 0) questions.back().push_back({"method", "lora"});
  }
  ask_all("fit", questions, of_run);
}

TEST_CASE("the screen of a server has the figures of its JSON, whatever serves") {
  std::vector<std::vector<Word>> questions;
  for (const auto& row : serving::all_engines()) {
    for (const std::string model : {"llama-3-8b", "qwen3-30b-a3b", "gpt2"}) {
      for (const auto& machine : {"h100-sxm", "rtx-4090", "a100-40"}) {
        questions.push_back({{"engine", std::string(spec::name_of(row.engine))}, {"model", model}, {"gpu", machine}});
        if (questions.size() % 3 == 0) questions.back().push_back({"rate", "2"});
        if (questions.size() % 3 == 1) questions.back().push_back({"concurrency", "8"});
      }
    }
  }
  ask_all("serve", questions, of_server);
}

TEST_CASE("the rows of a plan have the figures and the layouts of its JSON") {
  for (const std::string framework : {"megatron", "torchtitan", "deepspeed"}) {
    for (const std::string model : {"llama-3-8b", "qwen3-30b-a3b"}) {
      CAPTURE(framework, model);
      Screen screen(ask("plan", {{"model", model},
                                 {"framework", framework},
                                 {"gpu", "h100-sxm:8"},
                                 {"seq", "8k"},
                                 {"global_batch", "64"},
                                 {"top", "5"}}));
      const json& best = screen.answer()["best"];
      REQUIRE(best.size() > 1);
      CHECK(screen.check({"best of " + number + " layouts on 8 x h100-sxm: " + duration + " a step, " + duration +
                              ", \\$" + number + ", MFU " + number + " %, " + number + " of " + number + " GiB",
                          {{"/layouts", 1},
                           {"/best/0/figures/step_seconds", 1},
                           {"/best/0/figures/total_seconds", 1},
                           {"/best/0/figures/cost_usd", 1},
                           {"/mfu", percent},
                           {"/best/0/figures/needed_bytes", gib},
                           {"/capacity_bytes", gib}}}));
      for (std::size_t i = 0; i < best.size(); ++i) {
        CAPTURE(i);
        const json& run = best[i]["run"];
        auto row = screen.words_of_line(std::to_string(i + 1) + "  ");
        REQUIRE(row.size() > 4);
        screen.check(row[1] + ' ' + row[2], best[i]["figures"]["step_seconds"].get<double>());
        screen.check(row[3], best[i]["figures"]["needed_bytes"].get<double>(), gib);
        for (std::size_t word = 4; word + 1 < row.size(); ++word) {
          std::string value = row[word + 1];
          if (value.ends_with(',')) value.pop_back();
          for (const std::string term : {"dp", "tp", "pp", "cp", "ep"}) {
            if (row[word] == term) CHECK(run[term] == value);
          }
          if (row[word] == "micro-batch") CHECK(run["micro_batch"] == value);
          if (row[word] == "recompute" || row[word] == "offload") CHECK(run[row[word]] == value);
        }
      }
    }
  }
}

TEST_CASE("a cell of a table of plans is the best plan of its pair of values, on the screen and in JSON") {
  const std::vector<Word> plan{{"model", "llama-3-8b"}, {"gpu", "h100-sxm:8"}, {"global_batch", "64"}};
  const std::vector<std::string> lengths{"4k", "32k", "8k"}, sizes{"1", "2"};
  auto words = plan;
  words.insert(words.end(), {{"table", "seq,micro-batch"}, {"seq", "4k,32k,8k"}, {"micro_batch", "1,2"}});
  Screen screen(ask("plan", words));
  const json& cells = screen.answer()["cells"];
  REQUIRE(cells.size() == lengths.size() * sizes.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& length = lengths[i / sizes.size()];
    const auto& size = sizes[i % sizes.size()];
    CAPTURE(length, size);
    CHECK(cells[i]["row"] == length);
    CHECK(cells[i]["column"] == size);
    auto alone = plan;
    alone.insert(alone.end(), {{"seq", length}, {"micro_batch", size}});
    const auto best = json::parse(ask("plan", alone).show("json"))["best"];
    CHECK(cells[i]["best"].is_null() == best.empty());
    if (best.empty()) continue;
    CHECK(cells[i]["best"] == best[0]["figures"]);
    const auto row = screen.words_of_line("  " + length + ' ');
    const auto at = 1 + 3 * (i % sizes.size());
    REQUIRE(row.size() > at + 2);
    screen.check(row[at] + ' ' + row[at + 1], best[0]["figures"]["step_seconds"].get<double>());
    screen.check(row[at + 2], best[0]["figures"]["needed_bytes"].get<double>(), gib);
  }
}

TEST_CASE("a cell of a server's table is that server's cache under its context and load") {
  const std::vector<Word> server{{"model", "llama-3-8b"}, {"gpu", "h100-sxm"}};
  auto words = server;
  words.push_back({"table", "context,concurrency"});
  Screen screen(ask("serve", words));
  const json& cells = screen.answer()["table"];
  REQUIRE(cells.size() > 8);
  for (const json& cell : cells) {
    const auto context = std::to_string(cell["context"].get<int>());
    const auto at_once = std::to_string(cell["concurrency"].get<int>());
    CAPTURE(context, at_once);
    auto alone = server;
    alone.insert(alone.end(), {{"context", context}, {"concurrency", at_once}});
    const auto answer = json::parse(ask("serve", alone).show("json"));
    CHECK(cell["fits"].get<bool>() == (answer["capacity"]["max_concurrency"] >= cell["concurrency"]));
    std::string thousands = context;
    thousands.insert(thousands.size() - 3, ",");
    const auto heads = screen.words_of_line("  context ");
    const auto column = static_cast<std::size_t>(std::ranges::find(heads, at_once) - heads.begin());
    REQUIRE(column < heads.size());
    std::vector<std::string> shares;  // a cell is a number with its sign, or a dash
    for (const auto& word : screen.words_of_line("    " + thousands + ' ')) {
      if (word != "%") shares.push_back(word);
    }
    REQUIRE(shares.size() == heads.size());
    CHECK((shares[column] == "-") == !cell["fits"].get<bool>());
    if (cell["fits"].get<bool>()) screen.check(shares[column], cell["cache_share"].get<double>(), percent);
  }
}

TEST_CASE("whatever is assumed or helps or starts it is begun on every screen") {
  int assumed = 0;
  for (const std::string model : {"deepseek-v3", "llama-3.1-70b", "qwen3-30b-a3b", "llama-3-8b"}) {
    for (const std::string gpu : {"h200-sxm", "h100-sxm:8", "rtx-4090:2", "a100-40"}) {
      for (const std::string verb : {"fit", "serve"}) {
        for (const std::vector<Word>& more :
             {std::vector<Word>{},
              {{"max_memory", "60GiB"}, {"price", "2"}},
              {{"seq", "32k"}, {"max_time", "1h"}},
              {{"context", "32k"}, {"concurrency", "32"}, {"ttft", "50ms"}, {"tpot", "5ms"}}}) {
          std::vector<Word> words{{"model", model}, {"gpu", gpu}};
          words.insert(words.end(), more.begin(), more.end());
          std::optional<Reply> reply;
          try {
            reply = ask(verb, words);
          } catch (const quantity::BadInput&) {
            continue;  // what is no option of the verb, or no layout
          }
          const Screen screen(*reply);
          CAPTURE(verb, screen.text());
          const json& answer = screen.answer();
          if (!answer["assumptions"].empty()) CHECK((screen.has_label("assumed") || screen.has_label("notes")));
          if (verb == "serve" && answer["launch"].is_string()) {
            CHECK((screen.has_label("start") || screen.has_label("so start")));
          }
          const bool helps = verb == "fit" && !answer["advice"].empty() && answer["verdict"] == "does_not_fit";
          const auto change = helps ? answer["advice"][0]["flag"].get<std::string>() : std::string();
          CHECK(screen.text().find(change.substr(0, change.find(' '))) != std::string::npos);
          assumed += answer["assumptions"].empty() ? 0 : 1;
        }
      }
    }
  }
  CHECK(assumed > 20);
}

}  // namespace llmcalc::screen_figures
