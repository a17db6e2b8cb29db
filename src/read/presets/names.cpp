#include "read/presets/names.hpp"

#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <unordered_set>

namespace llmcalc::read {
namespace {

bool same_letters(char a, char b) { return quantity::to_lower(a) == quantity::to_lower(b); }

}  // namespace

bool same_name(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, same_letters); }

std::string_view without_organisation(std::string_view hf_id) {
  const auto slash = hf_id.find('/');
  return slash == std::string_view::npos ? hf_id : hf_id.substr(slash + 1);
}

std::vector<std::string_view> split_aliases(std::string_view joined) { return quantity::pieces_of(joined, "|"); }

bool is_repository(std::string_view name) { return name.find('/') != std::string_view::npos; }

bool PresetNames::contains(std::string_view name) const {
  const auto same = [name](std::string_view mine) {
    return !mine.empty() && (same_name(mine, name) || same_name(without_organisation(mine), name));
  };
  return same(id) || std::ranges::any_of(aliases, same) || same(hf_id);
}

void PresetNames::append_to(std::vector<std::string_view>& names) const {
  names.push_back(id);
  const auto append = [&](std::string_view name) {
    names.push_back(name);
    if (is_repository(name)) names.push_back(without_organisation(name));
  };
  std::ranges::for_each(aliases, append);
  if (!hf_id.empty()) append(hf_id);
}

namespace {

using quantity::is_digit;

constexpr bool is_separator(char c) { return c == '-' || c == '_' || c == ' ' || c == '/' || c == ':'; }

/// Words around the name of a card that do not tell it from another.
constexpr std::string_view card_words[] = {
#include "vocabulary/card_words.inc"
};

/// Words that people leave out where the number says enough: "4070 ti super".
constexpr std::array<std::string_view, 4> card_series{"rtx", "gtx", "rx", "arc"};

/// How a checkpoint was tuned or dated.
constexpr std::string_view tunings[] = {
#include "vocabulary/tunings.inc"
};

struct Packing {
  std::string_view word;
  formats::Quant quant;
  std::string_view publisher = {};  ///< whose word it is; empty: everybody's
};

/// Words that quantizers and their publishers write into names of repositories.
constexpr Packing packings[] = {
#include "vocabulary/packings.inc"
};

constexpr std::string_view unit = "gb";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto* const end = std::ranges::find_if(text, is_separator);
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length > 0) words.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

/// A name without the type of a GGUF file at its end, and that type: "q4_k_m" of "llama-3.1-8b-instruct-q4_k_m", and
/// what is nearest to a mixture of its publisher's, "q6_k" of "gemma-3-27b-it-q6_k_l.gguf".
struct FileName {
  std::string_view rest;
  std::optional<formats::Quant> type;
  bool is_mixed = false;
};

FileName file_name(std::string_view name) {
  constexpr std::string_view suffix = "-gguf";  // of a repository; of a file it is ".gguf"
  const auto whole = name;
  if (name.ends_with(suffix.substr(1))) name.remove_suffix(suffix.size());
  const auto at = std::min(name.find_last_of("-:."), name.size());
  const auto rest = name.substr(0, at), last = name.substr(std::min(at + 1, name.size()));
  if (const auto mixture = spec::nearest_type(last)) return {rest, mixture, true};
  const bool is_block = last.starts_with('q') || last.starts_with("iq") || last.starts_with("tq");
  const auto* type = quantity::find_or_null(formats::all_quants(), last, &formats::QuantFacts::name);
  const auto words = words_of(rest);
  const bool is_led = !words.empty() && words.back() == "ud";  // unsloth's "dynamic" types
  return is_block && type != nullptr ? FileName{rest, type->quant, is_led} : FileName{whole, {}};
}

/// One look for each word of each known name, where a name is unknown.
bool is_model_word(std::string_view word) {
  static const auto words = [] {
    std::unordered_set<std::string_view> all(std::begin(tunings), std::end(tunings));
    for (const Packing& packing : packings) all.insert(packing.word);
    return all;
  }();
  return words.contains(word);
}

std::string without(std::string_view name, bool (*is_left_out)(std::string_view)) {
  const std::string lower = quantity::to_lower(name);
  std::string rest;
  for (const auto word : words_of(lower)) rest += is_left_out(word) ? std::string_view() : word;
  return rest;
}

/// "m3 max" of "macbook pro m3 max" and "m3 max macbook pro": a Mac is called by its chip.
std::string_view chip_of_mac(std::string_view name) {
  const auto mac = std::min(name.find("mac"), name.find("imac"));
  const auto words = words_of(name);
  const auto is_chip = [](std::string_view word) { return word.size() > 1 && word[0] == 'm' && is_digit(word[1]); };
  const auto chip = std::ranges::find_if(words, is_chip);
  if (mac == name.npos || chip == words.end()) return name;
  const auto at = static_cast<std::size_t>(chip->data() - name.data());
  return at < mac ? name.substr(at, mac - at) : name.substr(at);
}

}  // namespace

bool is_card_word(std::string_view word) { return quantity::contains(card_words, word); }

namespace {

/// "a100-sxm4-80gb" of "a100_80gb_sxm4": what a card holds is said before or behind how it is plugged in.
std::string with_capacity_last(std::string_view name) {
  const auto words = words_of(name);
  const auto says_capacity = [](std::string_view word) {
    return word.ends_with(unit) && word.find_first_not_of("0123456789") == word.size() - unit.size();
  };
  const auto found = std::ranges::find_if(words, says_capacity);
  if (found == words.end() || found == words.begin() || found + 1 == words.end()) return std::string(name);
  const auto before = std::span(words.begin(), found), behind = std::span(found + 1, words.end());
  return quantity::joined(before, "-") + "-" + quantity::joined(behind, "-") + "-" + std::string(*found);
}

}  // namespace

std::string card_spelling(std::string_view name) {
  constexpr std::string_view mobile = "mobile", laptop = "laptop";  // the same, before the number or behind it
  std::string lower = quantity::to_lower(name);
  if (const auto at = lower.find(mobile); at != std::string::npos) lower.replace(at, mobile.size(), laptop);
  const std::string spelling = without(with_capacity_last(chip_of_mac(lower)), is_card_word);
  return spelling.starts_with(laptop) ? spelling.substr(laptop.size()).append(laptop) : spelling;
}

std::string plain_spelling(std::string_view name) {
  return without(name, [](auto) { return false; });
}

bool is_spelled_alike(std::string_view known, std::string_view name) {
  const auto said = plain_spelling(name);
  return plain_spelling(known) == said || plain_spelling(without_organisation(known)) == said;
}

std::string card_without_series(std::string_view name) {
  std::string rest;
  for (const auto word : words_of(name)) {
    const auto lower = quantity::to_lower(word);
    if (!quantity::contains(card_series, lower)) rest.append(rest.empty() ? "" : "-").append(lower);
  }
  const auto spelling = card_spelling(rest);
  const bool is_number = spelling.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : spelling;
}

std::int64_t capacity_in(std::string_view name) {
  constexpr std::size_t most_digits = 4;
  const auto lower = with_capacity_last(quantity::to_lower(name));
  const auto words = words_of(lower);
  const auto last = words.empty() ? std::string() : std::string(words.back());
  const auto digits = std::min(last.find_first_not_of("0123456789"), last.size());
  const bool is_one = digits > 0 && digits <= most_digits && std::string_view(last).substr(digits) == "gb";
  return is_one ? std::stoll(last.substr(0, digits)) : 0;
}

std::string card_without_capacity(std::string_view name) {
  const auto capacity = capacity_in(name);
  auto spelling = card_spelling(name);
  if (capacity != 0) spelling.resize(spelling.size() - std::to_string(capacity).size() - unit.size());
  return spelling;
}

std::string card_with_bare_capacity(std::string_view name) {
  const auto spelling = card_spelling(name);
  return capacity_in(name) == 0 ? spelling : spelling.substr(0, spelling.size() - unit.size());
}

std::string model_spelling(std::string_view name) {
  const std::string lower = quantity::to_lower(without_organisation(name));
  return without(file_name(lower).rest, is_model_word);
}

std::string spelling_with_maker(std::string_view name) {
  const auto own = without_organisation(name);
  const auto maker = own.substr(0, own.find('_'));
  const bool is_version = maker.find('-') != maker.npos && std::ranges::any_of(maker, is_digit);  // Llama-3_3-Nemotron
  const bool is_said = maker.size() < own.size() && !is_version;
  const std::string lower = quantity::to_lower(is_said ? own : name);
  return without(file_name(lower).rest, is_model_word);
}

std::optional<formats::Quant> packing_in(std::string_view name, std::string_view repository) {
  const std::string lower = quantity::to_lower(without_organisation(name));
  const std::string_view owned = is_repository(name) ? name : repository;
  const auto publisher = owned.substr(0, owned.find('/'));
  if (const auto type = file_name(lower).type) return type;
  const auto is_said = [&, words = words_of(lower)](const Packing& each) {
    if (!each.publisher.empty() && !same_name(each.publisher, publisher)) return false;
    return std::ranges::all_of(quantity::pieces_of(each.word, " "),
                               [&](std::string_view word) { return quantity::contains(words, word); });
  };
  const auto* packing = quantity::find_if_or_null(packings, is_said);
  return packing == nullptr ? std::nullopt : std::optional(packing->quant);
}

bool is_mixed_by_hand(std::string_view name) { return file_name(quantity::to_lower(name)).is_mixed; }

bool says_bits_alone(std::string_view name) {
  constexpr std::string_view bits = "bit";
  const std::string lower = quantity::to_lower(without_organisation(name));
  const auto is_width = [&](std::string_view word) {
    return word.size() == bits.size() + 1 && is_digit(word.front()) && word.ends_with(bits);
  };
  return std::ranges::any_of(words_of(lower), is_width) && !packing_in(name, name);
}

namespace {

/// The words of a name, numbers apart from letters before them: "llama", "3.1" and "8b" of "Llama-3.1-8B".
std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words;
  const std::string lower = quantity::to_lower(without_organisation(name));
  for (auto word : words_of(lower)) {
    if (is_model_word(word)) continue;
    const auto digit = std::min(word.find_first_of("0123456789"), word.size());
    if (digit > 0) words.emplace_back(word.substr(0, digit));
    if (digit < word.size()) words.emplace_back(word.substr(digit));
  }
  return words;
}

/// Whether the words of a name have these in this order; a version stands for its parts, "3" for "3.1".
bool has_words(const std::vector<std::string>& own, const std::vector<std::string>& words) {
  auto at = own.begin();
  for (const auto& word : words) {
    const bool is_number = is_digit(word.front());
    const auto stands_for = [&](const std::string& mine) {
      return mine == word || (is_number && mine.starts_with(word + "."));
    };
    at = std::find_if(at, own.end(), stands_for);
    if (at == own.end()) return false;
    ++at;
  }
  return !words.empty();
}

}  // namespace

std::string_view size_in(std::string_view name) {
  for (std::size_t start = 0; start < name.size();) {
    if (!is_digit(name[start]) || (start > 0 && !is_separator(name[start - 1]))) {
      ++start;
      continue;
    }
    const auto end = std::min(name.find_first_not_of("0123456789.", start), name.size());
    const bool sized = end < name.size() && (name[end] == 'b' || name[end] == 'm');
    if (sized && (end + 1 == name.size() || is_separator(name[end + 1]))) return name.substr(start, end + 1 - start);
    start = end;
  }
  return {};
}

namespace {

/// By which name a preset is told to somebody who may have meant one of its names: a model of its shape by its own.
std::string_view told_name(const KnownPreset& preset, std::string_view meant) {
  const auto own =
      std::span(preset.names).last(std::min<std::size_t>(preset.names.size(), 2));  // the preset's, on the Hub
  const auto is_sibling = [&](std::string_view name) {
    return is_repository(name) && without_organisation(name) == without_organisation(meant);
  };
  const bool is_own = quantity::contains(own, meant) || std::ranges::none_of(preset.names, is_sibling);
  return is_own ? preset.id : without_organisation(meant);
}

/// The presets that have a name near `name`, each once, those of the same size first.
std::vector<std::string_view> nearest_presets(const std::vector<KnownPreset>& presets, std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& preset : presets) quantity::append(known, preset.names);
  constexpr std::size_t looked_at = 16;
  std::vector<std::string_view> ids;
  for (const auto near : quantity::nearest_names(name, known, looked_at)) {
    const auto owner = std::ranges::find_if(
        presets, [&](const KnownPreset& preset) { return quantity::contains(preset.names, near); });
    const auto told = told_name(*owner, near);
    if (!quantity::contains(ids, told)) ids.push_back(told);
  }
  const auto lower = quantity::to_lower(name);
  const auto size = size_in(lower);
  if (!size.empty())
    std::stable_partition(ids.begin(), ids.end(),
                          [&](std::string_view id) { return size_in(quantity::to_lower(id)) == size; });
  return ids;
}

/// The presets of which `name` says a part: what "llama3" may mean, those of that very version first, and none whose
/// own name begins otherwise where several begin so (tulu-3-8b is Llama-3.1-Tulu-3-8B).
std::vector<std::string_view> presets_of(const std::vector<KnownPreset>& presets, std::string_view name) {
  const auto words = name_words(name);
  std::vector<std::string_view> ids;
  for (const auto& preset : presets) {
    const auto has = [&](std::string_view own) { return has_words(name_words(own), words); };
    const auto* name_of_it = quantity::find_if_or_null(preset.names, has);
    if (name_of_it == nullptr) continue;
    const auto told = told_name(preset, *name_of_it);
    if (!quantity::contains(ids, told)) ids.push_back(told);
  }
  const auto begins = [&](std::string_view id) {
    const auto own = name_words(id);
    return !own.empty() && own.front() == words.front();
  };
  if (std::ranges::count_if(ids, begins) > 1) std::erase_if(ids, [&](std::string_view id) { return !begins(id); });
  std::stable_partition(ids.begin(), ids.end(),
                        [&](std::string_view id) { return quantity::contains(name_words(id), words.back()); });
  return ids;
}

/// The presets whose names are a part of what was said, the longest such names: "m3 ultra" of "mac studio m3 ultra".
std::vector<std::string_view> presets_in(const std::vector<KnownPreset>& presets, std::string_view name) {
  std::size_t longest = 0;
  std::vector<std::string_view> ids;
  const auto said = name_words(name);
  for (const auto& preset : presets) {
    for (const auto own : preset.names) {
      const auto words = name_words(own);
      if (words.size() < std::max<std::size_t>(longest, 2) || !has_words(said, words)) continue;
      if (words.size() > longest) ids.clear();
      longest = words.size();
      if (!quantity::contains(ids, preset.id)) ids.push_back(preset.id);
    }
  }
  return ids;
}

/// "which of a, b and c?"
std::string which_of(std::span<const std::string_view> ids) {
  constexpr std::size_t most = 12;
  const auto told = ids.first(std::min(ids.size() - 1, most));
  const auto rest = ids.size() - told.size();
  const auto last = rest == 1 ? std::string(ids.back()) : std::to_string(rest) + " more";
  return "which of " + quantity::joined(told, ", ") + " and " + last + "?";
}

}  // namespace

std::string hint_for_name(const std::vector<KnownPreset>& presets, std::string_view name) {
  const auto meant = presets_of(presets, name);
  if (meant.size() > 1) return which_of(meant);
  auto near = nearest_presets(presets, name);
  if (!meant.empty()) std::erase(near, meant.front());
  if (!meant.empty()) near.insert(near.begin() + std::min<std::ptrdiff_t>(1, std::ssize(near)), meant.front());
  return quantity::one_of(near.empty() ? presets_in(presets, name) : near);
}

}  // namespace llmcalc::read
