// What a question may need of the world: files that it names, models of the Hub, somebody who waits. Without
// them it has what ships and the texts that its caller hands over; the command line has the rest.
#pragma once

#include "api/arguments.hpp"
#include "dialects/reading.hpp"
#include "read/presets.hpp"
#include "search/plan.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

struct SearchOptions {
  bool is_quiet = false;        ///< nobody wants to see how far it is
  bool stops_at_first = false;  ///< whether anything fits is all that is asked
};

struct Searched {
  search::Findings findings;
  double share = 1.0;  ///< of the units; below 1 when somebody interrupted
};

/// Told from time to time which share of something long is done; false ends it with what there is so far.
using GoesOn = std::function<bool(double share)>;

/// How far a model's name is followed.
struct Lookup {
  bool offline = false;
  bool answers = true;  ///< false where the question is only shown: a name in a file stays one of the Hub
  bool is_quiet = false;
};

/// The kind of a reading that knows no more than a name of the Hub.
inline constexpr std::string_view hub_kind = "model of the Hub";

class Surroundings {
 public:
  /// \pre the argument outlives it
  explicit Surroundings(const Outside& outside) : outside_(outside) {}
  virtual ~Surroundings() = default;
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  /// The presets in force: those that ship, and those of --presets or of the user.
  virtual read::Catalogue catalogue(const Arguments& arguments) const;
  /// These presets with what --calibration says of the user's own runs; "none" says nothing of them.
  virtual read::Catalogue calibrated(const Arguments& arguments) const;

  /// The whole of a text file.
  /// \throws quantity::BadInput at `place` when it cannot be read
  virtual std::string text(const std::string& path, std::string_view place) const;
  /// The config.json that a word names; a folder stands for the one in it.
  virtual read::ConfigText config(const std::string& path) const;

  /// Whether a word can only be something to read, and no preset's name.
  virtual bool is_thing(const std::string& word) const;
  /// \throws quantity::BadInput when it is nothing that is known
  virtual dialects::Reading thing(const std::string& name, Lookup lookup) const;
  /// Puts the preset's name, or the configuration that was found, in the place of a name that is no preset's. Nothing
  /// is looked up where an option names the model.
  virtual void find_model(dialects::Reading& reading, const std::vector<read::Given>& options,
                          const read::Catalogue& catalogue, Lookup lookup) const;

  /// Whether an accelerator's name stands for those of this machine.
  static bool is_local(std::string_view name) { return name == "local" || name.starts_with("local:"); }
  /// Puts their presets and what is free of their memory in its place.
  /// \throws quantity::BadInput where there are none
  virtual void find_accelerators(dialects::Reading& reading, std::vector<read::Given>& words,
                                 const read::Catalogue& catalogue) const;

  /// Does something long, which whoever waits for it can follow and end.
  virtual void watch(const std::function<void(const GoesOn&)>& work, bool is_quiet) const;
  Searched search(const search::PlanSpace& space, const SearchOptions& options) const;

  /// Takes a long answer piece by piece as it comes about, in front of what the reply shows; empty: nobody does.
  std::function<void(std::string_view)> out = {};
  bool colours = false;   ///< unless --color says otherwise
  bool terminal = false;  ///< of its size and able to draw

 protected:
  /// A text that the caller hands over under the name of a file.
  std::optional<std::string> handed_over(const std::string& path) const;
  /// Whether the caller follows searches itself.
  bool is_watched() const { return outside_.progress != nullptr; }

 private:
  const Outside& outside_;
};

/// --color, and the surroundings where it leaves the choice to them.
bool wants_colour(const Arguments& arguments, const Surroundings& around);

}  // namespace llmcalc::api
