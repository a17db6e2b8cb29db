// answer_product COUNT VERB...: answers a product of questions in one process, each on one line: a table of figures
// that a person can read and whose diff shows what a change moves. The folder it runs in holds
//   axes     alternatives, apart by " | ", one axis a line; `models` and `gpus` are all presets
//   columns  what is told of each answer: JSON pointers, `*` for every member, `screen` for the first line of the text
// Of each alternative of the first axis, COUNT questions are asked, with one alternative of each further axis. Which
// one follows from the first alone, so that a new preset adds lines and leaves the others as they are. What is refused
// is asked again without the words that it blames.
#include "llmcalc/llmcalc.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const char* file) {
  Lines lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

Lines alternatives(const std::string& axis) {
  Lines all;
  const read::Catalogue catalogue;
  if (axis == "models") {
    for (const auto& model : catalogue.models()) all.push_back(model.id);
  } else if (axis == "gpus") {
    for (const auto& gpu : catalogue.accelerators()) all.push_back(gpu.accelerator.id);
  } else {
    for (const auto piece : quantity::pieces_of(axis, "|")) all.emplace_back(quantity::trim(piece));
  }
  return all;
}

/// The same on every machine (Fowler, Noll, Vo: FNV-1a, 64 bits).
std::uint64_t seed_of(std::string_view text) {
  std::uint64_t seed = 14695981039346656037U;
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return seed;
}

std::vector<Word> words_of(std::string_view question) {
  std::vector<Word> words;
  std::string option;
  for (const auto piece : quantity::pieces_of(question, " ")) {
    if (piece.starts_with("--")) {
      option = piece.substr(2);
    } else if (!piece.empty()) {
      words.push_back({std::exchange(option, ""), std::string(piece)});
    }
  }
  return words;
}

/// Four digits, of bytes in GiB: more would show what no reader compares.
std::string shown(const json& value, bool is_bytes) {
  if (value.is_null()) return "-";
  if (value.is_number_integer() && !is_bytes && std::abs(value.get<double>()) < 1e6) return value.dump();
  if (value.is_number()) return fmt::format("{:.4g}", value.get<double>() / (is_bytes ? 1073741824.0 : 1.0));
  if (!value.is_string()) return value.is_array() ? std::to_string(value.size()) : value.dump();
  std::string text = value.get<std::string>();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// What the pieces of a pointer lead to, from the piece at `at` on.
void follow(const json& value, const std::vector<std::string_view>& pointer, std::size_t at, Lines& found) {
  if (at == pointer.size()) {
    found.push_back(shown(value, pointer.back().ends_with("bytes")));
  } else if (pointer[at] == "*") {
    for (const auto& member : value) follow(member, pointer, at + 1, found);
  } else if (value.is_object()) {
    if (const auto member = value.find(pointer[at]); member != value.end()) follow(*member, pointer, at + 1, found);
  } else if (const auto index = static_cast<std::size_t>(std::atoi(std::string(pointer[at]).c_str()));
             value.is_array() && index < value.size()) {
    follow(value[index], pointer, at + 1, found);
  }
}

std::string told(const Reply& reply, const Lines& columns) {
  const json answer = json::parse(to_json(reply));
  std::string line;
  for (const auto& group : columns) {
    Lines cells;
    for (const auto column : quantity::pieces_of(group, " ")) {
      Lines found;
      if (column == "screen") {
        const auto text = to_text(reply);
        found.push_back(text.substr(0, text.find('\n')));
      } else {
        follow(answer, quantity::pieces_of(column.substr(1), "/"), 0, found);
      }
      if (!found.empty()) cells.push_back(fmt::format("{}", fmt::join(found, ",")));
    }
    if (!cells.empty()) line += fmt::format("; {}", fmt::join(cells, " "));
  }
  return line.empty() ? line : line.substr(2);
}

/// Asks, prints the answer, and where it is a refusal that blames one of the chosen words asks again without it.
void ask_and_print(const std::string& verb, const std::string& subject, Lines chosen, const Lines& columns) {
  const auto question = fmt::format("{} {}", subject, fmt::join(chosen, " "));
  std::cout << quantity::trim(question) << " => ";
  try {
    std::cout << told(ask(verb, words_of(question)), columns) << '\n';
  } catch (const quantity::BadInput& error) {
    std::cout << "refused: " << error.what() << '\n';
    const auto blamed = std::ranges::find_if(
        chosen, [&](const std::string& words) { return (words + ' ').find(error.place() + ' ') != words.npos; });
    if (blamed == chosen.end()) return;
    chosen.erase(blamed);
    ask_and_print(verb, subject, std::move(chosen), columns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: answer_product COUNT VERB [WORD]\n";
    return 2;
  }
  const std::string first_word = argc > 3 ? std::string(argv[3]) + ' ' : "";
  const Lines columns = lines_of("columns");
  std::vector<Lines> axes;
  for (const auto& line : lines_of("axes")) axes.push_back(alternatives(line));
  std::cout << fmt::format("# {}; bytes in GiB\n", fmt::join(columns, "; "));
  for (const auto& subject : axes.front()) {
    for (int turn = 0; turn < std::atoi(argv[1]); ++turn) {
      std::mt19937_64 random(seed_of(subject + std::to_string(turn)));
      Lines chosen;
      for (std::size_t axis = 1; axis < axes.size(); ++axis) {
        const auto& words = axes[axis][random() % axes[axis].size()];
        if (!words.empty()) chosen.push_back(words);
      }
      ask_and_print(argv[2], first_word + subject, std::move(chosen), columns);
    }
  }
}
