#include "dialects/core/python.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace llmcalc::dialects {
namespace {

bool is_line_of_python(std::string_view line) {
  const bool imports = line.starts_with("from ") && line.find(" import ") != line.npos;
  const bool defines = line.starts_with("def ") || line.starts_with("#!/usr/bin/env python");
  return imports || defines || line.starts_with("import ");
}

bool is_python(std::string_view text) {
  return std::ranges::any_of(quantity::pieces_of(text, "\n"), is_line_of_python);
}

/// What stands behind "key =" as a number, a word or a text in quotes; empty where it is anything else.
std::string literal_of(std::string_view text, std::string_view key) {
  for (auto at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    if (at > 0 && quantity::is_name_char(text[at - 1])) continue;
    auto rest = text.substr(at + key.size());
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    if (quoted) rest.remove_prefix(1);
    std::size_t end = 0;
    while (end < rest.size() && (quantity::is_name_char(rest[end]) ||
                                 (quoted && std::string_view("/.-").find(rest[end]) != std::string_view::npos)))
      ++end;
    if (end > 0 && end < 100) return std::string(rest.substr(0, end));
  }
  return {};
}

/// Whose programs name themselves: unsloth's also name trl, whose trainers they call.
constexpr std::string_view libraries[] = {"unsloth", "trl"};

std::string_view framework_of(std::string_view text) {
  const auto is_named = [&](std::string_view library) { return text.find(library) != text.npos; };
  const auto* found = quantity::find_if_or_null(libraries, is_named);
  return found == nullptr ? "hf" : *found;
}

/// An option and the argument that says its number.
struct Count {
  std::string_view option;
  std::string_view key;
};

constexpr Count counts[] = {{"--lora-rank", "r"},
                            {"--seq", "max_seq_length"},
                            {"--micro-batch", "per_device_train_batch_size"},
                            {"--grad-accum", "gradient_accumulation_steps"}};

std::string suggestion(std::string_view text) {
  std::string command = "llmcalc fit --framework " + std::string(framework_of(text));
  const std::string model = literal_of(text, "model_name");
  command += " --model " + (model.empty() || quantity::is_number(model) ? "NAME" : model);
  const bool quantized = literal_of(text, "load_in_4bit") == "True";
  if (quantized || quantity::is_number(literal_of(text, "r")))
    command += quantized ? " --method qlora" : " --method lora";
  for (const auto& [option, key] : counts) {
    const std::string value = literal_of(text, key);
    if (quantity::is_number(value)) command.append(" ").append(option).append(" ").append(value);
  }
  return command + " --gpu NAME";
}

}  // namespace

void refuse_python(std::string_view text, std::string_view place) {
  if (!is_python(text)) return;
  throw quantity::BadInput(std::string(place), "is a Python program, which is not executed and so cannot be read",
                           "perhaps " + suggestion(text));
}

}  // namespace llmcalc::dialects
