// Programs in Python, by themselves or in the cells of a notebook: nothing is executed, so they are refused, with the
// command that their plain values suggest. What a notebook hands to a shell is read as a script.
#include "dialects/reading/readers.hpp"
#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

/// The word that ends the here-document which a line of a shell script begins.
std::string_view document_end(std::string_view line) {
  const auto at = line.find("<<");
  if (at == line.npos) return {};
  const auto word = line.substr(at + 2);
  const auto begin = std::min(word.find_first_not_of("- '\""), word.size());
  return word.substr(begin, std::min(word.find_first_of("'\" >|;&)", begin), word.size()) - begin);
}

/// Whether the text is Python; lines that a shell script feeds to Python do not count.
bool is_python(std::string_view text) {
  std::string_view end;
  for (const auto line : quantity::pieces_of(text, "\n")) {
    if (end.empty() && is_line_of_python(line)) return true;
    end = end.empty() ? document_end(line) : quantity::trim(line) == end ? std::string_view() : end;
  }
  return false;
}

/// A number or a quoted name of plain letters, which stands for itself; empty for any expression.
std::string_view plain_value(std::string_view text) {
  const auto value = quantity::trim(text);
  const bool quoted = value.starts_with('"') || value.starts_with('\'');
  const auto inner = quoted ? value.substr(1, value.find(value.front(), 1) - 1) : value;
  const auto end = quoted ? value.find(value.front(), 1) : value.find_first_of(" ,)#\r\n");
  if (quoted && end == value.npos) return {};
  const auto word = inner.substr(0, std::min(end, inner.size()));
  const auto is_plain = [&](char c) { return quantity::is_name_char(c) || c == '-' || c == '.' || c == '/'; };
  const bool plain = std::ranges::all_of(word, is_plain) && (quoted || quantity::is_number(word));
  return plain && !word.starts_with('-') ? word : std::string_view();
}

/// "--seq 2048 --micro-batch 2": arguments of calls and variables whose names are those of Unsloth's settings.
std::string suggested(std::string_view text) {
  constexpr std::array<std::string_view, 5> terms{"model", "lora_rank", "seq", "micro_batch", "grad_accum"};
  std::array<std::string_view, terms.size()> values;
  for (auto at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    const auto before = quantity::trim(text.substr(0, at));
    const auto begin =
        std::find_if_not(before.rbegin(), before.rend(), [](char c) { return quantity::is_name_char(c); }).base();
    const auto term =
        term_of(row_of(Dialect::unsloth), before.substr(static_cast<std::size_t>(begin - before.begin())));
    const auto known = std::ranges::find(terms, term);
    if (known == terms.end()) continue;
    auto& value = values.at(static_cast<std::size_t>(known - terms.begin()));
    if (value.empty()) value = plain_value(text.substr(at + 1));
  }
  std::string options = fmt::format(" --model {}", values.front().empty() ? "NAME" : values.front());
  for (std::size_t i = 1; i < terms.size(); ++i) {
    if (!values.at(i).empty()) options += fmt::format(" {} {}", spec::option_of(terms.at(i)), values.at(i));
  }
  return options;
}

/// Whether a switch stands in it that is on.
bool turns_on(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == text.npos) return false;
  const auto behind = text.substr(at + name.size());
  return behind.substr(std::min(behind.find_first_not_of(" ="), behind.size())).starts_with("True");
}

[[noreturn]] void refuse_program(std::string_view text, std::string_view place, std::string_view what) {
  const bool adapts = text.find("get_peft_model") != text.npos || text.find("LoraConfig") != text.npos;
  const bool narrow = turns_on(text, "load_in_4bit") || !adapts;
  throw quantity::BadInput(
      std::string(place), fmt::format("is a {}, which is not executed and so cannot be read", what),
      fmt::format("say what it does in options, perhaps llmcalc fit --framework {} --method {}{} "
                  "--gpu NAME",
                  text.find("unsloth") == text.npos ? "trl" : "unsloth", narrow ? "qlora" : "lora", suggested(text)));
}

/// Lines behind "!" with those that they go on in, and cells of %%bash and %%sh, each on its line of the file:
/// notebooks are written a line of a cell on a line.
std::string shell_in(std::string_view notebook) {
  std::string script;
  bool goes_on = false;
  bool in_script = false;
  for (const auto line : quantity::pieces_of(notebook, "\n")) {
    const auto value = nlohmann::json::parse(quantity::without_end(quantity::trim(line), ","), nullptr, false);
    const std::string code = value.is_string() ? value.get<std::string>() : std::string();
    const auto trimmed = quantity::trim(code);
    const bool begins = trimmed.starts_with("%%bash") || trimmed.starts_with("%%sh");
    in_script = value.is_string() && (in_script || begins);
    const bool is_shell = goes_on || trimmed.starts_with('!') || (in_script && !begins);
    if (is_shell) script += quantity::without_start(trimmed, "!");
    script += '\n';
    goes_on = is_shell && trimmed.ends_with('\\');
  }
  return script;
}

}  // namespace

bool is_line_of_python(std::string_view line) {
  const bool imports = line.starts_with("from ") && line.find(" import ") != line.npos;
  const bool defines = line.starts_with("def ") || line.starts_with("#!/usr/bin/env python");
  return imports || defines || line.starts_with("import ");
}

void refuse_python(std::string_view text, std::string_view place) {
  if (is_python(text)) refuse_program(text, place, "Python program");
}

std::optional<std::string> commands_in_notebook(const Node& file, std::string_view text, std::string_view place) {
  const Node* cells = file.find("cells");
  if (cells == nullptr || file.find("nbformat") == nullptr) return std::nullopt;
  std::string script = shell_in(text);
  const std::string commands = with_value(script, "\\\n", " ");
  if (std::ranges::any_of(quantity::pieces_of(commands, "\n"), is_launch_command)) return script;
  std::string code;
  for (const Node& cell : cells->items) {
    const Node* source = cell.find("source");
    if (source == nullptr) continue;
    code.append(source->text).append("\n");
    for (const Node& line : source->items) code += line.text;
  }
  refuse_program(code, place, "notebook");
}

}  // namespace llmcalc::dialects
