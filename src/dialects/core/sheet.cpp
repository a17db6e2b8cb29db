#include "dialects/core/sheet.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

using quantity::BadInput;

constexpr std::array<std::string_view, 4> yes{"true", "1", "yes", "on"};
constexpr std::array<std::string_view, 4> no{"false", "0", "no", "off"};

}  // namespace

std::string what_it_hangs_on(const Setting& setting) {
  return fmt::format("{} hangs on {}: nothing is executed to know it", setting.key, setting.unknown);
}

/// Words by which trainers leave a choice to somebody else.
bool says_nothing(const Setting& setting) {
  const std::string word = quantity::to_lower(setting.text);
  return word.empty() || word == "auto" || word == "none" || word == "null" || word == "default";
}

const Setting* Sheet::find(std::initializer_list<std::string_view> keys) const {
  for (const auto key : keys) {
    const Setting* setting = settings_.find(key);
    if (setting == nullptr || (setting->text.empty() && setting->unknown.empty())) continue;
    if (!setting->unknown.empty()) {
      throw BadInput(setting->where, what_it_hangs_on(*setting), "write the value out");
    }
    return setting;
  }
  return nullptr;
}

/// A switch in front of "$EXTRA_ARGS" has no value: what follows are options that nobody knows.
bool Sheet::is_bare(std::string_view key) const {
  const Setting* setting = settings_.find(key);
  return setting != nullptr && setting->text.empty() && !setting->unknown.empty();
}

std::optional<bool> Sheet::truth(std::initializer_list<std::string_view> keys) const {
  const auto* const bare = std::ranges::find_if(keys, [&](std::string_view key) { return is_bare(key); });
  if (bare != keys.end()) {
    assume_unread_options(said(*bare));
    return true;
  }
  const Setting* setting = find(keys);
  if (setting == nullptr) return std::nullopt;
  const std::string word = quantity::to_lower(setting->text);
  if (quantity::contains(yes, word)) return true;
  if (quantity::contains(no, word)) return false;
  return std::nullopt;
}

std::optional<std::int64_t> Sheet::count(std::initializer_list<std::string_view> keys) const {
  const Setting* setting = find(keys);
  if (setting == nullptr || says_nothing(*setting)) return std::nullopt;
  return quantity::parse_count(setting->text, setting->where);
}

bool Sheet::is_above_zero(std::string_view key) const {
  const Setting* setting = settings_.find(key);
  return setting != nullptr && setting->text.find_first_of("123456789") != std::string::npos;
}

std::string Sheet::text(std::initializer_list<std::string_view> keys) const {
  const Setting* setting = find(keys);
  return setting == nullptr ? std::string() : quantity::to_lower(setting->text);
}

void Sheet::put(Given word) {
  unsay(word.term);
  reading_.words.push_back(std::move(word));
}

void Sheet::say(std::string_view term, std::string_view text, const Setting& because) {
  put({std::string(term), std::string(text), {Source::file, because.where}});
}

void Sheet::guess(std::string_view term, std::string_view text, const Setting& because) {
  put({std::string(term), std::string(text), {Source::assumed, because.where}});
}

void Sheet::take(std::string_view term, const Setting& setting) {
  if (setting.unknown.empty()) return say(term, setting.text, setting);
  leave_open(term, what_it_hangs_on(setting), setting);
  if (setting.in_folder)
    reading_.in_folders.push_back({std::string(term), setting.text, {Source::file, setting.where}});
}

void Sheet::leave_open(std::string_view term, std::string why, const Setting& because) {
  unsay(term);
  reading_.open.push_back({std::string(term), std::move(why), {Source::file, because.where}});
}

bool Sheet::leaves_open(std::string_view term, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) {
    const Setting* setting = settings_.find(key);
    if (setting == nullptr || setting->unknown.empty()) continue;
    take(term, *setting);
    return true;
  }
  return false;
}

void Sheet::take(std::string_view term, std::initializer_list<std::string_view> keys) {
  const auto says = [](const Setting* s) { return s != nullptr && !(s->text.empty() && s->unknown.empty()); };
  const auto* key = std::ranges::find_if(keys, [&](std::string_view each) { return says(settings_.find(each)); });
  if (key != keys.end()) take(term, *settings_.find(*key));
}

void Sheet::by_default(std::string_view term, std::string_view text, std::string_view whose) {
  if (!has(term)) put({std::string(term), std::string(text), {Source::default_value, std::string(whose)}});
}

const Given* Sheet::word(std::string_view term) const {
  return quantity::find_or_null(reading_.words, term, &Given::term);
}

void Sheet::unsay(std::string_view term) {
  std::erase_if(reading_.words, [&](const Given& word) { return word.term == term; });
}

bool Sheet::include(const Setting& file) {
  auto reading = reader_.file_named(file.text);
  if (!reading) {
    assume(file, "the file was not read: it is not in the folder of the one that names it; say --from");
    reading_.missing.push_back({file.key, file.text, {Source::file, file.where}});
    return false;
  }
  included_.push_back(*std::move(reading));
  return true;
}

void Sheet::assume(spec::Assumption assumption) const {
  auto& all = reading_.assumptions;
  if (!quantity::contains(all, assumption)) all.push_back(std::move(assumption));
}

void Sheet::assume_unread_options(const Setting& bare) const {
  assume(fmt::format("{} ({}) is not known: options in it are not read", bare.unknown, bare.where));
}

void Sheet::assume(const Setting& because, std::string_view what, std::string_view about) {
  auto words = fmt::format("{} {} ({}): {}", because.key, because.text, because.where, what);
  if (!about.empty()) words += ": say " + spec::option_of(about);
  assume({std::move(words), std::string(about)});
}

}  // namespace llmcalc::dialects
