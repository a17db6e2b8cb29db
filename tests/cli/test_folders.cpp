// What a file names is read from its folder, and nothing that lies outside of it, however the way there is written.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace llmcalc;
namespace fs = std::filesystem;

TEST_CASE("a file outside the folder is not read, by a link or by its path") {
  const test::Folder folder;
  const std::string zero3 = R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}})";
  folder.write("outside/ds.json", zero3);
  folder.write("run/beside.json", zero3);
  fs::create_symlink("../outside/ds.json", fs::path(folder.path()) / "run/link.json");
  fs::create_symlink("beside.json", fs::path(folder.path()) / "run/inner.json");
  const auto reads = [&](const std::string& named) {
    const auto file = folder.write("run/axolotl.yaml",
                                   "base_model: meta-llama/Llama-3.1-8B\nsequence_len: 2048\n"
                                   "micro_batch_size: 1\nbf16: true\ndeepspeed: " +
                                       named + "\n");
    const std::vector<std::string> words{"from", file, "--format", "json"};
    const auto answer = cli::run(words, cli::Environment{}).answer;
    return answer.find("zero3") != answer.npos;
  };
  CHECK(reads("beside.json"));
  CHECK(reads("inner.json"));
  CHECK_FALSE(reads("link.json"));
  CHECK_FALSE(reads("../outside/ds.json"));
}
