// Exit codes are the answer of scripts, and where presets of the user are looked for.
#include "catch.hpp"
#include "cli/environment.hpp"
#include "cli/run.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <vector>

using namespace llmcalc;
using cli::ExitCode;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

cli::Outcome fit(const std::string& memory, const Words& more = {}) {
  Words words{"fit", "--model", "llama-3.2-1b", "--framework", "hf", "--dtype", "bf16", "--gpu", "a100-80"};
  if (!memory.empty()) words.insert(words.end(), {"--memory", memory});
  words.insert(words.end(), more.begin(), more.end());
  return cli::run(words, cli::Environment{});
}

/// A variable of the environment for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a run that fits within the error bar alone is a failure under --strict") {
  const auto needed = json::parse(fit("", {"--format", "json"}).answer)["needed_bytes"].get<std::int64_t>();
  const auto tight = std::to_string(needed + needed / 1000) + "B";
  const auto roomy = std::to_string(2 * needed) + "B";
  const auto small = std::to_string(needed - needed / 1000) + "B";
  CHECK(json::parse(fit(tight, {"--format", "json"}).answer)["verdict"] == "tight");
  CHECK(fit(tight).code == ExitCode::fits);
  CHECK(fit(tight, {"--strict"}).code == ExitCode::does_not_fit);
  CHECK(fit(roomy).code == ExitCode::fits);
  CHECK(fit(roomy, {"--strict"}).code == ExitCode::fits);
  CHECK(fit(small).code == ExitCode::does_not_fit);
  CHECK(fit(small, {"--strict"}).code == ExitCode::does_not_fit);
}

TEST_CASE("a plan counts no tight run under --strict") {
  const Words words{"plan", "--params",    "1e9",  "--gpu",     "a100-80:2", "--seq",         "1k", "--global-batch",
                    "2",    "--tp",        "1",    "--pp",      "1",         "--cp",          "1",  "--sharding",
                    "ddp",  "--recompute", "none", "--offload", "none",      "--micro-batch", "1",  "--format",
                    "json"};
  const auto plan = [&](const Words& more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    return cli::run(all, cli::Environment{});
  };
  const auto needed = json::parse(plan({}).answer)["best"][0]["figures"]["needed_bytes"].get<std::int64_t>();
  const auto tight = std::to_string(needed + needed / 1000) + "B";
  CHECK(plan({"--memory", tight}).code == ExitCode::fits);
  CHECK(plan({"--memory", tight, "--strict"}).code == ExitCode::does_not_fit);
}

TEST_CASE("a server that lets requests wait is a failure under --strict alone") {
  const auto serve = [](const std::string& requests, const Words& more) {
    Words words{"serve",    "--model",   "llama-3-8b", "--engine",      "vllm",  "--gpu",
                "h100-sxm", "--context", "8k",         "--concurrency", requests};
    words.insert(words.end(), more.begin(), more.end());
    return cli::run(words, cli::Environment{}).code;
  };
  CHECK(serve("4", {}) == ExitCode::fits);
  CHECK(serve("4", {"--strict"}) == ExitCode::fits);
  CHECK(serve("5000", {}) == ExitCode::fits);
  CHECK(serve("5000", {"--strict"}) == ExitCode::does_not_fit);
  CHECK(serve("4", {"--memory", "4GiB"}) == ExitCode::does_not_fit);
}

TEST_CASE("presets of the user are in the folder of XDG_CONFIG_HOME, or else of HOME") {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable config("XDG_CONFIG_HOME", "/etc/somewhere");
    CHECK(cli::read_environment().presets == "/etc/somewhere/llmcalc/presets");
  }
  CHECK(cli::read_environment().presets == "/home/somebody/.config/llmcalc/presets");
  const Variable empty("XDG_CONFIG_HOME", "");
  CHECK(cli::read_environment().presets == "/home/somebody/.config/llmcalc/presets");
}
