#include "read/config/reader.hpp"
#include "read/config/steps.hpp"

#include <fmt/format.h>

#include <array>

namespace llmcalc::read {
namespace {

constexpr Range layer_counts{0, 2048};

constexpr std::array<std::string_view, 4> mtp_layers = {"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                                        "n_predict", "num_mtp_modules"};
constexpr std::array<std::string_view, 6> dropouts = {"resid_pdrop", "hidden_dropout", "hidden_dropout_prob",
                                                      "dropout",     "dropout_rate",   "residual_dropout"};
constexpr std::array<std::string_view, 2> quantizations = {"quantization_config", "compression_config"};
constexpr std::array<std::string_view, 1> latent_bias = {"attention_bias"};
constexpr std::array<std::string_view, 2> uncounted_norms = {"qk_layernorm", "attn_config.qk_ln"};

}  // namespace

void note_what_is_left_out(ConfigReader& reader) {
  const ConfigObject& root = reader.document().root();
  const ConfigObject& text = reader.object();
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

}  // namespace llmcalc::read
