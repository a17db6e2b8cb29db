#include "render/inner/style.hpp"

namespace llmcalc::render {
namespace {

/// Select Graphic Rendition parameters (ECMA-48, 8.3.117).
std::string_view sgr_of(Ink ink) {
  switch (ink) {
    case Ink::heading: return "1";
    case Ink::dim: return "2";
    case Ink::good: return "1;32";
    case Ink::caution: return "1;33";
    case Ink::bad: return "1;31";
  }
  return "0";
}

}  // namespace

std::string paint(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.colour || text.empty()) return std::string(text);
  return std::string("\x1b[").append(sgr_of(ink)).append("m").append(text).append("\x1b[0m");
}

}  // namespace llmcalc::render
