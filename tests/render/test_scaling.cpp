// What people and programs see of a scaling answer.
#include "catch.hpp"
#include "render/answers.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

laws::ScaleAnswer frontier_of(laws::Frontier kind) {
  laws::ScaleQuestion question;
  question.compute = quantity::flops(1e22);
  question.follow_ups.frontier = kind;
  return scale(question);
}

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

}  // namespace

TEST_CASE("a frontier is a table, with bars where they can be drawn") {
  const auto answer = frontier_of(laws::Frontier::sizes);
  const auto plain = render::to_text(answer, {});
  CHECK_THAT(plain, Contains("compute for the best's loss") && Contains("1x  best") && Contains("never"));
  CHECK_THAT(plain, !Contains("█"));
  CHECK_THAT(render::to_text(answer, {.bars = true}), Contains("█"));
  CHECK_THAT(render::to_text(frontier_of(laws::Frontier::budgets), {}), Contains("1e+24 FLOP"));
}

TEST_CASE("what follows the run stands under a heading of its own") {
  laws::ScaleQuestion question;
  question.params = quantity::parameters(7'000'000'000);
  question.tokens = quantity::tokens(2e12);
  question.follow_ups.smaller = 2;
  const auto text = render::to_text(scale(question), {});
  const auto best = text.find("\n\nthe best for this compute\n");
  const auto smaller = text.find("\n\na smaller model with the same loss\n");
  CHECK(best != std::string::npos);
  CHECK((smaller != std::string::npos && smaller > best));
}

TEST_CASE("the keys of a scaling answer are the same whatever was asked") {
  laws::ScaleQuestion plain;
  plain.params = quantity::parameters(7'000'000'000);
  const auto least = nlohmann::json::parse(render::to_json(scale(plain), "test"));
  const auto most = nlohmann::json::parse(render::to_json(frontier_of(laws::Frontier::sizes), "test"));
  CHECK(keys_of(least) == keys_of(most));
  CHECK(least.at("frontier").empty());
  CHECK(least.at("law") == "chinchilla");
  CHECK(most.at("frontier").at(0).at("same_loss_compute_ratio").is_null());
  CHECK(most.at("frontier").at(3).at("best") == true);
}
