#include "frameworks/release.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <functional>

namespace llmcalc::frameworks {

using spec::Date;
using spec::Engine;
using spec::Library;
using spec::Release;
using spec::Software;

namespace {

constexpr ReleaseChange changes[] = {
#include "releases/changes.inc"
};

constexpr bool is_in_order() {
  if (std::size(changes) != static_cast<std::size_t>(Behaviour::count)) return false;
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    if (changes[i].behaviour != static_cast<Behaviour>(i)) return false;
  }
  return true;
}
static_assert(is_in_order(), "a behaviour of the enumeration has no row");

constexpr ReleaseWord words_by_release[] = {
#include "releases/words.inc"
};

constexpr Unserved unserved[] = {
#include "releases/unserved.inc"
};

struct Published {
  Library library;
  Release release;
  Date date;
};

constexpr Published published[] = {
#include "releases/published.inc"
};

/// Whether a cell of names apart by blanks has one of them.
bool names(std::string_view cell, std::string_view name) {
  return quantity::contains(quantity::pieces_of(cell, " "), name);
}

/// The latest day that is known of a release or one before it; NeMo's containers are called by year and month.
std::optional<Date> date_of(const Software::Part& part) {
  constexpr int century = 2000;
  if (!part.release) return std::nullopt;
  if (part.library == Library::nemo) return Date{century + part.release->major, part.release->minor, 0};
  std::optional<Date> latest;
  const auto look = [&](Library library, const Release& release, const Date& date) {
    const bool counts = library == part.library && release <= *part.release;
    if (counts && (!latest || latest->ordinal() < date.ordinal())) latest = date;
  };
  for (const Published& known : published) look(known.library, known.release, known.date);
  for (const ReleaseChange& known : changes) {
    if (known.since) look(known.library, *known.since, known.published);
  }
  return latest;
}

/// When a run was, by what was said of it: a release of that year says more than a year alone.
std::optional<Date> date_of(const Software& software) {
  std::optional<Date> latest;
  for (const auto& part : software.parts) {
    const auto date = date_of(part);
    if (date && (!latest || latest->ordinal() < date->ordinal())) latest = date;
  }
  if (!software.date) return latest;
  const bool says_more = software.date->month == 0 && latest && latest->year == software.date->year;
  return says_more ? latest : software.date;
}

/// Whether a run comes after a release, or after its day where it is not said.
bool is_since(const Software& software, Library library, const std::optional<Release>& since, const Date& day) {
  const auto release = software.release_of(library);
  if (release && since) return *release >= *since;
  const auto date = date_of(software);
  return !date || date->ordinal() >= day.ordinal();
}

}  // namespace

std::span<const ReleaseChange> release_changes() { return changes; }

bool holds(Behaviour behaviour, const Software& software) {
  const ReleaseChange& row = changes[static_cast<std::size_t>(behaviour)];
  return is_since(software, row.library, row.since, row.published);
}

std::span<const ReleaseWord> release_words() { return words_by_release; }

std::vector<ReleaseWord> words_to_come(std::string_view framework, const Software& software) {
  const auto is_to_come = [&](const ReleaseWord& row) {
    return names(row.frameworks, framework) && !is_since(software, row.library, row.since, row.published);
  };
  return quantity::mapped_if(words_by_release, std::identity(), is_to_come);
}

const Unserved* find_unserved(Engine engine, std::string_view family) {
  return quantity::find_if_or_null(
      unserved, [&](const Unserved& row) { return row.engine == engine && names(row.families, family); });
}

}  // namespace llmcalc::frameworks
