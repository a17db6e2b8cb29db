// Pages of servers and plans show the answer's numbers, all of its lists and no other, and dots keep their proportions.
#include "catch.hpp"
#include "cli/html.hpp"
#include "read/presets.hpp"

namespace llmcalc::html_law {

namespace {

void check_speed(const Both& both) {
  const json& speed = both.answer.at("speed");
  const auto& section = both.page["Speed under the load"];
  if (speed.is_null()) {
    CHECK(section.rows.empty());
    return;
  }
  std::vector<Words> expected;
  const auto add = [&](const std::string& label, const std::string& text) { expected.push_back({label, text}); };
  add("to the first token", speed.at("saturated") == true ? "never steady" : time_of(speed.at("ttft_s")));
  add("each later token", time_of(speed.at("tpot_s")));
  if (const json& tail = speed.at("tail"); !tail.is_null()) {
    add("to the first token, 95 of 100 requests", time_of(tail.at("ttft").at("p95_s")));
    add("each later token, 95 of 100 requests", time_of(tail.at("tpot").at("p95_s")));
  }
  const auto& rows = section.rows;
  for (const auto& [label, key] : {std::pair("tokens/s of output", "tokens_per_s"), {"requests/s", "requests_per_s"}}) {
    const auto row = std::ranges::find(rows, label, [](const Row& each) { return each.at(0).text; });
    REQUIRE(row != rows.end());
    auto text = row->at(1).text;
    std::erase(text, ',');
    const double said = speed.at(key).get<double>();
    CHECK(std::abs(std::stod(text) - said) <= std::max(0.5, 0.006 * said));
    add(label, row->at(1).text);
  }
  for (const json& part : speed.at("parts")) {
    if (part.at("seconds").get<double>() > 0.0)
      add("a decoding step: " + part.at("label").get<std::string>(), time_of(part.at("seconds")));
  }
  check_rows(section, expected);
}

void check_candidates(const Section& section, const json& changes) {
  if (changes.empty()) {
    CHECK(section.rows.empty());
    return;
  }
  check_rows(section, quantity::mapped(changes, [](const json& change) {
               return Words{change.at("change"), quantity::format_count(change.at("max_context").get<std::int64_t>()),
                            quantity::format_count(change.at("max_concurrency").get<std::int64_t>())};
             }));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const json& cost = changes[i].at("cost");
    CHECK(section.rows[i + 1].at(0).small == (cost.is_null() ? "" : cost.get<std::string>()));
  }
}

void check_server(const Words& words) {
  CAPTURE(words);
  const auto both = asked(words);
  if (!both) return;
  const json& memory = both->answer.at("memory");
  const auto& section = both->page["Memory of one accelerator"];
  const auto unit = section.rows.at(0).at(1).text;
  auto expected = quantity::mapped(memory.at("parts"), [&](const json& part) {
    return Words{part.at("label"), sized(part.at("bytes"), unit)};
  });
  auto parts = sizes_of(memory.at("parts"), "bytes");
  REQUIRE(section.rows.size() == expected.size() + 3);
  const auto& cache = section.rows[expected.size() + 1];
  CHECK(cache.at(0).text == "KV cache");
  const auto& kv = both->answer.at("kv");
  const bool is_whole = cache.at(1).text == sized(kv.at("bytes"), unit);
  CHECK((is_whole || cache.at(1).text == sized(kv.at("needed_bytes"), unit)));
  parts.push_back(bytes(kv.at(is_whole ? "bytes" : "needed_bytes")));
  expected.push_back({"KV cache", cache.at(1).text});
  expected.push_back({"of", sized(memory.at("capacity_bytes"), unit)});
  check_rows(section, expected);
  if (!section.bars.empty()) check_bar(section.bars.front(), parts, bytes(memory.at("capacity_bytes")));
  check_question(*both);
  check_speed(*both);
  check_candidates(both->page["What would help"], both->answer.at("advice"));
  check_candidates(both->page["Compared"], both->answer.at("found"));
}

/// Where the farthest dot stands.
double farthest(const std::vector<std::pair<double, double>>& dots, bool across) {
  double most = 0.0;
  for (const auto& [left, bottom] : dots) most = std::max(most, across ? left : bottom);
  return most;
}

void check_plan(const Words& words) {
  CAPTURE(words);
  const auto both = asked(words);
  if (!both) return;
  for (const auto& [heading, key] : {std::pair("The best", "best"), {"The best of each", "each"}}) {
    const auto& section = both->page[heading];
    const json& rows = both->answer.at(key);
    if (rows.empty()) {
      CHECK(section.rows.empty());
      continue;
    }
    REQUIRE(section.rows.size() == rows.size() + 1);
    const auto unit = section.rows.front().at(2).text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const json& figures = rows[i].at("figures");
      const json& cost = figures.at("cost_usd");
      auto cells = texts_of(section.rows[i + 1]);
      cells.erase(cells.begin());
      CHECK(cells == Words{time_of(figures.at("step_seconds")), sized(figures.at("needed_bytes"), unit),
                           time_of(figures.at("total_seconds")),
                           cost.is_null() ? "" : quantity::format_money(quantity::dollars(cost.get<double>()))});
    }
  }
  const json& front = both->answer.at("front");
  const auto& dots = both->page.dots();
  REQUIRE(dots.size() == (front.size() < 2 ? 0 : front.size()));
  const auto figure = [](const json& row, const char* key) { return row.at("figures").at(key).get<double>(); };
  double widest = 0.0, longest = 0.0;
  for (const json& row : front) {
    widest = std::max(widest, figure(row, "needed_bytes"));
    longest = std::max(longest, figure(row, "step_seconds"));
  }
  // The dots keep the proportions of what they stand for: one ratio across and one up for all.
  for (std::size_t i = 0; i < dots.size(); ++i) {
    CHECK(std::abs(dots[i].first - farthest(dots, true) * figure(front[i], "needed_bytes") / widest) <= 0.11);
    CHECK(std::abs(dots[i].second - farthest(dots, false) * figure(front[i], "step_seconds") / longest) <= 0.11);
  }
}

}  // namespace

TEST_CASE("a page of a server shows what its JSON says, list by list", "[long]") {
  std::size_t turn = 0;
  const std::vector<Words> ways{{"--gpu", "rtx-4090"},
                                {"--gpu", "h100-sxm:8", "--tp", "8", "--concurrency", "64", "--ttft-p95", "5s"},
                                {"--engine", "llama.cpp", "--quant", "q4_k_m", "--gpu", "rtx-3090:2"},
                                {"--gpu", "l40s", "--find", "quant", "--context", "8k"},
                                {"--engine", "sglang", "--gpu", "b200-sxm", "--rate", "4"}};
  const auto models = read::Catalogue().models();
  for (std::size_t i = 0; i < models.size(); i += 3) {
    Words words{"serve", "--model", models[i].id};
    const auto& way = ways[turn++ % ways.size()];
    words.insert(words.end(), way.begin(), way.end());
    check_server(words);
  }
}

TEST_CASE("a page of a plan shows what its JSON says, list by list and dot by dot") {
  check_plan({"plan", "llama-3-8b", "--gpu", "h100-sxm:8", "--seq", "4k", "--global-batch", "32"});
  check_plan({"plan", "llama-3.2-1b", "--gpu", "h100-sxm,rtx-4090", "--gpus", "4", "--seq", "2k", "--tokens", "1B"});
  check_plan({"plan", "gpt2", "--gpu", "rtx-4090", "--seq", "1k", "--top", "20"});
  check_plan({"plan", "llama-3-70b", "--gpu", "rtx-4090", "--seq", "4k"});
}

}  // namespace llmcalc::html_law
