

#include "dialects/reading.hpp"
#include "dialects/shell/command.hpp"
#include "dialects/shell/shell_reader.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/settings.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::dialects {
namespace {

constexpr std::array<std::string_view, 5> read_variables{"CUDA_VISIBLE_DEVICES", "NPROC_PER_NODE", "NNODES", "NGPU",
                                                         "CONFIG_FILE"};
constexpr std::array<std::string_view, 2> read_prefixes{"LLAMA_ARG_", "OLLAMA_"};

struct JobVariable {
  std::string_view option;
  std::string_view name;
};
constexpr JobVariable told_of_directives[] = {{"--nodes", "SLURM_NNODES"},
                                              {"--nodes", "SLURM_JOB_NUM_NODES"},
                                              {"-N", "SLURM_NNODES"},
                                              {"-N", "SLURM_JOB_NUM_NODES"},
                                              {"--gres", "SLURM_GPUS_ON_NODE"},
                                              {"--gpus-per-node", "SLURM_GPUS_ON_NODE"},
                                              {"--gpus-per-node", "SLURM_GPUS_PER_NODE"},
                                              {"--ntasks-per-node", "SLURM_NTASKS_PER_NODE"}};

/// "4" of "--nodes=4", "8" of "--gres=gpu:h100:8".
std::string count_behind(std::string_view directive, std::string_view option) {
  const auto at = directive.find(option);
  if (at == std::string_view::npos || (at > 0 && directive[at - 1] != ' ')) return {};
  auto value = directive.substr(at + option.size());
  if (value.empty() || (value.front() != '=' && value.front() != ' ')) return {};
  value.remove_prefix(1);
  value = value.substr(0, value.find_first_of(" ,("));
  if (option == "--gres" && !value.starts_with("gpu")) return {};
  value.remove_prefix(value.rfind(':') + 1);
  return std::string(value.substr(0, value.find_first_not_of("0123456789")));
}

/// True if a launcher or a server is told something by it; no others are looked at.
bool is_read_by_launchers(std::string_view variable) {
  return std::ranges::find(read_variables, variable) != read_variables.end() ||
         std::ranges::any_of(read_prefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

/// Variables by which Slurm tells a script of a directive of its own (sbatch's manual, output environment variables):
/// names and counts.
std::vector<std::pair<std::string, std::string>> job_variables(std::string_view directive) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [option, name] : told_of_directives) variables.emplace_back(name, count_behind(directive, option));
  std::erase_if(variables, [](const auto& variable) { return variable.second.empty(); });
  return variables;
}

constexpr std::array<std::string_view, 4> loops{"for", "while", "until", "select"};
constexpr std::array<std::string_view, 3> closers{"fi", "done", "esac"};
constexpr std::array<std::string_view, 8> fillers{"then", "else", "elif", "do", "{", "}", "!", "time"};
constexpr std::array<std::string_view, 4> declarations{"export", "declare", "local", "readonly"};

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& names, std::string_view name) {
  return quantity::contains(names, name);
}

/// The length of "NAME=" or "NAME+=" at the front of a text; 0 where there is none.
std::size_t assignment_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  if (end == 0 || quantity::is_digit(text[0])) return 0;
  if (text.substr(end, 2) == "+=") return end + 2;
  return text.substr(end, 1) == "=" ? end + 1 : 0;
}

/// Text that printf makes of a format without directives.
std::string with_line_ends(std::string_view format) {
  std::string text;
  for (auto at = format.find("\\n"); at != format.npos; at = format.find("\\n")) {
    text.append(format.substr(0, at)).append("\n");
    format.remove_prefix(at + 2);
  }
  return text.append(format);
}

}  // namespace

Script Shell::read() && {
  while (!at_end()) step();
  finish_command();
  return std::move(script_);
}

void Shell::step() {
  const char c = peek();
  if (continues_line()) {
    while (next() != '\n') {
    }
  } else if (c == ' ' || c == '\t' || c == '\r') {
    next();
  } else if (c == '#') {
    read_comment();
  } else if (branches_.expects_pattern() && c != '\n') {
    read_patterns();
  } else if (c == '<' || c == '>') {
    read_redirection();
  } else if (ends_word(c)) {
    end_command(next());
  } else {
    read_element();
  }
}

void Shell::end_command(char c) {
  if (c == '\n' && document_) read_document();
  if (c == '&' && peek() == '>') return;
  const bool twice = peek() == c;
  finish_command(twice && (c == '&' || c == '|') ? c : '\0');
  if (twice && c == ';') branches_.end_clause();
  if (twice && (c == ';' || c == '&' || c == '|')) next();
}

void Shell::read_comment() {
  const auto comment = rest_of_line();
  constexpr std::string_view directive = "#SBATCH";
  if (comment.starts_with(directive)) {
    script_.directives.push_back({std::string(comment.substr(directive.size())), line(), {}});
    const ShellWord& said = script_.directives.back();
    for (auto& [name, count] : job_variables(said.text)) set(name, {{count, said.line, {}}});
  }
  skip(comment.size());
}

void Shell::read_patterns() {
  constexpr std::string_view end = "esac";
  if (rest().starts_with(end)) {
    skip(end.size());
    return branches_.close();
  }
  Words patterns;
  while (!at_end() && peek() != ')' && peek() != '\n') {
    Words words = read_words();
    if (words.empty()) next();
    std::move(words.begin(), words.end(), std::back_inserter(patterns));
  }
  next();
  branches_.take_patterns(patterns);
}

void Shell::read_element() {
  const std::size_t length = assignment_at(rest());
  if (length > 0 && (words_.empty() || declares())) return read_assignment(length);
  for (ShellWord& word : read_words()) {
    const bool channel = word.text.size() == 1 && quantity::is_digit(word.text[0]);
    if (!channel || (peek() != '>' && peek() != '<')) add(std::move(word));  // the 2 of "2>&1" is no word
  }
}

void Shell::add(ShellWord word) {
  const bool first = words_.empty();
  if (first && word.text == "then") branches_.take_then();
  if (first && word.text == "else") branches_.take_else();
  if (first && word.text == "elif") branches_.start_condition();
  if (first && is_among(fillers, word.text)) return;
  if (first && word.text == "done") leave_loop();
  if (first && is_among(closers, word.text)) branches_.close();
  if (first && word.text == "if") branches_.open_if();
  if (first && is_among(loops, word.text)) {
    branches_.open_loop();
    ++loops_;
  }
  words_.push_back(std::move(word));
  if (words_.size() == 3 && words_[0].text == "case" && words_[2].text == "in") {
    count(words_[1].text.size());
    branches_.open_case(std::move(words_[1]));
    words_.clear();
  }
}

void Shell::read_assignment(std::size_t length) {
  std::string name(rest().substr(0, length - 1));
  const bool appends = name.ends_with('+');
  if (appends) name.pop_back();
  skip(length);
  Words value;
  const bool list = peek() == '(';
  if (list) {
    value = read_list();
  } else if (!ends_word(peek())) {
    value = read_words(false);
  }
  if (value.empty()) value.push_back({"", line(), {}});
  const Words* earlier = ShellWords::list(name);
  if (appends && earlier != nullptr && list) {
    value.insert(value.begin(), earlier->begin(), earlier->end());
  } else if (appends && earlier != nullptr) {
    ShellWord longer = earlier->front();
    append(longer, value.front());
    longer.line = value.front().line;
    value.front() = std::move(longer);
  }
  if (reach() == Reach::maybe) value = {{"", line(), name + ", which is set under a condition"}};
  pending_.emplace_back(std::move(name), std::move(value));
}

ShellWords::Words Shell::read_list() {
  next();
  Words items;
  while (peek() != ')') {
    if (at_end()) fail("a list is not closed");
    const char c = peek();
    if (c == '#') {
      read_comment();
    } else if (ends_word(c) || continues_line()) {
      next();
    } else {
      for (ShellWord& word : read_words()) items.push_back(std::move(word));
    }
  }
  next();
  return items;
}

bool Shell::declares() const { return !words_.empty() && is_among(declarations, words_.front().text); }

Script parse_shell(std::string_view text, std::string_view place) {
  refuse_large(text, place);
  return Shell(text, place).read();
}

Reach Shell::reach() const { return std::max(branches_.reach(), circuit_); }

void Shell::take_test(char joined) {
  std::span<const ShellWord> test = words_;
  if (!test.empty() && test.front().text == "if") test = test.subspan(1);
  const bool condition = branches_.in_condition();
  const auto truth = truth_of_test(test);
  if (condition && !test.empty()) branches_.take_test(truth, joined_);
  if (!condition && is_test(test)) {
    const auto goes_on = joined == '|' && truth ? std::optional(!*truth) : truth;
    circuit_ = !goes_on ? Reach::maybe : *goes_on ? Reach::runs : Reach::never;
  }
  if (joined == '\0') circuit_ = Reach::runs;
  joined_ = joined;
}

void Shell::hand_on_variables() {
  for (std::size_t at = 2; at < words_.size(); ++at) {
    const std::string& option = words_[at - 1].text;
    const bool starts = words_[at - 2].text.ends_with("sh") && option.starts_with('-') && option.ends_with('c');
    if (!starts) continue;
    std::string text;
    for (const auto& [name, value] : variables()) {
      const bool asked = words_[at].text.find("$" + name) != std::string::npos ||
                         words_[at].text.find("${" + name) != std::string::npos;
      const bool plain = value.unknown.empty() && value.text.find_first_of("'\n") == std::string::npos;
      if (asked && plain) text.append(name).append("='").append(value.text).append("';");
    }
    count(text.size());
    words_[at].text.insert(0, text);
  }
}

void Shell::finish_command(char joined) {
  if (reach() == Reach::never) {
    words_.clear();
    pending_.clear();
    written_.clear();
    document_.reset();
  }
  run_command();
  enter_loop();
  take_test(joined);
  words_.clear();
}

std::optional<Shell::Written> Shell::handed_on() const {
  constexpr std::array<std::string_view, 6> takers{"bash", "sh", "zsh", "sbatch", "ssh", "source"};
  if (!hands_on_ || words_.empty() || !is_among(takers, base_name(words_.front().text))) return std::nullopt;
  if (document_) return Written{with_gaps(document_->text), document_->first_line};
  const auto found = words_.size() == 2 ? kept_.find(quantity::without_start(words_[1].text, "./")) : kept_.end();
  return found == kept_.end() ? std::nullopt : std::optional(found->second);
}

void Shell::run_handed(const Written& handed) {
  count(handed.text.size());
  Shell shell(handed.text, place(), handed.first_line);
  shell.hands_on_ = false;
  Script within = std::move(shell).read();
  std::ranges::move(within.commands, std::back_inserter(script_.commands));
  std::ranges::move(within.directives, std::back_inserter(script_.directives));
}

void Shell::run_command() {
  hand_on_variables();
  const auto handed = handed_on();
  keep_file();
  read_fields();
  auto pending = std::exchange(pending_, {});
  if (words_.empty() || declares()) {
    for (auto& [name, value] : pending) {
      assign(name, std::move(value));
      if (is_read_by_launchers(name)) environment_[name] = variables().at(name);
    }
  } else {
    ShellCommand command{words_, environment_};
    for (auto& [name, value] : pending) {
      if (is_read_by_launchers(name)) command.environment[name] = value.front();
    }
    for (const auto& [name, value] : command.environment) count(name.size() + value.text.size() + sizeof(ShellWord));
    script_.commands.push_back(std::move(command));
    if (handed) run_handed(*handed);
    if (script_.commands.size() > most_nodes) fail("holds too many commands");
  }
}

void Shell::read_redirection() {
  const bool here = peek() == '<' && peek(1) == '<' && peek(2) != '<';
  const bool feeds = rest().starts_with("<<<");
  const bool writes = peek() == '>' && peek(1) != '&';
  const bool adds = rest().starts_with(">>");
  while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '-') next();
  while (peek() == ' ' || peek() == '\t') next();
  const bool quoted = peek() == '\'' || peek() == '"' || peek() == '\\';
  const Words target = read_words();
  if (target.empty()) return;
  if (writes) written_ = with_gaps(target.front());
  if (writes) adds_ = adds;
  if (feeds) fed_ = target.front();
  if (here) document_ = HereDocument{target.front().text, !quoted, {}};
}

void Shell::read_document() {
  document_->first_line = line();
  std::string text;
  while (!at_end()) {
    const auto line = rest_of_line();
    const auto indent = std::min(line.find_first_not_of('\t'), line.size());
    skip(line.size() + 1);
    if (line.substr(indent) == document_->end) break;
    text.append(line).append("\n");
  }
  count(text.size());
  document_->text = document_->expands ? expanded(text) : ShellWord{std::move(text), line(), {}};
}

void Shell::keep_file() {
  const std::string name = std::exchange(written_, {});
  auto document = std::exchange(document_, std::nullopt);
  if (words_.empty()) return;
  if (document) document->text.line = words_.back().line;
  const std::string& program = words_.front().text;
  if (program == "read" && document) set(words_.back().text, {document->text});
  if (name.empty() || (adds_ && reach() == Reach::maybe)) return;
  const auto keep = [&](const std::string& text) {
    count(text.size());
    std::string& file = script_.files[name];
    if (!adds_) file.clear();
    file += text;
  };
  if (program == "cat" && document) {
    keep(with_gaps(document->text));
    kept_[std::string(quantity::without_start(name, "./"))] = {script_.files[name], document->first_line};
  }
  if (program == "printf" && words_.size() == 2) keep(with_line_ends(words_[1].text));
  if (program != "echo") return;
  std::string text;
  const bool is_option = words_.size() > 1 && (words_[1].text == "-e" || words_[1].text == "-n");
  for (std::size_t i = is_option ? 2 : 1; i < words_.size(); ++i)
    text.append(text.empty() ? "" : " ").append(words_[i].text);
  keep(is_option && words_[1].text == "-n" ? text : text + "\n");
}

}  // namespace llmcalc::dialects
