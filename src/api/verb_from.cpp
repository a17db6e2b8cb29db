// llmcalc from THING...: what files and commands ask, as a command to type.
#include "api/asked.hpp"
#include "api/verbs.hpp"

namespace llmcalc::api {

Reply ask_from(const Arguments& arguments, const Surroundings& around) {
  const auto catalogue = around.catalogue(arguments);
  AskedQuestion asked = asked_things(arguments, around, catalogue);
  const bool serves = asked.reading.serves || holds_gguf(asked);
  add_usual_engine(asked);
  if (!serves) drop_words_of_servers(asked.words);
  return show_question(asked, serves ? "serve" : "fit");
}

}  // namespace llmcalc::api
