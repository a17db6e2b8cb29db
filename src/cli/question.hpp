// The question of a command line: its options, on top of what --from names.
#pragma once

#include "cli/arguments.hpp"
#include "cli/environment.hpp"
#include "cli/outcome.hpp"
#include "llmcalc/read/launch.hpp"
#include "llmcalc/read/presets.hpp"
#include "llmcalc/read/resolve.hpp"
#include "llmcalc/render/report.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

struct AskedQuestion {
  std::vector<read::Given> words;
  std::optional<read::ConfigText> config;
  read::Reading reading;  ///< of what --from names; empty without it

  /// "from axolotl.yaml: micro-batch 2 (axolotl.yaml:27), ...", and what was not read.
  std::vector<std::string> notes() const;
};

/// The question as a command to type, in the place of its answer.
Outcome show_question(const AskedQuestion& asked, std::string_view verb, bool json);

/// The words for a search of layouts: what it finds by itself (the accumulation of a file, its rank) is left out.
std::vector<read::Given> searched_words(const AskedQuestion& asked);

/// A value of the effective question in the words of the answer.
render::EchoLine echo_line(std::string term, std::string value, const read::Origin& origin);

AskedQuestion ask(const Arguments& arguments, const read::Catalogue& catalogue);

/// The same of a server.
AskedQuestion ask_server(const Arguments& arguments, const read::Catalogue& catalogue);

/// The same where every word without an option is a thing to read.
AskedQuestion ask_of_names(const Arguments& arguments, const read::Catalogue& catalogue);

}  // namespace llmcalc::cli
