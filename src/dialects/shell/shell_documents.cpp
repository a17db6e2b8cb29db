#include "dialects/shell/shell_reader.hpp"

#include <algorithm>

namespace llmcalc::dialects {

namespace {

/// What printf makes of a format without directives.
std::string with_line_ends(std::string_view format) {
  std::string text;
  for (auto at = format.find("\\n"); at != format.npos; at = format.find("\\n")) {
    text.append(format.substr(0, at)).append("\n");
    format.remove_prefix(at + 2);
  }
  return text.append(format);
}

}  // namespace

void Shell::read_redirection() {
  const bool here = peek() == '<' && peek(1) == '<' && peek(2) != '<';
  const bool writes = peek() == '>' && peek(1) != '&';
  while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '-') next();
  while (peek() == ' ' || peek() == '\t') next();
  const bool quoted = peek() == '\'' || peek() == '"' || peek() == '\\';
  const Words target = read_words();
  if (target.empty()) return;
  if (writes) written_ = target.front().text;
  if (here) document_ = HereDocument{target.front().text, !quoted, {}};
}

void Shell::read_document() {
  std::string text;
  while (!at_end()) {
    const auto line = rest_of_line();
    const auto indent = std::min(line.find_first_not_of('\t'), line.size());
    skip(line.size() + 1);
    if (line.substr(indent) == document_->end) break;
    text.append(line).append("\n");
  }
  count(text.size());
  document_->text = document_->expands ? expanded(text) : std::move(text);
}

void Shell::keep_file() {
  const std::string name = std::exchange(written_, {});
  const auto document = std::exchange(document_, std::nullopt);
  if (name.empty() || words_.empty()) return;
  const std::string& program = words_.front().text;
  if (program == "cat" && document) script_.files[name] = document->text;
  if (program == "printf" && words_.size() == 2) script_.files[name] = with_line_ends(words_[1].text);
  if (program != "echo") return;
  std::string text;
  for (std::size_t i = 1; i < words_.size(); ++i) {
    if (i == 1 && (words_[i].text == "-e" || words_[i].text == "-n")) continue;
    text.append(text.empty() ? "" : " ").append(words_[i].text);
  }
  count(text.size());
  script_.files[name] = std::move(text);
}

}  // namespace llmcalc::dialects
