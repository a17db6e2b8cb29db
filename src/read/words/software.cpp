#include "read/words/terms.hpp"

#include <array>

namespace llmcalc::read {
namespace {

using spec::Date;
using spec::Library;
using spec::Release;
using spec::Software;

struct LibraryWords {
  Library library;
  std::string_view words;  ///< apart by blanks
};

/// The first word of a library is the one that is written.
constexpr LibraryWords libraries[] = {
#include "vocabulary/libraries.inc"
};

constexpr std::array<std::string_view, 12> months{"jan", "feb", "mar", "apr", "may", "jun",
                                                  "jul", "aug", "sep", "oct", "nov", "dec"};

/// Words between separators; a comparison and "@" separate a library from its release.
std::vector<std::string> words_of(std::string_view text) {
  const auto lower = [](std::string_view word) { return quantity::to_lower(word); };
  const auto is_word = [](std::string_view word) { return !word.empty(); };
  return quantity::mapped_if(quantity::pieces_of(text, " \t\n,;()[]'\"+/=<>~@:&|"), lower, is_word);
}

/// "core_v0.12.0" and "transformers-4.40.0" are a library and its release in one word.
std::vector<std::string> split_releases(const std::vector<std::string>& words) {
  using quantity::is_digit;
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    const auto cut = word.find_last_of("_-");
    const std::string_view rest =
        cut == std::string::npos ? std::string_view() : std::string_view(word).substr(cut + 1);
    const bool starts_release =
        !rest.empty() && (is_digit(rest[0]) || (rest.size() > 1 && rest[0] == 'v' && is_digit(rest[1])));
    const bool has_name = cut != std::string::npos && cut > 0 && !is_digit(word[0]);
    if (starts_release && has_name) {
      parts.push_back(word.substr(0, cut));
      parts.emplace_back(rest);
    } else {
      parts.push_back(word);
    }
  }
  return parts;
}

const LibraryWords* find_library(std::string_view word) {
  const auto has_it = [&](const LibraryWords& row) {
    return quantity::contains(quantity::pieces_of(row.words, " "), word);
  };
  return quantity::find_if_or_null(libraries, has_it);
}

/// Reads a number at the start of `text` and takes it off; false if there is none.
bool take_number(std::string_view& text, int& number) {
  const auto read = text.starts_with('-') ? std::nullopt : quantity::take_number<int>(text);
  number = read.value_or(number);
  return read.has_value();
}

bool take_dot(std::string_view& text, char separator) {
  if (text.empty() || text.front() != separator) return false;
  text.remove_prefix(1);
  return true;
}

constexpr int first_year = 2010, last_year = 2099;

/// "2024", "2024-08" or "2024-08-15".
std::optional<Date> read_date(std::string_view word) {
  Date date;
  if (!take_number(word, date.year) || date.year < first_year || date.year > last_year) return std::nullopt;
  if (take_dot(word, '-') && !(take_number(word, date.month) && date.month >= 1 && date.month <= 12))
    return std::nullopt;
  if (take_dot(word, '-') && !(take_number(word, date.day) && date.day >= 1 && date.day <= 31)) return std::nullopt;
  return word.empty() ? std::optional(date) : std::nullopt;
}

/// "4.40.0", "v0.12", "2.7.1.dev0", "0.43.3rc1".
std::optional<Release> read_release(std::string_view word) {
  if (!word.empty() && word.front() == 'v') word.remove_prefix(1);
  Release release;
  if (read_date(word) || !take_number(word, release.major)) return std::nullopt;
  if (!take_dot(word, '.')) return word.empty() ? std::optional(release) : std::nullopt;
  if (!take_number(word, release.minor)) return std::nullopt;
  if (take_dot(word, '.') && !word.empty()) take_number(word, release.patch);
  return release;
}

/// The month of "sep", "september" or "feb-mar"; 0 where the word begins with none.
int month_of(std::string_view word) {
  constexpr std::size_t letters = 3;
  const auto found = std::ranges::find(months, word.substr(0, letters));
  return found == months.end() ? 0 : static_cast<int>(found - months.begin()) + 1;
}

/// Goes through the words of a text and keeps what they say.
class Reader {
 public:
  explicit Reader(std::string_view text) : words_(split_releases(words_of(text))) {}

  Software read() {
    while (next_ < words_.size()) {
      if (!take_library() && !take_date() && !is_noise(words_[next_])) {
        software_.unread.push_back(words_[next_]);
        ++next_;
      }
    }
    return std::move(software_);
  }

 private:
  std::string_view ahead(std::size_t n) const {
    return next_ + n < words_.size() ? std::string_view(words_[next_ + n]) : std::string_view();
  }

  bool take_library() {
    const LibraryWords* known = find_library(words_[next_]);
    if (known == nullptr) return false;
    const std::size_t at = ahead(1) == "container" ? 2 : 1;
    const auto release = read_release(ahead(at));
    next_ += release ? at + 1 : 1;
    const bool named_before = std::ranges::any_of(
        software_.parts, [&](const auto& part) { return part.library == known->library && part.release; });
    if (!named_before) {
      std::erase_if(software_.parts, [&](const auto& part) { return part.library == known->library; });
      software_.parts.push_back({known->library, release});
    }
    return true;
  }

  bool take_date() {
    const int month = month_of(words_[next_]);
    auto date = read_date(month == 0 ? std::string_view(words_[next_]) : ahead(1));
    if (!date) return false;
    if (month != 0 && date->month == 0) date->month = month;
    next_ += month == 0 ? 1 : 2;
    if (!software_.date || software_.date->ordinal() < date->ordinal()) software_.date = date;
    return true;
  }

  /// A build of CUDA says nothing of its own.
  bool is_noise(std::string_view word) {
    const bool cuda = word.starts_with("cu") && word.size() > 2 && word[2] >= '0' && word[2] <= '9';
    if (cuda) ++next_;
    return cuda;
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
  Software software_;
};

std::string two_digits(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

std::string write(const Release& release, bool is_calendar) {
  const std::string minor = is_calendar ? two_digits(release.minor) : std::to_string(release.minor);
  const std::string text = std::to_string(release.major) + "." + minor;
  return release.patch == 0 ? text : text + "." + std::to_string(release.patch);
}

std::string write(const Date& date) {
  std::string text = std::to_string(date.year);
  if (date.month != 0) text += "-" + two_digits(date.month);
  if (date.day != 0) text += "-" + two_digits(date.day);
  return text;
}

}  // namespace

bool is_library(std::string_view name) { return find_library(name) != nullptr; }

Software read_software(std::string_view text) { return Reader(text).read(); }

std::string write_software(const Software& software) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  for (const auto& part : software.parts) {
    const auto* known = quantity::find_or_null(libraries, part.library, &LibraryWords::library);
    std::string name(known->words.substr(0, known->words.find(' ')));
    if (part.release) name += " " + write(*part.release, part.library == Library::nemo);
    add(name);
  }
  if (software.date) add(write(*software.date));
  return text;
}

}  // namespace llmcalc::read
