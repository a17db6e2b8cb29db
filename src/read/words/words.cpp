
#include "llmcalc/quantity/error.hpp"
#include "quantity/suggest.hpp"
#include "read/presets/names.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"

namespace llmcalc::read {
namespace {

/// Empty for what is in no vocabulary.
std::string_view name_in_vocabulary(std::string_view word) {
  if (const Term* term = find_term(word)) return term->name;
  const Shorthand* shorthand = find_shorthand(word);
  return shorthand == nullptr ? std::string_view() : shorthand->name;
}

/// The canonical name of a term or a shorthand.
std::string_view canonical_name(const Given& word) {
  if (const auto name = name_in_vocabulary(word.term); !name.empty()) return name;
  const auto names = all_term_names();
  throw quantity::BadInput(word.origin.where, "there is no '" + word.term + "' in the vocabulary of a run",
                           quantity::did_you_mean(word.term, names));
}

using quantity::is_digit;
using quantity::is_letter;
using quantity::is_number;

struct CountedGpu {
  std::string_view name;
  std::string_view count = {};  ///< empty when only a name was given
};

/// A card's name has a number and some letters, or is that number: "h100", "titan rtx", but no "tx" of "7900xtx".
bool may_name_card(std::string_view text) {
  constexpr std::size_t shortest = 4;
  return text.size() >= shortest || std::ranges::any_of(text, is_digit);
}

/// "4090x2" as "2x4090": the number of cards is the shorter one.
CountedGpu counted(std::string_view count, std::string_view name) {
  const bool swapped = is_number(name) && name.size() < count.size();
  return swapped ? CountedGpu{count, name} : CountedGpu{name, count};
}

/// "1e999" is a number, of no "e999".
bool is_exponent(std::string_view text) {
  return (text.front() == 'e' || text.front() == 'E') && is_number(text.substr(1));
}

/// "8h100", "64 h100": no card begins with so few digits and a letter behind them.
CountedGpu split_joined(std::string_view text) {
  constexpr std::size_t most_digits = 3;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto name = quantity::trim(text.substr(digits));
  const bool is_joined = digits > 0 && digits <= most_digits && !name.empty() && is_letter(name.front()) &&
                         std::ranges::any_of(name, is_digit) && !is_exponent(name);
  return is_joined ? CountedGpu{name, text.substr(0, digits)} : CountedGpu{text};
}

/// "9060xt8": four digits are a card's own, and no T8 is so often there.
bool is_xt(const CountedGpu& split) {
  constexpr std::size_t digits = 4;
  const bool has_t = split.count.size() > 1 && (split.count.front() == 't' || split.count.front() == 'T');
  return has_t && split.name.size() == digits && split.count.find_first_not_of("-0123456789", 1) == split.count.npos;
}

/// Marks between a card and its number: "8x h100", "h100*8".
constexpr std::string_view times_signs = "xX*";

/// The words before and behind such a sign.
CountedGpu at_times(std::string_view text, std::size_t times) {
  return {quantity::trim(text.substr(0, times)), quantity::trim(text.substr(times + 1))};
}

/// "h100-sxm", "h100-sxm:8", "8x h100-sxm", "h100x8", "8h100", "8 h100".
CountedGpu split_gpu(std::string_view text) {
  text = quantity::trim(text);
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos) {
    return {quantity::trim(text.substr(0, colon)), quantity::trim(text.substr(colon + 1))};
  }
  const auto last = text.find_last_of(times_signs);
  const auto behind = last == std::string_view::npos || last == 0 ? CountedGpu{} : at_times(text, last);
  const bool apart = !behind.name.empty() && text[last - 1] == ' ';  // "7900 xtx x2"
  if (apart && is_number(behind.count)) return behind;
  if (const auto first = text.find_first_of(times_signs); first != std::string_view::npos) {
    const auto before = at_times(text, first);
    if (is_number(before.name) && may_name_card(before.count) && !is_xt(before))
      return counted(before.name, before.count);
  }
  const bool ends_in_number = !behind.name.empty() && is_digit(behind.name.back());  // "rx7600" is no card of 7600
  if (ends_in_number && is_number(behind.count)) return behind;
  return is_slice(text) ? CountedGpu{text} : split_joined(text);  // "1g.10gb" is no card
}

/// A program around an engine.
struct Wrapper {
  std::string_view name;
  std::string_view engine;
  std::int64_t context;
};

constexpr Wrapper wrappers[] = {
#include "vocabulary/wrappers.inc"
};

constexpr std::string_view zero_stages[] = {"none", "zero1", "zero2", "zero3"};

/// --zero 3 is --sharding zero3.
Given sharding_of(const Given& word) {
  const auto last = static_cast<std::int64_t>(std::size(zero_stages)) - 1;
  const auto stage =
      check_range(quantity::parse_count(word.text, word.origin.where), 0, last, word.text, word.origin.where);
  return {"sharding", std::string(zero_stages[static_cast<std::size_t>(stage)]), word.origin};
}

/// --inter-node 8x400Gbps is --inter-node-gbps 3200.
Given network_of(const Given& word) {
  return {"inter_node_gbps", write_double(parse_network_rate(word.text, word.origin.where)), word.origin};
}

/// How a word sets its term, quoting what somebody typed. \param typed  of a shorthand, else empty
std::string setting(const Given& word, std::string_view typed) {
  return typed.empty() ? " to '" + word.text + "'" : " by '" + std::string(typed) + "'";
}

}  // namespace

Words::Words(const std::vector<Given>& given) {
  for (const Given& word : given) {
    const auto name = canonical_name(word);
    if (name == "gpu") {
      put_gpu(word);
    } else if (name == "engine") {
      put_engine(word);
    } else if (name == "zero") {
      put(sharding_of(word), word.text);
    } else if (name == "inter_node") {
      put(network_of(word), word.text);
    } else {
      put({std::string(name), word.text, word.origin});
    }
  }
  if (rented_ && !has("gpus") && !has("nodes")) put({"gpus", std::to_string(rented_->cards), rented_->origin});
  if (wrapped_ && !has("context") && !has("prompt")) put(*wrapped_);
}

const Given* find_word(const std::vector<Given>& words, std::string_view term) {
  return quantity::find_or_null(words, term, &Given::term);
}

std::vector<Given> in_order(std::vector<Given> words) {
  for (Given& word : words) {
    if (const auto name = name_in_vocabulary(word.term); !name.empty()) word.term = name;
  }
  const auto names = all_term_names();
  const auto place = [&](const Given& word) { return std::ranges::find(names, word.term) - names.begin(); };
  std::ranges::stable_sort(words, {}, place);
  return words;
}

std::vector<Given> spelled_out(const std::vector<Given>& given) { return Words(given).all(); }

const Given* Words::find(std::string_view term) const { return find_word(words_, term); }

std::string_view Words::typed(const Given& word) const {
  const auto other = typed_.find(word.term);
  return other == typed_.end() ? std::string_view(word.text) : std::string_view(other->second);
}

void Words::put(Given word, std::string_view typed) {
  if (const Given* earlier = find(word.term)) {
    if (earlier->text == word.text) return;
    const std::string_view before = typed_.contains(word.term) ? this->typed(*earlier) : "";
    throw quantity::BadInput(word.origin.where, "sets " + word.term + setting(word, typed) + ", but " +
                                                    earlier->origin.where + " sets it" + setting(*earlier, before));
  }
  if (!typed.empty()) typed_.emplace(word.term, typed);
  words_.push_back(std::move(word));
}

/// "p5.48xlarge" is eight h100-sxm to a node, "2x p5.48xlarge" two such nodes.
bool Words::put_instance(const Given& word) {
  const auto whole = find_instance(word.text);
  const auto [name, count] = whole ? CountedGpu{word.text} : split_gpu(word.text);
  const auto instance = whole || name == word.text ? whole : find_instance(name);
  if (!instance) return false;
  put({"gpu", std::string(instance->gpu), word.origin}, word.text);
  put({"gpus_per_node", std::to_string(instance->cards), word.origin}, word.text);
  if (!count.empty()) put({"nodes", std::string(count), word.origin}, word.text);
  rented_ = {instance->cards, word.origin};
  return true;
}

std::string_view program_around(std::string_view word) {
  const auto* known = quantity::find_or_null(wrappers, plain_spelling(word), &Wrapper::name);
  return known == nullptr ? std::string_view() : known->name;
}

/// "LM Studio" is llama.cpp with another context.
void Words::put_engine(const Given& word) {
  const auto* known = quantity::find_or_null(wrappers, plain_spelling(word.text), &Wrapper::name);
  if (known == nullptr) return put({"engine", word.text, word.origin});
  put({"engine", std::string(known->engine), word.origin}, word.text);
  wrapped_ = Given{"context", std::to_string(known->context), word.origin};
}

void Words::put_gpu(const Given& word) {
  if (put_instance(word)) return;
  const auto [name, count] = split_gpu(word.text);
  if (name.empty() || (count.empty() && name.size() != quantity::trim(word.text).size())) {
    throw quantity::BadInput(word.origin.where, "'" + word.text +
                                                    "' is not an accelerator: expected a name, "
                                                    "name:count or 'count x name'");
  }
  put({"gpu", std::string(name), word.origin});
  if (!count.empty()) put({"gpus", std::string(count), word.origin}, word.text);
}

}  // namespace llmcalc::read
