#include "cli/run.hpp"

#include "api/verbs.hpp"
#include "cli/files.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/understood.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace llmcalc::cli {

using api::Arguments;
using api::find_verb;
using api::Verb;

namespace {

/// --write, which the machine does and the library does not.
void write_launch(const Arguments& arguments, const Reply& reply) {
  const std::string* folder = arguments.find("write");
  if (folder == nullptr && arguments.has("force")) {
    throw quantity::BadInput("--force", "is said of --write, which is not there", "--write DIR");
  }
  if (folder == nullptr) return;
  if (reply.files.empty()) {
    throw quantity::BadInput("--write", "there is no launch to write: no command of the framework starts the best run",
                             "leave it out to see why, or name a --framework");
  }
  write_files(*folder, reply.files, arguments.has("force"), "--write");
}

Outcome run_verb(const Verb& verb, std::span<const std::string> words, const Environment& environment) {
  const auto flags = all_flags(verb);
  const Arguments arguments(flags, api::words_of_line(flags, words));
  const Machine machine(environment);
  api::wants_colour(arguments, machine);  // a wrong --color is one under verbs without colours too
  const auto form = arguments.choice("format");
  Reply reply = api::answer(verb, arguments, machine);
  write_launch(arguments, reply);
  if (arguments.has("quiet")) return {.answer = {}, .code = reply.code};
  Outcome outcome{.answer = reply.show(form), .code = reply.code};
  if (form == "json" && !arguments.has("baseline"))
    return outcome;  // which carries its warnings inside; people find them on stderr
  outcome.notes = std::move(reply.notes);
  outcome.warnings = std::move(reply.warnings);
  return outcome;
}

std::string completion_of(std::span<const std::string> names, const Environment&) {
  return completion(names.empty() ? std::string_view() : names.front());
}

std::string manual_of(std::span<const std::string> names, const Environment&) {
  return manual(names.empty() ? "llmcalc" : names.front());
}

std::string mcp_of(std::span<const std::string> names, const Environment& environment) {
  if (!names.empty()) throw quantity::BadInput("mcp", "takes no words", "it is asked on standard input, by an agent");
  serve_mcp(environment);
  return {};
}

/// A word in the place of a verb, of the program rather than of a question.
struct OwnWord {
  std::string_view name;
  std::string (*answer)(std::span<const std::string> names, const Environment& environment);
};
constexpr OwnWord own_words[] = {{"completion", completion_of}, {"man", manual_of}, {"mcp", mcp_of}};

void print_line(std::string_view kind, std::string_view message) {
  const std::string line =
      "llmcalc: " + std::string(kind) + ": " + render::shown(render::shortened(message), render::Medium::line) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void refuse_unwritten(bool complete) {
  if (!complete && errno != EPIPE) throw quantity::BadInput("standard output", std::strerror(errno));
}

}  // namespace

Outcome run(std::span<const std::string> typed, const Environment& environment) {
  const auto all = api::spelled_out(typed);
  const std::span<const std::string> words(all);
  if (words.empty()) return {.answer = api::program_help(), .code = ExitCode::bad_question};  // no question, no answer
  if (auto told = api::told_of_program(words)) return {.answer = *std::move(told)};
  if (const auto* own = quantity::find_or_null(own_words, words.front(), &OwnWord::name)) {
    return {.answer = own->answer(words.subspan(1), environment)};
  }
  return run_verb(find_verb(words.front()), words.subspan(1), environment);
}

void print_piece(std::string_view text) {
  refuse_unwritten(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void print(const Outcome& outcome) {
  for (const auto& warning : outcome.warnings) print_line("warning", warning);
  for (const auto& note : outcome.notes) print_line("note", note);
  print_piece(outcome.answer);
  refuse_unwritten(std::fflush(stdout) == 0);
}

void print_error(const quantity::BadInput& error, std::span<const std::string> words) {
  print_line("error", error.what());
  const auto format = std::ranges::find(words, "--format");
  const bool apart = format != words.end() && std::next(format) != words.end() && *std::next(format) == "json";
  const bool joined = quantity::contains(words, "--format=json");
  const bool quiet = quantity::contains(words, "--quiet");
  if (quiet || (!apart && !joined)) return;
  const auto object = render::to_json(error, LLMCALC_VERSION);
  std::fwrite(object.data(), 1, object.size(), stdout);
}

}  // namespace llmcalc::cli
