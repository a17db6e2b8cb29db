// Exit codes are the answer of scripts, and where presets of the user are looked for.
#include "catch.hpp"
#include "cli/machine.hpp"
#include "cli/run.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace llmcalc;
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

/// Standard output is a terminal for as long as this lives.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)), before_(dup(STDOUT_FILENO)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    const int terminal = open(ptsname(master_), O_RDWR | O_NOCTTY);
    is_there_ = terminal >= 0 && dup2(terminal, STDOUT_FILENO) >= 0;
    if (terminal >= 0) close(terminal);
  }
  ~Terminal() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
    if (master_ >= 0) close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool is_there() const { return is_there_; }

 private:
  int master_;
  int before_;
  bool is_there_ = false;
};

/// What is printed to the standard output that is there.
std::string first_answer() {
  auto environment = cli::read_environment();
  environment.no_color = false;
  return cli::run(Words{"fit", "--model", "llama-3-8b", "--gpu", "h100-sxm", "--explain"}, environment).answer;
}

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

TEST_CASE("a terminal that is dumb is written to as a file is") {
  const std::string plain = first_answer();
  std::string coloured;
  std::string dumb;
  {
    const Terminal terminal;
    if (!terminal.is_there()) return;  // a machine without pseudo-terminals
    const Variable good("TERM", "xterm-256color");
    coloured = first_answer();
    const Variable bad("TERM", "dumb");
    dumb = first_answer();
  }
  CHECK(dumb == plain);
  CHECK(coloured.find('\x1b') != std::string::npos);
  CHECK(dumb.find('\x1b') == std::string::npos);
}

TEST_CASE("a server that misses a limit is a failure, whichever limit it is") {
  const auto serve = [](const std::string& limit, const std::string& most) {
    const Words words{"serve", "llama-3-8b", "--engine", "vllm",     "--gpu", "h100-sxm",   "--context",
                      "8k",    "--prompt",   "1k",       "--output", "100",   "--" + limit, most};
    return cli::run(words, cli::Environment{}).code;
  };
  for (const std::string limit : {"ttft", "tpot", "ttft-p95", "tpot-p95"}) {
    CAPTURE(limit);
    CHECK(serve(limit, "1h") == ExitCode::fits);
    CHECK(serve(limit, "1us") == ExitCode::does_not_fit);
  }
}
