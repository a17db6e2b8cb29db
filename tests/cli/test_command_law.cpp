// What holds of every server's answer, whichever model and engine: over the presets that ship.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// What is printed; empty where the engine does not serve the model.
std::string printed_for(const std::string& model, const std::string& more) {
  std::vector<std::string> words{"serve", "--model", model};
  for (const auto word : quantity::pieces_of(more, " ")) words.emplace_back(word);
  try {
    return cli::run(words, cli::Environment{}).answer;
  } catch (const quantity::BadInput&) {
    return {};
  }
}

/// Models of the Hub, each so many behind the one before.
std::vector<read::ModelPreset> some_models(std::size_t begin, std::size_t step) {
  std::vector<read::ModelPreset> some;
  const auto all = read::Catalogue().models();
  for (std::size_t i = begin; i < all.size(); i += step) {
    if (!all[i].hf_id.empty() && !all[i].embeds) some.push_back(all[i]);
  }
  return some;
}

/// What a command says behind "vllm serve" or "--model-path", empty where none is printed, or that of a change that
/// makes it fit, which may be another checkpoint.
std::string served_by(const std::string& engine, const std::string& model) {
  const auto text = printed_for(model, "--gpu b300-sxm:8 --format json --engine " + engine);
  const auto answer = text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text);
  if (!answer.value("launched_with", nlohmann::json()).is_null()) return {};
  const auto launch = answer.value("launch", nlohmann::json()).is_string() ? answer["launch"].get<std::string>() : "";
  const std::string_view before = engine == "vllm" ? "vllm serve " : "--model-path ";
  const auto at = launch.find(before);
  if (at == std::string::npos) return {};
  const auto rest = launch.substr(at + before.size());
  return rest.substr(0, rest.find(' '));
}

}  // namespace

// vLLM and SGLang load a repository of the Hub or a folder, and no name that this program gave a model.
TEST_CASE("a command names a place on the Hub, whatever name was typed") {
  std::size_t commands = 0;
  for (const std::string engine : {"vllm", "sglang"}) {
    for (const auto& preset : some_models(engine.size(), 24)) {
      CAPTURE(engine, preset.id);
      for (const std::string& typed : {preset.id, preset.id + "-awq", preset.hf_id, "somebody/" + preset.id + "-FP8"}) {
        CAPTURE(typed);
        const auto named = served_by(engine, typed);
        if (named.empty()) continue;
        const bool is_place = typed.find('/') != std::string::npos;
        CHECK(named.find('/') != std::string::npos);
        if (is_place) CHECK(named == typed);
        if (typed == preset.id) CHECK(named == preset.hf_id);
        ++commands;
      }
    }
  }
  CHECK(commands > 50);
}

TEST_CASE("an explained answer has each line of the whole one") {
  for (const std::string engine : {"vllm", "llama.cpp", "trt-llm"}) {
    for (const auto& preset : some_models(engine.size(), 40)) {
      const std::string words = "--gpu h200-sxm:2 --concurrency 64 --engine " + engine;
      const auto lines = [&](const std::string& style) {
        std::istringstream text(printed_for(preset.id, words + style));
        std::vector<std::string> found;
        for (std::string line; std::getline(text, line);) found.push_back(line);
        return found;
      };
      CAPTURE(engine, preset.id);
      const auto explained = lines(" --explain");
      const std::set<std::string> held(explained.begin(), explained.end());
      for (const auto& line : lines(" --full")) {
        CAPTURE(line);
        CHECK(held.contains(line));
      }
    }
  }
}
