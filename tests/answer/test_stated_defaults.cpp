// A default is a value: saying it aloud changes nothing.

#include "asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// What a person would notice of an answer.
struct Figures {
  std::vector<std::string> values;  ///< of every term
  std::int64_t needed, allocated, persistent, host;
  double step, model_flops;

  friend bool operator==(const Figures&, const Figures&) = default;
};

std::optional<Figures> answer_of(const std::vector<read::Given>& words, std::vector<read::Given>& echo) try {
  auto resolved = read::resolve(words, std::nullopt, read::Catalogue());
  const auto estimate = answer::estimate(resolved.question);
  Figures figures;
  for (const auto& line : resolved.echo) {
    if (read::find_term(line.term) != nullptr) figures.values.push_back(line.term + " " + line.text);
  }
  figures.needed = in_bytes(estimate.memory.peak_needed);
  figures.allocated = in_bytes(estimate.memory.peak_allocated);
  figures.persistent = in_bytes(estimate.memory.persistent);
  figures.host = in_bytes(estimate.memory.host);
  figures.step = in_seconds(estimate.compute.step);
  figures.model_flops = in_flops(estimate.compute.flops[1].per_token);
  echo = std::move(resolved.echo);
  return figures;
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

read::Given said(const read::Given& line) { return {line.term, line.text, {read::Source::flag, "--" + line.term}}; }

std::string difference(const Figures& before, const std::optional<Figures>& after) {
  if (!after) return ": refused";
  std::string text = ": " + std::to_string(before.step) + " becomes " + std::to_string(after->step) + " s";
  for (std::size_t i = 0; i < std::min(before.values.size(), after->values.size()); ++i) {
    if (before.values[i] != after->values[i]) text += ", " + before.values[i] + " becomes " + after->values[i];
  }
  return text;
}

/// States each default of the answer by itself, and all of them at once.
void check(const std::string& line) {
  const auto words = test::words(line);
  std::vector<read::Given> echo;
  const auto before = answer_of(words, echo);
  if (!before) return;
  auto all = words;
  std::vector<read::Given> ignored;
  for (const auto& echoed : echo) {
    if (read::find_term(echoed.term) == nullptr || echoed.origin.source == read::Source::flag) continue;
    auto one = words;
    one.push_back(said(echoed));
    all.push_back(said(echoed));
    const auto after = answer_of(one, ignored);
    if (after != before) FAIL_CHECK(line << " --" << echoed.term << " " << echoed.text << difference(*before, after));
  }
  const auto after = answer_of(all, ignored);
  if (after != before) FAIL_CHECK(line << " with all of its defaults" << difference(*before, after));
}

/// Holds each option that the answer assumes against the value that it has.
void check_assumptions(const std::string& line) try {
  const auto resolved = read::resolve(test::words(line), std::nullopt, read::Catalogue());
  for (const auto& said : resolved.assumptions) {
    if (!said.is_option()) continue;
    const auto* term = read::find_term(said.term);
    if (term == nullptr) continue;  // a shorthand, as --dtype
    const auto echoed = std::ranges::find(resolved.echo, said.term, &read::Given::term);
    if (echoed == resolved.echo.end()) continue;
    spec::Question question = resolved.question;
    term->apply(question, said.text, line);
    if (!echoed->text.empty() && term->show(question) != echoed->text)
      FAIL_CHECK(line << " has " << echoed->text << ", and says " << said.sentence());
  }
} catch (const quantity::BadInput& error) {
  CHECK_FALSE(error.place().empty());
}

const std::string runs[] = {
    "--model llama-3.2-1b --gpu h100-sxm:8",
    "--model llama-3.2-1b --gpu h100-sxm:8 --dtype bf16",
    "--model llama-3.2-1b --gpu h100-sxm:8 --dtype mixed-bf16 --zero 1",
    "--model gpt2 --gpu a100-80 --dtype fp16",
    "--model llama-3.2-1b --gpu a100-80 --dtype mixed-bf16 --method qlora",
    "--model llama-3.2-1b --gpu a100-80 --method qlora",
    "--model llama-3.2-1b --gpu a100-80 --dtype fp32 --method lora --algorithm dpo",
    "--model llama-3.2-1b --gpu a100-80:4 --algorithm ppo --weights fp32",
    "--model llama-3.2-1b --gpu a100-80:2 --method galore",
    "--model llama-3.2-1b --gpu a100-80:2 --optimizer adamw-8bit --global-batch 8",
    "--model olmoe-1b-7b --gpu h100-sxm:16 --tp 2 --pp 2 --ep 2 --global-batch 64",
    "--model gemma-2-2b --gpu b200:2 --weights bf16 --compute fp8 --recompute selective",
    "--model t5-small --gpu rtx-4090 --method prefix",
    "--params 1e9 --gpu a100-80:4 --grads fp32",
    "--layers 4 --hidden 512 --heads 8 --ffn 2048 --vocab 32000 --gpu a100-80:4 --pp 2 --position learned",
};

}  // namespace

TEST_CASE("stating what is echoed leaves the answer as it is", "[long]") {
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const auto& run : runs) check(run + " --framework " + framework);
  }
}

TEST_CASE("stating what is echoed leaves the answer as it is where the layout chose the trainer") {
  for (const auto& run : runs) check(run);
}

TEST_CASE("an assumption names the value that the answer has") {
  const std::string others[] = {"--model bert-base-uncased --gpu rtx-4090", "--model gpt2 --gpu h100-sxm",
                                "--model llama-3.2-1b --method lora --global-batch 12 --gpu h100-sxm",
                                "--model llama-3.2-1b --gpu h100-sxm --samples 5000"};
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const auto& run : runs) check_assumptions(run + " --framework " + framework);
    for (const auto& run : others) check_assumptions(run + " --framework " + framework);
  }
  for (const auto& run : runs) check_assumptions(run);
}

TEST_CASE("stating what is echoed of a method leaves the answer as it is", "[long]") {
  for (const auto& method : test::words_for<spec::Method>()) {
    for (const char* framework : {"generic", "hf", "litgpt", "torchtune", "deepspeed", "megatron"}) {
      check("--model llama-3.2-1b --gpu h100-sxm:2 --method " + method + " --framework " + framework);
    }
  }
}
