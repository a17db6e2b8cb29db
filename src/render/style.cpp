#include "render/inner/style.hpp"

namespace llmcalc::render {
namespace {

/// Select Graphic Rendition (ECMA-48, 8.3.117).
constexpr std::string_view colour_off = "\x1b[0m";

constexpr std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::heading: return "\x1b[1m";
    case Ink::dim: return "\x1b[2m";
    case Ink::good: return "\x1b[1;32m";
    case Ink::caution: return "\x1b[1;33m";
    case Ink::bad: return "\x1b[1;31m";
  }
  return colour_off;
}

}  // namespace

std::string_view colour_at(std::string_view text) {
  if (text.front() != colour_off.front()) return {};
  for (const auto ink : {Ink::heading, Ink::dim, Ink::good, Ink::caution, Ink::bad}) {
    if (text.starts_with(code_of(ink))) return code_of(ink);
  }
  return text.starts_with(colour_off) ? colour_off : std::string_view();
}

std::string paint(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.colour || text.empty()) return std::string(text);
  return std::string(code_of(ink)).append(text).append(colour_off);
}

}  // namespace llmcalc::render
