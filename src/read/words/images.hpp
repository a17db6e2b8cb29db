// Images of a run: what the model's processor makes of them.
#pragma once

#include "read/words/draft.hpp"

#include <cstdint>
#include <string_view>

namespace llmcalc::read {

/// Says what becomes of images of the size that the run names, and checks that its sequences have room for them.
/// \param term  whose value the images must fit into, with that value; 0: nobody said it
/// \throws quantity::BadInput at the size when the model takes no images, or none of that size
void complete_images(Draft& draft, std::string_view term, std::int64_t room);

}  // namespace llmcalc::read
