// Laws of copies and of states: copies share nothing but the requests, and what a recurrent layer keeps of a request
// is as much however long it is.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::copies_law {
namespace {

using Words = std::vector<std::string>;

/// Nothing where the engine has no such server.
std::optional<serving::ServingAnswer> served(const Words& words) {
  try {
    return serving::serve(test::served(words));
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

Words server_of(const std::string& model, const serving::EngineRow& row, const Words& more) {
  return test::with({"model", model, "engine", std::string(spec::name_of(row.engine)), "gpu", "h200-sxm", "output",
                     "64", "prompt", "256", "context", "1024"},
                    more);
}

/// The server on its accelerators, and so many of it that share a load as many times as large.
struct Servers {
  serving::ServingAnswer one, all;
};

constexpr std::int64_t copies = 3;

std::optional<Servers> copied(const std::string& model, const serving::EngineRow& row) {
  auto one = served(server_of(model, row, {"tp", "2", "gpus", "2", "concurrency", "8"}));
  auto all = served(server_of(model, row, {"tp", "2", "gpus", "6", "concurrency", "24"}));
  if (!one || !all || all->deployment.question.layout.dp != copies) return std::nullopt;
  return Servers{*std::move(one), *std::move(all)};
}

/// What recurrent layers keep alone: the model holds nothing by position.
bool is_recurrent(const serving::ServingAnswer& answer) {
  const auto& groups = answer.memory.groups;
  return !groups.empty() && std::ranges::all_of(groups, [](const serving::BlockGroup& group) {
    return group.group.layer.reach == serving::Reach::state;
  });
}

}  // namespace

TEST_CASE("copies of a server carry what each carries, and hold what it holds", "[long]") {
  int compared = 0;
  const auto models = read::Catalogue().models();
  for (std::size_t i = 0; i < models.size(); i += 5) {
    for (const serving::EngineRow& row : serving::all_engines()) {
      CAPTURE(models[i].id, spec::name_of(row.engine));
      const auto servers = copied(models[i].id, row);
      if (!servers) continue;
      const auto& [one, all] = *servers;
      CHECK(all.verdict == one.verdict);
      CHECK(all.capacity.max_concurrency == copies * one.capacity.max_concurrency);
      CHECK(all.capacity.max_context == one.capacity.max_context);
      CHECK(all.capacity.shared_context == one.capacity.shared_context);
      CHECK(all.capacity.running == copies * one.capacity.running);
      CHECK(all.capacity.queued == copies * one.capacity.queued);
      CHECK(all.capacity.cache_tokens == one.capacity.cache_tokens);
      CHECK(all.capacity.binding == one.capacity.binding);
      CHECK(all.memory.held() == one.memory.held());
      CHECK(all.memory.pool == one.memory.pool);
      CHECK(device_total_of_all(all) == device_total_of_all(one));
      CHECK(all.parameters == one.parameters);
      ++compared;
      REQUIRE(all.speed.has_value() == one.speed.has_value());
      if (!one.speed) continue;
      CHECK(in_seconds(all.speed->tpot) == Approx(in_seconds(one.speed->tpot)));
      CHECK(in_seconds(all.speed->ttft) == Approx(in_seconds(one.speed->ttft)));
      CHECK(all.speed->tokens_per_s == Approx(copies * one.speed->tokens_per_s));
      CHECK(all.speed->tokens_per_s_per_gpu == Approx(one.speed->tokens_per_s_per_gpu));
      // Three times the accelerators make three times the tokens: a token costs the same.
      if (one.speed->cost.all) CHECK(in_dollars(*all.speed->cost.all) == Approx(in_dollars(*one.speed->cost.all)));
      if (one.speed->cost.hour)
        CHECK(in_dollars(*all.speed->cost.hour) == Approx(copies * in_dollars(*one.speed->cost.hour)));
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("what a state-space model keeps of a request is as much however long it is", "[long]") {
  int compared = 0;
  for (const auto& preset : read::Catalogue().models()) {
    for (const serving::EngineRow& row : serving::all_engines()) {
      const auto brief = served(server_of(preset.id, row, {}));
      if (!brief || !is_recurrent(*brief)) continue;
      CAPTURE(preset.id, spec::name_of(row.engine));
      auto words = server_of(preset.id, row, {});
      *std::ranges::find(words, "1024") = "131072";
      const auto lasting = served(words);
      REQUIRE(lasting);
      CHECK(brief->state > quantity::bytes(0));
      CHECK(lasting->state == brief->state);
      CHECK(lasting->bytes_per_token == brief->bytes_per_token);
      CHECK(lasting->memory.needed == brief->memory.needed);
      // Where the cache is set aside nothing else grows with what is read at once.
      if (row.reserves) CHECK(lasting->capacity.max_concurrency == brief->capacity.max_concurrency);
      ++compared;
    }
  }
  CHECK(compared >= 20);
}

}  // namespace llmcalc::copies_law
