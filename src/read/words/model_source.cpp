#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/text.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/names.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"
#include "spec/assumed_shape.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace llmcalc::read {
namespace {

/// Tower that a published checkpoint holds beside its text model; nothing where nobody counted one.
std::shared_ptr<const spec::Tower> tower_beside(const CheckpointSize& checkpoint) {
  const auto elements = checkpoint.vision_and_projector.value_or(0);
  if (elements == 0) return nullptr;
  spec::Tower tower;
  tower.layers.mlp = spec::Mlp::gelu;
  tower.layers.hidden = checkpoint.vision_width.value_or(0);
  tower.layers.ffn = checkpoint.vision_ffn.value_or(0);
  tower.patch_inputs = checkpoint.vision_pixels.value_or(0);
  tower.most_positions = checkpoint.vision_positions.value_or(0);
  tower.most_tokens = checkpoint.vision_tokens.value_or(0);
  tower.extra = elements;
  return std::make_shared<const spec::Tower>(std::move(tower));
}

using spec::Shape;

/// Larger than any model anybody has priced; the assumed shape is bounded by it.
constexpr std::int64_t most_parameters = 1'000'000'000'000'000;

/// The buckets of T5's relative bias (arXiv:1910.10683 §2.1).
constexpr std::int64_t t5_buckets = 32;

constexpr std::array<std::string_view, 4> needed_dimensions{"layers", "hidden", "heads", "vocab"};

void set_model_origins(QuestionDraft& draft, const Origin& origin) {
  for (const Term& term : vocabulary()) {
    if (term.group == TermGroup::model) draft.set_origin(term.name, origin);
  }
}

/// How the public code of a family writes its layers, of a shape that no config.json described.
spec::Writing writing_of_family(std::string_view id) {
  const auto is_it = [&](const auto& family) { return same_name(family.id, id); };
  const auto* family = quantity::find_if_or_null(embedded_families(), is_it);
  return family == nullptr ? spec::Writing() : family->writing;
}

/// The type in which the weights are published: as the name says that was asked for, or else as the preset does. "FP8"
/// says less than a preset that knows its blocks.
std::optional<formats::Quant> published_form(const ModelPreset& preset, std::string_view name) {
  if (preset.is_called(name)) return preset.weights.quant;
  const auto said = packing_in(name, preset.hf_id);
  const bool says_less = said == formats::Quant::fp8 && preset.weights.quant == formats::Quant::fp8_block;
  return said && !says_less ? said : preset.weights.quant;
}

struct KnownModules {
  std::string_view repository;
  formats::Quant quant;
  std::string_view modules;
};

constexpr KnownModules known_modules[] = {
#include "vocabulary/checkpoint_modules.inc"
};

/// Schemes of single modules, of repositories whose settings are known.
std::shared_ptr<const spec::FileTensors> published_modules(std::string_view name, formats::Quant quant) {
  spec::FileTensors tensors;
  tensors.quant = quant;
  for (const KnownModules& row : known_modules) {
    if (!same_name(row.repository, name)) continue;
    for (const auto module : quantity::pieces_of(row.modules, " ")) {
      tensors.say(spec::modules_named(module), row.quant);
    }
  }
  return tensors.says() ? std::make_shared<const spec::FileTensors>(std::move(tensors)) : nullptr;
}

void take_preset(QuestionDraft& draft, const Given& word) {
  const ModelPreset preset = draft.catalogue.model(word.text, word.origin.where);
  draft.shape() = preset.shape;
  draft.shape().headless |= preset.embeds;
  draft.shape().name = preset.named(word.text).name;
  if (!preset.is_called(word.text)) {
    draft.assume(word.text + " is taken to be " + preset.id + ", whose shape it has by its name");
  }
  if (preset.config.empty()) {
    draft.shape().family = preset.family;
    draft.shape().writing = writing_of_family(preset.family);
  }
  draft.image_rules = preset.images;
  draft.family = preset.family;
  draft.embeds = preset.embeds;
  if (draft.shape().towers.empty()) draft.question.serving.beside_text = tower_beside(preset.checkpoint);
  set_model_origins(draft, {preset.file.starts_with("presets/") ? Source::preset : Source::user_preset, preset.id});
  draft.set_origin("model", word.origin);
  draft.published_quant = published_form(preset, word.text);
  if (draft.published_quant) draft.question.serving.file = published_modules(word.text, *draft.published_quant);
  draft.question.serving.mixed_by_hand = is_mixed_by_hand(word.text);
  if (draft.published_quant == preset.weights.quant) draft.published_group = preset.weights.group;
}

void take_config(QuestionDraft& draft, const ConfigText& config) {
  const Given* as = draft.words.find("as");
  const ConfigShape read =
      read_config(config.json, config.path, {as == nullptr ? "" : std::string(as->text), draft.catalogue.families()});
  draft.shape() = read.shape;
  draft.published_quant = read.quant;
  const std::string& by_module = config.quantization.empty() ? config.json : config.quantization;
  draft.question.serving.file = config.tensors != nullptr ? config.tensors : stored_modules(by_module, config.path);
  draft.image_rules = read.images;
  set_model_origins(draft, {Source::config, config.path});
  for (const KeyOrigin& key : read.origins) {
    const bool is_key = key.pointer.starts_with('/');
    draft.set_origin(key.term, {Source::config, is_key ? config.path + ":" + key.pointer : key.pointer});
  }
  for (const auto& note : read.notes) draft.assume(note);
  if (config.tensors != nullptr) return;  // its keys are told by every name that families have for them
  for (const auto& key : read.unread) draft.unread.push_back(config.path + ":" + key);
}

template <class Kind>
std::optional<std::int64_t> known(const QuestionDraft& draft, std::string_view term) {
  const Given* word = draft.words.find(term);
  if (word == nullptr) return std::nullopt;
  return Kind::read(word->text, word->origin.where);
}

void take_size(QuestionDraft& draft, const Given& word) {
  const auto size = quantity::parse_parameters(word.text, word.origin.where);
  if (quantity::in_parameters(size) < spec::fewest_assumed) {
    throw quantity::BadInput(word.origin.where,
                             "'" + std::string(word.text) + "' is too small for a model of no other description",
                             "write it like 1e9, 7b or 350M, or say --layers, --hidden, --heads, --ffn and --vocab");
  }
  check_range(quantity::in_parameters(size), spec::fewest_assumed, most_parameters, word.text, word.origin.where);
  draft.question.stated_parameters = size;
  draft.shape() =
      spec::assumed_shape(size, {known<Whole<1, max_layers>>(draft, "layers"), known<Whole<1>>(draft, "hidden")});
  set_model_origins(draft, {Source::assumed, "Llama-like shape of --params"});
}

/// An assumed shape follows the dimensions that were said, as far as it still makes the stated size.
void settle_size(QuestionDraft& draft) {
  if (!draft.question.stated_parameters) return;
  const auto size = *draft.question.stated_parameters;
  Shape& shape = draft.shape();
  constexpr std::string_view described = "such a model is not described by its size";
  const std::string hint = "say --layers, --hidden, --heads, --ffn and --vocab instead";
  if (shape.moe.experts > 0) draft.contradiction("params", "experts", described, hint);
  if (shape.latent.kv_rank > 0) draft.contradiction("params", "kv_lora_rank", described, hint);
  spec::fit_to_size(size, {!draft.given("layers"), !draft.given("ffn"), !draft.given("vocab")}, shape);
  const auto counted = spec::count_assumed(shape);
  if (counted > size) {
    throw quantity::BadInput(draft.place("params"),
                             quantity::format_parameters(size) + " are fewer than the " +
                                 quantity::format_parameters(counted) + " that the dimensions make",
                             "leave --params out, or the dimensions");
  }
  draft.assume("a Llama-like shape: " + std::to_string(shape.layers) + " layers of " + std::to_string(shape.hidden) +
               ", which counts " + quantity::format_parameters(counted) + "; " + quantity::format_parameters(size) +
               " parameters are counted");
}

/// A shape that is given word by word starts as a Llama: SwiGLU, RMSNorm, RoPE, no bias, untied.
void start_from_words(QuestionDraft& draft) {
  for (const auto term : needed_dimensions) {
    if (draft.given(term)) continue;
    throw quantity::BadInput(draft.place(term), "is missing: a shape needs layers, hidden, heads and vocab",
                             "or name a model: --model NAME, --config FILE, --params 7B");
  }
  for (const auto term : {"mlp", "norm", "position", "bias", "tied"}) draft.derive(term, "as Llama");
  draft.shape().name = "custom";
}

bool any_dimension(const QuestionDraft& draft) {
  return std::ranges::any_of(needed_dimensions, [&](std::string_view term) { return draft.given(term); });
}

/// A measured row states the parameter count for information; on the command line it is a model of its own.
const Given* size_as_source(const QuestionDraft& draft, bool other_source) {
  const Given* size = draft.words.find("params");
  if (size == nullptr) return nullptr;
  const bool informational = size->origin.source == Source::row && (other_source || any_dimension(draft));
  return informational ? nullptr : size;
}

void take_source(QuestionDraft& draft, const std::optional<ConfigText>& config) {
  const Given* preset = draft.words.find("model");
  const bool has_file = draft.given("config") || config.has_value();
  if (preset != nullptr && has_file) draft.contradiction("config", "model", "name one model");
  const Given* size = size_as_source(draft, preset != nullptr || has_file);
  if (size != nullptr && preset != nullptr) draft.contradiction("params", "model", "name one model");
  if (size != nullptr && has_file) draft.contradiction("params", "config", "name one model");

  if (draft.values.shape) {
    draft.shape() = *draft.values.shape;
    set_model_origins(draft, {Source::flag, "model.shape"});
    return;
  }
  if (draft.given("as") && !has_file) {
    throw quantity::BadInput(draft.place("as"), "says how to read a config.json, and none is given");
  }
  if (preset != nullptr) return take_preset(draft, *preset);
  if (config) return take_config(draft, *config);
  if (has_file) throw quantity::BadInput(draft.place("config"), "the file was not read");
  if (size != nullptr) return take_size(draft, *size);
  if (any_dimension(draft)) return start_from_words(draft);
  throw quantity::BadInput("--model", "no model was named",
                           "say --model NAME, --config FILE, --params 7B, or --layers, --hidden, --heads, --ffn and "
                           "--vocab");
}

std::int64_t hidden_per_head(const QuestionDraft& draft, const Shape& shape) {
  if (shape.heads != 0 && shape.hidden % shape.heads == 0) return shape.hidden / shape.heads;
  throw quantity::BadInput(draft.place(draft.given("heads") ? "heads" : "hidden"),
                           draft.said("hidden") + " is not divisible by " + draft.said("heads"),
                           "say --head-dim where heads do not add up to hidden");
}

/// Heads that were not spelled out follow those that were.
void follow_heads(QuestionDraft& draft, const Shape& base) {
  Shape& shape = draft.shape();
  const bool resized = shape.heads != base.heads || shape.hidden != base.hidden;
  if (!draft.given("head_dim") && (resized || shape.head_dim == 0)) {
    shape.head_dim = hidden_per_head(draft, shape);
    draft.derive("head_dim", "hidden / heads");
  }
  if (!draft.given("kv_heads") && base.kv_heads == base.heads && shape.kv_heads != shape.heads) {
    shape.kv_heads = shape.heads;
    draft.derive("kv_heads", "heads");
  }
}

void follow_ffn(QuestionDraft& draft) {
  Shape& shape = draft.shape();
  const auto& moe = shape.moe;
  const bool all_mixtures = moe.experts > 0 && moe.expert_ffn != 0 && moe.dense_layers == 0 && moe.every == 1;
  if (shape.ffn != 0 || all_mixtures || !shape.plan.empty()) return;
  if (spec::is_gated(shape.mlp)) {
    throw quantity::BadInput("--ffn", "is missing: the width of a " + std::string(spec::name_of(shape.mlp)) +
                                          " MLP follows from nothing else");
  }
  shape.ffn = quantity::product(4, shape.hidden);
  draft.derive("ffn", "4 x hidden");
}

/// Position tables grow with the positions; OPT's two extra rows stay.
void follow_position(QuestionDraft& draft, const Shape& base) {
  Shape& shape = draft.shape();
  const bool learned = shape.position == spec::Position::learned;
  const auto extra_rows = base.position_rows == 0 ? 0 : base.position_rows - base.max_position;
  shape.position_rows = learned ? shape.max_position + extra_rows : 0;
  if (shape.position != spec::Position::relative)
    shape.relative_buckets = 0;
  else if (shape.relative_buckets == 0)
    shape.relative_buckets = t5_buckets;
}

void follow_experts(QuestionDraft& draft) {
  spec::MoeShape& moe = draft.shape().moe;
  if (moe.experts == 0 || moe.expert_ffn != 0) return;
  moe.expert_ffn = draft.shape().ffn;
  draft.derive("expert_ffn", "ffn");
}

/// "1024x768", or one number for a square.
using Side = Whole<1, 65'535>;  // what a JPEG can have (ITU-T T.81, table B.2)

spec::ImageSize read_size(std::string_view text, std::string_view place) {
  const auto times = text.find_first_of("xX");
  const std::int64_t width = Side::read(text.substr(0, times), place);
  return {width, times == std::string_view::npos ? width : Side::read(text.substr(times + 1), place)};
}

constexpr std::string_view towers_hint = "--config with a model's config.json says what towers it has";

/// Images of a model without towers would change nothing, and the answer would not say so.
void refuse_unseen(const QuestionDraft& draft) {
  if (!draft.question.model.shape.towers.empty()) return;
  for (const std::string_view term : {"images", "patches"}) {
    const Given* word = draft.words.find(term);
    if (word == nullptr || word->text == "0") continue;
    throw quantity::BadInput(draft.place(term), "is of images, and the model takes none", std::string(towers_hint));
  }
}

/// The first tower that takes images, which are cut into patches.
std::size_t tower_of_images(const QuestionDraft& draft) {
  const auto& towers = draft.question.model.shape.towers;
  const auto found = std::ranges::find_if(towers, [](const spec::Tower& tower) { return tower.patch_inputs > 0; });
  if (found == towers.end()) {
    throw quantity::BadInput(draft.place("image_size"), "says how large images are, but the model takes none",
                             std::string(towers_hint));
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

void take_model(QuestionDraft& draft, const std::optional<ConfigText>& config) {
  take_source(draft, config);
  const Shape base = draft.shape();
  for (const Term& term : vocabulary()) {
    if (term.group == TermGroup::model) draft.take(term.name);
  }
  follow_heads(draft, base);
  settle_size(draft);
  follow_ffn(draft);
  follow_experts(draft);
  follow_position(draft, base);
}

void complete_images(QuestionDraft& draft, std::string_view term, std::int64_t room) {
  refuse_unseen(draft);
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
