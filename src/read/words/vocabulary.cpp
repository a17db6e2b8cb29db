
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/word.hpp"
#include "quantity/suggest.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

constexpr Shorthand shorthand_rows[] = {
    {"params", TermGroup::model, "number, as 7B", "assume a Llama-like model of this size"},
    {"config", TermGroup::model, "file or folder", "shape from a Hugging Face config.json"},
    {"as", TermGroup::model, "model type", "read --config as this model type, as llama"},
    {"image_size", TermGroup::model, "1024x768",
     "pixels of an image: what --patches makes of it, by its processor's rule"},
    {"dtype", TermGroup::run, "fp32|bf16|fp16|mixed-bf16|mixed-fp16",
     "precision recipe: weights, gradients, optimizer"},
    {"zero", TermGroup::layout, "0|1|2|3", "ZeRO stage: --sharding zero1, zero2 or zero3"},
    {"inter_node", TermGroup::layout, "400Gbps|8x400Gbps|50GB/s", "network of one node, with its unit"},
};

/// Terms of a training run that say the same of a server.
constexpr std::string_view shared_terms[] = {
    "lora_rank", "gpus",   "nodes",       "gpus_per_node", "tp",         "pp",    "ep",  "inter_node_gbps", "gpu",
    "price",     "memory", "host_memory", "context_bytes", "nccl_bytes", "power", "pue", "carbon_intensity"};

/// Terms of a model that only who trains it is asked for.
constexpr std::string_view trained_terms[] = {"dropout", "freeze"};

bool is_shared(const Term& row) { return row.group == TermGroup::model || quantity::contains(shared_terms, row.name); }

std::vector<Term> training_rows() {
  std::vector<Term> rows;
  for (const auto group : {model_terms(), run_terms(), layout_terms(), answer_terms()}) quantity::append(rows, group);
  return rows;
}

/// Behind the model stand what the engine is told and the load, then hardware and answer.
std::vector<Term> serving_rows() {
  std::vector<Term> rows;
  const auto model = [](const Term& row) { return row.group == TermGroup::model; };
  const auto served = [&](const Term& row) { return model(row) && !quantity::contains(trained_terms, row.name); };
  std::ranges::copy_if(vocabulary(), std::back_inserter(rows), served);
  std::ranges::copy(serving_terms(), std::back_inserter(rows));
  const auto others = [&](const Term& row) { return is_shared(row) && !model(row); };
  std::ranges::copy_if(vocabulary(), std::back_inserter(rows), others);
  return rows;
}

/// "kv-heads" is "kv_heads".
bool same_name(std::string_view flag, std::string_view name) {
  return std::ranges::equal(flag, name, [](char a, char b) { return a == b || (a == '-' && b == '_'); });
}

const Term* find_row(std::span<const Term> rows, std::string_view name) {
  return quantity::find_if_or_null(rows, [&](const Term& row) { return same_name(name, row.name); });
}

struct Synonyms {
  std::string_view ours;
  std::string_view theirs;  ///< apart by blanks
};

/// Names that trainers, servers and people have for an option.
constexpr Synonyms synonyms[] = {
#include "vocabulary/synonyms.inc"
};

/// Words to say in the place of another program's option.
constexpr Synonyms sayings[] = {
#include "vocabulary/sayings.inc"
};

bool names(const Synonyms& row, std::string_view written) {
  const auto same = [](char a, char b) { return a == b || (a == '_' && b == '-'); };
  return std::ranges::any_of(quantity::pieces_of(row.theirs, " "),
                             [&](std::string_view name) { return std::ranges::equal(written, name, same); });
}

/// A word that another term takes, or that means several of this one's.
struct Astray {
  std::string_view word;
  std::string_view among;  ///< one of those that the term takes
  std::string_view hint;
};

constexpr Astray astray[] = {
#include "vocabulary/astray.inc"
};

std::string hint_for(std::string_view text, const std::vector<std::string_view>& known) {
  const std::string word = quantity::to_lower(text);
  const auto is_it = [&](const Astray& each) { return each.word == word && quantity::contains(known, each.among); };
  const auto* row = quantity::find_if_or_null(astray, is_it);
  return row == nullptr ? quantity::did_you_mean(text, known) : std::string(row->hint);
}

struct RateUnit {
  std::string_view name;
  double gigabits;
  bool is_exact;  ///< the case of the b decides
};

constexpr RateUnit rate_units[] = {
#include "vocabulary/rate_units.inc"
};

[[noreturn]] void refuse(std::string_view text, std::string_view place) {
  throw quantity::BadInput(std::string(place), "'" + std::string(text) +
                                                   "' is not the network of a node: expected a rate with its unit, "
                                                   "such as 400Gbps, 8x400Gbps or 50GB/s");
}

const RateUnit* find_unit(std::string_view name) {
  const auto is_it = [&](const RateUnit& unit) {
    return unit.name == (unit.is_exact ? std::string(name) : quantity::to_lower(name));
  };
  return quantity::find_if_or_null(rate_units, is_it);
}

double one_adapter(std::string_view rate, std::string_view text, std::string_view place) {
  const auto digits = std::min(rate.find_first_not_of("0123456789."), rate.size());
  const RateUnit* unit = find_unit(quantity::trim(rate.substr(digits)));
  if (digits == 0 || unit == nullptr) refuse(text, place);
  return quantity::parse_number(rate.substr(0, digits), place) * unit->gigabits;
}

}  // namespace

std::span<const Term> vocabulary() {
  static const std::vector<Term> rows = training_rows();
  return rows;
}

std::span<const Term> serving_vocabulary() {
  static const std::vector<Term> rows = serving_rows();
  return rows;
}

const Term* find_term(std::string_view name) {
  const Term* found = find_row(vocabulary(), name);
  return found != nullptr ? found : find_row(serving_terms(), name);
}

std::span<const Shorthand> shorthands() { return shorthand_rows; }

bool describes_model(const Shorthand& shorthand) { return shorthand.group == TermGroup::model; }

const Shorthand* find_shorthand(std::string_view name) {
  return quantity::find_if_or_null(shorthand_rows, [&](const auto& row) { return same_name(name, row.name); });
}

std::string option_name(std::string_view term) { return spec::option_of(term).substr(2); }

std::vector<std::string_view> all_term_names() {
  auto names = quantity::mapped(vocabulary(), &Term::name);
  quantity::append(names, quantity::mapped(shorthand_rows, &Shorthand::name));
  return names;
}

std::string values_of(const Term& term) {
  return term.words == nullptr ? std::string(term.values)
                               : std::string(term.values) + quantity::joined(term.words(), "|");
}

std::vector<std::string_view> synonyms_of(std::string_view name) {
  return quantity::mapped_if(synonyms, &Synonyms::ours, [&](const Synonyms& row) { return names(row, name); });
}

std::string_view saying_of(std::string_view name) {
  const auto* row = quantity::find_if_or_null(sayings, [&](const Synonyms& each) { return names(each, name); });
  return row == nullptr ? std::string_view() : row->ours;
}

std::vector<std::string> split_list(std::string_view text, std::string_view place) {
  const auto items = quantity::pieces_of(text, ",");
  const bool has_empty = text.empty() || text.ends_with(',') || quantity::contains(items, "");
  if (has_empty) throw quantity::BadInput(std::string(place), "a list may not have an empty item");
  return {items.begin(), items.end()};
}

void throw_unknown_word(std::string_view text, std::string_view place, const std::vector<std::string_view>& known) {
  throw quantity::BadInput(std::string(place),
                           quantity::quoted(text) + " is not one of " + quantity::joined(known, ", "),
                           hint_for(text, known));
}

double parse_network_rate(std::string_view text, std::string_view place) {
  const auto times = text.find_first_of("xX");
  std::string_view rate = quantity::trim(text);
  double adapters = 1.0;
  if (times != std::string_view::npos) {
    const auto count = quantity::trim(text.substr(0, times));
    if (!quantity::is_number(count)) refuse(text, place);
    adapters = quantity::parse_number(count, place);
    rate = quantity::trim(text.substr(times + 1));
  }
  const double gigabits = adapters * one_adapter(rate, text, place);
  return check_limits(gigabits, std::numeric_limits<double>::min(), max_amount, text, place);
}

}  // namespace llmcalc::read
