// From the words that were given to the effective question, with the origin of every value, and back; and from the
// words of a plan to the runs that it compares.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "read/config.hpp"
#include "read/presets.hpp"
#include "read/words.hpp"
#include "spec/run_choices.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Values that a program has, where a person would name a preset or a file.
struct Values {
  std::optional<spec::Shape> shape;
  std::optional<spec::Accelerator> gpu;
};

/// At most one word a term, with the shorthands of hardware and sharding spelled out: "h100:8" is a gpu and gpus.
/// \throws quantity::BadInput for an unknown term, and for two words that set one term to different values
std::vector<Given> spelled_out(const std::vector<Given>& given);

/// The words with which a typed question says what it says: one for each member that was not left as constructed, but
/// for the shape and the accelerator, which are values.
std::vector<Given> words_of(const spec::Question& question);

struct Resolved {
  spec::Question question;
  std::vector<Given> echo;                       ///< every term of the vocabulary that applies, in its order
  std::vector<spec::Assumption> assumptions;     ///< what nobody said and the answer depends on
  std::optional<formats::Quant> published = {};  ///< in which the named model's weights are, where not in 16 bits
  std::vector<std::string> unread = {};          ///< keys of the model's file that nobody knows, with their places

  /// Warnings that the caller should look at before the answer: a key that nobody knows may be a size.
  std::vector<std::string> warnings() const;
};

/// Order of precedence: given words, config.json, preset, the framework's defaults, assumed shape of --params.
/// Shorthands (params, dtype, zero, gpu with a count) are expanded here.
/// \throws quantity::BadInput naming the place of what is wrong or missing
Resolved resolve(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue,
                 const Values& values = {});

/// The question of resolve() without the words that tell of it, for whoever asks many.
spec::Question resolved_question(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                                 const Catalogue& catalogue, const Values& values = {});

/// The question of a server: model, engine, load, layout and accelerator. Layout::dp are copies of the whole
/// deployment.
Resolved resolve_serving(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                         const Catalogue& catalogue, const Values& values = {});

/// Differences of one question from another: each term whose value differs, with the value of the first. A model's name
/// tells nothing, its shape does.
std::vector<Given> differences(const spec::Question& question, const spec::Question& other);

/// The words with others in the place of those of the same terms, behind the rest where there were none.
std::vector<Given> with_said(std::vector<Given> words, const std::vector<Given>& others);

/// Where words are looked up.
struct Sources {
  const std::optional<ConfigText>& config;
  const Catalogue& catalogue;
};

/// The shortest words that resolve() takes to the question: those of `base`, which are kept, and of the others each
/// without which something else would be asked.
/// \param base   the words of the model, and what else is to be said as it was said; of the question's own terms only
///               where they have its values
/// \param first  terms to say rather than others from which they follow
/// \throws quantity::BadInput where the base contradicts the question
std::vector<Given> say(const spec::Question& question, const std::vector<Given>& base,
                       std::span<const std::string_view> first, const Sources& sources);

/// A run of which the layout is open: no choice is made yet, but accelerators, global batch and the like are set.
struct PlanBase {
  std::vector<Given> varied;  ///< the words that tell it from the other runs
  Resolved resolved;
};

struct PlanWords {
  std::vector<PlanBase> bases;                  ///< one for each combination of the words that have several values
  spec::RunChoices choices;                     ///< --tp 1,2,4: what the search may choose
  bool counts_accelerators = false;             ///< somebody said how many there are
  std::vector<spec::Assumption> on_all = {};    ///< what is assumed of the runs together
  std::vector<std::vector<Given>> unable = {};  ///< what tells those from the others that no number of cards runs
};

/// A word may hold several values between commas; `--gpu any` stands for every accelerator that can carry the run.
/// \throws quantity::BadInput naming the place of what is wrong or missing
PlanWords resolve_plan(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                       const Catalogue& catalogue);

/// The terms that a search chooses: dp, tp, ..., in the order of its report.
std::vector<std::string_view> names_of_choices();

/// True for these.
bool is_choice(std::string_view term);

}  // namespace llmcalc::read
