// Megatron-LM's arguments (megatron/training/arguments.py), of which most describe the model.
#include "dialects/core/format.hpp"
#include "dialects/trainers/megatron_rules.hpp"
#include "dialects/trainers/torch_words.hpp"

namespace llmcalc::dialects {
namespace {

constexpr Spelling norms[] = {{"LayerNorm", "layernorm"}, {"RMSNorm", "rmsnorm"}};
constexpr Spelling positions[] = {
    {"learned_absolute", "learned"}, {"rope", "rope"}, {"relative", "relative"}, {"none", "none"}};
constexpr Spelling backends[] = {
    {"flash", "flash"}, {"fused", "flash"}, {"auto", ""}, {"unfused", "eager"}, {"local", "eager"}};
constexpr Spelling exchanges[] = {
    {"p2p", "ring"}, {"a2a", "all-to-all"}, {"allgather", "ring"}, {"a2a+p2p", "all-to-all"}};
constexpr Spelling optimizers[] = {{"adam", "adamw"}, {"sgd", "sgd"}, {"muon", "muon"}, {"dist_muon", "muon"}};
constexpr Spelling impls[] = {{"transformer_engine", "transformer-engine"}, {"local", "local"}};

constexpr FormatRow rows[] = {
#include "dialects/megatron.inc"
};

/// What moves neither bytes nor seconds, by the beginnings of its names.
constexpr FormatRow quiet_rows[] = {
#include "dialects/megatron_quiet.inc"
};

const std::span<const FormatRow> tables[] = {rows, megatron_relative_rows(), quiet_rows, megatron_yaml_rows()};

bool recognizes(const Settings& settings) {
  if (settings.has("language_model.num_layers")) return true;
  const bool model = settings.has("num_layers") && settings.has("hidden_size");
  return model && (settings.has("num_attention_heads") || settings.has("tensor_model_parallel_size"));
}

/// slime trains by rewards on Megatron-LM's arguments, and says its algorithm in others (slime/utils/arguments.py).
void refuse_to_guess_algorithm(Sheet& sheet) {
  const Setting* estimator = sheet.find("advantage_estimator");
  if (estimator == nullptr) return;
  sheet.leave_open("algorithm", "advantage_estimator " + estimator->text + " trains on samples that it generates",
                   *estimator);
}

void rules(Sheet& sheet) {
  refuse_to_guess_algorithm(sheet);
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  take_megatron_relatives(sheet);
}

void rename(Settings& settings) {
  rename_megatron_yaml(settings);
  rename_megatron_relatives(settings);
}

/// Megatron-LM, megatron/training/arguments.py.
std::string write(Letter& letter) {
  write_megatron_model(letter);
  write_rows({rows}, letter);
  write_megatron_run(letter);
  return letter.settings.options(torchrun(letter.question.layout, "pretrain_gpt.py"), Style::dashed);
}

}  // namespace

std::span<const FormatRow> megatron_rows() { return rows; }
std::span<const FormatRow> megatron_quiet_rows() { return quiet_rows; }

const Format& megatron_format() {
  static const Format format{"Megatron-LM arguments", "megatron", tables, recognizes, rules, false, rename, write};
  return format;
}

}  // namespace llmcalc::dialects
