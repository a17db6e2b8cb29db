// Runs for the laws of lists: drawn terms, as a file of rows and asked alone.
#pragma once

#include "cli/folder.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::rows_law {

using nlohmann::json;
using test::Folder;

using Words = std::vector<std::string>;
using Run = std::vector<std::pair<std::string, std::string>>;  ///< its terms, one of which is "id"

inline cli::Outcome asked(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return cli::run(words, cli::Environment{});
}

/// One question alone.
struct Alone {
  json answer;
  ExitCode code = ExitCode::bad_question;
  std::string problem;  ///< why there is no answer
  std::vector<std::string> warnings;
};

inline Alone alone(const std::string& verb, const Run& run, const Words& more) {
  Words words{verb, "--format", "json"};
  for (const auto& [term, value] : run) {
    if (term != "id" && !value.empty()) quantity::append(words, Words{"--" + term, value});
  }
  try {
    const auto outcome = asked(words, more);
    return {json::parse(outcome.answer), outcome.code, {}, outcome.warnings};
  } catch (const quantity::BadInput& error) {
    return {{}, ExitCode::bad_question, error.problem(), {}};
  }
}

/// The runs as a file, its columns those of all of them.
inline std::string csv_of(const std::vector<Run>& runs) {
  Words columns;
  for (const Run& run : runs) {
    for (const auto& [term, value] : run) {
      if (!quantity::contains(columns, term)) columns.push_back(term);
    }
  }
  std::string text = quantity::joined(columns, ",") + "\n";
  for (const Run& run : runs) {
    const auto cell = [&](const std::string& column) {
      const auto* said = quantity::find_or_null(run, column, &Run::value_type::first);
      return said == nullptr ? std::string() : said->second;
    };
    text += quantity::joined(quantity::mapped(columns, cell), ",") + "\n";
  }
  return text;
}

/// Null where the answer has nothing there.
inline json at(const json& answer, const std::string& pointer) {
  const json::json_pointer place(pointer);
  return answer.contains(place) ? answer.at(place) : json();
}

/// Values that a term of a drawn run may have; "" leaves it out.
using Axes = std::vector<std::pair<std::string, Words>>;

inline std::vector<Run> drawn(const Axes& axes, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Run> runs;
  for (std::size_t n = 0; n < count; ++n) {
    Run& run = runs.emplace_back(Run{{"id", fmt::format("run-{}", n)}});
    for (const auto& [term, values] : axes) run.emplace_back(term, values[random() % values.size()]);
  }
  return runs;
}

inline const Axes axes_of_runs{
    {"model", {"llama-3.2-1b", "llama-3-8b", "gpt2", "mixtral-8x7b", "llama-3-70b", "qwen3-4b"}},
    {"gpu", {"rtx-4090", "a100-40", "h100-sxm:8", "a10g", "", "h100-sxm:16384", "nosuchcard"}},
    {"method", {"", "full", "lora", "qlora"}},
    {"framework", {"hf", "", "deepspeed"}},
    {"seq", {"1k", "4k", "32k"}},
    {"micro-batch", {"", "1", "16"}},
    {"tokens", {"", "1B", "15T"}},
    {"mtbf", {"", "", "none", "1"}},
    {"price", {"", "2"}},
    {"tp", {"", "", "8", "3"}}};

inline const Axes axes_of_servers{
    {"model", {"llama-3.2-1b", "llama-3-8b", "mixtral-8x7b", "llama-3-70b", "qwen3-4b", "mamba-2.8b"}},
    {"gpu", {"rtx-4090", "a100-40", "h100-sxm:8", "l40s", "", "h200-sxm:2", "nosuchcard"}},
    {"engine", {"vllm", "sglang", "llama.cpp", ""}},
    {"context", {"", "8k", "128k"}},
    {"concurrency", {"", "1", "256"}},
    {"ttft", {"", "", "30ms", "5s"}},
    {"tp", {"", "", "2"}},
    {"rate", {"", "", "500"}}};

}  // namespace llmcalc::rows_law
