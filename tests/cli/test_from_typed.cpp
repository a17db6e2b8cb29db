// The command that `llmcalc from` prints of a file is answered when it is typed, with the numbers that --from gives.
#include "catch.hpp"
#include "cli/run.hpp"
#include "dialects/shell/shell.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
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

/// What a person types who knows the file: tests/golden/README.md, `typed`. Empty where a case holds none.
std::vector<std::string> typed_by_hand(const fs::path& folder) {
  std::ifstream file(folder / "typed");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Some files say how to train and not what, or how to share and not among how many.
void name_what_is_left(std::vector<std::string>& arguments) {
  const auto says = [&](const std::string& option) { return std::ranges::find(arguments, option) != arguments.end(); };
  const bool has_model = says("--model") || says("--config") || says("--layers") || says("--from");
  if (!has_model) arguments.insert(arguments.end(), {"--model", "llama-3.1-8b"});
  const auto counts = [](const std::string& word) { return word.find(':') != word.npos; };  // "mi300x:8"
  const auto gpu = std::ranges::find(arguments, "--gpu");
  const bool counted = says("--gpus") || (gpu != arguments.end() && std::any_of(gpu, arguments.end(), counts));
  if (says("--sharding-group") && !counted) arguments.insert(arguments.end(), {"--gpus", "1024"});
}

class InFolder {
 public:
  explicit InFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~InFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

}  // namespace

namespace {

/// Folders of the cases that read something.
std::vector<fs::path> read_cases() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(LLMCALC_TEST_DATA "/golden")) {
    if (entry.path().filename().string().starts_with("from-")) folders.push_back(entry.path());
  }
  return folders;
}

/// The arguments of a case, as a shell splits them.
std::vector<std::string> arguments_of(const fs::path& folder) {
  std::ifstream file(folder / "cmd");
  std::string line;
  std::getline(file, line);
  std::vector<std::string> arguments;
  const auto script = dialects::parse_shell(line, "cmd");
  for (const auto& word : script.commands.at(0).words) arguments.push_back(word.text);
  return arguments;
}

/// The same things under the verb that answers.
std::vector<std::string> asked_of_things(const std::vector<std::string>& shown, const std::string& verb) {
  std::vector<std::string> arguments{verb};
  bool options = false;
  for (std::size_t i = 1; i < shown.size(); ++i) {
    options = options || shown[i].starts_with("--");
    if (!options) arguments.emplace_back("--from");
    arguments.push_back(shown[i]);
  }
  return arguments;
}

/// An answer without what says where its question came from.
nlohmann::json numbers_of(std::vector<std::string> arguments, const std::vector<std::string>& further) {
  arguments.insert(arguments.end(), further.begin(), further.end());
  arguments.insert(arguments.end(), {"--format", "json"});
  auto answer = nlohmann::json::parse(cli::run(arguments, cli::Environment{}).answer);
  for (const auto* key : {"question", "assumptions", "notes", "warnings", "launch", "launch_notes"}) answer.erase(key);
  if (answer.contains("model")) answer["model"].erase("origin");
  return answer;
}

bool says(const std::vector<std::string>& arguments, const std::string& option) {
  return std::ranges::find(arguments, option) != arguments.end();
}

}  // namespace

TEST_CASE("what files ask has the numbers of the command that is printed of them", "[long]") {
  int compared = 0;
  for (const fs::path& folder : read_cases()) {
    const auto shown = arguments_of(folder);
    auto typed = command_of(folder);
    const bool is_piped = says(shown, "-");
    if (shown.front() != "from" || typed.empty() || says(shown, "--format") || is_piped) continue;
    std::vector<std::string> further;
    const auto before = typed.size();
    name_what_is_left(typed);
    further.assign(typed.begin() + static_cast<std::ptrdiff_t>(before), typed.end());
    typed.resize(before);
    const bool alone = typed.front() == "serve" && !says(typed, "--tp") && !says(typed, "--ep");
    const bool counted = alone || says(typed, "--gpus") || says(further, "--gpus");
    if (!says(typed, "--gpu")) further.insert(further.end(), {"--gpu", counted ? "h200" : "h200:8"});
    CAPTURE(folder.filename().string());
    const InFolder inside(folder);
    CHECK(numbers_of(asked_of_things(shown, typed.front()), further) == numbers_of(typed, further));
    ++compared;
  }
  CHECK(compared > 60);
}

TEST_CASE("what files ask has the numbers of a command that was written by hand", "[long]") {
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(LLMCALC_TEST_DATA "/golden")) {
    const auto typed = typed_by_hand(entry.path());
    if (typed.empty()) continue;
    CAPTURE(entry.path().filename().string());
    const InFolder inside(entry.path());
    auto asked = asked_of_things(arguments_of(entry.path()), typed.front());
    const auto gpu = std::ranges::find(typed, "--gpu");  // which no trainer's file names
    if (!says(asked, "--gpu") && gpu != typed.end()) asked.insert(asked.end(), gpu, gpu + 2);
    CHECK(numbers_of(asked, {}) == numbers_of(typed, {}));
    ++compared;
  }
  CHECK(compared > 30);
}

TEST_CASE("what files ask, typed as it is printed, is answered") {
  int typed = 0;
  for (const fs::path& folder : read_cases()) {
    auto arguments = command_of(folder);
    if (arguments.empty()) continue;
    name_what_is_left(arguments);
    CAPTURE(folder.filename().string());
    const InFolder inside(folder);
    CHECK_NOTHROW(cli::run(arguments, cli::Environment{}));
    ++typed;
  }
  CHECK(typed > 40);
}

namespace {

/// What is said of a word that was read: "micro-batch 2 (run.yaml:9)".
std::multiset<std::string> shown_words(const nlohmann::json& question) {
  std::multiset<std::string> words;
  for (const auto& [term, word] : question.items()) {
    std::string option = term;
    std::ranges::replace(option, '_', '-');
    const std::string value = word["value"], where = word["where"];
    if (word["origin"] != "flag") words.insert(option + " " + value + " (" + where + ")");
  }
  return words;
}

}  // namespace

TEST_CASE("an answer's note of what was read has each word that is shown of the files, with its place") {
  int compared = 0;
  for (const fs::path& folder : read_cases()) {
    auto shown = arguments_of(folder);
    auto typed = command_of(folder);
    if (shown.front() != "from" || typed.empty() || says(shown, "--format") || says(shown, "-")) continue;
    if (says(typed, "--from") || says(typed, "--config")) continue;  // files that are the model
    const auto before = static_cast<std::ptrdiff_t>(typed.size());
    name_what_is_left(typed);
    auto asked = asked_of_things(shown, typed.front());
    asked.insert(asked.end(), typed.begin() + before, typed.end());
    CAPTURE(folder.filename().string());
    const InFolder inside(folder);
    const auto notes = cli::run(asked, cli::Environment{}).notes;
    shown.insert(shown.end(), {"--format", "json"});
    const auto read = nlohmann::json::parse(cli::run(shown, cli::Environment{}).answer);
    const std::string begin = "from " + read["read"].get<std::string>() + ": ";
    REQUIRE((!notes.empty() && notes.front().starts_with(begin)));
    std::multiset<std::string> told;
    for (auto rest = notes.front().substr(begin.size()); !rest.empty();) {
      const auto end = std::min(rest.find(", "), rest.size());
      told.insert(rest.substr(0, end));
      rest.erase(0, end + 2);
    }
    CHECK(told == shown_words(read["question"]));
    ++compared;
  }
  CHECK(compared > 100);
}

TEST_CASE("a launch that says little takes what a question by its trainer's name takes") {
  struct Launch {
    std::string command, framework, method;
  };
  const std::string factory =
      "llamafactory-cli train --stage sft --do_train true --model_name_or_path Qwen/Qwen2.5-7B --template qwen "
      "--dataset d --output_dir o --finetuning_type ";
  const std::vector<Launch> launches{
      {"swift sft --model Qwen/Qwen2.5-7B", "ms-swift", "lora"},
      {"swift sft --model Qwen/Qwen2.5-7B --tuner_type full", "ms-swift", "full"},
      {factory + "lora", "llama-factory", "lora"},
      {factory + "full", "llama-factory", "full"},
      {"trl sft --model_name_or_path Qwen/Qwen2.5-7B --dataset_name d", "trl", "full"},
      {"tune run full_finetune_single_device --config qwen2_5/7B_full_single_device", "torchtune", "full"}};
  for (const auto& [command, framework, method] : launches) {
    CAPTURE(command);
    const std::vector<std::string> gpu{"--gpu", "h100-sxm"};
    const auto launched = numbers_of({"fit", "--from", command}, gpu);
    const auto asked = numbers_of({"fit", "Qwen/Qwen2.5-7B", "--framework", framework, "--method", method}, gpu);
    for (const auto* figure : {"/needed_bytes", "/time/step_seconds"}) {
      CHECK(launched.at(nlohmann::json::json_pointer(figure)) == asked.at(nlohmann::json::json_pointer(figure)));
    }
  }
}

namespace {

/// Whether a case is answered from its one file of text, with nothing beside it.
bool is_read_alone(const fs::path& folder, const std::string& file) {
  const std::vector<std::string> beside{"cmd", "exit", "stdout", "stderr", "typed", "part"};
  std::vector<std::string> inputs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(beside, name) == beside.end()) inputs.push_back(name);
  }
  return inputs == std::vector{file} && !file.ends_with(".gguf") && !file.ends_with(".safetensors") &&
         fs::is_regular_file(folder / file) && std::ifstream(folder / "exit").get() == '0';
}

}  // namespace

TEST_CASE("a model in a folder that nobody knows is asked about by its own name, where that can be but one") {
  const auto run = [](const std::string& command) {
    return cli::run(std::vector<std::string>{"from", command}, cli::Environment{}).answer;
  };
  for (const std::string begin :
       {"vllm serve ", "vllm serve --model ", "vllm serve --model=", "python -m sglang.launch_server --model-path "}) {
    for (const std::string folder : {"$MODELS/", "${MODELS}/hub/", "/data/$USER/", "\"$1/$2/\""}) {
      CAPTURE(begin, folder);
      CHECK(run(begin + folder + "Qwen3-8B").find("--model qwen3-8b ") != std::string::npos);
      CHECK_THROWS_WITH(run(begin + folder + "checkpoint-500"), Catch::Matchers::Contains("say --model"));
      CHECK_THROWS_WITH(run(begin + folder + "$NAME"), Catch::Matchers::Contains("NAME"));
      CHECK_THROWS_WITH(run(begin + folder + "Qwen3-${SIZE}B"), Catch::Matchers::Contains("SIZE"));
    }
  }
}

/// modelscope hub/utils/utils.py, get_model_masked_directory: a folder has three underlines for each dot of its model.
TEST_CASE("a folder of ModelScope is asked about as the model that it holds") {
  const auto first_line = [](const std::string& model) {
    const auto run = cli::run(std::vector<std::string>{"from", "vllm serve " + model}, cli::Environment{});
    CHECK(run.code == ExitCode::fits);
    return run.answer.substr(0, run.answer.find('\n'));
  };
  for (std::string model : {"qwen2.5-7b", "llama-3.1-8b", "glm-4.5-air", "phi-3.5-moe", "qwen3-8b"}) {
    const auto named = first_line("/models/" + model);
    CAPTURE(named);
    CHECK(named.find("--model " + model + " ") != named.npos);
    if (const auto dot = model.find('.'); dot != model.npos) model.replace(dot, 1, "___");
    CHECK(first_line("/root/.cache/modelscope/hub/models/org/" + model) == named);
  }
}

TEST_CASE("a file that is piped in is the file that is named, to its last octet") {
  int compared = 0;
  for (const fs::path& folder : read_cases()) {
    auto shown = arguments_of(folder);
    if (shown.size() != 2 || shown.front() != "from" || !is_read_alone(folder, shown.back())) continue;
    CAPTURE(folder.filename().string());
    const InFolder inside(folder);
    const auto command = [&] {
      return nlohmann::json::parse(
          cli::run(std::vector<std::string>{"from", shown.back(), "--format", "json"}, cli::Environment{}).answer);
    };
    const auto named = command();
    REQUIRE(std::freopen(shown.back().c_str(), "rb", stdin) != nullptr);
    shown.back() = "-";
    const auto piped = command();
    CHECK(piped["read"] == named["read"]);
    CHECK(piped["command"] == named["command"]);
    ++compared;
  }
  CHECK(compared > 40);
}
