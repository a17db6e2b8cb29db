#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/config.hpp"
#include "read/config/reader.hpp"
#include "read/config/steps.hpp"
#include "read/stored_quant.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>

namespace llmcalc::read {
namespace {

using formats::Quant;

constexpr std::array<std::string_view, 2> quantizations = {"quantization_config", "compression_config"};
constexpr Range widths{1, 64};

/// DeepSeek-V4 has it in the model's part, which its class moves (transformers models/deepseek_v4, __post_init__).
constexpr std::string_view beside_block = "expert_dtype";

/// \throws quantity::BadInput at a key that holds something else
std::string text_of(const ConfigObject& block, std::string_view key, Holds holds) {
  const Keys keys(&key, 1);
  switch (holds) {
    case Holds::bits: {
      const auto bits = block.integer(keys, widths);
      return bits ? std::to_string(bits->value) : std::string();
    }
    case Holds::flag: {
      const auto flag = block.boolean(keys);
      return !flag ? "" : flag->value ? "true" : "false";
    }
    case Holds::list: return block.has(keys) ? "list" : "";
    case Holds::word: break;
  }
  const auto word = block.text(keys);
  return word ? word->value : std::string();
}

/// The type in which the checkpoint's weights are, as far as its quantization_config says so in words that are known.
std::optional<Found<Quant>> published_quant(const ConfigReader& reader) {
  static constexpr std::array<std::string_view, 2> name_keys = {"quant_method", "quant_algo"};
  auto block = reader.document().root().object(quantizations);
  if (!block) block = reader.object().object(quantizations);
  if (!block) return std::nullopt;
  const auto text = [&](std::string_view key, Holds holds) {
    const bool beside = key == beside_block && !block->has(Keys(&key, 1));
    return text_of(beside ? reader.object() : *block, key, holds);
  };
  const auto stored = stored_quant(text);
  if (!stored || !stored->quant) return std::nullopt;
  return Found<Quant>{*stored->quant, block->text(name_keys)->pointer};
}

constexpr Range layer_counts{0, 2048};

constexpr std::array<std::string_view, 4> mtp_layers = {"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                                        "n_predict", "num_mtp_modules"};
constexpr std::array<std::string_view, 6> dropouts = {"resid_pdrop", "hidden_dropout", "hidden_dropout_prob",
                                                      "dropout",     "dropout_rate",   "residual_dropout"};
constexpr std::array<std::string_view, 1> own_code = {"auto_map"};
constexpr std::array<std::string_view, 1> latent_bias = {"attention_bias"};
constexpr std::array<std::string_view, 2> uncounted_norms = {"qk_layernorm", "attn_config.qk_ln"};

/// Parts that a file says and the shape of its text model leaves out.
void note_what_is_left_out(ConfigReader& reader) {
  const ConfigObject& root = reader.document().root();
  const ConfigObject& text = reader.object();
  if (root.has(own_code)) {
    reader.note("the model's own code (auto_map) is not read, " + reader.family().source() + " stands for it");
  }
  if (root.has(tower_keys) && reader.shape().towers.empty()) {
    reader.note("the vision or audio tower and its projector are not counted");
  }
  if (const auto mtp = text.integer(mtp_layers, layer_counts); mtp && mtp->value > 0) {
    reader.note(fmt::format("{} multi-token-prediction layer(s) are not counted", mtp->value));
  }
  const auto says = [&](Keys keys) {
    const auto found = text.boolean(keys);
    return found && found->value;
  };
  const bool latent = reader.shape().latent.kv_rank > 0;
  if (latent && says(latent_bias)) reader.note("the biases of latent attention are not counted");
  if (says(uncounted_norms)) reader.note("the norms of queries and keys are not counted");
  if ((root.has(quantizations) || text.has(quantizations)) && !published_quant(reader)) {
    reader.note("the checkpoint is quantized in a way that is not known; its weights are taken to be in 16 bits");
  }
  if (const auto dropout = text.number(dropouts); dropout && dropout->value > 0.0) {
    reader.note(
        fmt::format("the file trains with dropout {}; the shape has none until the question says so", dropout->value));
  }
}

/// The text model's family, with what the description of its wrapper says on top.
Family family_of(const Families& families, const ConfigDocument& document, const std::optional<Family>& wrapper,
                 std::string_view as) {
  Family family = families.of(document, as);
  return wrapper ? family.with(*wrapper) : family;
}

[[noreturn]] void refuse_wrapper(const ConfigReader& reader, const std::string& pointer, std::string_view problem) {
  throw quantity::BadInput(reader.document().at(pointer), std::string(problem),
                           "--as " + reader.family().id() + " reads the text model alone");
}

/// Parts that no description covers are not left out in silence: a tower, or whatever stands around the text model.
void refuse_unknown_wrapper(const Families& families, const ConfigReader& reader) {
  static constexpr std::array<std::string_view, 1> type_key = {"model_type"};
  const ConfigObject& root = reader.document().root();
  for (const std::string_view key : tower_keys) {
    const auto found = root.value(key);
    if (!found || found->value->is_null()) continue;
    refuse_wrapper(reader, found->pointer, "is a tower that no description of a family covers");
  }
  const auto type = root.text(type_key);
  if (reader.document().is_nested() && type && !families.named(type->value)) {
    refuse_wrapper(reader, type->pointer, "'" + type->value + "' is not a model type we know, only its text model is");
  }
}

}  // namespace

ConfigShape read_config(std::string_view json, std::string_view place, const ConfigReading& reading) {
  const ConfigDocument document(json, place);
  const Families families(reading.families);
  const auto wrapper = reading.as.empty() ? families.wrapper_of(document) : std::nullopt;
  const Family family = family_of(families, document, wrapper, reading.as);
  ConfigReader reader(document, family);
  read_shape(reader);
  if (wrapper) read_towers(families, *wrapper, reader);
  if (!wrapper && reading.as.empty()) refuse_unknown_wrapper(families, reader);
  note_what_is_left_out(reader);
  if (!reading.as.empty()) reader.note("the file was read as " + reading.as + ", whatever model_type it names");

  spec::Shape shape = reader.shape();
  static constexpr std::array<std::string_view, 1> name_key = {"_name_or_path"};
  const auto name = document.root().text(name_key);
  shape.family = wrapper ? wrapper->id() : family.id();
  shape.name = name && !name->value.empty() ? name->value : family.id();
  auto origins = reader.take_origins();
  const auto quant = published_quant(reader);
  if (quant) origins.push_back({"quant", quant->pointer});
  return {std::move(shape),    quant ? std::optional(quant->value) : std::nullopt,
          std::move(origins),  reader.take_images(),
          reader.take_notes(), unread_keys(families, reader, wrapper)};
}

spec::Writing writing_of(const Family& family) {
  const ConfigDocument nothing("{}", "no file");
  ConfigReader reader(nothing, family);
  for (const auto& field : word_fields()) reader.read(field);
  for (const auto& field : switch_fields()) reader.read(field);
  if (family.field("activation") != nullptr) read_activation(reader);
  return reader.shape().writing;
}

}  // namespace llmcalc::read
