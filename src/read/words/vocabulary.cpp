#include "read/vocabulary.hpp"

#include "llmcalc/spec/word.hpp"
#include "quantity/lists.hpp"
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
    "lora_rank", "gpus",  "nodes",  "gpus_per_node", "tp",         "pp",    "ep",  "inter_node_gbps",
    "gpu",       "price", "memory", "context_bytes", "nccl_bytes", "power", "pue", "carbon_intensity"};

bool is_shared(const Term& row) { return row.group == TermGroup::model || is_among(row.name, shared_terms); }

std::vector<Term> training_rows() {
  std::vector<Term> rows;
  for (const auto group : {model_terms(), run_terms(), layout_terms(), answer_terms()}) quantity::append(rows, group);
  return rows;
}

/// Behind the model stand what the engine is told and the load, then hardware and answer.
std::vector<Term> serving_rows() {
  std::vector<Term> rows;
  const auto model = [](const Term& row) { return row.group == TermGroup::model; };
  std::ranges::copy_if(vocabulary(), std::back_inserter(rows), model);
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

namespace {

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

}  // namespace

std::vector<std::string_view> synonyms_of(std::string_view name) {
  return quantity::mapped_if(synonyms, &Synonyms::ours, [&](const Synonyms& row) { return names(row, name); });
}

std::string_view saying_of(std::string_view name) {
  const auto* row = quantity::find_if_or_null(sayings, [&](const Synonyms& each) { return names(each, name); });
  return row == nullptr ? std::string_view() : row->ours;
}

}  // namespace llmcalc::read
