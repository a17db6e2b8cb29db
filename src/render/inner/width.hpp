// How many columns of a terminal a text takes, which is neither its bytes nor its characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace llmcalc::render {

/// Columns of UTF-8 `text`: two for wide East Asian characters and emoji, none for combining marks and colour codes
/// (ESC [ ... m). Bytes that are not UTF-8 count one column each.
std::size_t display_width(std::string_view text);

}  // namespace llmcalc::render
