// The questions of a course: every command of docs/textbook.md answers the figure that stands beside it.
#include "catch.hpp"
#include "cli/run.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <cctype>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcalc;

namespace {

struct Figure {
  double value = 0;
  double error = 0;     ///< half of its last digit, where it has decimals
  char unit = '\0';     ///< the first letter behind it
  std::size_t end = 0;  ///< where it ends
};

/// The first number behind `begin`: "16 GB", "8.4B parameters", "scale 3".
std::optional<Figure> figure_in(std::string_view text, std::size_t begin) {
  const auto at = text.find_first_of("0123456789", begin);
  if (at == text.npos) return std::nullopt;
  const auto end = std::min(text.find_first_not_of("0123456789.", at), text.size());
  const auto number = text.substr(at, end - at);
  const auto point = number.find('.');
  Figure figure{.value = std::stod(std::string(number)), .end = end};
  if (point != number.npos) figure.error = 0.5 * std::pow(10.0, -static_cast<double>(number.size() - point - 1));
  const auto unit = text.find_first_not_of(' ', end);
  if (unit != text.npos && std::isupper(static_cast<unsigned char>(text[unit])) != 0) figure.unit = text[unit];
  return figure;
}

std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

/// The sum as it stands, the quotient that it is, or a number that rounds to it.
bool says(const std::string& answer, const std::string& figure) {
  if (figure.find('+') != figure.npos) return answer.find(figure) != answer.npos;
  auto wanted = figure_in(figure, 0);
  REQUIRE(wanted);
  if (const auto over = figure.find(" / "); over != figure.npos) {
    wanted->value /= figure_in(figure, over)->value;
    wanted->error = 1e-6;
  }
  for (auto at = figure_in(answer, 0); at; at = figure_in(answer, at->end)) {
    const bool alike = wanted->unit == '\0' || at->unit == wanted->unit;
    if (alike && std::abs(at->value - wanted->value) <= wanted->error) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the questions of a course have the figures that the page says") {
  std::ifstream page(LLMCALC_TEST_DATA "/../docs/textbook.md");
  int asked = 0;
  for (std::string line; std::getline(page, line);) {
    const auto cells = quantity::pieces_of(line, "|");
    if (!line.starts_with("| ") || cells.size() < 4 || cells[2].find("`llmcalc ") == std::string_view::npos) continue;
    const auto command = quantity::trim(cells[2]);
    std::vector<std::string> words;
    for (const auto word : quantity::pieces_of(command.substr(1, command.size() - 2), " ")) words.emplace_back(word);
    words.erase(words.begin());
    const std::string figure = without_commas(std::string(quantity::trim(cells[3])));
    INFO(line);
    CHECK(
        says(without_commas(cli::run(words, cli::Environment{}).answer), figure.substr(0, figure.find_first_of(":("))));
    ++asked;
  }
  CHECK(asked >= 31);
}
