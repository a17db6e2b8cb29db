// Sets of changes with which a run fits, the smallest set and the gentlest forms first.
#pragma once

#include "search/advice.hpp"
#include "search/inner/changes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace llmcalc::search {

/// A set of changes with which a run fits, and the run that its words ask for; who tells of it puts the words to it.
struct Solution : Advice {
  Restated run;
};

/// Which forms of the changes of a set are tried, where there are more than two of them.
enum class Forms {
  strongest,  ///< of all but the last the strongest, and gentler ones where those are enough
  every       ///< of those as well of which more may need more
};

class Combinations {
 public:
  /// \param takes_tight  whether a fit inside the error bar is a gain
  Combinations(const spec::Question& question, Larger larger, const Restate& restate, bool takes_tight, Probe& probe)
      : start_{{question, {}, {}, {}}, 0, true},
        larger_(larger),
        restate_(restate),
        takes_tight_(takes_tight),
        probe_(probe) {
    another_tight_.verdict = trust::VerdictKind::tight;
    made_.fill(start_);
    for (const Change& change : changes_) has_no_form_.push_back(change.steps(question, larger) == 0);
  }

  /// The smallest set that fits of those in which the change at `last` is the dearest, at most four together, and
  /// before it the smallest that is tight, if that is another. Every set is verified by a walk of the run as it is
  /// asked for.
  std::vector<Solution> with_last(std::size_t last, Forms forms);

 private:
  using Set = std::vector<const Change*>;
  static constexpr std::size_t most_together = 4;
  static constexpr std::size_t all_forms_up_to = 2;  ///< changes: more of them have too many forms to walk

  /// Changes to the run that was asked for, in order: their list determines what came of it, whatever set it was tried
  /// in. Sixteen bits a change: which of the table, from 1 on, and in which form.
  using Path = std::uint64_t;
  static constexpr int bits_of_change = 16;
  static constexpr int bits_of_step = 11;
  static_assert(most_together * bits_of_change <= 64);

  struct Made : Changed {
    Path path = 0;
    bool is_whole = false;  ///< what the path makes

    void become(const Made& run);
  };

  /// Number formats that follow from other words of an edited run, as accelerate's FSDP2 trains fp32 weights.
  struct Learned {
    spec::Framework framework;
    spec::Method method;
    spec::Sharding sharding;
    spec::Optimizer optimizer;
    spec::Precision edited_to;
    spec::Precision precision;

    bool is_of(const spec::Question& edited) const;
  };

  /// Verdict on a run that can be.
  struct Judged {
    Probed need;
    trust::VerdictKind verdict;
  };
  std::optional<Judged> judged(const spec::Question& question);
  std::optional<Judged> look(const spec::Question& edited);
  void learn(const spec::Question& edited, const spec::Question& restated);
  /// Whether it is worth advising.
  bool gains(const std::optional<Judged>& run) const;
  Path longer(Path path, const Change& change, std::size_t step) const;
  template <class Keep>
  Path kept_of(Path path, Keep keep) const;
  Path of_states(Path path) const;
  Path of_passes(Path path) const;
  bool is_too_much(const Made& run, const Change& last, std::size_t step) const;
  const Made* apply(const Made& run, const Change& change, std::size_t step, std::size_t depth);
  const Made* widened(const Change& last, std::size_t step);
  std::optional<trust::VerdictKind>& looked_at(const Made& run);
  const Solution* verify(const Made& run);
  const Solution* form(const Made& run, const Change& last, std::size_t step, std::size_t depth);
  bool is_hopeless(const Made& run, const Change& last, std::size_t depth);
  const Solution* first_form(const Made& run, const Change& last, std::size_t depth);
  const Solution* strong_forms(const Made& run, const Set& set, std::size_t at = 0);
  const Solution* relaxed(const Set& set, std::size_t at, const Made& run, trust::VerdictKind verdict);
  const Solution* of(const Made& start, const Set& set);
  const Solution* of(const Set& set);
  bool is_known(const Set& set) const;
  bool has_other_forms(const Set& set) const;
  bool take(const Set& set);
  bool extend(Set& set, std::size_t below, std::size_t missing, const Change& last);

  Made start_;
  std::array<Made, most_together> made_;  ///< the run after each change of the set that is tried
  Larger larger_;
  const Restate& restate_;
  bool takes_tight_;
  Probe& probe_;
  std::vector<Learned> learned_;
  std::deque<Made> wider_;               ///< what changes that make room make of the run that was asked for
  std::unordered_set<Path> impossible_;  ///< whose last change cannot be made
  std::unordered_map<Path, quantity::Bytes> resting_;  ///< the least that states need, by of_states()
  std::unordered_map<Path, quantity::Bytes> kept_;     ///< the least that passes keep, by of_passes()
  std::unordered_map<std::size_t, std::optional<trust::VerdictKind>> looked_;  ///< by words, as said() makes them one
  std::unordered_map<Path, Solution> verified_;
  Solution another_tight_;  ///< stands for those that are tight behind the one that is told
  Forms forms_ = Forms::strongest;
  std::span<const Change> changes_ = all_changes();
  std::vector<bool>
      has_no_form_;         ///< of the changes, those that nothing of the run asks for, whatever others make of it
  std::vector<Set> found_;  ///< what fits, of all that was handed out
  std::vector<Solution> told_;
};

}  // namespace llmcalc::search
