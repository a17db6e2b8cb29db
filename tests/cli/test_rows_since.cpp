// What a listed run needs, and how it changed since an answer that was kept, is what the run alone says.
#include "catch.hpp"
#include "cli/rows.hpp"

#include <algorithm>
#include <functional>

namespace llmcalc::rows_law {

TEST_CASE("a listed server needs its parts and its cache, all of it where the engine takes it beforehand") {
  const Folder folder;
  int reserving = 0;
  for (const Run& run : drawn(axes_of_servers, 40, 9)) {
    const auto one = alone("serve", run, {});
    if (one.code == ExitCode::bad_question) continue;
    CAPTURE(run);
    const auto file = folder.write("runs.csv", csv_of({run}));
    const auto line = json::parse(asked({"serve", "--rows", file, "--format", "json"}, {}).answer).at("runs").at(0);
    const auto bytes = [&](const char* pointer) { return at(one.answer, pointer).get<std::int64_t>(); };
    const auto parts = bytes("/memory/held_bytes") + bytes("/memory/beside_bytes");
    const auto needed = line.at("needed_bytes").get<std::int64_t>();
    CHECK(needed == line.at("high_bytes"));
    CHECK(needed >= parts);
    CHECK(needed <= parts + std::max(bytes("/kv/bytes"), bytes("/kv/needed_bytes")));
    const auto engine = at(one.answer, "/engine/name");
    const bool reserves = one.answer.at("verdict") == "fits" && (engine == "vllm" || engine == "sglang");
    if (!reserves) continue;
    CHECK(needed == parts + bytes("/kv/bytes"));
    ++reserving;
  }
  CHECK(reserving >= 5);
}

namespace {

/// Sentences about the figures that both a list's line and a whole answer have.
std::vector<std::string> told_since(const cli::Outcome& outcome, const std::string& mark) {
  std::vector<std::string> told;
  for (const auto* texts : {&outcome.warnings, &outcome.notes}) {
    for (const auto& text : *texts) {
      const auto found = text.find(mark);
      if (found == text.npos) continue;
      auto change = text.substr(found + mark.size());
      const bool of_one_alone = change.starts_with("longest context") || change.starts_with("parameters");
      if (!of_one_alone) told.push_back(std::move(change));
    }
  }
  std::ranges::sort(told);
  return told;
}

/// Whether it lists fewer changes than there are.
bool leaves_out(const std::vector<std::string>& told) {
  return std::ranges::any_of(told, [](const auto& text) { return text.find("more figures") != text.npos; });
}

}  // namespace

TEST_CASE("a listed run changed since a kept answer as the run alone did") {
  const Folder folder;
  int compared = 0;
  for (const auto& asking : {std::pair(std::string("fit"), axes_of_runs), {"serve", axes_of_servers}}) {
    const auto& verb = asking.first;
    const auto& axes = asking.second;
    const auto runs = drawn(axes, 40, 10);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      Run before = runs[i - 1];
      before.front() = runs[i].front();  // kept under the same name
      const auto [was, is] = std::pair(alone(verb, before, {}), alone(verb, runs[i], {}));
      if (was.code == ExitCode::bad_question || is.code == ExitCode::bad_question) continue;
      CAPTURE(verb, before, runs[i]);
      const auto rows = [&](const Run& run) { return folder.write("runs.csv", csv_of({run})); };
      const Words listing{verb, "--format", "json", "--rows"};
      const auto kept_list = folder.write("list.json", asked(listing, {rows(before)}).answer);
      const auto kept = folder.write("kept.json", was.answer.dump());
      const Words since{"--worse-by", "5%", "--baseline"};
      Words words{verb, "--format", "json"};
      for (const auto& [term, value] : runs[i]) {
        if (term != "id" && !value.empty()) quantity::append(words, Words{"--" + term, value});
      }
      auto listed_words = listing;
      quantity::append(listed_words, Words{rows(runs[i])});
      quantity::append(listed_words, since);
      quantity::append(words, since);
      const auto one = asked(words, {kept});
      const auto list = asked(listed_words, {kept_list});
      const auto told = told_since(list, runs[i].front().second + ": ");
      const auto told_alone = told_since(one, "kept.json: ");
      if (leaves_out(told_alone) || leaves_out(told) || told.empty()) continue;
      // A listed server needs its cache as well, which the whole answer tells apart.
      const auto is_of_both = [&](const std::string& text) { return verb == "fit" || !text.starts_with("memory"); };
      const auto both = quantity::mapped_if(told, std::identity(), is_of_both);
      CHECK(both == quantity::mapped_if(told_alone, std::identity(), is_of_both));
      if (verb == "fit") CHECK(list.code == one.code);
      ++compared;
    }
  }
  CHECK(compared >= 20);
}

TEST_CASE("a list that is taken piece by piece is the list that is handed over whole, a piece a line") {
  const Folder folder;
  const auto runs = drawn(axes_of_runs, 12, 11);
  const auto file = folder.write("runs.csv", csv_of(runs));
  for (const std::string form : {"csv", "json", "text", "markdown", "junit"}) {
    for (const Words& more : {Words{}, Words{"--strict"}, Words{"--quiet"}}) {
      CAPTURE(form, more);
      Words words{"fit", "--rows", file, "--format", form};
      quantity::append(words, more);
      std::vector<std::string> pieces;
      cli::Environment environment;
      environment.out = [&](std::string_view piece) { pieces.emplace_back(piece); };
      const auto taken = cli::run(words, environment);
      const auto whole = cli::run(words, cli::Environment{});
      CHECK(taken.code == whole.code);
      CHECK(quantity::joined(pieces, "") + taken.answer == whole.answer);
      const bool has_pieces = (form == "csv" || form == "json") && more != Words{"--quiet"};
      CHECK(pieces.size() == (has_pieces ? runs.size() : 0));
    }
  }
}

TEST_CASE("a file that is wrong in its last row is refused before anything is told of the first") {
  const Folder folder;
  const auto file = folder.write("runs.csv", csv_of(drawn(axes_of_runs, 5, 12)) + "one,two\n");
  cli::Environment environment;
  int told = 0;
  environment.out = [&](std::string_view) { ++told; };
  const Words words{"fit", "--rows", file, "--format", "csv"};
  CHECK_THROWS_AS(cli::run(words, environment), quantity::BadInput);
  CHECK(told == 0);
}

}  // namespace llmcalc::rows_law
