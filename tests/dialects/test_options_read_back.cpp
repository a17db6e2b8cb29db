// Each option of a run, whatever trains it: a launch that is printed with it takes, read back, the bytes and seconds of
// the run, or names the option as one that it does not say.
#include "../answer/asking.hpp"
#include "catch.hpp"
#include "dialects/launch.hpp"
#include "dialects/read_back.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::options_read_back {

namespace {

/// Values to say where none stand in a list.
std::vector<std::string> values_to_say(const read::Term& term) {
  const std::string described = read::values_of(term);
  if (described.starts_with("list") || described.starts_with("transformers")) return {};
  if (described.find('|') != described.npos) {
    std::vector<std::string> values;
    for (const auto piece : quantity::pieces_of(described, "|")) values.emplace_back(piece);
    return values;
  }
  if (described.starts_with("integer")) return {"2", "16"};
  if (described.starts_with("positions")) return {"2048"};
  if (described.starts_with("0..1")) return {"0.25"};
  if (described.starts_with("number")) return {"3"};
  return {};
}

std::optional<spec::Question> question_of(const std::string& line) {
  try {
    return test::question(line);
  } catch (const quantity::BadInput&) {
    return std::nullopt;  // what the framework does not do is refused by name
  }
}

/// Framework, and how many values of options its launches say.
struct Said {
  std::string framework;
  std::size_t options = 0;
};

/// Asks with and without the option. \return  whether the launch says it
bool is_said(const std::string& run, const std::string& option, const std::string& value) {
  const auto question = question_of(run + " " + option + " " + value);
  if (!question) return false;
  bool said = false;
  for (const auto& launch : dialects::launches(*question)) {
    CAPTURE(run, option, value, launch.command, launch.beyond);
    if (launch.command.empty()) {
      const auto plain = dialects::launches(*question_of(run));
      const bool is_to_blame = std::ranges::none_of(plain, &std::string::empty, &dialects::Launch::command);
      if (is_to_blame) CHECK_FALSE(launch.beyond.empty());
      continue;
    }
    const auto asked = answer::estimate(*question);
    const auto again = answer::estimate(test::read_back(launch.command, *question));
    CHECK(again.memory.peak_needed == asked.memory.peak_needed);
    CHECK(again.compute.step == asked.compute.step);
    said = true;
  }
  return said;
}

/// Values of options that the launches of each framework say today; none may forget one.
const std::vector<Said> all_said{{"hf", 69},         {"trl", 83},       {"litgpt", 55},        {"torchtune", 66},
                                 {"torchtitan", 54}, {"lightning", 53}, {"megatron", 67},      {"deepspeed", 82},
                                 {"ms-swift", 80},   {"axolotl", 81},   {"llama-factory", 80}, {"unsloth", 55}};

}  // namespace

TEST_CASE("an option of a run that its launch says is read back as it was asked") {
  for (const auto& [framework, options] : all_said) {
    std::size_t said = 0;
    for (const auto& term : read::vocabulary()) {
      const bool is_of_run = term.group == read::TermGroup::run || term.group == read::TermGroup::layout;
      if (!is_of_run || term.name == "framework") continue;
      for (const auto& value : values_to_say(term)) {
        for (const std::string method : {"full", "lora"}) {
          if (method == "lora" && !term.name.starts_with("lora")) continue;
          const std::string run =
              "--model llama-3.2-1b --gpu h100-sxm:8 --framework " + framework + " --method " + method;
          said += is_said(run, "--" + read::option_name(term.name), value) ? 1U : 0U;
        }
      }
    }
    CAPTURE(framework);
    CHECK(said >= options);
  }
}

}  // namespace llmcalc::options_read_back
