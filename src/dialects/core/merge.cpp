// Several readings as one, and the words of a command line on top.
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace llmcalc::dialects {
namespace {

bool is_default(const Given& word) { return word.origin.source == Source::default_value; }

bool is_guess(const Given& word) { return word.origin.source == Source::assumed; }

Given* find(std::vector<Given>& words, std::string_view term) {
  return quantity::find_or_null(words, term, &Given::term);
}

/// An engine that keeps masters has one recipe for both names.
std::string_view without_mixed(std::string_view dtype) {
  constexpr std::string_view mixed = "mixed-";
  return dtype.starts_with(mixed) ? dtype.substr(mixed.size()) : dtype;
}

bool same_value(const Given& a, const Given& b) {
  if (a.term == "dtype") return without_mixed(a.text) == without_mixed(b.text);
  return a.text == b.text;
}

std::string dashed(std::string term) {
  std::ranges::replace(term, '_', '-');
  return term;
}

/// Each of these says how much is trained on: of two files the later one does.
constexpr std::string_view amounts[] = {"samples", "tokens", "steps"};

void drop_other_amount(const Given& word, Reading& into) {
  if (!quantity::contains(amounts, word.term)) return;
  for (const auto amount : amounts) {
    const Given* other = amount == word.term ? nullptr : find(into.words, amount);
    if (other == nullptr) continue;
    into.assumptions.push_back({fmt::format("{} {} ({}), not {} {} ({})", word.term, word.text, word.origin.where,
                                            other->term, other->text, other->origin.where)});
    std::erase_if(into.words, [&](const Given& each) { return each.term == amount; });
  }
}

void take_word(Given word, Reading& into) {
  drop_other_amount(word, into);
  Given* earlier = find(into.words, word.term);
  if (earlier == nullptr) {
    into.words.push_back(std::move(word));
    return;
  }
  if (is_default(word) && !is_default(*earlier)) return;
  if (is_guess(word) && !is_guess(*earlier) && !is_default(*earlier)) std::swap(word, *earlier);
  if (!is_default(word) && !is_default(*earlier) && !same_value(*earlier, word)) {
    into.assumptions.push_back({fmt::format("{} {} ({}), not {} ({})", dashed(word.term), word.text, word.origin.where,
                                            earlier->text, earlier->origin.where)});
  }
  *earlier = std::move(word);
}

/// A value that nobody knows replaces one that an earlier file says, and the other way round.
void take_open(std::vector<Given>&& open, const std::vector<Given>& said, Reading& into) {
  std::erase_if(into.words, [&](const Given& each) { return has_word(open, each.term); });
  std::erase_if(into.open, [&](const Given& each) { return has_word(said, each.term); });
  std::ranges::move(open, std::back_inserter(into.open));
}

template <class T>
void append_new(std::vector<T>&& from, std::vector<T>& to) {
  for (auto& item : from) {
    if (!quantity::contains(to, item)) to.push_back(std::move(item));
  }
}

/// A word of the command line, and those of a file that say the same in other words.
struct Replaced {
  std::string_view option;
  std::string_view words;
};

constexpr Replaced replaced[] = {
#include "dialects/replaced.inc"
};

std::string underscored(std::string_view term) {
  std::string name(term);
  std::ranges::replace(name, '-', '_');
  return name;
}

void drop(std::string_view term, std::vector<Given>& words) {
  std::erase_if(words, [&](const Given& word) { return word.term == term; });
}

/// "h100-sxm:8", "8x h100-sxm", "h100x8".
bool counts_accelerators(std::string_view gpu) {
  const auto digits = gpu.find_first_not_of("0123456789");
  const bool times = digits != std::string_view::npos && digits > 0 && (gpu[digits] == 'x' || gpu[digits] == 'X');
  return times || gpu.find(':') != std::string_view::npos;
}

/// An option takes the place of what files say of its term, and of what they say in other words. --method lora keeps
/// the rank of a file that trains adapters.
void make_room(const Given& option, std::vector<Given>& words) {
  const std::string name = underscored(option.term);
  drop(name, words);
  if (name == "gpu" && counts_accelerators(option.text)) make_room({"gpus", {}, option.origin}, words);
  if (name == "method" && option.text.find("lora") != std::string::npos) return drop("weights", words);
  for (const Replaced& row : replaced) {
    if (row.option != name) continue;
    for (const auto term : quantity::pieces_of(row.words, " ")) drop(term, words);
  }
}

bool is_of_file(const Given& word) { return word.origin.source != Source::flag; }

void refuse_open(const std::vector<Given>& open) {
  if (open.empty()) return;
  throw quantity::BadInput(open.front().origin.where, open.front().text,
                           fmt::format("say --{}, or write the value out", dashed(open.front().term)));
}

constexpr std::string_view about_samples[] = {"epochs", "packing"};

/// Words of files about samples, whose number nobody says.
void drop_unused_data(std::vector<Given>& words) {
  if (has_word(words, "samples")) return;
  const auto is_about_them = [&](const Given& word) { return quantity::contains(about_samples, word.term); };
  std::erase_if(words, [&](const Given& word) { return is_of_file(word) && is_about_them(word); });
}

/// Transformers keeps keys and values in the type of the model, whatever scales a checkpoint has for them.
void drop_unused_scales(std::vector<Given>& words) {
  const Given* engine = find(words, "engine");
  if (engine == nullptr || engine->text != "hf") return;
  std::erase_if(words, [](const Given& word) { return is_of_file(word) && word.term == "kv_dtype"; });
}

constexpr std::string_view autocast = "mixed-";

bool is_of_weights(const spec::Assumption& each) { return each.term == "weights"; }

/// FSDP of accelerate keeps fp32 shards of what is trained under autocast, whatever type it was loaded in (accelerate
/// accelerator.py, prepare_model; utils/fsdp_utils.py, fsdp2_prepare_model), and ZeRO has a recipe of its own.
void widen_shards(Reading& all) {
  Given* dtype = find(all.words, "dtype");
  const Given* sharding = find(all.words, "sharding");
  const Given* method = find(all.words, "method");
  if (dtype == nullptr || sharding == nullptr) return;
  const auto* kind = spec::find_name<spec::Sharding>(sharding->text);
  if (kind == nullptr || spec::zero_stage(kind->value) == 0) return;
  const auto* trained = method == nullptr ? nullptr : spec::find_name<spec::Method>(method->text);
  const bool trains_all = trained == nullptr || trained->value == spec::Method::full;
  const bool shards = spec::is_fsdp(kind->value);
  if (shards && !trains_all) return;
  const bool is_assumed = std::erase_if(all.assumptions, is_of_weights) > 0;
  if (shards && is_assumed && !dtype->text.starts_with(autocast)) dtype->text.insert(0, autocast);
}

/// DeepSpeed's engine keeps copies in fp32 of its own beside weights in half (deepspeed runtime/bf16_optimizer.py),
/// whatever the file of another trainer says of autocast above them.
void take_engine_precision(Reading& all) {
  const Given* framework = find(all.words, "framework");
  Given* dtype = find(all.words, "dtype");
  if (dtype == nullptr || !dtype->text.starts_with(autocast)) return;
  const bool is_its = framework != nullptr && framework->text == "deepspeed";
  if (is_its) dtype->text.erase(0, autocast.size());
  if (!is_its && all.usual_framework != "deepspeed") return;
  std::erase_if(all.assumptions, is_of_weights);
}

}  // namespace

Reading merge(std::vector<Reading> readings) {
  if (readings.empty()) return {};
  Reading all = std::move(readings.front());
  for (auto next = std::next(readings.begin()); next != readings.end(); ++next) {
    all.kind += ", " + next->kind;
    take_open(std::move(next->open), next->words, all);
    for (Given& word : next->words) take_word(std::move(word), all);
    append_new(std::move(next->assumptions), all.assumptions);
    append_new(std::move(next->unread), all.unread);
    quantity::append(all.in_folders, next->in_folders);
    quantity::append(all.missing, next->missing);
    if (next->config) all.config = std::move(next->config);
    if (next->weights) all.weights = std::move(next->weights);
    if (all.usual_framework.empty()) all.usual_framework = next->usual_framework;
    all.serves = all.serves || next->serves;
  }
  take_engine_precision(all);
  widen_shards(all);
  return all;
}

std::vector<Given> with_options(const Reading& reading, const std::vector<Given>& options) {
  std::vector<Given> words = reading.words;
  std::vector<Given> open = reading.open;
  for (const Given& option : options) {
    make_room(option, words);
    make_room(option, open);
  }
  refuse_open(open);
  quantity::append(words, options);
  drop_unused_data(words);
  drop_unused_scales(words);
  if (!reading.usual_framework.empty() && !has_word(words, "framework")) {
    words.push_back({"framework", std::string(reading.usual_framework), {Source::default_value, reading.kind}});
  }
  return words;
}

std::vector<spec::Assumption> unused_data(const Reading& reading, const std::vector<Given>& words) {
  const auto* epochs = find_word(reading.words, "epochs");
  if (epochs == nullptr || is_default(*epochs) || has_word(words, "samples") || has_word(words, "steps") ||
      has_word(words, "tokens"))
    return {};
  return {{fmt::format("epochs {} ({}): the number of samples is not known without the data: say --samples or --tokens",
                       epochs->text, epochs->origin.where)}};
}

}  // namespace llmcalc::dialects
