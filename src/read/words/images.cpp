#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "read/words/draft_steps.hpp"
#include "read/words/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace llmcalc::read {
namespace {

/// "1024x768", or one number for a square.
using Side = Whole<1, 65'535>;  // what a JPEG can have (ITU-T T.81, table B.2)

spec::ImageSize read_size(std::string_view text, std::string_view place) {
  const auto times = text.find_first_of("xX");
  const std::int64_t width = Side::read(text.substr(0, times), place);
  return {width, times == std::string_view::npos ? width : Side::read(text.substr(times + 1), place)};
}

/// The first tower that takes images, which are cut into patches.
std::size_t tower_of_images(const QuestionDraft& draft) {
  const auto& towers = draft.question.model.shape.towers;
  const auto found = std::ranges::find_if(towers, [](const spec::Tower& tower) { return tower.patch_inputs > 0; });
  if (found == towers.end()) {
    throw quantity::BadInput(draft.place("image_size"), "says how large images are, but the model takes none",
                             "--config with a model's config.json says what towers it has");
  }
  return static_cast<std::size_t>(found - towers.begin());
}

void check_that_images_are_seen(const QuestionDraft& draft) {
  if (draft.question.training.towers == spec::TowerUse::absent) {
    draft.contradiction("image_size", "text_only", "the text part alone sees no image");
  }
  if (draft.given("patches")) draft.contradiction("image_size", "patches", "each says over how much the tower runs");
}

spec::SeenImage seen(const QuestionDraft& draft, std::size_t tower) {
  const Given& word = *draft.words.find("image_size");
  const spec::ImageRule rule = tower < draft.image_rules.size() ? draft.image_rules[tower] : spec::ImageRule{};
  try {
    return spec::seen(draft.question.model.shape.towers[tower], rule, read_size(word.text, word.origin.where));
  } catch (const quantity::BadInput& error) {
    if (error.place() != "image_size") throw;
    throw quantity::BadInput(word.origin.where, error.problem(), error.hint());
  }
}

void check_room(const QuestionDraft& draft, std::int64_t tokens, std::string_view term, std::int64_t room) {
  if (room == 0 || tokens <= room) return;
  throw quantity::BadInput(draft.place("image_size"),
                           fmt::format("makes {} tokens of the images of a sample, more than the {} of --{}",
                                       quantity::format_count(tokens), quantity::format_count(room), term),
                           fmt::format("--{} {}", term, tokens));
}

}  // namespace

void complete_images(QuestionDraft& draft, std::string_view term, std::int64_t room) {
  if (!draft.given("image_size")) return;
  const std::size_t tower = tower_of_images(draft);
  check_that_images_are_seen(draft);
  const spec::SeenImage image = seen(draft, tower);
  auto& training = draft.training();
  check_room(draft, quantity::product(image.tokens, training.images), term, room);
  training.patches = image.positions;
  training.images = quantity::product(training.images, image.tiles);
  draft.derive("patches", "of an image of --image-size in the tower");
  if (image.tiles > 1) draft.derive("images", "images x tiles of --image-size");
  draft.assume(fmt::format("an image of --image-size is {} x {} positions of the {} tower, {} tokens", image.tiles,
                           quantity::format_count(image.positions), draft.shape().towers[tower].name,
                           quantity::format_count(image.tokens)));
}

}  // namespace llmcalc::read
