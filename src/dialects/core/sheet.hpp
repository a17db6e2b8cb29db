// One file or command while it is being understood: its settings, and the words that they have become; and who reads
// one thing after the other, where they name each other: an axolotl file its DeepSpeed file, a command both.
#pragma once

#include "dialects/reading.hpp"
#include "read/settings.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

struct Format;

class Reader {
 public:
  explicit Reader(const FindFile& find, int depth = 0) : find_(find), depth_(depth) {}

  Reading file(std::string_view text, std::string_view place) const;
  Reading command(std::string_view text, std::string_view place) const;
  /// A command on machines that are said elsewhere.
  Reading command(std::string_view text, std::string_view place, const Settings& machines) const;
  /// A script with what stands around it: tasks of SkyPilot and dstack.
  std::optional<Reading> task(const Node& node, std::string_view place) const;
  /// Commands that the containers of a compose file or of manifests start; empty where that is nothing known.
  std::optional<Reading> containers(const Node& node, std::string_view place) const;

  /// The file of that name, if it may be read.
  std::optional<Reading> file_named(const std::string& path) const;

  /// Settings of a format that is known.
  Reading settings(const Format& format, const Settings& written, std::string_view place) const;

  /// On top of those of the file that `defaults` names, as NeMo-RL's files begin.
  Settings inherited(const Node& own, int depth) const;
  Reading pickled(std::string_view bytes, std::string_view place) const;

 private:
  const FindFile& find_;
  int depth_;  ///< how many files have named each other to get here
};

class Sheet {
 public:
  Sheet(const Settings& settings, Reading& reading, const Reader& reader)
      : settings_(settings), reading_(reading), reader_(reader) {}

  const Settings& settings() const { return settings_; }
  Reading& reading() { return reading_; }

  /// The first of the keys that is there, with a value.
  /// \throws quantity::BadInput where it hangs on a shell variable that nobody set
  const Setting* find(std::initializer_list<std::string_view> keys) const;
  const Setting* find(std::string_view key) const { return find({key}); }

  /// Whether it says yes; empty where it is not there or says neither, as "auto".
  std::optional<bool> truth(std::initializer_list<std::string_view> keys) const;
  std::optional<bool> truth(std::string_view key) const { return truth({key}); }
  bool is_bare(std::string_view key) const;
  /// A number or a share that is more than nothing.
  bool is_above_zero(std::string_view key) const;
  bool is_on(std::string_view key) const { return truth(key).value_or(false); }
  /// The setting of a switch that is on, whatever hangs on a variable behind it.
  const Setting& said(std::string_view key) const { return *settings_.find(key); }
  std::optional<std::int64_t> count(std::initializer_list<std::string_view> keys) const;
  std::optional<std::int64_t> count(std::string_view key) const { return count({key}); }
  /// The value in lower case; empty where it is not there.
  std::string text(std::initializer_list<std::string_view> keys) const;
  std::string text(std::string_view key) const { return text({key}); }

  /// A word of the question, from that setting; what was said of the term before is replaced.
  void say(std::string_view term, std::string_view text, const Setting& because);
  /// A guess from the name of a file that cannot be read: what another file says counts more.
  void guess(std::string_view term, std::string_view text, const Setting& because);
  /// The value of the first of the keys that is there. A value that hangs on a shell variable leaves the term open, for
  /// an option to say.
  void take(std::string_view term, std::initializer_list<std::string_view> keys);
  void take(std::string_view term, const Setting& setting);
  /// Leaves a term to an option, where the setting says too little of it.
  void leave_open(std::string_view term, std::string why, const Setting& because);
  /// Leaves a term open where one of the keys hangs on a variable of which the term is made; false where none does.
  bool leaves_open(std::string_view term, std::initializer_list<std::string_view> keys);
  /// A default of the format that the file leaves unsaid.
  void by_default(std::string_view term, std::string_view text, std::string_view whose);
  const Given* word(std::string_view term) const;
  bool has(std::string_view term) const { return word(term) != nullptr; }
  void unsay(std::string_view term);

  /// Reads the file that a setting names, whose words this sheet's own override. One that may not be read is an
  /// assumption, and false.
  bool include(const Setting& file);
  std::vector<Reading> take_included() { return std::exchange(included_, {}); }

  void assume(spec::Assumption assumption) const;
  void assume(std::string words) const { assume(spec::Assumption{.words = std::move(words)}); }
  /// "neftune_noise_alpha (axolotl.yaml:3): what". \param about  a term with which the question can say it
  void assume(const Setting& because, std::string_view what, std::string_view about = {});
  void assume_unread_options(const Setting& bare) const;  ///< those of the variable behind a switch

 private:
  /// A word in the place of what was said of its term.
  void put(Given word);

  const Settings& settings_;
  Reading& reading_;
  const Reader& reader_;
  std::vector<Reading> included_;
};

bool says_nothing(const Setting& setting);
/// "tp hangs on TP: nothing is executed to know it"
std::string what_it_hangs_on(const Setting& setting);

/// Beyond any machine: products of degrees stop here.
inline constexpr std::int64_t most_ranks = std::int64_t{1} << 31;

}  // namespace llmcalc::dialects
