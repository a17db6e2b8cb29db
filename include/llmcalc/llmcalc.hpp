// llmcalc as a library: ask whether a run fits, where it peaks, how long it takes and what it costs.
//
//   const auto answer = llmcalc::ask({{"model", "llama-3-8b"}, {"method", "lora"}, {"gpu", "rtx-4090"}});
//   if (answer.fits()) use(answer.estimate.compute.step);
//
// Everything here is pure: no files, no environment, no clock, and safe to call from several threads at once.
#pragma once

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/render/report.hpp"
#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/word.hpp"

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc {

/// {"micro-batch", "4"}; who asks leaves its origin as it is.
using spec::Word;

/// Everything that is said about one run: the question as it was completed, each value with its origin; estimate,
/// advice or headroom, assumptions.
struct Answer : render::Report {
  spec::Question completed;

  /// Within the capacity by the likely figure; false without an accelerator.
  bool fits() const;
};

/// Answers as `llmcalc fit` does.
/// \throws quantity::BadInput naming the term that is wrong or missing
Answer ask(std::span<const Word> words);
Answer ask(std::initializer_list<Word> words);

/// The answer to a question of typed values: a member that was left as constructed is completed by the defaults that
/// also complete words, and everything is checked. `question.model.shape` is the model, `question.gpu` the accelerator.
/// \throws quantity::BadInput
Answer ask(const spec::Question& question);

/// The answer of `llmcalc fit --format json` (docs/json.md).
std::string to_json(const Answer& answer);

/// Things that a question may need from outside: the library itself opens nothing. Both may be left empty.
struct Outside {
  /// The text of a file that a word names (a config.json, a trainer's configuration, measured rows); nothing where
  /// there is none.
  std::function<std::optional<std::string>(const std::string& path)> read = {};
  /// Told from time to time which share of a search is done; false ends it with what was found so far.
  std::function<bool(double share)> progress = {};
};

/// Those of grep and diff.
enum class ExitCode { fits = 0, does_not_fit = 1, bad_question = 2 };

/// A file of a launch: the script, and what it names.
struct LaunchFile {
  std::string name;
  std::string text;
};

/// The answer of a verb of the command line.
struct Reply {
  /// The answer in one of the verb's forms: "text", "json", and "csv" or "markdown" where it has them.
  std::function<std::string(std::string_view form)> show = {};
  std::vector<std::string> notes = {};     ///< what was read, for people
  std::vector<std::string> warnings = {};  ///< also in the JSON
  ExitCode code = ExitCode::fits;
  std::vector<LaunchFile> files = {};  ///< of `plan`: what starts the best; `--write` puts them into a folder
};

/// Answers as the command line does: "fit", "serve", "plan", "scale", "from", "validate", "dtype", "model" or "gpu". A
/// name that belongs to no option is a word without a term: ask("gpu", {{"", "show"}, {"", "h100-sxm"}}).
/// \throws quantity::BadInput naming the verb or the word that is wrong or missing
Reply ask(std::string_view verb, std::span<const Word> words, const Outside& outside = {});
Reply ask(std::string_view verb, std::initializer_list<Word> words, const Outside& outside = {});

std::string to_json(const Reply& reply);
std::string to_text(const Reply& reply);

/// A preset as a value, to be changed and asked about.
/// \throws quantity::BadInput with the nearest names
spec::Shape model_preset(std::string_view name);
spec::Accelerator gpu_preset(std::string_view name);

/// "0.1.0"
std::string_view version();

}  // namespace llmcalc
