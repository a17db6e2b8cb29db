// The question of a command line: its options, on top of what --from names.
#pragma once

#include "api/arguments.hpp"
#include "api/surroundings.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/llmcalc.hpp"
#include "read/presets.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

/// Where to look things up.
struct Sources {
  const Surroundings& around;
  const read::Catalogue& catalogue;
};

struct AskedQuestion {
  std::vector<read::Given> words;
  std::optional<read::ConfigText> config;
  dialects::Reading reading;  ///< of what --from names; empty without it

  /// "from axolotl.yaml: micro-batch 2 (axolotl.yaml:27), ...", and what was not read.
  std::vector<std::string> notes() const;
};

/// The question as a command to type, in the place of its answer.
Reply show_question(const AskedQuestion& asked, std::string_view verb);

/// The trace of requests that --requests names, whose figures become words; null without it.
std::shared_ptr<const std::vector<spec::Request>> take_trace(const Arguments& arguments, const Surroundings& around,
                                                             AskedQuestion& asked);

/// Whether the weights that were named are those of llama.cpp, which are served and never trained.
bool holds_gguf(const AskedQuestion& asked);

/// GGUF is served by llama.cpp where nobody names another engine.
void add_usual_engine(AskedQuestion& asked);

/// A question of training has no use for how a checkpoint is quantized.
void drop_words_of_servers(std::vector<read::Given>& words);

/// The words for a search of layouts: what it finds by itself (the accumulation of a file, its rank) is left out.
std::vector<read::Given> searched_words(const AskedQuestion& asked);

/// Behind the values of a question those of the terms that do not apply, without any, so that programs find the same
/// keys in every answer.
void add_absent(std::span<const read::Term> terms, std::vector<spec::Word>& echo);

/// The words of a command line that belong to the vocabulary of a run.
std::vector<read::Given> words_of(const Arguments& arguments);

/// The file that --config names.
std::optional<read::ConfigText> config_of(const std::vector<read::Given>& words, const Surroundings& around);

AskedQuestion asked_run(const Arguments& arguments, const Surroundings& around, const read::Catalogue& catalogue);
AskedQuestion asked_server(const Arguments& arguments, const Surroundings& around, const read::Catalogue& catalogue);
/// Where every word without an option is a thing to read.
AskedQuestion asked_things(const Arguments& arguments, const Surroundings& around, const read::Catalogue& catalogue);

}  // namespace llmcalc::api
