// Ollama: its Modelfile (docs/modelfile.md), and `ollama run` with the variables of the server (envconfig/config.go).
#include "dialects/core/format.hpp"
#include "dialects/servers/server_rules.hpp"

namespace llmcalc::dialects {
namespace {

constexpr FormatRow modelfile_rows[] = {
    {"num_ctx", Use::term, "context"},
    {"num_gpu", Use::term, "gpu_layers"},
    {"num_batch", Use::term, "ubatch"},
    {"from", Use::rule},
    {"adapter", Use::unmapped, "no adapter beside the model"},
    {"*"},
};

constexpr Spelling caches[] = {{"f16", ""}, {"q8_0", "q8_0"}, {"q4_0", "q4_0"}};

constexpr FormatRow server_rows[] = {
    {"context_length", Use::term, "context"},
    {"num_parallel", Use::term, "slots"},
    {"kv_cache_type", Use::term, "kv_dtype", caches},
    {"flash_attention", Use::term, "flash"},
    {"positional.0", Use::rule},
    {"max_loaded_models", Use::unmapped, "one model at a time"},
    {"gpu_overhead", Use::term, "other_usage"},
    {"sched_spread"},
};

constexpr FormatRow further_rows[] = {{"*"}};

constexpr std::span<const FormatRow> modelfile_tables[] = {modelfile_rows};
constexpr std::span<const FormatRow> command_tables[] = {server_rows, further_rows};
/// `ollama create NAME -f Modelfile`, behind `ollama serve` with its variables.
constexpr std::span<const FormatRow> create_tables[] = {server_rows, modelfile_rows};

void modelfile_rules(Sheet& sheet) {
  take_served_model(sheet, {"from"});
  assume_load(sheet);
}

void command_rules(Sheet& sheet) {
  take_served_model(sheet, {"positional.0"});
  assume_load(sheet);
}

}  // namespace

const Format& modelfile_format() {
  static constexpr Format format{"Ollama Modelfile", "ollama", modelfile_tables, nullptr, modelfile_rules, true};
  return format;
}

const Format& ollama_create_format() {
  static constexpr Format format{"ollama command", "ollama", create_tables, nullptr, modelfile_rules, true};
  return format;
}

const Format& ollama_format() {
  static constexpr Format format{"ollama command", "ollama", command_tables, nullptr, command_rules, true};
  return format;
}

}  // namespace llmcalc::dialects
