// llmcalc scale: parameters, tokens, compute, time and money, each from the others, and what a law predicts of them
#include "answer/figures.hpp"
#include "api/verbs.hpp"
#include "laws/scaling.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/resolve.hpp"
#include "read/words.hpp"
#include "render/answers.hpp"

#include <utility>

namespace llmcalc::api {
namespace {

using laws::ScaleQuestion;

void read_tokens(ScaleQuestion& question, std::string_view text, std::string_view place) {
  const auto amount = quantity::parse_tokens(text, place);
  if (const auto* total = std::get_if<quantity::Tokens>(&amount)) question.tokens = *total;
  if (const auto* each = std::get_if<quantity::TokensPerParameter>(&amount))
    question.tokens_per_parameter = each->ratio;
}

/// Tokens in a place where a number for each parameter would mean nothing.
quantity::Tokens whole_tokens(std::string_view text, std::string_view place) {
  const auto amount = quantity::parse_tokens(text, place);
  if (const auto* total = std::get_if<quantity::Tokens>(&amount)) return *total;
  throw quantity::BadInput(std::string(place), "'" + std::string(text) + "' is no number of tokens",
                           "write it as 15T or 300B");
}

void read_compute(ScaleQuestion& question, std::string_view text, std::string_view place) {
  const auto amount = quantity::parse_compute(text, place);
  if (const auto* work = std::get_if<quantity::Flops>(&amount)) question.compute = *work;
  if (const auto* used = std::get_if<quantity::AcceleratorTime>(&amount)) question.gpu_time = used->time;
}

std::string names_of_laws(std::string_view between) {
  return quantity::joined(laws::scaling_laws(), between, &laws::LawFacts::name);
}

void read_law(ScaleQuestion& question, std::string_view text, std::string_view place) {
  const auto laws = laws::scaling_laws();
  if (const auto* found = quantity::find_or_null(laws, text, &laws::LawFacts::name)) {
    question.law = found->law;
    return;
  }
  const auto names = quantity::mapped(laws, &laws::LawFacts::name);
  throw quantity::BadInput(std::string(place), "there is no law '" + std::string(text) + "'",
                           quantity::did_you_mean(text, names, "the laws are " + names_of_laws(", ")));
}

quantity::Seconds hours(std::string_view text, std::string_view place) {
  return quantity::hours(quantity::parse_number(text, place));
}

template <auto parse, auto... members>
void set(ScaleQuestion& question, std::string_view text, std::string_view place) {
  (question.*....*members) = parse(text, place);
}

/// An option that sets one value of the question, as presets/vocabulary/scale.rows has it.
struct Reader {
  std::string_view flag;
  std::string_view values;
  std::string_view help;
  std::string_view group;
  void (*read)(ScaleQuestion& question, std::string_view text, std::string_view place);
};

constexpr Reader readers[] = {
#include "vocabulary/scale.inc"
};

/// Options that set one value in two ways.
constexpr std::pair<std::string_view, std::string_view> alternatives[] = {{"days", "time"}, {"gpu-hours", "compute"}};

void refuse_alternatives(const Arguments& arguments, const ScaleQuestion& question) {
  for (const auto& [flag, other] : alternatives) {
    if (!arguments.has(flag) || !arguments.has(other)) continue;
    if (other == "compute" && question.compute) continue;  // FLOP and GPU-hours together give the MFU
    throw quantity::BadInput("--" + std::string(flag), "says the same as --" + std::string(other), "give one of them");
  }
}

struct ScaleOptions {
  ScaleQuestion question;
  std::string gpu;  ///< name of the preset; empty when none was given
};

/// "h100-sxm:8" is a name and a number of accelerators, read as `fit` reads it.
void read_gpu(const Arguments& arguments, ScaleOptions& options) {
  const std::string* gpu = arguments.find("gpu");
  if (gpu == nullptr) return;
  std::vector<read::Given> given{{"gpu", *gpu, {read::Source::flag, "--gpu"}}};
  if (const std::string* gpus = arguments.find("gpus"))
    given.push_back({"gpus", *gpus, {read::Source::flag, "--gpus"}});
  const auto words = read::spelled_out(given);
  options.gpu = read::find_word(words, "gpu")->text;
  if (const auto* count = read::find_word(words, "gpus"))
    options.question.gpus = quantity::parse_count(count->text, "--gpu");
}

/// \throws quantity::BadInput for a value that cannot be read and for two options that say the same
ScaleOptions scale_options(const Arguments& arguments) {
  ScaleOptions options;
  for (const Reader& reader : readers) {
    const std::string* text = arguments.find(reader.flag);
    if (text != nullptr) reader.read(options.question, *text, "--" + std::string(reader.flag));
  }
  refuse_alternatives(arguments, options.question);
  read_gpu(arguments, options);
  if (const std::string* name = arguments.find("dtype")) {
    options.question.weight = formats::average_bits(find_dtype(*name, "--dtype"));
  }
  auto& next = options.question.follow_ups;
  next.hyperparameters = arguments.has("hyperparameters");
  if (arguments.has("frontier")) {
    const bool sizes = arguments.choice("frontier") == "sizes";
    next.frontier = sizes ? laws::Frontier::sizes : laws::Frontier::budgets;
  }
  return options;
}

/// Words that an accelerator adds: its bandwidth where weights have a width, its peak, price and usual MFU where time
/// or money is in question.
void add_accelerator(ScaleQuestion& question, const spec::Accelerator& gpu) {
  const bool timed = question.gpus || question.time || question.mfu || question.gpu_time || question.cost;
  if (timed || !question.weight) {
    if (!question.peak) question.peak = half_peak(gpu);
    question.usual_mfu = laws::usual_mfu(gpu);
    if (gpu.price_per_hour) question.usual_price = {quantity::in_dollars(*gpu.price_per_hour), gpu.price_source};
  }
  if (!question.weight) return;
  if (!question.bandwidth) question.bandwidth = gpu.memory_bandwidth;
  if (!question.memory) question.memory = gpu.memory_usable;
}

/// The size of a model that is known by name; of a mixture those that a token meets, whose products are its compute.
/// \return what is said of those
std::string add_model(ScaleQuestion& question, const read::ModelPreset& model) {
  if (question.params) throw quantity::BadInput("--params", "contradicts '" + model.id + "': name one model");
  const auto size = answer::model_size(model.shape);
  question.params = size.active;
  if (size.active == size.total) return {};
  return "parameters are those that a token meets, of " + quantity::format_parameters(size.total);
}

/// Money and time follow from an accelerator's price and peak: whoever names none is told how to.
laws::ScaleAnswer scaled(const ScaleOptions& options) {
  const bool buys = options.question.cost || options.question.time || options.question.gpu_time;
  try {
    return laws::scale(options.question);
  } catch (const quantity::BadInput& error) {
    if (!options.gpu.empty() || !buys) throw;
    const std::string other = error.hint().empty() ? "" : "; or " + error.hint();
    throw quantity::BadInput(error.place(), error.problem(), "--gpu h100:8" + other);
  }
}

}  // namespace

std::vector<Flag> terms_of_scale() {
  return quantity::mapped(readers, [](const Reader& reader) {
    const bool is_law = reader.values.empty();
    return Flag{std::string(reader.flag), is_law ? names_of_laws("|") : std::string(reader.values), reader.help,
                reader.group};
  });
}

Reply ask_scale(const Arguments& arguments, const Surroundings& around) {
  auto options = scale_options(arguments);
  std::string met;
  const auto& named = arguments.names(1);
  if (!named.empty() || !options.gpu.empty()) {
    const auto catalogue = around.catalogue(arguments);
    if (!named.empty())
      met = add_model(options.question, catalogue.model(named.front(), quantity::quoted(named.front())));
    if (!options.gpu.empty())
      add_accelerator(options.question, catalogue.accelerator(options.gpu, "--gpu").accelerator);
  }
  auto answer = scaled(options);
  if (!met.empty()) answer.assume(met);
  const render::TextStyle style{.bars = around.terminal, .explain = arguments.has("explain")};
  Reply reply{.warnings = answer.warnings};
  reply.show = [answer, style](std::string_view form) {
    return form == "json" ? render::to_json(answer, version()) : render::to_text(answer, style);
  };
  return reply;
}

}  // namespace llmcalc::api
