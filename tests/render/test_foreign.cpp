// Whatever a name holds, what shows it obeys nothing of it and its table stays a table: formats x hostile texts.
#include "catch.hpp"
#include "quantity/text.hpp"
#include "render/answers.hpp"
#include "render/foreign.hpp"
#include "render/sample_report.hpp"
#include "render/understood.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace llmcalc::render {
namespace {

const std::string hostile[] = {
    "\x1b[31mred\x1b[0m",  // ECMA-48: a colour
    "\x1b]0;title\x07",    // xterm: a window's title
    "a\xC2\x9B"
    "31m",  // C1 control sequence introducer
    "a\xE2\x80\xAE"
    "gpj.exe",                          // U+202E, right-to-left override
    "a\xE2\x81\xA6z",                   // U+2066, an isolate
    "a\xEF\xBF\xBEz",                   // U+FFFE, which XML refuses
    std::string("nul\0nul", 7),         //
    "two\nlines | of a table",          //
    "cr\rlf, \"quoted\" <b>&amp;</b>",  //
    "\xFF\xFE\x80 no UTF-8 \xC3",       //
    "\xED\xA0\x80 a surrogate",         // RFC 3629, section 3
    "\xC0\xAF too long a form",         // RFC 3629, section 10
};

Report report_with(const std::string& text) {
  auto report = sample_report();
  for (auto& line : report.question) line.text = line.origin.where = text;
  report.question.push_back({"model", text, {spec::Source::flag, text}});
  report.assumptions = {{text}};
  report.estimate.notes = report.estimate.warnings = {text, "not modelled: " + text};
  report.estimate.memory.ledger.front().label = text;
  report.estimate.compute.price_source = report.estimate.verdict.error_source = text;
  return report;
}

Runs runs_with(const std::string& text) {
  RunLine answered, failed;
  answered.name = answered.layout = answered.advice = failed.name = failed.error = text;
  answered.verdict = sample_report().estimate.verdict;
  answered.step = quantity::seconds(1);
  answered.reasons = {text};
  return {{answered, failed}, false, "1"};
}

Understood understood_with(const std::string& text) {
  return {text, "fit", {{"model", text, {spec::Source::file, text}}}, {{text}}, {text}, "1"};
}

trust::Validation validation_with(const std::string& text) {
  trust::Validation validation;
  validation.rows = {{text, text, spec::Measure::peak_allocated, 2.0, 1.0, {}, text, {text}}};
  validation.summary = trust::summarize(validation.rows);
  validation.groups = {{"model", text, validation.summary}};
  validation.judged = {{text, text, trust::Judgement::false_fit}};
  validation.skipped = {{text, 1, text}};
  return validation;
}

struct Format {
  const char* name;
  std::function<std::string(const std::string&)> shown;
};

const Format formats[] = {
    {"fit", [](const auto& text) { return to_text(report_with(text), {}); }},
    {"fit --full", [](const auto& text) { return to_text(report_with(text), {.explain = true, .full = true}); }},
    {"fit, HTML", [](const auto& text) { return to_html(report_with(text), {}); }},
    {"fit, SVG", [](const auto& text) { return to_svg(report_with(text)); }},
    {"fit, Markdown", [](const auto& text) { return to_markdown(report_with(text), {}); }},
    {"runs", [](const auto& text) { return to_text(runs_with(text)); }},
    {"runs, Markdown", [](const auto& text) { return to_markdown(runs_with(text)); }},
    {"runs, CSV", [](const auto& text) { return to_csv(runs_with(text)); }},
    {"runs, JUnit", [](const auto& text) { return to_junit(runs_with(text)); }},
    {"runs, JSON", [](const auto& text) { return to_json(runs_with(text)); }},
    {"from", [](const auto& text) { return to_text(understood_with(text)); }},
    {"from, JSON", [](const auto& text) { return to_json(understood_with(text)); }},
    {"validate", [](const auto& text) { return to_text(validation_with(text)); }},
    {"validate, Markdown", [](const auto& text) { return to_markdown(validation_with(text)); }},
    {"validate, JSON", [](const auto& text) { return to_json(validation_with(text), "1"); }},
    {"fit, JSON", [](const auto& text) { return to_json(report_with(text)); }},
    {"error, JSON", [](const auto& text) { return to_json(quantity::BadInput(text, text, text), "1"); }},
};

/// What a terminal, a pipeline or a browser would obey or refuse; a line break is ours.
std::string obeyed_in(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    const auto character = quantity::first_code_point(text);
    const bool ours = character.valid && character.value == '\n';
    if (!ours && (!character.valid || quantity::is_obeyed(character.value))) found += quantity::escaped(character);
    text.remove_prefix(character.bytes);
  }
  return found;
}

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// Bars that end a cell.
std::size_t cells_in(std::string_view line) {
  std::size_t cells = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\')
      ++i;
    else if (line[i] == '|')
      ++cells;
  }
  return cells;
}

}  // namespace

TEST_CASE("nothing of a hostile text is obeyed in any format") {
  for (const auto& format : formats) {
    for (const auto& text : hostile) {
      CAPTURE(format.name, quantity::printable(text));
      CHECK(obeyed_in(format.shown(text)).empty());
    }
  }
}

TEST_CASE("with colours only those that are ours are set") {
  for (const auto& text : hostile) {
    auto answer = to_text(report_with(text), {.colour = true, .full = true});
    for (const char* code : {"\x1b[1m", "\x1b[2m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[1;31m", "\x1b[0m"}) {
      for (auto at = answer.find(code); at != std::string::npos; at = answer.find(code))
        answer.erase(at, std::string(code).size());
    }
    CHECK(obeyed_in(answer).empty());
  }
}

TEST_CASE("a row stays a row") {
  for (const auto& text : hostile) {
    CAPTURE(quantity::printable(text));
    CHECK(lines_in(to_markdown(runs_with(text))) == 4);
    CHECK(lines_in(to_text(runs_with("x" + text))) >= 3);
    const auto table = to_markdown(runs_with(text));
    for (const auto line : quantity::pieces_of(table, "\n")) CHECK((line.empty() || cells_in(line) == 9));
    CHECK(lines_in(to_junit(runs_with(text))) == lines_in(to_junit(runs_with("harmless"))));
  }
}

TEST_CASE("programs read back what was written") {
  for (const auto& text : hostile) {
    CAPTURE(quantity::printable(text));
    const auto name = nlohmann::json::parse(to_json(runs_with(text))).at("runs").at(0).at("name").get<std::string>();
    const bool is_text = quantity::printable(text).find("\\xFF") == std::string::npos &&
                         quantity::printable(text).find("\\xED") == std::string::npos &&
                         quantity::printable(text).find("\\xC0") == std::string::npos;
    CHECK((name == text) == is_text);
  }
}

TEST_CASE("a command with a hostile word is typed again as it was") {
  CHECK(command_of(understood_with("it's \x1b")) == "llmcalc fit --model $'it\\'s \\x1B'");
  CHECK(command_of(understood_with("it's")) == "llmcalc fit --model 'it'\\''s'");
}

TEST_CASE("of an endless text the beginning is shown") {
  CHECK(shortened("short") == "short");
  CHECK(shortened(std::string(10, 'x'), 4) == "xxxx... (6 bytes more)");
  CHECK(shortened("xxx\xC3\xA4", 4) == "xxx... (2 bytes more)");
  CHECK(to_json(quantity::BadInput(std::string(1'600'000, 'x'), "is long"), "1").size() < 10'000);
}

}  // namespace llmcalc::render
