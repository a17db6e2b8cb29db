// The verbs, written once: dispatch, help and the front door follow from the table; and the texts that people read of
// the program in the place of an answer.
#pragma once

#include "api/arguments.hpp"
#include "api/surroundings.hpp"
#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/llmcalc.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

struct Verb {
  std::string_view name;
  std::string_view usage;  ///< what follows the name
  std::string_view summary;
  std::vector<Flag> (*terms)();  ///< of its question, if it has any
  /// Reads the arguments, throws on bad ones, then asks the surroundings and answers.
  Reply (*ask)(const Arguments& arguments, const Surroundings& around);
  std::string_view formats;   ///< of its answer
  std::string_view usual;     ///< options that most questions need, apart by blanks; empty: all of them
  std::string_view examples;  ///< a line each
};

std::span<const Verb> verbs();

/// \throws quantity::BadInput with the nearest verb
const Verb& find_verb(std::string_view name);

/// A command line with short and customary options in full ("--format json" for "--json", "--quiet" for "-q"), and
/// under the verb that answers it: `plan --serve` is a word for what `serve --find layout` searches.
std::vector<std::string> spelled_out(std::span<const std::string> line);

/// Its options.
std::vector<Flag> own_flags(const Verb& verb);

/// Those, and the options of every verb.
std::vector<Flag> all_flags(const Verb& verb);

/// The verb's answer, and what changed since the answer that --baseline names.
Reply answer(const Verb& verb, const Arguments& arguments, const Surroundings& around);

/// The answer of `llmcalc::ask`, asked anywhere.
/// \throws quantity::BadInput naming the verb or the word that is wrong or missing
Reply ask(std::string_view verb, std::span<const Word> words, const Surroundings& around);

/// A script that asks for nothing but the verdict gets none without an accelerator.
/// \throws quantity::BadInput that says so
[[noreturn]] void refuse_no_verdict();

/// \throws quantity::BadInput at `place` with the nearest names
formats::Dtype find_dtype(std::string_view name, std::string_view place);

Reply ask_fit(const Arguments& arguments, const Surroundings& around);
Reply ask_serve(const Arguments& arguments, const Surroundings& around);
Reply ask_plan(const Arguments& arguments, const Surroundings& around);
Reply ask_from(const Arguments& arguments, const Surroundings& around);
Reply ask_scale(const Arguments& arguments, const Surroundings& around);
Reply ask_model(const Arguments& arguments, const Surroundings& around);
Reply ask_gpu(const Arguments& arguments, const Surroundings& around);
Reply ask_validate(const Arguments& arguments, const Surroundings& around);
Reply ask_dtype(const Arguments& arguments, const Surroundings& around);

std::vector<Flag> terms_of_scale();

/// `llmcalc`, `llmcalc -h`: the verbs.
std::string program_help();

/// `llmcalc VERB --help`: its options by group.
std::string verb_help(const Verb& verb, const std::vector<Flag>& flags);

/// Version or help, where a line asks for nothing else; nothing where it is a question.
/// \param words  as spelled_out() has them
/// \pre there is one
std::optional<std::string> told_of_program(std::span<const std::string> words);

}  // namespace llmcalc::api
