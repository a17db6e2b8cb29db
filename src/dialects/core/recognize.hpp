// What a text without a name is: how it is written, whose settings it holds, a file of a model itself, a program.
#pragma once

#include "dialects/reading.hpp"
#include "read/settings.hpp"

#include <optional>
#include <string_view>

namespace llmcalc::read {
class Settings;
}  // namespace llmcalc::read

namespace llmcalc::dialects {

struct Format;

/// The next line, trimmed, that is no comment; false at the end of the text.
bool take_line(std::string_view& text, std::string_view& line);

bool looks_like_shell(std::string_view text);

/// What builds an image: its FROM is no model.
bool looks_like_dockerfile(std::string_view text);

/// The commands in the code blocks of a Markdown page, or those that a unit of systemd starts, on the lines where they
/// stand; nothing where a text is neither.
std::optional<std::string> commands_in(std::string_view text);

/// YAML and TOML begin with a key, JSON with a brace: its first line that says anything.
bool begins_like_settings(std::string_view text);

/// A file's settings, whatever it is written in; no table where it is in none of those ways.
Node parse_settings(std::string_view text, std::string_view place);

/// wandb's config.yaml keeps each argument below `value`.
void unwrap_wandb(Settings& settings);

/// Whose settings they are; nullptr where nobody knows them.
const Format* format_of(const Settings& settings);

/// \throws quantity::BadInput where the text is Python, whose hint is made of what stands in it as plain numbers
void refuse_python(std::string_view text, std::string_view place);

/// \param text  what `file` was parsed from
std::optional<Reading> model_file(const Node& file, std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
