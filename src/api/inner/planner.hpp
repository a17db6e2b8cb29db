// The command that answers, typed as it is printed, with a run that a search found.
#pragma once

#include "api/asked.hpp"
#include "api/surroundings.hpp"
#include "llmcalc/render/report.hpp"
#include "read/resolve.hpp"
#include "read/words.hpp"
#include "render/answers.hpp"
#include "search/plan.hpp"
#include "search/server_plan.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

/// Terms of a run that a search chooses, in the order of a report.
std::span<const std::string_view> chosen_terms();

/// Where the words of a command are looked up.
struct FitSource {
  const read::Catalogue& catalogue;
  const std::optional<read::ConfigText>& config;
  std::string presets;      ///< the folder that was named, if any
  std::string calibration;  ///< and the file
};

/// A plan's words as they were given.
struct AskedWords {
  const std::vector<read::Given>& words;
  FitSource source;
};

/// "llmcalc fit ..." with every word that the question needs to be resolved to itself again.
/// \param varied    of the words that hold several values, those of this run
/// \param question  the run
std::string fit_command(const AskedWords& asked, const std::vector<read::Given>& varied,
                        const spec::Question& question);

// The words behind `plan`, told apart into the question and how it is searched and shown.

/// The term that grows as long as any layout fits.
enum class Largest { nothing, seq, params };

struct PlanOptions {
  std::vector<read::Given> words;  ///< of the vocabulary
  std::string presets;             ///< the folder that was named, if any
  std::string calibration;         ///< and the file
  search::PlanQuestion asked;      ///< but for its bases and choices, which the words say
  Largest largest = Largest::nothing;
  std::vector<std::string> table;  ///< two terms, or none
  SearchOptions search;
  std::string_view format;  ///< of the answer
  render::TextStyle style;
};

/// "step-time", as on the command line.
std::string_view word_of(search::Objective objective);

// The searches behind one `plan`: which questions are asked, and in which order.

/// Words with one more, which replaces the words of its term.
std::vector<read::Given> with(std::vector<read::Given> words, const std::string& term, const std::string& text);

/// Numbers that are tried, but for those that are known to be too few.
struct Range {
  std::int64_t too_few;
  std::int64_t most;
};

/// Powers of two up to the first that is enough, then what lies between it and the one before: by whole machines, or by
/// a hundredth of them.
/// \param node  accelerators of a machine
std::optional<std::int64_t> fewest_enough(Range range, std::int64_t node,
                                          const std::function<bool(std::int64_t)>& is_enough);

/// The choices of a search that a command of the framework can start. Abilities of commands are asked once of runs
/// alike: they follow neither the accelerator nor how many there are, but that there are several.
class Startable {
 public:
  /// Leaves out layouts that no command of the run's framework could start.
  void narrow(search::PlanQuestion& question);

 private:
  struct Kind {
    spec::Framework framework;
    bool has_several;  ///< accelerators
    spec::Method method;
    std::vector<spec::Recompute> recomputes;  ///< that a search would try

    friend bool operator==(const Kind&, const Kind&) = default;
  };

  struct Known {
    Kind kind;
    std::vector<spec::Sharding> shardings;  ///< empty: all, and so of offloads
    std::vector<spec::Offload> offloads;
    std::vector<spec::Recompute> recomputes;
  };

  const Known& of(const spec::Question& base);

  std::vector<Known> known_;
};

class Planner {
 public:
  Planner(const PlanOptions& options, const Sources& sources, const std::optional<read::ConfigText>& config)
      : options_(options), sources_(sources), config_(config) {}

  /// The runs to compare. Where nobody says how many accelerators there are, the fewest of each type with which any
  /// layout is within the limits.
  read::PlanWords bases(const std::vector<read::Given>& words) const;

  search::PlanSpace space(const read::PlanWords& plan) const;

  /// The question that a command for one of the runs is checked against.
  FitSource source() const { return {sources_.catalogue, config_, options_.presets, options_.calibration}; }

  /// Whether any layout is within the limits.
  bool fits(const std::vector<read::Given>& words) const;

  /// The words with the largest value of --largest with which any layout is within the limits.
  std::vector<read::Given> grown(const std::vector<read::Given>& words) const;

 private:
  read::PlanWords resolve(const std::vector<read::Given>& words) const;
  read::PlanWords known_bases(const std::vector<read::Given>& words) const;
  /// Gives each run the fewest accelerators that are enough where nobody says how many; false where no number is.
  bool count(const std::vector<read::Given>& words, read::PlanWords& plan) const;
  void leave_out_unknown(read::PlanWords& plan) const;
  bool fits(const read::PlanWords& plan) const;
  /// The runs that some number of accelerators in so many machines is enough for, each with the fewest.
  std::vector<read::PlanBase> counted(const std::vector<read::Given>& words, const read::PlanWords& plan,
                                      std::int64_t machines) const;
  std::optional<std::int64_t> fewest(const std::vector<read::Given>& words, std::int64_t machines) const;
  bool fits_with(const std::vector<read::Given>& words, std::int64_t gpus) const;

  const PlanOptions& options_;
  const Sources& sources_;
  const std::optional<read::ConfigText>& config_;
  mutable Startable startable_;  ///< of the words' choices, which all searches share
};

// From what a search found to the report that is printed.

/// \param asked  the words as they were given, for the command that answers with the best run in full
render::PlanReport plan_report(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space,
                               const search::Findings& findings);

/// \param nearest  the best run without a limit that none keeps
void add_nearest(const AskedWords& asked, const read::PlanWords& plan, const search::PlanSpace& space,
                 const search::PlannedRun& nearest, render::PlanReport& report);

using AskServer = std::function<spec::Question(const std::vector<read::Given>&)>;

/// The best servers on one accelerator, or the best on each of several, most tokens for the money first; the words then
/// name the accelerator of the best one.
search::ServerPlans plan_servers(std::vector<read::Given>& words, const read::Catalogue& catalogue,
                                 const AskServer& asked);

}  // namespace llmcalc::api
