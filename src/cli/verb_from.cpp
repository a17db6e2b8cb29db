// llmcalc from THING...: what files and commands ask, as a command to type.
#include "cli/catalogue.hpp"
#include "cli/question.hpp"
#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>

namespace llmcalc::cli {

Outcome from(const Arguments& arguments, const Environment& environment) {
  const auto catalogue = open_catalogue(arguments, environment);
  AskedQuestion asked = ask_of_names(arguments, catalogue);
  const bool is_gguf = std::ranges::find(asked.words, "quant", &read::Given::term) != asked.words.end();
  // GGUF holds weights that are served, by llama.cpp where no file names another engine, and that nobody trains.
  if (is_gguf && !asked.reading.serves) {
    asked.words.push_back({"engine", "llama.cpp", {read::Source::default_value, asked.reading.kind}});
  }
  return show_question(asked, asked.reading.serves || is_gguf ? "serve" : "fit", wants_json(arguments));
}

}  // namespace llmcalc::cli
