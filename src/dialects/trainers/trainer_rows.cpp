// The keys of transformers' TrainingArguments (training_args.py) that the trainers around it share.
#include "dialects/trainers/torch_rules.hpp"

namespace llmcalc::dialects {
namespace {

constexpr FormatRow rows[] = {
#include "dialects/trainer.inc"
};

constexpr FormatRow quiet_rows[] = {
#include "dialects/trainer_quiet.inc"
};

}  // namespace

std::span<const FormatRow> trainer_rows() { return rows; }
std::span<const FormatRow> harmless_rows() { return quiet_rows; }

}  // namespace llmcalc::dialects
