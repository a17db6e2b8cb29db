// The command that `llmcalc from` prints of a file is answered when it is typed.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
namespace fs = std::filesystem;

namespace {

/// The arguments of the command in the first line of a case's answer; empty where it holds none.
std::vector<std::string> command_of(const fs::path& folder) {
  std::ifstream answer(folder / "stdout");
  std::string first;
  std::getline(answer, first);
  if (!first.starts_with("llmcalc ") || first.find_first_of("'\"") != std::string::npos) return {};
  std::istringstream words(first.substr(std::string("llmcalc ").size()));
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return arguments;
}

/// Some files say how to train and not what, or how to share and not among how many.
void name_what_is_left(std::vector<std::string>& arguments) {
  const auto says = [&](const std::string& option) { return std::ranges::find(arguments, option) != arguments.end(); };
  const bool has_model = says("--model") || says("--config") || says("--layers") || says("--from");
  if (!has_model) arguments.insert(arguments.end(), {"--model", "llama-3.1-8b"});
  if (says("--sharding-group") && !says("--gpus")) arguments.insert(arguments.end(), {"--gpus", "1024"});
}

class InFolder {
 public:
  explicit InFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~InFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

}  // namespace

TEST_CASE("what files ask, typed as it is printed, is answered") {
  int typed = 0;
  for (const auto& entry : fs::directory_iterator(LLMCALC_TEST_DATA "/golden")) {
    if (!entry.path().filename().string().starts_with("from-")) continue;
    auto arguments = command_of(entry.path());
    if (arguments.empty()) continue;
    name_what_is_left(arguments);
    CAPTURE(entry.path().filename().string());
    const InFolder inside(entry.path());
    CHECK_NOTHROW(cli::run(arguments, cli::Environment{}));
    ++typed;
  }
  CHECK(typed > 40);
}
