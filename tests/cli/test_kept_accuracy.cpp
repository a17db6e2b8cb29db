// No group of published measurements is further off than tests/measured/predicted.md says: whoever makes one worse has
// to write the page anew and to say why.
#include "catch.hpp"
#include "cli/run.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<std::string>;

/// Of a group of rows the figures as the page has them, in percent.
struct Errors {
  double mean, median, ninety_fifth, largest, in_bar;
};

/// The groups of a table, by what they have in common: "| method | lora | 316 | 5.83 | ...".
std::map<std::string, Errors> groups_of(std::istream& table) {
  std::map<std::string, Errors> groups;
  for (std::string line; table.peek() != '#' && std::getline(table, line);) {
    const auto cells = quantity::pieces_of(line, "|");
    constexpr std::size_t columns = 10;  // with the empty one ahead of the first
    if (cells.size() != columns || cells[1] == " by " || cells[1] == " --- ") continue;
    const auto figure = [&](std::size_t column) { return std::atof(std::string(cells[column]).c_str()); };
    groups[std::string(cells[1]) + std::string(cells[2])] = {figure(4), figure(5), figure(6), figure(7), figure(9)};
  }
  return groups;
}

/// What the page asked for the tables of a part, as scripts/update-accuracy does.
struct Part {
  std::string title, folder;
  Words by, by_of_file;
};

const std::vector<Part> parts{
    {"## Memory", "measured", {"framework", "quantity", "method", "quality"}, {"quantity", "method"}},
    {"## Time", "measured/time", {"framework", "gpu", "quality"}, {"framework", "gpu"}},
    {"## Serving", "measured/serving", {"engine", "quantity", "model"}, {"quantity", "quality"}}};

Words files_of(const std::string& folder) {
  Words files;
  for (const auto& each : std::filesystem::directory_iterator(std::string(LLMCALC_TEST_DATA "/") + folder)) {
    if (each.path().extension() == ".csv") files.push_back(each.path().string());
  }
  return files;
}

/// "### torchtune, quality B" names a file and a grade of the part, "## Time" all of them.
std::map<std::string, Errors> found(const std::string& heading, const Part& part) {
  Words words{"validate", "--format", "markdown"};
  const bool is_file = heading.starts_with("### ");
  if (is_file) {
    auto name = heading.substr(4);
    if (const auto grade = name.find(", quality "); grade != name.npos) {
      quantity::append(words, Words{"--where", "quality=" + name.substr(grade + 10)});
      name.resize(grade);
    }
    words.push_back(std::string(LLMCALC_TEST_DATA "/") + part.folder + '/' + name + ".csv");
  } else {
    quantity::append(words, files_of(part.folder));
  }
  for (const auto& by : is_file ? part.by_of_file : part.by) quantity::append(words, Words{"--by", by});
  std::istringstream table(cli::run(words, cli::Environment{}).answer);
  return groups_of(table);
}

/// \return groups that were compared
std::size_t check_part(const Part& part) {
  std::size_t compared = 0;
  std::ifstream page(LLMCALC_TEST_DATA "/measured/predicted.md");
  std::string heading;
  while (std::getline(page, heading) && heading != part.title) {
  }
  do {
    const auto promised = groups_of(page);
    const auto now = found(heading, part);
    CAPTURE(heading);
    for (const auto& [group, errors] : promised) {
      CAPTURE(group);
      REQUIRE(now.contains(group));
      const auto& its = now.at(group);
      CHECK(its.mean <= errors.mean);
      CHECK(its.median <= errors.median);
      CHECK(its.ninety_fifth <= errors.ninety_fifth);
      CHECK(its.largest <= errors.largest);
      CHECK(its.in_bar >= errors.in_bar);
      ++compared;
    }
  } while (std::getline(page, heading) && heading.starts_with("###"));
  return compared;
}

}  // namespace

TEST_CASE("no measured peak is further off than the page says", "[long]") { CHECK(check_part(parts[0]) > 150); }

TEST_CASE("no measured step is further off than the page says", "[long]") { CHECK(check_part(parts[1]) > 150); }

TEST_CASE("no measured server is further off than the page says", "[long]") { CHECK(check_part(parts[2]) > 150); }
