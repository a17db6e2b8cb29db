// The command line, its words at the C interface, C++ and C answer one question with the same bytes under every verb,
// in whichever order and spelling it is said.
#include "api/c_door.hpp"
#include "catch.hpp"
#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/llmcalc.h"
#include "llmcalc/llmcalc.hpp"
#include "render/understood.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// Options with their values; a name that belongs to none has no option.
using Said = std::vector<std::pair<std::string, std::string>>;

template <class Ask>
std::string answered(const Ask& ask_it) try {
  return ask_it();
} catch (const quantity::BadInput& error) {
  return render::to_json(error, version());
}

std::string typed(const std::string& verb, const Said& said, const std::string& form) {
  std::vector<std::string> words{verb, "--format", form};
  for (const auto& [option, value] : said) {
    if (!option.empty()) words.push_back("--" + option);
    words.push_back(value);
  }
  return answered([&] { return cli::run(words, cli::Environment{}).answer; });
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::string> read_of(const std::string& path) {
  const auto text = text_of(path);
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string of_cpp(const std::string& verb, const Said& said, const std::string& form) {
  std::vector<Word> words;
  for (const auto& [option, value] : said) words.push_back({option, value});
  if (std::ranges::none_of(words, [](const Word& word) { return word.term.empty(); })) std::ranges::reverse(words);
  return answered([&] { return ask(verb, words, {.read = read_of}).show(form); });
}

/// \param spelled  '_' or '-', between the words of an option
std::string of_c(const std::string& verb, const Said& said, const std::string& form, char spelled) {
  json question{{"format", form}};
  for (auto [option, value] : said) {
    std::ranges::replace(option, '-', spelled);
    if (option.empty()) {
      question["names"].push_back(value);
    } else {
      question[option] = value;
    }
  }
  std::string text;  // of the file that was asked for last
  const llmcalc_outside outside{&text,
                                [](void* data, const char* path) {
                                  auto& kept = *static_cast<std::string*>(data);
                                  kept = text_of(path);
                                  return kept.empty() ? nullptr : kept.c_str();
                                },
                                nullptr};
  char* answer = nullptr;
  llmcalc_ask_with(verb.c_str(), question.dump().c_str(), &outside, &answer);
  std::string copy = answer;
  llmcalc_free(answer);
  return copy;
}

/// As of_cpp() with the words of a line, some of which people shorten.
std::string of_line(const std::string& verb, const Said& said, const std::string& form) {
  json line{verb};
  for (const auto& [option, value] : said) {
    if (!option.empty()) line.push_back("--" + option);
    line.push_back(value);
  }
  line.push_back(form == "json" ? "--json" : "--format=" + form);
  const Outside outside{.read = read_of};
  char* answer = nullptr;
  api::answer_line_in_c(line.dump().c_str(), api::Surroundings(outside), &answer);
  std::string copy = answer;
  llmcalc_free(answer);
  return copy;
}

void check_alike(const std::string& verb, const Said& said) {
  for (const std::string form : {"json", "text"}) {
    CAPTURE(verb, said, form);
    const auto expected = typed(verb, said, form);
    CHECK(of_cpp(verb, said, form) == expected);
    CHECK(of_line(verb, said, form) == expected);
    CHECK(of_c(verb, said, form, '-') == expected);
    CHECK(of_c(verb, said, form, '_') == expected);
  }
}

}  // namespace

TEST_CASE("every door gives the same answer of the same question") {
  const std::vector<std::pair<std::string, std::string>> models{{"model", "llama-3-8b"}, {"params", "13b"}};
  const std::vector<std::string> frameworks{"", "hf", "deepspeed", "megatron", "trl"};
  const std::vector<std::string> methods{"full", "qlora"};
  for (const auto& model : models) {
    for (const auto& framework : frameworks) {
      for (const auto& method : methods) {
        Said said{model, {"gpu", "a100-40:4"}, {"method", method}, {"seq", "4k"}, {"micro-batch", "2"}};
        if (!framework.empty()) said.emplace_back("framework", framework);
        check_alike("fit", said);
      }
    }
  }
}

TEST_CASE("every door knows the words that stand for others") {
  check_alike("fit", {{"params", "13b"}, {"gpu", "a100-40:4"}, {"zero", "3"}, {"seq", "4k"}, {"micro-batch", "2"}});
  check_alike("fit", {{"model", "llama-3-70b"}, {"gpu", "h100-sxm:16"}, {"zero", "1"}, {"inter-node", "8x400Gbps"}});
  check_alike("fit", {{"model", "mixtral-8x7b"}, {"gpu", "8x h100-sxm"}, {"tp", "8"}, {"global-batch", "64"}});
  check_alike("fit", {{"params", "1e9"}, {"dtype", "bf16"}, {"host-memory", "64GiB"}, {"offload", "optimizer"}});
}

TEST_CASE("every verb is behind every door") {
  const test::Folder folder;
  const auto runs = folder.write("runs.csv",
                                 "id,framework,model,gpu,seq,micro_batch,quantity,value,quality\n"
                                 "a,hf,llama-3.2-1b,a100-80,1024,1,peak_allocated,20GiB,A\n");
  for (const std::string engine : {"vllm", "sglang", "trtllm", "llama.cpp", "ollama", "hf"}) {
    check_alike("serve", {{"model", "llama-3-8b"}, {"engine", engine}, {"gpu", "rtx-4090"}, {"kv-dtype", "fp8"}});
  }
  check_alike("serve", {{"model", "llama-3-8b"}, {"find", "context"}, {"gpu", "h100-sxm"}, {"other-usage", "1GiB"}});
  check_alike("plan", {{"model", "llama-3.2-1b"}, {"gpu", "h100-sxm:4"}, {"seq", "2k"}, {"global-batch", "16"}});
  check_alike("plan", {{"params", "7e9"}, {"method", "qlora"}, {"gpu", "rtx-4090:1"}, {"largest", "seq"}});
  check_alike("scale", {{"params", "7e9"}, {"gpu", "h100-sxm:8"}});
  check_alike("scale", {{"cost", "10000"}});
  check_alike("dtype", {{"", "bf16"}, {"value", "3.14159265"}});
  check_alike("dtype", {{"quantize", "1,-2,4"}, {"scheme", "zero-point"}});
  check_alike("model", {{"", "show"}, {"", "deepseek-v3"}});
  check_alike("model", {{"", "shw"}, {"", "deepseek-v3"}});
  check_alike("gpu", {{"", "list"}, {"", "h100"}});
  check_alike("from", {{"", "torchrun --nproc_per_node 8 train.py --per_device_train_batch_size 2 --bf16 true"}});
  check_alike("fit", {{"from", "llamafactory-cli train --finetuning_type lora --cutoff_len 1024"},
                      {"model", "llama-3-8b"},
                      {"gpu", "rtx-4090"}});
  check_alike("validate", {{"", runs}, {"by", "framework"}});
  check_alike("fit", {{"", "llama-3-8b"}, {"gpu", "a100-80,h100"}});
}

TEST_CASE("a line that asks nothing is told of the program at every door that takes lines") {
  const std::vector<std::vector<std::string>> lines{
      {"fit", "-V"}, {"--version"},       {"serve", "llama-3-8b", "--help"},
      {"-h"},        {"help", "plan"},    {"plan", "--gpu", "h100", "-h"},
      {"help"},      {"gpu", "--version"}};
  const Outside none;
  for (const auto& line : lines) {
    CAPTURE(line);
    auto shown = line;
    shown.insert(shown.end(), {"--format", "json"});  // as a page asks
    char* answer = nullptr;
    CHECK(api::answer_line_in_c(json(shown).dump().c_str(), api::Surroundings(none), &answer) == LLMCALC_FITS);
    const auto outcome = cli::run(line, cli::Environment{});
    CHECK(answer == outcome.answer);
    CHECK(outcome.code == ExitCode::fits);
    llmcalc_free(answer);
  }
}

TEST_CASE("a search tells how far it is, and ends where it is told to") {
  const std::vector<Word> words{{"model", "llama-3-8b"}, {"gpu", "h100-sxm:64"}, {"global_batch", "256"}};
  std::vector<double> shares;
  const auto whole = ask("plan", words, {.progress = [&](double share) {
                           shares.push_back(share);
                           return true;
                         }});
  CHECK(std::ranges::is_sorted(shares));
  CHECK(shares.size() > 3);
  CHECK(whole.warnings.empty());
  int told = 0;
  const auto part = ask("plan", words, {.progress = [&](double) { return ++told < 3; }});
  CHECK(told == 3);
  CHECK_FALSE(part.warnings.empty());
}

TEST_CASE("presets are values") {
  spec::Question question;
  question.model.shape = model_preset("llama-3-8b");
  question.gpu = gpu_preset("h100-sxm");
  question.training.method = spec::Method::lora;
  CHECK(ask(question).fits());
  question.gpu->memory_usable = quantity::gib(4);
  CHECK_FALSE(ask(question).fits());
  CHECK_THROWS_AS(gpu_preset("h1000"), quantity::BadInput);
}
