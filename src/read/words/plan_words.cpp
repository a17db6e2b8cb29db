#include "llmcalc/quantity/error.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"

#include <array>
#include <iterator>

namespace llmcalc::read {
namespace {

using spec::Question;
using spec::RunChoices;

/// How one of the values of a term becomes one of the choices.
struct ChoiceTerm {
  std::string_view name;
  void (*add)(spec::RunChoices& choices, const spec::Question& said);
};

template <auto values, auto... members>
void choose(RunChoices& choices, const Question& said) {
  (choices.*values).push_back((said.*....*members));
}

constexpr ChoiceTerm choice_terms[] = {
#include "vocabulary/choices.inc"
};

/// The name of the term that a given word names, or the word of a shorthand.
std::string_view canonical(std::string_view word) {
  const Term* term = find_term(word);
  return term == nullptr ? word : term->name;
}

/// "2,048": as the other verbs read it one number, whose groups are of three digits.
bool is_grouped_number(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma > 3) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool separates = i >= comma && (i - comma) % 4 == 0;
    if (separates ? text[i] != ',' : !quantity::is_digit(text[i])) return false;
  }
  return (text.size() - comma) % 4 == 0;
}

/// A list of numbers never holds 048. Where all groups could be numbers of their own, what is large as a rule is asked
/// back; numbers of accelerators and the like are lists.
void refuse_grouped_number(const Given& word) {
  const std::string_view text = quantity::trim(word.text);
  if (!is_grouped_number(text)) return;
  const bool has_leading_zero = text.find(",0") != std::string_view::npos;
  const bool is_large = word.term == "params" || canonical(word.term) == "seq";
  if (!has_leading_zero && !is_large) return;
  std::string number;
  std::string list;
  for (const char c : text) {
    if (c != ',') number += c;
    list.append(c == ',' ? ", " : std::string(1, c));
  }
  throw quantity::BadInput(word.origin.where, quantity::quoted(text) + " can be a number or a list",
                           number + ", or '" + list + "' for the list");
}

/// A word for each of the values. \throws quantity::BadInput where "2,048" could be a number or a list
std::vector<Given> parts_of(const Given& word) {
  refuse_grouped_number(word);
  const auto part = [&](const std::string& text) { return Given{word.term, text, word.origin}; };
  return quantity::mapped(split_list(word.text, word.origin.where), part);
}

using quantity::BadInput;

/// Terms of which several values make several runs to compare.
constexpr std::array<std::string_view, 12> varying_terms{"model",  "params",       "gpu",       "gpus",
                                                         "seq",    "global_batch", "dtype",     "framework",
                                                         "method", "optimizer",    "attention", "loss"};

/// Said of the layout as a whole, so they are set when the run has been resolved without one.
constexpr std::array<std::string_view, 4> late_terms{"global_batch", "first_stage_layers", "last_stage_layers",
                                                     "sharding_group"};

/// Each is searched by itself.
constexpr std::size_t most_runs = 10'000;

void apply(const Given& word, Question& question) {
  const Term* term = find_term(word.term);
  if (term != nullptr && term->apply != nullptr) term->apply(question, word.text, word.origin.where);
}

/// A plan finds these itself.
void refuse(const Given& word) {
  const auto name = canonical(word.term);
  if (name == "grad_accum") {
    throw BadInput(word.origin.where, "follows from the global batch, the replicas and the micro-batch",
                   "leave it out");
  }
  if (name == "eval_batch") throw BadInput(word.origin.where, "a plan is of training steps", "leave it out");
  if (name == "rank") throw BadInput(word.origin.where, "a plan goes by the worst rank", "leave it out");
}

/// Terms that one run assumes where a plan looks at all values.
bool is_about_choice(const spec::Assumption& assumption) {
  return is_choice(assumption.term) || assumption.term == "grad_accum";
}

bool types_are_said(const Words& words) {
  const auto has = [&](std::string_view knob) { return words.has(knob); };
  return std::ranges::any_of(std::array{"weights", "autocast", "grads", "master_weights", "optimizer_states"}, has);
}

/// A search compares layouts of one kind of states.
void follow_deepspeed(const spec::RunChoices& choices, const Words& words, Question& base) {
  const auto is_zero = [&](spec::Sharding s) { return frameworks::hands_to_deepspeed(base.training, s); };
  const auto zeros = std::ranges::count_if(choices.sharding, is_zero);
  if (zeros == 0) return;
  if (static_cast<std::size_t>(zeros) < choices.sharding.size()) {
    throw BadInput("--sharding", "ZeRO of transformers' trainers is DeepSpeed's, whose states are others",
                   "a plan of its own, or --framework deepspeed");
  }
  base.layout.sharding = choices.sharding.front();
  if (!types_are_said(words))
    base.training.precision = frameworks::precision_under(base.training, base.layout.sharding);
}

/// A search prices steps of full sequences.
void refuse_short_sequences(const Question& question) {
  const auto& data = question.pricing.data;
  const bool short_ones = data.sample_tokens && *data.sample_tokens < static_cast<double>(question.training.seq);
  if (!short_ones || data.packing) return;
  throw BadInput("--sample-tokens", "is less than --seq: a plan prices full sequences",
                 "--packing 1 fills them, a shorter --seq ends with them");
}

/// The way to recompute of which a word says more; empty where it says none.
std::optional<spec::RecomputePolicy> details_policy(const Given& word) {
  const auto name = canonical(word.term);
  if (name == "recompute_modules") return spec::RecomputePolicy::selective;
  if (name == "recompute_kept") return spec::RecomputePolicy::full;
  return std::nullopt;
}

/// \throws quantity::BadInput never: a part that has no such peak is no candidate
bool can_train(const spec::Accelerator& gpu) { return gpu.peaks.bf16 || gpu.peaks.fp16 || gpu.peaks.fp32; }

/// Megatron-LM reduces gradients behind the backward pass unless it is told to do it meanwhile, which the command that
/// a plan prints does.
void overlap_exchange(Question& question) {
  const bool is_core =
      frameworks::row_of(question.training.framework).engine == frameworks::TrainingEngine::megatron_core;
  if (is_core && !question.layout.data_overlap) question.layout.data_overlap = true;
}

spec::Assumption assumed_framework(spec::Framework framework) {
  const std::string_view why =
      framework == spec::Framework::generic
          ? "the textbook, which leaves out what frameworks add: name yours for a narrower error bar"
          : "which most use for such runs: name yours";
  return {std::string(why), "framework", std::string(frameworks::row_of(framework).words.front())};
}

class PlanReader {
 public:
  PlanReader(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue)
      : config_(config), catalogue_(catalogue) {
    for (const Given& word : given) {
      if (details_policy(word)) details_.push_back(word);
    }
    for (const Given& word : given) take(word);
    refuse_idle_details();
  }

  PlanWords read() && {
    add_bases();
    plan_.counts_accelerators = std::ranges::all_of(variants_, [](const std::vector<Given>& variant) {
      const Words words(variant);
      return words.has("gpus") || words.has("nodes");
    });
    plan_.choices.states_grads = Words(variants_.front()).has("grads");
    return std::move(plan_);
  }

 private:
  /// Details that somebody typed belong to one way to recompute; a file may hold them beside another.
  void refuse_idle_details() const {
    for (const Given& word : details_) {
      Question read;
      apply(word, read);
      const auto policy = *details_policy(word);
      const auto is_theirs = [&](const spec::Recompute& recompute) { return recompute.policy == policy; };
      if (word.origin.source != Source::flag || std::ranges::any_of(plan_.choices.recompute, is_theirs)) continue;
      const std::string name(spec::name_of(policy));
      throw BadInput(word.origin.where,
                     quantity::quoted(word.text) + " belongs to " + name + " recompute, which is not said",
                     "--recompute " + name);
    }
  }

  void take(const Given& word) {
    const auto name = canonical(word.term);
    const bool of_file = word.origin.source != Source::flag;
    if (name == "eval_batch" && of_file) return;  // which runs that trainer as well, between the steps
    refuse(word);
    if (details_policy(word)) return;
    if (name == "zero" || is_choice(name)) return add_choices(word);
    vary(name == "gpu"                             ? accelerators(word)
         : quantity::contains(varying_terms, name) ? parts_of(word)
                                                   : std::vector{word});
  }

  void add_choices(const Given& word) {
    for (const Given& part : parts_of(word)) {
      const Words spelled({part});
      chosen_.push_back(part);
      for (const ChoiceTerm& choice : choice_terms) {
        const Given* value = spelled.find(choice.name);
        if (value == nullptr) continue;
        Question said;
        apply(*value, said);
        for (const Given& detail : details_) {
          if (details_policy(detail) == said.training.recompute.policy) apply(detail, said);
        }
        choice.add(plan_.choices, said);
      }
    }
  }

  std::vector<Given> accelerators(const Given& word) {
    of_any_ = word.text == "any";
    if (!of_any_) return parts_of(word);
    return quantity::mapped_if(
        catalogue_.accelerators(),
        [&](const auto& preset) {
          return Given{word.term, preset.accelerator.id, word.origin};
        },
        [](const auto& preset) { return can_train(preset.accelerator); });
  }

  /// Words that tell a run from the others.
  std::vector<Given> varied(const std::vector<Given>& variant) const {
    std::vector<Given> told;
    std::ranges::copy_if(variant, std::back_inserter(told),
                         [&](const Given& word) { return quantity::contains(varied_, word.term); });
    return told;
  }

  /// Accelerators of all that there are on which nothing runs what was said are left out.
  void add_bases() {
    std::optional<BadInput> why;
    for (const auto& variant : variants_) try {
        plan_.bases.push_back(base_of(variant));
      } catch (const BadInput& error) {
        if (!of_any_) throw;
        if (!why) why = error;
        plan_.unable.push_back(varied(variant));
      }
    if (plan_.bases.empty() && why) throw *why;
  }

  /// Every run so far with each of the values.
  void vary(const std::vector<Given>& values) {
    if (values.size() > 1) varied_.push_back(values.front().term);
    if (values.size() * variants_.size() > most_runs) {
      throw BadInput(values.front().origin.where, "makes more than 10,000 runs to compare", "shorter lists");
    }
    std::vector<std::vector<Given>> all;
    for (const auto& variant : variants_) {
      for (const Given& value : values) {
        all.push_back(variant);
        all.back().push_back(value);
      }
    }
    variants_ = std::move(all);
  }

  /// A word of what the search may choose that the framework cannot have; nullptr: it can do all.
  const Given* impossible(const Question& base) const {
    for (const Given& part : chosen_) {
      Question said = base;
      const Words spelled({part});
      for (const ChoiceTerm& choice : choice_terms) {
        if (const Given* value = spelled.find(choice.name)) apply(*value, said);
      }
      if (!frameworks::unable_to(said.training.framework, said).empty()) return &part;
    }
    return nullptr;
  }

  /// A choice that the framework cannot make would leave the search without a word.
  void refuse_impossible(const Question& base) const {
    const Given* part = impossible(base);
    if (part == nullptr) return;
    throw BadInput(part->origin.where, quantity::quoted(part->text) + " is nothing that " +
                                           std::string(frameworks::row_of(base.training.framework).title) + " can do");
  }

  /// The first that can do what was said, or else the textbook, which can do everything.
  Given framework_of(const std::vector<Given>& words) const {
    Question question = resolved_question(words, config_, catalogue_);
    auto framework = spec::Framework::generic;
    const Words said(words);
    const bool on_several = (said.has("gpus") || said.has("nodes")) && question.layout.gpus > 1;
    for (const auto candidate : frameworks_of_search(question, on_several)) {
      question.training.framework = candidate;
      if (!frameworks::unable_to(candidate, question).empty() || impossible(question) != nullptr) continue;
      framework = candidate;
      break;
    }
    return {"framework", std::string(frameworks::row_of(framework).words.front()), {Source::default_value, "default"}};
  }

  PlanBase base_of(const std::vector<Given>& variant) const {
    PlanBase base;
    std::vector<Given> now;
    std::vector<Given> late;
    for (const Given& word : variant) {
      (quantity::contains(late_terms, canonical(word.term)) ? late : now).push_back(word);
    }
    base.varied = varied(variant);
    const bool is_unsaid = !Words(now).has("framework");
    if (is_unsaid) now.push_back(framework_of(now));
    base.resolved = resolve(now, config_, catalogue_);
    std::erase_if(base.resolved.assumptions, is_about_choice);
    if (is_unsaid) base.resolved.assumptions.push_back(assumed_framework(base.resolved.question.training.framework));
    Question& question = base.resolved.question;
    refuse_impossible(question);
    refuse_short_sequences(question);
    overlap_exchange(question);
    follow_deepspeed(plan_.choices, Words(now), question);
    question.training.global_batch = usual_batch(question);
    for (const Given& word : late) apply(word, question);
    if (!Words(late).has("global_batch")) {
      base.resolved.assumptions.push_back({{}, "global_batch", std::to_string(question.training.global_batch)});
    }
    return base;
  }

  const std::optional<ConfigText>& config_;
  const Catalogue& catalogue_;
  std::vector<Given> chosen_;                     ///< one for each value that the search may choose
  std::vector<Given> details_;                    ///< of recompute: modules of selective, kept results of full
  std::vector<std::vector<Given>> variants_{{}};  ///< the words of each run
  std::vector<std::string> varied_;               ///< terms that have several values
  bool of_any_ = false;                           ///< all accelerators that there are, and not those of a list
  PlanWords plan_;
};

}  // namespace

std::vector<std::string_view> names_of_choices() { return quantity::mapped(choice_terms, &ChoiceTerm::name); }

bool is_choice(std::string_view term) { return quantity::contains(choice_terms, canonical(term), &ChoiceTerm::name); }

PlanWords resolve_plan(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                       const Catalogue& catalogue) {
  return PlanReader(given, config, catalogue).read();
}

}  // namespace llmcalc::read
