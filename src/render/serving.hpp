// The answer of `serve` in every form.
#pragma once

#include "llmcalc/render/report.hpp"
#include "search/server_plan.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

/// Everything a renderer may print about one server.
struct ServingReport {
  std::vector<spec::Word> question;
  serving::ServingAnswer answer;
  std::vector<serving::Candidate> advice;    ///< changes that make it fit, or fit more
  std::vector<serving::Candidate> found;     ///< what --find compared, the chosen one marked by `carries`
  std::vector<serving::CardAnswer> cards;    ///< where no accelerator was named
  std::vector<serving::CapacityCell> table;  ///< of --table
  std::optional<search::ServerPlans> plans;  ///< of --find layout
  std::string launch;                        ///< the command that starts this server
  std::vector<std::string> launch_notes;     ///< what to put in it, or do beside it, before it starts anything
  std::string launched_with;                 ///< the change that it makes, where the server as asked does not start
  std::int64_t servers = 1;                  ///< to start with it
  std::string prefill_launch;                ///< the command of those that read prompts for these
  std::int64_t prefill_servers = 0;          ///< to start with it
  std::vector<std::string> warnings;         ///< what the caller should look at
  std::vector<spec::Assumption> assumptions;
  std::string version;  ///< of the tool; JSON names it

  /// Before the command, which is another server's where the one that was asked does not start.
  std::string_view launch_label() const { return launched_with.empty() ? "start" : "so start"; }
};

std::string to_text(const ServingReport& report, const TextStyle& style);

/// One file for a browser: no script, nothing fetched.
std::string to_html(const ServingReport& report, const TextStyle& style);

/// One JSON object; schema in docs/llmcalc.schema.json.
std::string to_json(const ServingReport& report);

}  // namespace llmcalc::render
