// What the Python package loads: the library's interface for other languages, asked on this machine with its files, the
// Hub's cache and the network, as the command line asks.
#include "api/c_door.hpp"
#include "cli/machine.hpp"

extern "C" LLMCALC_SHOWN int llmcalc_ask_here(const char* verb, const char* question, const llmcalc_outside* given,
                                              char** answer) {
  const auto outside = llmcalc::api::outside_of(given);
  // No terminal: who follows a search is told through `given`.
  const llmcalc::cli::Environment environment{.presets = llmcalc::cli::read_environment().presets};
  return llmcalc::api::answer_in_c(verb, question, llmcalc::cli::Machine(environment, outside), answer);
}
