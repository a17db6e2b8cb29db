#include "api/asked.hpp"

#include "answer/figures.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/config.hpp"
#include "read/rows.hpp"
#include "read/words.hpp"
#include "render/understood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace llmcalc::api {
namespace {

using read::Given;
using read::Source;

/// The model's own file as --from says it, a word that options replace.
void add_config_word(dialects::Reading& reading) {
  if (!reading.config) return;
  std::erase_if(reading.words, [](const Given& word) { return word.term == "model"; });
  reading.words.push_back({"config", reading.config->path, {Source::file, reading.config->path}});
}

std::string shown(const Given& word) {
  return read::option_name(word.term) + " " + word.text + " (" + word.origin.where + ")";
}

/// How many parameters the file holds, and how many its shape counts.
void add_weights(const read::Checkpoint& weights, const std::optional<read::ConfigText>& config,
                 const std::vector<Given>& words, std::vector<std::string>& notes) {
  const auto types = quantity::joined(weights.types, ", ",
                                      [](const auto& type) { return fmt::format("{} {}", type.name, type.tensors); });
  const auto size = quantity::format_gib(quantity::bytes(static_cast<std::int64_t>(weights.bytes)));
  notes.push_back(types.empty() ? fmt::format("weights: {} tensors, {}", weights.tensors, size)
                                : fmt::format("weights: {} tensors ({}), {} parameters, {}", weights.tensors, types,
                                              weights.parameters, size));
  quantity::append(notes, weights.notes);
  if (!config || !weights.counts_all) return;
  const auto* as = read::find_word(words, "as");
  const auto shape =
      read::read_config(config->json, config->path, {as == nullptr ? "" : std::string(as->text), {}}).shape;
  const auto counted = quantity::in_parameters(answer::model_size(shape).total);
  const auto difference = static_cast<std::int64_t>(weights.parameters) - counted;
  if (difference == 0) return;
  notes.push_back(
      fmt::format("the weights hold {} parameters {} than the {} that the shape counts (tied or further heads, "
                  "towers, multi-token prediction)",
                  difference < 0 ? -difference : difference, difference < 0 ? "fewer" : "more", counted));
}

/// A word without an option is a model, as "llama-3-8b", or what --from would name.
void take_name(const Arguments& arguments, const Surroundings& around, std::vector<Given>& words,
               std::vector<std::string>& things) {
  const auto& names = arguments.names(1);
  if (names.empty()) return;
  const std::string& name = names.front();
  if (around.is_thing(name)) {
    things.insert(things.begin(), name);
    return;
  }
  if (read::has_word(words, "model")) {
    throw quantity::BadInput("'" + name + "'", "names a model, and so does --model");
  }
  words.push_back({"model", name, {Source::flag, "'" + name + "'"}});
}

bool is_among(std::span<const read::Term> terms, const Given& word) {
  const read::Term* term = read::find_term(word.term);
  return term != nullptr && quantity::contains(terms, term->name, &read::Term::name);
}

/// A word of a server in a question of training: how a file's weights are quantized.
bool is_of_server(const Given& word) {
  return !is_among(read::vocabulary(), word) && read::find_shorthand(word.term) == nullptr;
}

/// A word of training in a question of a server: the optimizer of the run that left a checkpoint behind.
bool is_of_training(const Given& word) {
  const auto* shorthand = read::find_shorthand(word.term);
  return !is_among(read::serving_vocabulary(), word) && !(shorthand != nullptr && describes_model(*shorthand));
}

/// Nobody has to be told what was said.
void drop_answered(std::vector<spec::Assumption>& assumptions, const std::vector<Given>& options) {
  std::erase_if(assumptions, [&](const spec::Assumption& each) { return read::has_word(options, each.term); });
}

/// Options on top of what the things say together.
AskedQuestion understood(const std::vector<std::string>& things, const std::vector<Given>& options, Lookup lookup,
                         const Sources& sources) {
  std::vector<dialects::Reading> readings;
  for (const auto& thing : things) readings.push_back(sources.around.thing(thing, lookup));
  AskedQuestion question;
  question.reading = merge(std::move(readings));
  sources.around.find_model(question.reading, options, sources.catalogue, lookup);
  add_config_word(question.reading);
  question.words = with_options(question.reading, options);
  drop_answered(question.reading.assumptions, options);
  quantity::append(question.reading.assumptions, unused_data(question.reading, question.words));
  const auto* config = read::find_word(question.words, "config");
  const bool by_file = config != nullptr && config->origin.source == Source::file;
  question.config = by_file ? question.reading.config : config_of(question.words, sources.around);
  return question;
}

void add_word(const Arguments& arguments, std::string_view term, std::vector<Given>& words) {
  const auto flag = read::option_name(term);
  const std::string* value = arguments.find(flag);
  if (value != nullptr) words.push_back({std::string(term), *value, {Source::flag, arguments.place(flag)}});
}

std::vector<Given> serving_words_of(const Arguments& arguments) {
  std::vector<Given> words;
  for (const auto& word : read::shorthands()) {
    if (describes_model(word)) add_word(arguments, word.name, words);
  }
  for (const auto& term : read::serving_vocabulary()) add_word(arguments, term.name, words);
  return words;
}

/// A verb's own words, and what it leaves to others.
struct Verbal {
  std::vector<Given> words;
  bool (*is_of_other_verb)(const Given& word);
  bool serves;
};

AskedQuestion asked_anything(const Arguments& arguments, Verbal verb, const Sources& sources) {
  auto things = arguments.all("from");
  take_name(arguments, sources.around, verb.words, things);
  if (!things.empty()) {
    AskedQuestion question = understood(
        things, verb.words, {.offline = arguments.has("offline"), .is_quiet = arguments.has("quiet")}, sources);
    if (question.reading.serves && !verb.serves) {
      throw quantity::BadInput("--from", "starts a server, and this is about training", "llmcalc serve --from");
    }
    std::erase_if(question.words, verb.is_of_other_verb);
    return question;
  }
  AskedQuestion question;
  question.config = config_of(verb.words, sources.around);
  question.words = std::move(verb.words);
  return question;
}

AskedQuestion asked(const Arguments& arguments, const Verbal& verb, const Sources& sources) {
  AskedQuestion question = asked_anything(arguments, verb, sources);
  const auto* gpu = read::find_word(question.words, "gpu");
  if (gpu != nullptr && Surroundings::is_local(gpu->text)) {
    sources.around.find_accelerators(question.reading, question.words, sources.catalogue);
  }
  return question;
}

using Trace = std::vector<spec::Request>;

/// The mean of a length over the requests of a trace.
template <class Value>
double mean_of(const Trace& trace, const Value& value) {
  double sum = 0;
  for (const spec::Request& each : trace) sum += static_cast<double>(value(each));
  return sum / static_cast<double>(trace.size());
}

std::string whole(double value) { return std::to_string(std::llround(value)); }

/// Figures that the requests of a trace have in common, by which everything goes but what becomes of each: their mean
/// lengths, how many come a second or, where they come at once, how many they are, and the longest.
void add_words_of(const Trace& trace, AskedQuestion& asked) {
  for (const std::string_view term : {"prompt", "output", "range_ratio", "rate", "concurrency", "num_prompts"}) {
    if (const auto* said = read::find_word(asked.words, term); said != nullptr)
      throw quantity::BadInput(said->origin.where, "is what the requests of --requests say");
  }
  const auto longest = std::ranges::max(trace, {}, [](const auto& each) { return each.prompt + each.output; });
  const double span = trace.back().arrival;
  const auto add = [&](std::string_view term, std::string text) {
    if (!read::has_word(asked.words, term))
      asked.words.push_back({std::string(term), std::move(text), {read::Source::flag, "--requests"}});
  };
  add("prompt", whole(mean_of(trace, [](const auto& each) { return each.prompt; })));
  add("output", whole(mean_of(trace, [](const auto& each) { return each.output; })));
  if (span > 0) add("rate", quantity::format_number(static_cast<double>(trace.size()) / span, 6));
  if (!(span > 0)) add("concurrency", std::to_string(trace.size()));
  add("context", std::to_string(longest.prompt + longest.output));
}

}  // namespace

std::vector<std::string> AskedQuestion::notes() const {
  std::vector<std::string> notes;
  const bool says_itself = reading.kind == hub_kind;  // an id of the Hub
  const auto is_of_thing = [&](const Given& word) {
    return word.origin.source != Source::flag && !(says_itself && word.origin.where == word.text);
  };
  const auto said = quantity::joined(quantity::mapped_if(words, shown, is_of_thing), ", ");
  if (!said.empty()) notes.push_back("from " + reading.kind + ": " + said);
  if (reading.weights) add_weights(*reading.weights, config, words, notes);
  if (!reading.unread.empty()) notes.push_back("not read: " + quantity::joined(reading.unread, ", "));
  return notes;
}

std::vector<std::string> AskedQuestion::with_missing(std::vector<std::string> said) const {
  const auto is_missing = [](const Given& file) {
    return file.text + " (" + file.origin.where + ") was not found: nothing of what it says is in this answer";
  };
  auto warnings = quantity::mapped(reading.missing, is_missing);
  quantity::append(warnings, said);
  return warnings;
}

/// Weights are read by --from; --config is for what describes them.
std::string_view option_for(const Given& word, const dialects::Reading& reading) {
  const bool by_file = word.origin.source == Source::file;
  if (by_file && !reading.hub_name.empty() && (word.term == "config" || word.term == "model")) return "from";
  const bool is_weights = word.text.ends_with(".gguf") || word.text.ends_with(".safetensors");
  return word.term == "config" && is_weights ? "from" : std::string_view(word.term);
}

Reply show_question(const AskedQuestion& asked, std::string_view verb) {
  render::Understood question;
  question.kind = asked.reading.kind;
  question.verb = verb;
  for (const Given& word : read::in_order(asked.words)) {
    const auto option = option_for(word, asked.reading);
    const bool by_hub = option == "from" && !asked.reading.hub_name.empty();
    question.words.push_back({std::string(option), by_hub ? asked.reading.hub_name : word.text, word.origin});
  }
  question.assumptions = asked.reading.assumptions;
  question.unread = asked.reading.unread;
  question.version = version();
  return {.show = [question](std::string_view form) { return form == "json" ? to_json(question) : to_text(question); }};
}

bool holds_gguf(const AskedQuestion& asked) {
  return asked.reading.weights && asked.reading.weights->kind.starts_with("GGUF");
}

void add_usual_engine(AskedQuestion& asked) {
  if (!holds_gguf(asked)) return;
  if (!asked.reading.weights->counts_all && !read::has_word(asked.words, "quant")) {
    throw quantity::BadInput(asked.reading.place, "has tensors of a type that is not known here", "add --quant");
  }
  if (read::has_word(asked.words, "engine")) return;
  asked.words.push_back({"engine", "llama.cpp", {Source::default_value, asked.reading.kind}});
}

void drop_words_of_servers(std::vector<Given>& words) { std::erase_if(words, is_of_server); }

std::vector<Given> searched_words(const AskedQuestion& asked) {
  std::vector<Given> words = asked.words;
  const auto has = [&](std::string_view term) { return read::has_word(words, term); };
  std::erase_if(words, [&](const Given& word) {
    const bool by_file = word.origin.source == Source::file || word.origin.source == Source::default_value;
    return by_file && (word.term == "grad_accum" || (word.term == "dp" && has("gpus")));
  });
  return words;
}

void add_absent(std::span<const read::Term> terms, std::vector<spec::Word>& echo) {
  const auto add = [&](std::string_view term) {
    if (!read::has_word(echo, term)) echo.push_back({std::string(term), {}});
  };
  for (const auto& word : read::shorthands()) add(word.name);
  for (const auto& term : terms) add(term.name);
}

std::vector<Given> words_of(const Arguments& arguments) {
  std::vector<Given> words;
  for (const auto& word : read::shorthands()) add_word(arguments, word.name, words);
  for (const auto& term : read::vocabulary()) add_word(arguments, term.name, words);
  return words;
}

std::optional<read::ConfigText> config_of(const std::vector<Given>& words, const Surroundings& around) {
  const auto* named = read::find_word(words, "config");
  return named == nullptr ? std::nullopt : std::optional(around.config(named->text));
}

AskedQuestion asked_things(const Arguments& arguments, const Surroundings& around, const read::Catalogue& catalogue) {
  auto things = arguments.names(std::numeric_limits<std::size_t>::max());
  for (auto& thing : arguments.all("from")) things.push_back(std::move(thing));
  if (things.empty()) throw quantity::BadInput("from", "needs a file, a folder, a command or org/name");
  const Lookup lookup{.offline = arguments.has("offline"), .answers = false};
  return understood(things, words_of(arguments), lookup, {around, catalogue});
}

AskedQuestion asked_run(const Arguments& arguments, const Surroundings& around, const read::Catalogue& catalogue) {
  return asked(arguments, {words_of(arguments), is_of_server, false}, {around, catalogue});
}

AskedQuestion asked_server(const Arguments& arguments, const Surroundings& around, const read::Catalogue& catalogue) {
  auto question = asked(arguments, {serving_words_of(arguments), is_of_training, true}, {around, catalogue});
  add_usual_engine(question);
  return question;
}

std::shared_ptr<const Trace> take_trace(const Arguments& arguments, const Surroundings& around, AskedQuestion& asked) {
  const std::string* path = arguments.find("requests");
  if (path == nullptr) return nullptr;
  if (std::ranges::all_of(*path, quantity::is_digit))
    throw quantity::BadInput("--requests", "is a file of requests, not how many there are", "--num-prompts " + *path);
  auto trace = read::read_requests(around.text(*path, "--requests"), *path);
  constexpr std::size_t most = 10'000;  // some 100 ms
  if (trace.size() > most) {
    asked.reading.assumptions.push_back(
        {"the first " + std::to_string(most) + " of " + std::to_string(trace.size()) + " requests"});
    trace.resize(most);
  }
  add_words_of(trace, asked);
  return std::make_shared<const Trace>(std::move(trace));
}

}  // namespace llmcalc::api
