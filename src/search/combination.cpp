#include "search/inner/combination.hpp"

#include "frameworks/abilities.hpp"
#include "frameworks/layout_rules.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>

namespace llmcalc::search {

using trust::VerdictKind;

namespace {

/// Changes that spread a run over more ranks leave fewer to shard over, and what is offloaded passes through buffers.
bool more_may_need_more(ChangeKind kind) {
  return kind == ChangeKind::offload || kind == ChangeKind::tensor || kind == ChangeKind::pipeline ||
         kind == ChangeKind::experts;
}

/// Fingerprint of the words of a change, in whatever order they are.
std::size_t said(const Changed& run) {
  const std::hash<std::string_view> hash;
  std::size_t sum = 0;
  for (const spec::Word& word : run.terms) sum += hash(word.text) ^ (hash(word.term) << 1U);
  return sum;
}

}  // namespace

std::optional<Combinations::Judged> Combinations::judged(const spec::Question& question) {
  if (!frameworks::unable_to(question.training.framework, question).empty()) return std::nullopt;
  if (frameworks::broken_rule({question.model.shape, question.training, question.layout}) != nullptr)
    return std::nullopt;
  const auto need = probe_.need(question);
  if (!need) return std::nullopt;
  return Judged{*need, trust::judge(question, *need)};
}

bool Combinations::gains(const std::optional<Judged>& run) const {
  return run && (run->verdict == VerdictKind::fits || (run->verdict == VerdictKind::tight && takes_tight_));
}

Combinations::Path Combinations::longer(Path path, const Change& change, std::size_t step) const {
  const auto number = static_cast<Path>(&change - changes_.data()) + 1;
  return path << bits_of_change | number << bits_of_step | step;
}

/// Changes of a path as far as they matter to something, in whatever order they were made: \p keep returns what stays
/// of one, and 0 where nothing does.
template <class Keep>
Combinations::Path Combinations::kept_of(Path path, Keep keep) const {
  constexpr Path whole = (Path{1} << bits_of_change) - 1;
  std::array<Path, most_together> parts{};
  for (Path& part : parts) {
    const Path made = path & whole;
    if (made != 0) part = keep(changes_[(made >> bits_of_step) - 1], made);
    path >>= bits_of_change;
  }
  std::ranges::sort(parts);
  const auto behind = [](Path kept, Path part) { return kept << bits_of_change | part; };
  return std::accumulate(parts.begin(), parts.end(), Path{0}, behind);
}

/// The changes of a path after which other weights and states rest on the accelerator.
Combinations::Path Combinations::of_states(Path path) const {
  return kept_of(path, [](const Change& change, Path made) { return leaves_states(change.kind) ? 0 : made; });
}

/// The changes of a path after which passes keep something else. More ranks to shard over are not among them, however
/// many they are.
Combinations::Path Combinations::of_passes(Path path) const {
  return kept_of(path, [](const Change& change, Path made) {
    if (leaves_passes(change.kind)) return Path{0};
    return change.kind == ChangeKind::sharding && change.makes_room ? made >> bits_of_step << bits_of_step : made;
  });
}

/// Another run to the same question, of which changes touch the training, the layout and the accelerator alone: most of
/// the rest is text.
void Combinations::Made::become(const Made& run) {
  question.training = run.question.training;
  question.layout = run.question.layout;
  const auto& gpu = run.question.gpu;
  if (!gpu || !question.gpu || question.gpu->id != gpu->id) question.gpu = gpu;
  terms = run.terms;
  change = run.change;
  cost = run.cost;
  path = run.path;
  is_whole = true;
}

/// A change that cannot be made, as one to numbers too large to count, is none, and leaves the run as it was unless it
/// throws. What was made at a depth before makes room for this, and is not copied where it is the same run.
const Combinations::Made* Combinations::apply(const Made& run, const Change& change, std::size_t step,
                                              std::size_t depth) {
  const Path path = longer(run.path, change, step);
  if (impossible_.contains(path)) return nullptr;
  Made& made = made_[depth];
  if (made.is_whole && made.path == path) return &made;
  if (!made.is_whole || made.path != run.path) made.become(run);
  try {
    if (change.apply(made, larger_, step)) {
      made.path = path;
      return &made;
    }
  } catch (const std::exception&) {
    made.is_whole = false;
  }
  impossible_.insert(path);
  return nullptr;
}

/// Whether states alone are too much, or what passes keep alone, as another run showed that differs in none of it.
bool Combinations::is_too_much(const Made& run, const Change& last, std::size_t step) const {
  const bool moves = last.kind == ChangeKind::accelerator;
  const auto capacity = moves ? std::optional(larger_[step].memory_usable) : trust::capacity_of(run.question);
  const auto exceeds = [&](const std::unordered_map<Path, quantity::Bytes>& least, Path path) {
    const auto known = least.find(path);
    return known != least.end() && known->second > capacity;
  };
  const Path path = longer(run.path, last, step);
  return exceeds(resting_, of_states(path)) || exceeds(kept_, of_passes(path));
}

bool Combinations::Learned::is_of(const spec::Question& edited) const {
  const spec::Training& training = edited.training;
  return training.framework == framework && training.method == method && edited.layout.sharding == sharding &&
         training.optimizer == optimizer && training.precision == edited_to;
}

/// Judges an edited question with the number formats that one like it turned out to have.
std::optional<Combinations::Judged> Combinations::look(const spec::Question& edited) {
  const auto known = std::ranges::find_if(learned_, [&](const Learned& each) { return each.is_of(edited); });
  if (known == learned_.end()) return judged(edited);
  spec::Question question = edited;
  question.training.precision = known->precision;
  return judged(question);
}

void Combinations::learn(const spec::Question& edited, const spec::Question& restated) {
  const spec::Training& looked = edited.training;
  const spec::Training& asked = restated.training;
  const bool is_known = std::ranges::any_of(learned_, [&](const Learned& each) { return each.is_of(edited); });
  if (is_known || looked.precision == asked.precision || looked.framework != asked.framework) return;
  learned_.push_back(
      {looked.framework, looked.method, edited.layout.sharding, looked.optimizer, looked.precision, asked.precision});
}

/// The verdict of a quick look, where it gains something. The same words ask the same, in whatever order their changes
/// were made.
std::optional<VerdictKind>& Combinations::looked_at(const Made& run) {
  const auto [seen, is_new] = looked_.try_emplace(said(run));
  if (!is_new) return seen->second;
  if (const auto looked = look(run.question)) {
    resting_.insert_or_assign(of_states(run.path), looked->need.at_rest);
    kept_.insert_or_assign(of_passes(run.path), looked->need.kept);
    if (gains(looked)) seen->second = looked->verdict;
  }
  return seen->second;
}

/// The edited question is a quick look; what counts is the one that its words ask, where somebody is told of it.
const Solution* Combinations::verify(const Made& run) {
  const auto known = verified_.find(run.path);
  if (known != verified_.end()) return &known->second;
  auto& verdict = looked_at(run);
  if (!verdict) return nullptr;
  if (*verdict != VerdictKind::fits && !told_.empty()) return &another_tight_;
  auto restated = restate_(run.question, run.terms);
  const auto asked = restated ? judged(restated->question) : std::nullopt;
  if (restated) learn(run.question, restated->question);
  verdict = gains(asked) ? std::optional(asked->verdict) : std::nullopt;
  if (!verdict) return nullptr;
  Advice advice{{},
                run.change,
                run.cost,
                asked->need.accelerator,
                asked->verdict,
                trust::doubt_of(restated->question, asked->need)};
  return &verified_.emplace(run.path, Solution{std::move(advice), *std::move(restated)}).first->second;
}

const Solution* Combinations::form(const Made& run, const Change& last, std::size_t step, std::size_t depth) {
  if (is_too_much(run, last, step)) return nullptr;
  const Made* changed = apply(run, last, step, depth);
  return changed == nullptr ? nullptr : verify(*changed);
}

/// Shorter or fewer sequences never need more: where the fewest are not enough, no others are.
bool Combinations::is_hopeless(const Made& run, const Change& last, std::size_t depth) {
  if (last.kind != ChangeKind::sequence && last.kind != ChangeKind::micro_batch) return false;
  const auto steps = last.steps(run.question, larger_);
  const Solution* furthest = steps == 0 ? nullptr : form(run, last, steps - 1, depth);
  return furthest == nullptr || furthest == &another_tight_;
}

/// The last change is tried in every form: more of it need not need less.
const Solution* Combinations::first_form(const Made& run, const Change& last, std::size_t depth) {
  if (is_hopeless(run, last, depth)) return nullptr;
  const Solution* tight = nullptr;
  const auto steps = last.steps(run.question, larger_);
  for (std::size_t step = 0; step < steps; ++step) {
    const Solution* advice = form(run, last, step, depth);
    if (advice && advice->verdict == VerdictKind::fits) return advice;
    if (tight == nullptr) tight = advice;
  }
  return tight;
}

/// The changes of a set, each but the last one in the furthest form that applies.
const Solution* Combinations::strong_forms(const Made& run, const Set& set, std::size_t at) {
  if (at + 1 == set.size()) return first_form(run, *set.back(), at);
  const Change& change = *set[at];
  const Solution* tight = nullptr;
  for (std::size_t step = change.steps(run.question, larger_); step-- > 0;) {
    const Made* changed = apply(run, change, step, at);
    if (changed == nullptr) continue;
    const Solution* advice = strong_forms(*changed, set, at + 1);
    if (advice && advice->verdict == VerdictKind::fits) return advice;
    if (tight == nullptr) tight = advice;
    if (forms_ == Forms::strongest || !more_may_need_more(change.kind)) break;
  }
  return tight;
}

/// From the dearest of the others down, each is taken no further than it must go.
const Solution* Combinations::relaxed(const Set& set, std::size_t at, const Made& run, VerdictKind verdict) {
  if (at + 1 == set.size()) {
    const Solution* advice = first_form(run, *set.back(), at);
    return advice && advice->verdict == verdict ? advice : nullptr;
  }
  const auto steps = set[at]->steps(run.question, larger_);
  for (std::size_t step = 0; step < steps; ++step) {
    const Made* changed = apply(run, *set[at], step, at);
    if (changed == nullptr) continue;
    if (const Solution* advice = relaxed(set, at + 1, *changed, verdict)) return advice;
  }
  return nullptr;
}

/// Gentler forms of a tight set are not looked for where another tight one is told: only the first is.
const Solution* Combinations::of(const Made& start, const Set& set) {
  const Solution* advice = strong_forms(start, set);
  const bool is_told = advice && advice->verdict != VerdictKind::fits && !told_.empty();
  if (set.size() == 1 || is_told) return advice;
  if (!advice && set.size() > all_forms_up_to) return advice;
  const Solution* gentler = relaxed(set, 0, start, advice ? advice->verdict : VerdictKind::fits);
  return gentler ? gentler : advice;
}

/// Made once for all sets that begin with it.
const Combinations::Made* Combinations::widened(const Change& last, std::size_t step) {
  const Path path = longer(0, last, step);
  if (const Made* known = quantity::find_or_null(wider_, path, &Made::path)) return known;
  const Made* made = apply(start_, last, step, most_together - 1);
  return made == nullptr ? nullptr : &wider_.emplace_back(*made);
}

/// More accelerators come last where that is enough, and else before what spreads a run over them.
const Solution* Combinations::of(const Set& set) {
  const Solution* advice = of(start_, set);
  const Change& last = *set.back();
  if (!last.makes_room || set.size() == 1 || (advice && advice->verdict == VerdictKind::fits)) return advice;
  const Set others(set.begin(), set.end() - 1);
  const auto steps = last.steps(start_.question, larger_);
  for (std::size_t step = 0; step < steps; ++step) {
    const Made* wider = widened(last, step);
    if (wider == nullptr) continue;
    const Solution* found = of(*wider, others);
    if (found && (!advice || found->verdict == VerdictKind::fits)) return found;
  }
  return advice;
}

/// A set that holds one that is enough by itself tells nothing new.
bool Combinations::is_known(const Set& set) const {
  const auto is_used = [&](const Change* change) { return quantity::contains(set, change); };
  return std::ranges::any_of(found_, [&](const Set& known) { return std::ranges::all_of(known, is_used); });
}

/// Whether a set has forms that the strongest ones do not stand for.
bool Combinations::has_other_forms(const Set& set) const {
  return forms_ == Forms::strongest ||
         std::any_of(set.begin(), set.end() - 1, [](const Change* change) { return more_may_need_more(change->kind); });
}

/// The first set that fits ends the search; the first that is tight is told behind it.
bool Combinations::take(const Set& set) {
  if (is_known(set) || !has_other_forms(set)) return false;
  const Solution* advice = of(set);
  if (!advice) return false;
  const bool fits = advice->verdict == VerdictKind::fits;
  if (fits) found_.push_back(set);
  if (fits || told_.empty()) told_.insert(told_.begin(), *advice);
  return fits;
}

bool Combinations::extend(Set& set, std::size_t below, std::size_t missing, const Change& last) {
  if (missing == 0) {
    set.push_back(&last);
    const bool found = take(set);
    set.pop_back();
    return found;
  }
  for (std::size_t i = 0; i < below; ++i) {
    const Change& change = changes_[i];
    const bool clashes = has_no_form_[i] || change.kind == last.kind ||
                         std::ranges::any_of(set, [&](const Change* other) { return other->kind == change.kind; });
    if (clashes || (!set.empty() && set.back() >= &change)) continue;
    set.push_back(&change);
    const bool found = extend(set, below, missing - 1, last);
    set.pop_back();
    if (found) return true;
  }
  return false;
}

std::vector<Solution> Combinations::with_last(std::size_t last, Forms forms) {
  if (has_no_form_[last]) return {};
  forms_ = forms;
  told_.clear();
  Set set;
  for (std::size_t others = forms == Forms::every ? all_forms_up_to : 0; others < most_together; ++others) {
    if (extend(set, last, others, changes_[last])) break;
  }
  return std::exchange(told_, {});
}

}  // namespace llmcalc::search
