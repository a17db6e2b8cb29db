#include "dialects/core/recognize.hpp"

#include "dialects/core/formats.hpp"
#include "dialects/core/names.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/settings.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace llmcalc::dialects {
namespace {

/// TOML has tables in brackets on lines of their own and '=' behind its keys.
bool looks_like_toml(std::string_view text) {
  bool table = false;
  bool equals = false;
  for (std::string_view line; take_line(text, line);) {
    table = table || (line.starts_with('[') && line.ends_with(']') && line.find_first_of(",'\" ") == line.npos);
    equals = equals || line.find(" = ") != line.npos;
  }
  return table && equals;
}

/// "{key: value}", which is YAML: keys of JSON are in quotes.
bool is_flow_of_yaml(std::string_view body) {
  if (!body.starts_with('{')) return false;
  const auto first = quantity::trim(body.substr(1));
  return !first.empty() && std::isalpha(static_cast<unsigned char>(first.front())) != 0;
}

}  // namespace

bool take_line(std::string_view& text, std::string_view& line) {
  while (!text.empty()) {
    line = quantity::trim(quantity::take_until(text, "\n"));
    if (!line.empty() && !line.starts_with('#')) return true;
  }
  return false;
}

bool looks_like_shell(std::string_view text) { return text.starts_with("#!") || text.find("#SBATCH") != text.npos; }

bool looks_like_dockerfile(std::string_view text) {
  constexpr std::string_view instructions[] = {"RUN ", "CMD ", "ENTRYPOINT ", "COPY ", "WORKDIR ", "ENV ", "EXPOSE "};
  bool from = false;
  bool builds = false;
  for (std::string_view line; take_line(text, line);) {
    from = from || line.starts_with("FROM ");
    builds = builds || std::ranges::any_of(instructions, [&](std::string_view word) { return line.starts_with(word); });
  }
  return from && builds;
}

bool begins_like_settings(std::string_view text) {
  std::string_view line;
  if (!take_line(text, line)) return true;
  const auto key = line.substr(0, line.find_first_of(" \t"));
  return line.starts_with('{') || line.starts_with('[') || line.starts_with("//") || line.starts_with("---") ||
         line.starts_with('-') || key.ends_with(':') || line.find(" = ") != line.npos;
}

Node parse_settings(std::string_view text, std::string_view place) {
  const auto body = quantity::trim(text);
  if (is_flow_of_yaml(body)) return parse_yaml(text, place);
  if (body.starts_with('{') || body.starts_with("//")) return parse_commented_json(text, place);
  if (looks_like_toml(text)) return parse_toml(text, place);
  return parse_yaml(text, place);
}

void unwrap_wandb(Settings& settings) {
  if (!settings.has("wandb_version") && !settings.has("_wandb.value.cli_version")) return;
  Settings all;
  for (Setting setting : settings.all()) {
    const auto key = quantity::without_end(setting.key, ".value");
    if (setting.key.starts_with("_wandb") || setting.key.starts_with("wandb_") || key.size() == setting.key.size())
      continue;
    setting.key = std::string(key);
    all.put(std::move(setting));
  }
  settings = std::move(all);
}

const Format* format_of(const Settings& settings) {
  const auto* format =
      quantity::find_if_or_null(file_formats(), [&](const Format* each) { return each->recognizes(settings); });
  return format == nullptr ? nullptr : *format;
}

}  // namespace llmcalc::dialects
