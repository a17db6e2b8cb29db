// llmcalc scale: parameters, tokens, compute and time, each from the others
#include "cli/catalogue.hpp"
#include "cli/dtype_name.hpp"
#include "cli/verb.hpp"
#include "llmcalc/answer/scaling.hpp"
#include "llmcalc/quantity/parse.hpp"
#include "llmcalc/render/scaling.hpp"

#include <utility>

namespace llmcalc::cli {
namespace {

using answer::ScaleQuestion;

struct Options {
  ScaleQuestion question;
  std::string gpu;
  bool json = false;
  bool explain = false;
};

void read_tokens(ScaleQuestion& question, std::string_view text, std::string_view place) {
  const auto amount = quantity::parse_tokens(text, place);
  if (const auto* total = std::get_if<quantity::Tokens>(&amount)) {
    question.tokens = *total;
  } else {
    question.tokens_per_parameter = std::get<quantity::TokensPerParameter>(amount).ratio;
  }
}

void read_compute(ScaleQuestion& question, std::string_view text, std::string_view place) {
  const auto amount = quantity::parse_compute(text, place);
  if (const auto* work = std::get_if<quantity::Flops>(&amount)) {
    question.compute = *work;
  } else {
    question.gpu_time = std::get<quantity::AcceleratorTime>(amount).time;
  }
}

/// An option that sets one value of the question.
struct Reader {
  std::string_view flag;
  std::string_view values;
  std::string_view help;
  void (*read)(ScaleQuestion& question, std::string_view text, std::string_view place);
};

constexpr Reader readers[] = {
    {"params", "number, as 7B", "parameters of the model",
     [](auto& q, auto text, auto place) { q.params = quantity::parse_parameters(text, place); }},
    {"tokens", "tokens, as 15T, or 20x", "tokens of the training run; 20x: for each parameter", read_tokens},
    {"compute", "FLOP, PFLOP-days or GPU-hours", "compute of the training run", read_compute},
    {"gpus", "integer", "accelerators of the run",
     [](auto& q, auto text, auto place) { q.gpus = quantity::parse_count(text, place); }},
    {"time", "duration, as 30d or 12h", "how long the run takes",
     [](auto& q, auto text, auto place) { q.time = quantity::parse_duration(text, place); }},
    {"mfu", "0..1 or percent", "model FLOP utilisation",
     [](auto& q, auto text, auto place) { q.mfu = quantity::parse_share(text, place); }},
    {"peak", "rate, as 312TFLOP/s", "peak of one accelerator",
     [](auto& q, auto text, auto place) { q.peak = quantity::parse_flop_rate(text, place); }},
    {"bandwidth", "rate, as 2TB/s", "of the memory that holds the weights",
     [](auto& q, auto text, auto place) { q.bandwidth = quantity::parse_bandwidth(text, place); }},
    {"memory", "size, as 80GB", "memory for the weights at inference",
     [](auto& q, auto text, auto place) { q.memory = quantity::parse_bytes(text, place); }},
    {"tokens-per-second", "number", "speed of one sequence at inference",
     [](auto& q, auto text, auto place) { q.decode_rate = quantity::parse_number(text, place); }},
};

Options setup(const Arguments& arguments) {
  arguments.names(0);
  Options options;
  for (const Reader& reader : readers) {
    const std::string* text = arguments.find(reader.flag);
    if (text != nullptr) reader.read(options.question, *text, "--" + std::string(reader.flag));
  }
  if (const std::string* gpu = arguments.find("gpu")) options.gpu = *gpu;
  if (const std::string* name = arguments.find("dtype")) {
    options.question.weight = spec::average_bits(find_dtype(*name, "--dtype"));
  }
  options.json = wants_json(arguments);
  options.explain = arguments.has("explain");
  return options;
}

/// What an accelerator adds: its bandwidth where weights have a width, its peak where time is in question.
void add_accelerator(ScaleQuestion& question, const spec::Accelerator& gpu) {
  const bool timed = question.gpus || question.time || question.mfu || question.gpu_time;
  if (timed && !question.peak) question.peak = matrix_peak(gpu, spec::Dtype::bf16);
  if (!question.weight) return;
  if (!question.bandwidth) question.bandwidth = gpu.memory_bandwidth;
  if (!question.memory) question.memory = gpu.memory_usable;
}

Outcome run(Options options, const Arguments& arguments, const Environment& environment) {
  if (!options.gpu.empty()) {
    const auto catalogue = open_catalogue(arguments, environment);
    add_accelerator(options.question, catalogue.accelerator(options.gpu, "--gpu").accelerator);
  }
  const auto answer = answer::scale(options.question);
  if (options.json) return {.answer = render::to_json(answer, LLMCALC_VERSION)};
  return {.answer = render::to_text(answer, options.explain), .notes = answer.assumptions};
}

}  // namespace

std::vector<Flag> scale_flags() {
  std::vector<Flag> flags;
  for (const Reader& reader : readers) {
    flags.push_back({std::string(reader.flag), std::string(reader.values), reader.help, "Known"});
  }
  flags.push_back({"gpu", "name", "accelerator preset: its peak, memory and bandwidth", "Known"});
  flags.push_back({"dtype", "name", "number format of the weights at inference", "Known"});
  flags.push_back({"explain", "", "formula, numbers and source of every line", "Output"});
  return flags;
}

Outcome scale(const Arguments& arguments, const Environment& environment) {
  return run(setup(arguments), arguments, environment);
}

}  // namespace llmcalc::cli
