// What every engine says of every preset: printed capacities hold when they are asked again, and more takes more.
#include "catch.hpp"
#include "read/presets.hpp"
#include "serving/capacity.hpp"
#include "serving/questions.hpp"
#include "spec/names.hpp"

#include <string>
#include <vector>

namespace {

using namespace llmcalc;

/// Large enough for each of the presets.
constexpr const char* memory = "8000GiB";
constexpr std::int64_t context = 64;  // as long as the tables of all presets are

/// Models that keep what they read: an encoder holds as many sequences as a step takes.
std::vector<std::string> served_models() {
  std::vector<std::string> ids;
  for (const auto& preset : read::Catalogue().models()) {
    const auto question = test::served({"model", preset.id, "gpu", "h100-sxm"});
    if (question.model.shape.stack != spec::Stack::encoder) ids.push_back(preset.id);
  }
  return ids;
}

serving::Deployment server(const std::string& model, const std::string& engine, std::int64_t length) {
  return serving::deploy(test::served({"model", model, "engine", engine, "gpu", "h100-sxm", "memory", memory, "output",
                                       "16", "context", std::to_string(length)}));
}

bool starts(const std::string& model, const std::string& engine, std::int64_t length) {
  return serving::fits(server(model, engine, length), length, 1);
}

/// True if what holds for a number holds for all smaller ones of a list of rising ones.
template <class Holds>
bool falls_once(const std::vector<std::int64_t>& rising, const Holds& holds) {
  bool held = true;
  for (const std::int64_t n : rising) {
    const bool now = holds(n);
    if (now && !held) return false;
    held = now;
  }
  return true;
}

TEST_CASE("on every engine every preset's capacities hold when they are asked again", "[long]") {
  for (const auto& model : served_models()) {
    for (const serving::EngineRow& row : serving::all_engines()) {
      const std::string engine(spec::name_of(row.engine));
      CAPTURE(model, engine);
      const auto asked = server(model, engine, context);
      const auto capacity = serving::capacity_of(asked);
      REQUIRE(capacity.max_context >= context);
      CHECK(starts(model, engine, capacity.max_context));
      const std::int64_t built_for = asked.question.model.shape.max_position;
      if (built_for == 0 || capacity.max_context < built_for) {
        CHECK_FALSE(starts(model, engine, capacity.max_context + 1));
      }
      REQUIRE(capacity.max_concurrency > 0);
      CHECK(serving::fits(asked, context, capacity.max_concurrency));
      if (capacity.max_concurrency < asked.setup.max_sequences || !row.reserves) {
        CHECK_FALSE(serving::fits(asked, context, capacity.max_concurrency + 1));
      }
    }
  }
}

TEST_CASE("longer contexts and more requests take no less, of every preset on every engine", "[long]") {
  const std::vector<std::int64_t> rising{1, 100, 1'000, 10'000, 100'000, 1'000'000, 100'000'000};
  for (const auto& model : served_models()) {
    for (const serving::EngineRow& row : serving::all_engines()) {
      const std::string engine(spec::name_of(row.engine));
      CAPTURE(model, engine);
      const auto asked = server(model, engine, context);
      CHECK(falls_once(rising, [&](std::int64_t n) { return serving::fits(asked, n, 1); }));
      CHECK(falls_once(rising, [&](std::int64_t n) { return serving::fits(asked, context, n); }));
    }
  }
}

}  // namespace
