// Several readings as one, and the words of a command line on top.
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/parse.hpp"
#include "llmcalc/read/launch.hpp"
#include "llmcalc/read/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace llmcalc::read {
namespace {

bool is_default(const Given& word) { return word.origin.source == Source::default_value; }

Given* find(std::vector<Given>& words, std::string_view term) {
  const auto found = std::ranges::find(words, term, &Given::term);
  return found == words.end() ? nullptr : &*found;
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

/// DeepSpeed's engine keeps the states, whichever trainer calls it.
bool gives_way(const Given& kept, const Given& word) {
  return kept.term == "framework" && kept.text == "deepspeed" && !is_default(kept) && is_default(word);
}

std::string dashed(std::string term) {
  std::ranges::replace(term, '_', '-');
  return term;
}

void take_word(Given word, Reading& into) {
  Given* earlier = find(into.words, word.term);
  if (earlier == nullptr) {
    into.words.push_back(std::move(word));
    return;
  }
  if (gives_way(*earlier, word) || (is_default(word) && !is_default(*earlier))) return;
  if (!is_default(word) && !is_default(*earlier) && !same_value(*earlier, word)) {
    into.assumptions.push_back(fmt::format("{} {} ({}), not {} ({})", dashed(word.term), word.text, word.origin.where,
                                           earlier->text, earlier->origin.where));
  }
  *earlier = std::move(word);
}

template <class T>
void append_new(std::vector<T>&& from, std::vector<T>& to) {
  for (auto& item : from) {
    if (std::ranges::find(to, item) == to.end()) to.push_back(std::move(item));
  }
}

/// A word of the command line, and those of a file that say the same in other words.
struct Replaced {
  std::string_view option;
  std::array<std::string_view, 6> words;
};

constexpr Replaced replaced[] = {
    {"model", {"config", "params"}},
    {"config", {"model", "params"}},
    {"params", {"model", "config"}},
    {"zero", {"sharding"}},
    {"sharding", {"zero", "sharding_group", "reshard"}},
    {"gpus", {"nodes", "gpus_per_node", "dp"}},
    {"nodes", {"gpus_per_node"}},
    {"dp", {"gpus", "nodes", "gpus_per_node"}},
    {"grad_accum", {"global_batch"}},
    {"global_batch", {"grad_accum"}},
    {"dtype", {"weights", "compute", "autocast", "grads", "master_weights", "optimizer_states"}},
    {"weights", {"dtype"}},
    {"tokens", {"samples"}},
    {"samples", {"tokens"}},
    {"inter_node", {"inter_node_gbps"}},
    {"method", {"lora_rank", "lora_targets", "lora_dropout", "weights"}},
};

std::string underscored(std::string_view term) {
  std::string name(term);
  std::ranges::replace(name, '-', '_');
  return name;
}

void drop(std::string_view term, std::vector<Given>& words) {
  std::erase_if(words, [&](const Given& word) { return word.term == term; });
}

/// "h100-sxm:8", "8x h100-sxm".
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
    for (const auto term : row.words) drop(term, words);
  }
}

/// Sequences of a step, where the words say all of its factors.
std::optional<std::int64_t> global_batch(std::vector<Given>& words) {
  const auto count = [&](std::string_view term, std::int64_t otherwise) {
    const Given* word = find(words, term);
    return word == nullptr ? otherwise : quantity::parse_count(word->text, word->origin.where);
  };
  if (find(words, "global_batch") != nullptr) return count("global_batch", 1);
  if (find(words, "gpus") == nullptr && find(words, "dp") == nullptr) return std::nullopt;
  const std::int64_t replica = quantity::product(count("tp", 1), count("pp", 1), count("cp", 1));
  if (replica < 1) return std::nullopt;
  const std::int64_t replicas = find(words, "dp") != nullptr ? count("dp", 1) : count("gpus", 1) / replica;
  return quantity::product(count("micro_batch", 1), count("grad_accum", 1), replicas);
}

void take_steps(const Given& steps, std::vector<Given>& words) {
  if (find(words, "samples") != nullptr || find(words, "tokens") != nullptr) return;
  const auto batch = global_batch(words);
  if (!batch || *batch < 1) return;
  const auto count = quantity::parse_count(steps.text, steps.origin.where);
  words.push_back({"samples", std::to_string(quantity::checked_multiply(count, *batch)), steps.origin});
}

}  // namespace

Reading merge(std::vector<Reading> readings) {
  if (readings.empty()) return {};
  Reading all = std::move(readings.front());
  for (auto next = std::next(readings.begin()); next != readings.end(); ++next) {
    all.kind += ", " + next->kind;
    for (Given& word : next->words) take_word(std::move(word), all);
    append_new(std::move(next->assumptions), all.assumptions);
    append_new(std::move(next->unread), all.unread);
    if (next->steps) all.steps = std::move(next->steps);
    if (next->config) all.config = std::move(next->config);
    if (next->weights) all.weights = std::move(next->weights);
    if (all.usual_framework.empty()) all.usual_framework = next->usual_framework;
    all.serves = all.serves || next->serves;
  }
  return all;
}

std::vector<Given> with_options(const Reading& reading, const std::vector<Given>& options) {
  std::vector<Given> words = reading.words;
  for (const Given& option : options) make_room(option, words);
  words.insert(words.end(), options.begin(), options.end());
  if (reading.steps) take_steps(*reading.steps, words);
  if (!reading.usual_framework.empty() && find(words, "framework") == nullptr) {
    words.push_back({"framework", std::string(reading.usual_framework), {Source::default_value, reading.kind}});
  }
  return words;
}

}  // namespace llmcalc::read
