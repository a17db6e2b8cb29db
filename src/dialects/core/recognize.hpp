// What a text without a name is written in, and whose settings it holds.
#pragma once

#include "dialects/core/names.hpp"
#include "read/node.hpp"

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

/// YAML and TOML begin with a key, JSON with a brace: its first line that says anything.
bool begins_like_settings(std::string_view text);

/// A file's settings, whatever it is written in; no table where it is in none of those ways.
Node parse_settings(std::string_view text, std::string_view place);

/// wandb's config.yaml keeps each argument below `value`.
void unwrap_wandb(Settings& settings);

/// Whose settings they are; nullptr where nobody knows them.
const Format* format_of(const Settings& settings);

}  // namespace llmcalc::dialects
