// A run as a dialect writes it: the rows of its table that are printed, the rules that write several keys at once, the
// command, and the files that it names.
#pragma once

#include "dialects/core/format.hpp"
#include "dialects/launch.hpp"
#include "llmcalc/spec/question.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// Keys with their values in the order in which they are written; a dot in a key is a level of YAML.
class Page {
 public:
  struct Entry {
    std::string key;
    std::string value;
  };

  void put(std::string_view key, std::string value) { entries_.push_back({std::string(key), std::move(value)}); }
  void put(std::string_view key, std::int64_t value) { put(key, std::to_string(value)); }
  void say(std::string_view key, bool yes) { put(key, std::string(yes ? "true" : "false")); }
  bool is_empty() const { return entries_.empty(); }

  std::string yaml() const;
  /// "--key value", or "key=value", behind the command. \param assigns  how OmegaConf takes them
  std::string options(std::string command, bool assigns = false) const;

 private:
  std::vector<Entry> entries_;
};

struct Letter {
  const spec::Question& question;
  Page settings{};    ///< the trainer's own
  Page accelerate{};  ///< the configuration of `accelerate launch`

  /// A term of the question as the vocabulary shows it.
  std::string text(std::string_view term) const;
};

/// Every row that is printed, under its key.
void write_rows(const Format& format, Letter& letter);

/// A file as a shell writes it: "cat > run.yaml <<END".
std::string file_text(std::string_view name, std::string_view text);

/// Reads the command as --from does. \return the options that it does not say or says otherwise, as typed
std::vector<std::string> untold(const spec::Question& question, const std::string& command);

}  // namespace llmcalc::dialects
