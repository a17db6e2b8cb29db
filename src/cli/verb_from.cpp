// llmcalc from THING...: what files and commands ask, as a command to type.
#include "cli/catalogue.hpp"
#include "cli/question.hpp"
#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"

namespace llmcalc::cli {

Outcome from(const Arguments& arguments, const Environment& environment) {
  const auto catalogue = open_catalogue(arguments, environment);
  AskedQuestion asked = ask_of_names(arguments, catalogue);
  const bool serves = asked.reading.serves || holds_gguf(asked);
  add_usual_engine(asked);
  if (!serves) drop_words_of_servers(asked.words);
  return show_question(asked, serves ? "serve" : "fit", wants_json(arguments));
}

}  // namespace llmcalc::cli
