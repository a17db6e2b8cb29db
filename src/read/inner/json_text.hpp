// JSON from outside: parsed once, bounded in depth, every mistake with its byte offset.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace llmcalc::read {

/// Treatment of // and /* */, which JSON does not have and DeepSpeed's files do.
enum class Comments { refused, ignored };

/// \param place  the file's name, for messages
/// \throws quantity::BadInput at "PLACE:byte N" when the text is not JSON or nests deeper than any real file
nlohmann::json parse_json(std::string_view text, std::string_view place, Comments comments = Comments::refused);

}  // namespace llmcalc::read
