// The command line in-process: options, verbs, help and exit codes.
#include "api/verbs.hpp"
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"

#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

api::Arguments parse(const std::vector<std::string>& words) {
  const auto flags = api::all_flags(api::find_verb("fit"));
  return {flags, api::words_of_line(flags, words)};
}

cli::Outcome run(const std::vector<std::string>& words) { return cli::run(words, cli::Environment{}); }

}  // namespace

TEST_CASE("options have values, switches have none, and the rest are names") {
  const auto arguments = parse({"--seq", "8k", "--explain", "name", "--params=1e9", "--micro-batch", "-5"});
  CHECK(*arguments.find("seq") == "8k");
  CHECK(*arguments.find("params") == "1e9");
  CHECK(*arguments.find("micro-batch") == "-5");
  CHECK(arguments.has("explain"));
  CHECK_FALSE(arguments.has("strict"));
  CHECK(arguments.names(1) == std::vector<std::string>{"name"});
  CHECK_THROWS_WITH(arguments.names(0), Contains("name"));
}

TEST_CASE("options that cannot be understood are named") {
  CHECK_THROWS_WITH(parse({"--sequence", "8"}), Contains("--sequence: there is no such option"));
  CHECK_THROWS_WITH(parse({"--micro-bach", "8"}), Contains("did you mean '--micro-batch'"));
  CHECK_THROWS_WITH(parse({"--seq"}), Contains("--seq: needs a value"));
  CHECK_THROWS_WITH(parse({"--seq", "--explain"}), Contains("--seq: needs a value"));
  CHECK_THROWS_WITH(parse({"--seq="}), Contains("--seq: needs a value"));
  CHECK_THROWS_WITH(parse({"--seq", "1", "--seq", "1"}), Contains("--seq: is given more than once"));
  CHECK_THROWS_WITH(parse({"-x"}), Contains("-x: there is no such option"));
  CHECK_THROWS_WITH(parse({"vllm", "serve", "x", "--max-num-foo", "8"}), Contains("in quotes"));
}

TEST_CASE("a choice is one of its words and begins with the default") {
  constexpr std::array<std::string_view, 2> formats{"text", "json"};
  CHECK(parse({}).choice("format", formats) == "text");
  CHECK(parse({"--format", "json"}).choice("format", formats) == "json");
  CHECK_THROWS_WITH(parse({"--format", "jsn"}).choice("format", formats), Contains("did you mean 'json'"));
}

TEST_CASE("exit codes are those of grep and diff") {
  CHECK(run({"fit", "--params", "1e9", "--gpu", "a100-80"}).code == ExitCode::fits);
  CHECK(run({"fit", "--params", "70e9", "--gpu", "a100-80"}).code == ExitCode::does_not_fit);
  CHECK(run({"fit", "--params", "70e9"}).code == ExitCode::fits);
  CHECK_THROWS_AS(run({"fit"}), quantity::BadInput);
}

TEST_CASE("json stands alone: nothing is left for stderr") {
  const auto outcome = run({"fit", "--params", "1e9", "--format", "json"});
  CHECK_THAT(outcome.answer, Contains("\"verdict\": \"no_accelerator\""));
  CHECK(outcome.notes.empty());
  CHECK(outcome.warnings.empty());
}

TEST_CASE("quiet leaves the exit code alone") {
  const auto spoken = run({"fit", "--params", "1e9", "--tokens", "1B", "--gpu", "a100-80"});
  const auto quiet = run({"fit", "--params", "1e9", "--tokens", "1B", "--gpu", "a100-80", "--quiet"});
  CHECK_FALSE(spoken.warnings.empty());
  CHECK(quiet.warnings.empty());
  CHECK(quiet.answer.empty());
  CHECK(run({"fit", "--params", "70e9", "--gpu", "rtx-4090", "--quiet"}).code == ExitCode::does_not_fit);
  CHECK(run({"fit", "--params", "1e9", "--gpu", "h100", "--quiet"}).code == ExitCode::fits);
}

TEST_CASE("colour follows the option, then NO_COLOR, then the terminal") {
  const auto coloured = [](std::vector<std::string> words, const cli::Environment& environment) {
    words.insert(words.begin(), {"fit", "--params", "1e9"});
    return cli::run(words, environment).answer.find('\x1b') != std::string::npos;
  };
  CHECK(coloured({}, {.terminal = true, .no_color = false, .presets = {}}));
  CHECK_FALSE(coloured({}, {.terminal = true, .no_color = true, .presets = {}}));
  CHECK_FALSE(coloured({}, {.terminal = false, .no_color = false, .presets = {}}));
  CHECK(coloured({"--color", "always"}, {.terminal = false, .no_color = true, .presets = {}}));
  CHECK_FALSE(coloured({"--color", "never"}, {.terminal = true, .no_color = false, .presets = {}}));
}

TEST_CASE("every verb explains itself") {
  const auto help = run({"--help"}).answer;
  for (const auto& verb : api::verbs()) {
    CHECK_THAT(help, Contains("  " + std::string(verb.name) + " "));
    CHECK_THAT(run({std::string(verb.name), "--help"}).answer, Contains("usage: llmcalc " + std::string(verb.name)));
  }
  CHECK_THROWS_WITH(run({"fti"}), Contains("did you mean 'fit'"));
  CHECK(run({}).code == ExitCode::bad_question);
}

TEST_CASE("the help of fit names every term of the vocabulary") {
  const auto help = run({"fit", "--help"}).answer;
  for (const auto& flag : api::own_flags(api::find_verb("fit"))) CHECK_THAT(help, Contains("--" + flag.name));
}

TEST_CASE("presets are listed and shown") {
  CHECK_THAT(run({"model", "show", "llama-3-8b"}).answer, Contains("8,030,261,248"));
  CHECK_THAT(run({"gpu", "show", "a100-80"}).answer, Contains("312 TFLOP/s"));
  CHECK_THAT(run({"gpu", "list"}).answer, Contains("h100-sxm"));
  CHECK_THROWS_WITH(run({"model", "show"}), Contains("needs a NAME"));
  CHECK_THROWS_WITH(run({"model", "lst"}), Contains("did you mean 'list'"));
}

// 6 x 7e9 x 140e9 (Kaplan et al. 2020, section 2.1).
TEST_CASE("scale and dtype answer") {
  CHECK_THAT(run({"scale", "--params", "7e9"}).answer, Contains("5.88e+21 FLOP"));
  CHECK_THAT(run({"dtype", "bf16", "--value", "3.14159265"}).answer, Contains("3.140625"));
  CHECK_THAT(run({"dtype", "int8", "--quantize", "1,-2,4"}).answer, Contains("127"));
  CHECK_THROWS_WITH(run({"dtype", "bf17"}), Contains("did you mean"));
}
