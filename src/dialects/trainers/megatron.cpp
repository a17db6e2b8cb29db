// Megatron-LM's arguments (megatron/training/arguments.py), of which most describe the model.
#include "dialects/core/format.hpp"
#include "dialects/trainers/megatron_rules.hpp"

namespace llmcalc::dialects {
namespace {

constexpr FormatRow rows[] = {
#include "dialects/megatron.inc"
};

/// What moves neither bytes nor seconds, by the beginnings of its names.
constexpr FormatRow quiet_rows[] = {
#include "dialects/megatron_quiet.inc"
};

const std::span<const FormatRow> tables[] = {rows, megatron_relative_rows(), quiet_rows, megatron_yaml_rows()};

void rules(Sheet& sheet) {
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  take_megatron_relatives(sheet);
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
  static const Format format{"Megatron-LM arguments",
                             "megatron",
                             tables,
                             "language_model.num_layers num_layers+hidden_size+num_attention_heads "
                             "num_layers+hidden_size+tensor_model_parallel_size",
                             rules,
                             false,
                             rename_megatron_yaml,
                             write};
  return format;
}

}  // namespace llmcalc::dialects
