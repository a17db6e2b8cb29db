// What changed since an answer that was kept.
#include "catch.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

/// Asks twice: what is answered first is the baseline of what is asked then.
Reply asked_again(std::string_view verb, const std::vector<Word>& first, std::vector<Word> then) {
  const auto before = to_json(ask(verb, first));
  Outside outside;
  outside.read = [&](const std::string&) { return before; };
  then.push_back({"baseline", "before.json"});
  return ask(verb, then, outside);
}

const std::vector<Word> run{{"model", "llama-3-8b"}, {"gpu", "b200-sxm"}, {"seq", "2k"}};
const std::vector<Word> longer{{"model", "llama-3-8b"}, {"gpu", "b200-sxm"}, {"seq", "8k"}};
const std::vector<Word> little_longer{{"model", "llama-3-8b"}, {"gpu", "b200-sxm"}, {"seq", "2100"}};

bool has_note(const std::vector<std::string>& sentences, std::string_view what) {
  return std::ranges::any_of(sentences, [&](const std::string& each) { return each.find(what) != each.npos; });
}

std::vector<Word> plus(std::vector<Word> words, Word word) {
  words.push_back(std::move(word));
  return words;
}

}  // namespace

TEST_CASE("the same question asked again changed nothing, under every verb that estimates") {
  for (const std::string_view verb : {"fit", "serve", "plan"}) {
    const std::vector<Word> words{{"model", "llama-3.2-1b"}, {"gpu", "h100-sxm"}};
    const auto reply = asked_again(verb, words, plus(words, {"worse-by", "0%"}));
    CAPTURE(verb);
    CHECK(has_note(reply.notes, "nothing changed"));
    CHECK(reply.code == ExitCode::fits);
  }
}

TEST_CASE("what is worse is said, and fails only beyond the share that is allowed") {
  const auto told = asked_again("fit", run, longer);
  CHECK(told.code == ExitCode::fits);
  CHECK((has_note(told.notes, "memory ") && has_note(told.notes, "step ")));
  const auto failing = asked_again("fit", run, plus(longer, {"worse-by", "5%"}));
  CHECK(failing.code == ExitCode::does_not_fit);
  CHECK(has_note(failing.warnings, "step "));
  CHECK(asked_again("fit", run, plus(little_longer, {"worse-by", "90%"})).code == ExitCode::fits);
  CHECK(asked_again("fit", longer, plus(run, {"worse-by", "0%"})).code == ExitCode::fits);
}

TEST_CASE("fewer requests at once are worse") {
  const std::vector<Word> large{{"model", "llama-3-8b"}, {"gpu", "h100-sxm"}};
  const std::vector<Word> small{{"model", "llama-3-8b"}, {"gpu", "4090"}, {"worse-by", "50%"}};
  const auto reply = asked_again("serve", large, small);
  CHECK(reply.code == ExitCode::does_not_fit);
  CHECK(has_note(reply.warnings, "requests at once "));
}

TEST_CASE("lines of many runs are compared by their names, in five lines at most") {
  const std::vector<Word> two{{"model", "llama-3-8b"}, {"gpu", "h100-sxm,b200-sxm"}, {"seq", "1k"}};
  const std::vector<Word> other{{"model", "llama-3-8b"}, {"gpu", "h100-sxm,4090"}, {"seq", "4k"}};
  const auto reply = asked_again("fit", two, other);
  CHECK((reply.notes.size() <= 5 && has_note(reply.notes, "h100-sxm: ")));
  const auto one = asked_again("fit", two, {{"model", "llama-3-8b"}, {"gpu", "h100-sxm,4090"}, {"seq", "1k"}});
  CHECK((has_note(one.notes, "4090: new") && has_note(one.notes, "b200-sxm: no longer asked")));
}

TEST_CASE("each figure that is worse than it was, and no other, is told and fails") {
  const auto changed = [](std::string_view verb, const std::vector<Word>& words, const std::string& place,
                          double times) {
    auto before = nlohmann::json::parse(to_json(ask(verb, words)));
    auto& figure = before.at(nlohmann::json::json_pointer(place));
    REQUIRE(figure.is_number());
    figure = figure.get<double>() * times;
    Outside outside;
    outside.read = [&](const std::string&) { return before.dump(); };
    return ask(verb, plus(plus(words, {"baseline", "before.json"}), {"worse-by", "5%"}), outside);
  };
  const std::vector<Word> one{{"model", "llama-3.2-1b"}, {"gpu", "h100-sxm"}};
  struct Told {
    std::string_view verb;
    std::string_view label;
    std::string place;
    bool is_worse_above = true;
  };
  const std::vector<Told> figures{{"fit", "memory ", "/needed_bytes"},
                                  {"fit", "step ", "/time/step_seconds"},
                                  {"fit", "cost ", "/time/cost_usd"},
                                  {"serve", "memory ", "/memory/held_bytes"},
                                  {"serve", "requests at once ", "/capacity/max_concurrency", false},
                                  {"serve", "longest context ", "/capacity/max_context", false},
                                  {"serve", "first token ", "/speed/ttft_s"},
                                  {"serve", "a token ", "/speed/tpot_s"},
                                  {"serve", "a million tokens ", "/speed/cost/output_with_prompts_usd_per_million"},
                                  {"plan", "memory ", "/best/0/figures/needed_bytes"},
                                  {"plan", "step ", "/best/0/figures/step_seconds"},
                                  {"plan", "cost ", "/best/0/figures/cost_usd"}};
  for (const auto& each : figures) {
    CAPTURE(each.verb, each.place);
    const auto below = changed(each.verb, one, each.place, 0.5);
    const auto above = changed(each.verb, one, each.place, 2.0);
    const auto& worse = each.is_worse_above ? below : above;
    const auto& better = each.is_worse_above ? above : below;
    CHECK(worse.code == ExitCode::does_not_fit);
    CHECK(has_note(worse.warnings, each.label));
    CHECK(better.code == ExitCode::fits);
    CHECK((better.warnings.empty() && has_note(better.notes, each.label)));
  }
  CHECK_THROWS_WITH(changed("fit", one, "/needed_bytes", 1e200), Contains("which no answer has"));
}

// docs/ci.md: what fits, what fits within its error bar alone, what has no accelerator to fit, what does not.
TEST_CASE("a verdict is worse behind each that is better, and better behind each that is worse") {
  const std::vector<std::string_view> verdicts{"fits", "tight", "no_accelerator", "does_not_fit", "error"};
  const std::vector<std::vector<Word>> questions{{{"model", "llama-3.2-1b"}, {"gpu", "h100-sxm"}},
                                                 {{"model", "llama-3.2-1b"}},
                                                 {{"model", "llama-3-70b"}, {"gpu", "4090"}}};
  for (const auto& words : questions) {
    auto kept = nlohmann::json::parse(to_json(ask("fit", words)));
    const auto now = std::ranges::find(verdicts, kept.at("verdict").get<std::string>());
    REQUIRE(now != verdicts.end());
    for (auto before = verdicts.begin(); before != verdicts.end(); ++before) {
      kept["verdict"] = *before;
      Outside outside;
      outside.read = [&](const std::string&) { return kept.dump(); };
      const auto reply = ask("fit", plus(plus(words, {"baseline", "before.json"}), {"worse-by", "5%"}), outside);
      CAPTURE(*now, *before);
      CHECK(has_note(reply.warnings, "verdict ") == (before < now));
      CHECK(has_note(reply.notes, "verdict ") == (before > now));
    }
  }
}

TEST_CASE("a file that holds no answer of the verb is refused") {
  CHECK_THROWS_WITH(asked_again("serve", {{"model", "llama-3-8b"}}, {{"model", "llama-3-8b"}, {"worse-by", "x"}}),
                    Contains("--worse-by"));
  const std::vector<Word> model{{"", "llama-3-8b"}};
  const auto other = to_json(ask("model", model));
  for (const std::string& text : {std::string("no JSON"), std::string("[]"), std::string("{}"), other}) {
    Outside outside;
    outside.read = [&](const std::string&) { return text; };
    CHECK_THROWS_WITH(ask("fit", plus(run, {"baseline", "before.json"}), outside), Contains("holds no answer"));
  }
  CHECK_THROWS_WITH(ask("fit", plus(run, {"worse-by", "5%"})), Contains("--baseline"));
  const std::vector<Word> table{{"model", "llama-3.2-1b"}, {"gpu", "h100-sxm"}, {"table", "seq,micro-batch"}};
  CHECK_THROWS_WITH(asked_again("plan", table, table), Contains("none of them"));
}
