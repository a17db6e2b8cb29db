#include "cli/hub.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <algorithm>

namespace llmcalc::cli {
namespace {

bool is_plain(std::string_view text) {
  const auto plain = [](char c) { return quantity::is_name_char(c) || c == '-' || c == '.'; };
  const bool apart = text.starts_with('.') || text.starts_with('-') || text.find("..") != std::string_view::npos;
  return !text.empty() && std::ranges::all_of(text, plain) && !apart;
}

/// A branch, a tag (which may hold slashes) or a commit.
bool is_revision(std::string_view text) {
  const auto parts = quantity::pieces_of(text, "/");
  return !parts.empty() && !text.ends_with('/') && std::ranges::all_of(parts, is_plain);
}

}  // namespace

std::optional<HubName> hub_name(std::string_view text) {
  for (const std::string_view prefix : {"hf:", "hf.co/", "huggingface.co/", "https://huggingface.co/"}) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  HubName name;
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    name.revision = text.substr(at + 1);
    if (!is_revision(name.revision)) return std::nullopt;
    text = text.substr(0, at);
  }
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    name.quant = quantity::to_lower(text.substr(colon + 1));
    if (!is_plain(name.quant)) return std::nullopt;
    text = text.substr(0, colon);
  }
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || !is_plain(text.substr(0, slash)) || !is_plain(text.substr(slash + 1))) {
    return std::nullopt;
  }
  name.id = text;
  return name;
}

}  // namespace llmcalc::cli
