// A run as a dialect writes it: the rows of its table that are printed, the rules that write several keys at once, the
// command, and the files that it names.
#pragma once

#include "dialects/core/format.hpp"
#include "dialects/launch.hpp"
#include "frameworks/release.hpp"
#include "llmcalc/spec/question.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

/// How a program takes an option.
enum class Style {
  spaced,    ///< "--some_key value"
  assigned,  ///< "some_key=value", as OmegaConf takes it
  bare,      ///< "--some_key value", and a switch without a value
  dashed     ///< "--some-key value", "--switch", "--no-switch"
};

/// Keys with their values in the order in which they are written; a dot in a key is a level of YAML.
class Page {
 public:
  struct Entry {
    std::string key;
    std::string value;
  };

  void put(std::string_view key, std::string_view value) { entries_.push_back({std::string(key), std::string(value)}); }
  void put(std::string_view key, std::int64_t value) { put(key, std::to_string(value)); }
  void say(std::string_view key, bool yes) { put(key, yes ? "true" : "false"); }
  void rename(std::string_view key, std::string_view name);
  void remove(std::string_view key);
  bool is_empty() const { return entries_.empty(); }
  /// For a trainer that does not know these words yet: a key as it was called, or left out.
  void write_before(std::vector<frameworks::ReleaseWord> words) { to_come_ = std::move(words); }

  std::string yaml() const;
  std::string options(std::string command, Style style = Style::spaced) const;

 private:
  std::vector<Entry> known() const;

  std::vector<Entry> entries_;
  std::vector<frameworks::ReleaseWord> to_come_;
};

struct Letter {
  const spec::Question& question;
  const Format& format;
  std::string model;  ///< a hub id, or what stands for one
  Page settings{};    ///< the trainer's own
  Page accelerate{};  ///< the configuration of `accelerate launch`

  /// A term of the question as the vocabulary shows it.
  std::string text(std::string_view term) const;
};

/// Every row that is printed of the format's own table and of the one that others share with it, under its key.
void write_rows(Letter& letter);

/// How many processes a launcher starts on each node: "torchrun --nnodes 2 --nproc-per-node 8 program".
std::string torchrun(const spec::Layout& layout, std::string_view program);

/// The word of --dtype for weights, or for products beside fp32 weights: "bf16", "mixed-fp16".
std::string_view dtype_word(const spec::Question& question);

/// A file as a shell writes it: "cat > run.yaml <<END".
std::string file_text(std::string_view name, std::string_view text);

/// A command line that grows option by option, broken before it gets wide.
class CommandText {
 public:
  explicit CommandText(std::string start) : text_(std::move(start)), width_(text_.size() - (text_.rfind('\n') + 1)) {}

  void flag(std::string_view name) { add(std::string(name)); }
  void option(std::string_view name, std::int64_t value) { add(std::string(name) + " " + std::to_string(value)); }
  void word(std::string_view name, std::string_view value) { add(std::string(name) + " " + std::string(value)); }

  const std::string& text() const { return text_; }

 private:
  void add(const std::string& piece) {
    constexpr std::size_t widest = 80;
    const bool breaks = width_ + piece.size() + 3 > widest;
    text_ += breaks ? " \\\n  " : " ";
    width_ = piece.size() + (breaks ? 2 : width_ + 1);
    text_ += piece;
  }

  std::string text_;
  std::size_t width_;  ///< of the line that grows
};

}  // namespace llmcalc::dialects
