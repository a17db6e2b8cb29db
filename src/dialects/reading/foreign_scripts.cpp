// Files that start something in words that are no shell's, as the text of a shell with as many lines: batch files,
// Makefiles and justfiles, Dockerfiles.
#include "dialects/reading/readers.hpp"
#include "dialects/shell/containers.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <cctype>

namespace llmcalc::dialects {
namespace {

bool is_plain_name(std::string_view text) { return !text.empty() && std::ranges::all_of(text, quantity::is_name_char); }

/// Each name between two marks, "%NAME%", as a shell has it, "${NAME}".
std::string with_references(std::string_view text, std::string_view open, std::string_view close) {
  constexpr std::size_t longest = 100;
  std::string all;
  for (auto at = text.find(open); at != text.npos; at = text.find(open)) {
    const auto begin = at + open.size();
    const auto size = text.substr(begin, longest).find(close);
    const auto written = text.substr(begin, size == text.npos ? 0 : size);
    const auto name = open == "{{" ? quantity::trim(written) : written;
    all.append(text.substr(0, at));
    if (is_plain_name(name)) {
      all.append("${").append(name).append("}");
    } else {
      all.append(open);
    }
    text.remove_prefix(is_plain_name(name) ? begin + size + close.size() : begin);
  }
  return all.append(text);
}

/// A value in double quotes, in which a shell expands variables alone.
std::string assigned(std::string_view name, std::string_view value, bool perhaps) {
  if (!is_plain_name(name)) return {};
  std::string text = perhaps ? "[ -f condition ] && " : "";
  text.append(name).append("=\"");
  std::ranges::copy_if(value, std::back_inserter(text), [](char c) { return c != '"'; });
  return text + '"';
}

/// A line with those that continue it.
std::string_view take_logical(std::string_view& text) {
  std::size_t size = 0;
  do {
    const auto end = text.find('\n', size);
    size = end == text.npos ? text.size() : end + 1;
    const auto line = quantity::trim(text.substr(0, size));
    if (!line.ends_with('\\')) break;
  } while (size < text.size());
  const auto taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

/// Text in the place of a piece of the file, on as many lines.
void add_lines(std::string_view instead, std::string_view of, std::string& script) {
  const auto lines = std::ranges::count(of, '\n');
  const auto written = std::ranges::count(instead, '\n');
  script.append(instead).append(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, lines - written)), '\n');
}

// Batch files of cmd.exe.

/// Commands that steer, tell and wait.
constexpr std::string_view steering[] = {"if",    "for",   "goto",    "else",     "echo",     "pause", "title",
                                         "color", "cd",    "pushd",   "popd",     "setlocal", "rem",   "endlocal",
                                         "exit",  "chcp",  "timeout", "where",    "echo.",    "cls",   "md",
                                         "mkdir", "shift", "choice",  "taskkill", ")"};

bool looks_like_batch(std::string_view text) {
  const auto marks = std::ranges::count(text, '%');
  bool sets = false;
  for (std::string_view line; take_line(text, line);) {
    const std::string lower = quantity::to_lower(line);
    if (lower.starts_with("@echo ") || lower.starts_with("@rem ") || lower.starts_with("rem ") || lower == "setlocal")
      return true;
    sets = sets || (lower.starts_with("set ") && lower.find('=') != lower.npos);
  }
  return sets && marks >= 2;
}

/// "start "title" /b", "call", "cmd /k "...""
std::string_view without_starters(std::string_view line) {
  const auto is_switch = [&] { return line.starts_with('/') && line.substr(1, line.find(' ')).find('/') == line.npos; };
  for (bool again = true; again;) {
    const std::string first = quantity::to_lower(line.substr(0, line.find(' ')));
    again = first == "start" || first == "call" || first == "cmd" || first == "cmd.exe";
    if (!again) break;
    line = quantity::trim(line.substr(first.size()));
    if (first == "start" && line.starts_with('"'))
      line = quantity::trim(line.substr(std::min(line.find('"', 1), line.size() - 1) + 1));
    while (is_switch()) line = quantity::trim(line.substr(std::min(line.find(' '), line.size())));
    if (first.starts_with("cmd") && line.size() > 1 && line.starts_with('"') && line.ends_with('"'))
      line = line.substr(1, line.size() - 2);
  }
  return line;
}

std::string line_of_batch(std::string_view line, bool perhaps) {
  line = quantity::without_start(quantity::trim(line), "@");
  const std::string first = quantity::to_lower(line.substr(0, line.find_first_of(" \t(")));
  if (line.starts_with(':') || line.starts_with(')') || quantity::contains(steering, first)) return {};
  std::string text = with_value(with_value(line, "%~dp0", "./"), "\\", "/");
  text = with_references(with_references(text, "%", "%"), "!", "!");
  if (first != "set") return std::string(without_starters(text));
  auto rest = quantity::trim(std::string_view(text).substr(first.size()));
  if (rest.starts_with("/p") || rest.starts_with("/P")) return {};
  if (rest.starts_with('/')) rest = quantity::trim(rest.substr(std::min<std::size_t>(2, rest.size())));
  if (rest.starts_with('"')) rest = rest.substr(1, rest.rfind('"') == 0 ? rest.npos : rest.rfind('"') - 1);
  const auto name = quantity::trim(quantity::take_until(rest, "="));
  return assigned(name, rest, perhaps);
}

std::string script_of_batch(std::string_view text) {
  std::string script;
  int depth = 0;
  while (!text.empty()) {
    const auto line = quantity::trim(quantity::take_until(text, "\n"));
    if (line.starts_with(')')) --depth;
    script.append(line_of_batch(line, depth > 0)) += '\n';
    if (line.ends_with('(')) ++depth;
  }
  return script;
}

// Makefiles, and justfiles, which are written alike.

/// "serve: build", and just's "serve port="8000":"
bool is_rule(std::string_view line) {
  if (line.empty() || std::isspace(static_cast<unsigned char>(line.front())) != 0 || line.front() == '#') return false;
  const auto colon = line.find(':');
  const auto behind = line.substr(std::min(colon, line.size()));
  return colon != line.npos && colon > 0 && (behind.size() == 1 || behind[1] == ' ');
}

/// Where "NAME := value" has its operator; npos where it is no assignment.
std::size_t operator_at(std::string_view line) {
  const auto at = line.find_first_of(":?+=");
  const auto equals = line.find('=', at);
  const bool is_one = at != line.npos && equals != line.npos && equals - at <= 2 &&
                      line.substr(at, equals - at).find_first_not_of(":?+") == line.npos;
  return is_one && is_plain_name(quantity::trim(quantity::without_start(line.substr(0, at), "export "))) ? at
                                                                                                         : line.npos;
}

bool looks_like_rules(std::string_view text) {
  if (text.find("```") != text.npos) return false;
  bool rule = false;
  bool by_tab = false;
  bool by_blanks = false;
  bool assigns = false;
  while (!text.empty()) {
    const auto line = quantity::take_until(text, "\n");
    by_tab = by_tab || (rule && line.starts_with('\t'));
    by_blanks = by_blanks || (rule && line.starts_with("  "));
    assigns = assigns || (line.find(":=") != line.npos && operator_at(line) != line.npos);
    rule = is_rule(line) && operator_at(line) == line.npos;
  }
  return by_tab || (by_blanks && assigns);
}

/// A line of a recipe, whose "@" and "-" say what is told of it and whether it may fail.
std::string line_of_recipe(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t@-+");
  return with_value(begin == line.npos ? std::string_view() : line.substr(begin), "$$", "$");
}

std::string line_of_rules(std::string_view line, int& depth) {
  constexpr std::string_view opens[] = {"ifeq", "ifneq", "ifdef", "ifndef", "define"};
  constexpr std::string_view steers[] = {"else", "include", "-include", "sinclude", "set", "vpath", "alias", "import"};
  const auto word = quantity::trim(line).substr(0, quantity::trim(line).find_first_of(" \t("));
  const bool ends = word == "endif" || word == "endef";
  depth += quantity::contains(opens, word) ? 1 : ends ? -1 : 0;
  if (ends || quantity::contains(opens, word) || quantity::contains(steers, word)) return {};
  const std::string text = with_references(with_references(line, "$(", ")"), "{{", "}}");
  if (std::isspace(static_cast<unsigned char>(text.front())) != 0) return line_of_recipe(text);
  const auto at = operator_at(text);
  if (at == text.npos) return {};
  auto value = std::string_view(text).substr(text.find('=', at) + 1);
  value = quantity::trim(value.substr(0, value.find(" #")));
  const auto name = quantity::trim(quantity::without_start(std::string_view(text).substr(0, at), "export "));
  const std::string before = text[at] == '+' ? "${" + std::string(name) + "} " : "";
  return assigned(name, before + std::string(value), depth > 0);
}

std::string script_of_rules(std::string_view text) {
  std::string script;
  int depth = 0;
  while (!text.empty()) {
    const auto line = take_logical(text);
    add_lines(line_of_rules(line, depth), line, script);
  }
  return script;
}

// Dockerfiles.

/// Words of the exec form, ["vllm", "serve"], in which nothing is expanded; nothing where it is a line for a shell.
std::optional<std::vector<std::string>> exec_form(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  try {
    const Node list = parse_commented_json(text, typed_place);
    return quantity::mapped(list.items,
                            [](const Node& item) { return "'" + with_value(item.text, "'", R"('\'')") + "'"; });
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

/// The last stage of an image, and the command of its containers.
struct BuiltImage {
  std::string name, entry, command;
  std::size_t at = 0;  ///< of the script, where it says the command

  /// ENTRYPOINT in a shell's form takes no arguments (docs.docker.com/reference/dockerfile, Understand how CMD and
  /// ENTRYPOINT interact).
  std::string started() const {
    const auto entry_words = exec_form(entry);
    const auto command_words = exec_form(command);
    const bool by_shell = !entry.empty() ? !entry_words : !command_words;
    std::vector<std::string> words = entry_words.value_or(std::vector<std::string>());
    if (by_shell) words = {entry.empty() ? command : entry};
    if (!by_shell && command_words) quantity::append(words, *command_words);
    const std::string all = quantity::joined(words, " ");
    const auto first = std::min(all.find(' '), all.size());
    const bool named = by_shell || entry_words;
    return named ? "docker run --entrypoint " + all.substr(0, first) + " " + name + all.substr(first)
                 : "docker run " + name + " " + all;
  }
};

/// "ENV NAME=value OTHER=value", "ENV NAME value", "ARG NAME=value"
std::string variables_of(std::string_view text) {
  const auto equals = text.find('=');
  const auto blank = text.find(' ');
  if (equals == text.npos && blank == text.npos) return {};
  const bool pairs = equals < blank;
  return pairs ? "export " + std::string(text)
               : assigned(text.substr(0, blank), quantity::trim(text.substr(blank)), false);
}

}  // namespace

std::optional<std::string> commands_in_rules(std::string_view text) {
  if (looks_like_batch(text)) return script_of_batch(text);
  return looks_like_rules(text) ? std::optional(script_of_rules(text)) : std::nullopt;
}

std::optional<std::string> command_of_image(std::string_view text) {
  std::string script;
  BuiltImage image;
  while (!text.empty()) {
    const auto line = take_logical(text);
    std::string whole = with_value(with_value(line, "\\\r\n", " "), "\\\n", " ");
    std::string_view value = quantity::trim(whole);
    const std::string word = quantity::to_lower(quantity::take_until(value, " "));
    value = quantity::trim(value);
    if (word == "from") image = {std::string(value.substr(0, value.find(' '))), {}, {}, 0};
    if (word == "entrypoint") image.entry = value;
    if (word == "cmd") image.command = value;
    if (word == "entrypoint" || word == "cmd") image.at = script.size();
    const bool sets = word == "env" || word == "arg";
    const bool ends = quantity::trim(text).empty();
    add_lines(sets ? variables_of(value) : std::string(), line, script);
    if (ends && (!image.entry.empty() || !image.command.empty())) return script.insert(image.at, image.started());
  }
  return std::nullopt;
}

}  // namespace llmcalc::dialects
