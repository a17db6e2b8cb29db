// The question of a command line: its options, on top of what --from names; and from words to everything that is said
// about one run or one server.
#pragma once

#include "api/arguments.hpp"
#include "api/surroundings.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "read/presets.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "render/answers.hpp"
#include "spec/proposed_accelerator.hpp"

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

  /// Warnings, led by the files that were named and not found: the answer is of something else.
  std::vector<std::string> with_missing(std::vector<std::string> said) const;
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

/// \throws quantity::BadInput naming the place of what is wrong or missing
Answer fit(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
           const read::Catalogue& catalogue, const read::Values& values = {});

struct ServeOptions {
  std::optional<serving::Find> find;
  bool layout = false;                                           ///< --find layout: the whole search
  bool table = false;                                            ///< the matrix of contexts and concurrencies
  std::shared_ptr<const std::vector<spec::Request>> trace = {};  ///< of --requests
};

/// \throws quantity::BadInput naming the place of what is wrong or missing
render::ServingReport serve(const std::vector<read::Given>& said, const std::optional<read::ConfigText>& config,
                            const read::Catalogue& catalogue, const ServeOptions& options = {});

/// Accelerators to propose in the place of one that is too small: parts of the same make with more memory, the smallest
/// first: of a card larger cards, and the data centre's that are rented at a known price.
std::vector<spec::ProposedAccelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                                   const read::Catalogue& catalogue);

/// One of each capacity that people have, the smallest first.
std::vector<spec::Accelerator> usual_cards(const read::Catalogue& catalogue);

}  // namespace llmcalc::api
