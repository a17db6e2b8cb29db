#include "cli/streams.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "render/error.hpp"
#include "render/foreign.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace llmcalc::cli {
namespace {

void print_line(std::string_view kind, std::string_view message) {
  const std::string line =
      "llmcalc: " + std::string(kind) + ": " + render::shown(render::shortened(message), render::Medium::line) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

void print(const Outcome& outcome) {
  for (const auto& warning : outcome.warnings) print_line("warning", warning);
  for (const auto& note : outcome.notes) print_line("note", note);
  const auto written = std::fwrite(outcome.answer.data(), 1, outcome.answer.size(), stdout);
  const bool complete = written == outcome.answer.size() && std::fflush(stdout) == 0;
  if (!complete && errno != EPIPE) {
    throw quantity::BadInput("standard output", std::strerror(errno));
  }
}

void print_error(std::string_view message) { print_line("error", message); }

void print_error(const quantity::BadInput& error, std::span<const std::string> words) {
  print_error(error.what());
  const auto format = std::ranges::find(words, "--format");
  const bool apart = format != words.end() && std::next(format) != words.end() && *std::next(format) == "json";
  const bool joined = quantity::contains(words, "--format=json");
  const bool quiet = quantity::contains(words, "--quiet");
  if (quiet || (!apart && !joined)) return;
  const auto object = render::to_json(error, LLMCALC_VERSION);
  std::fwrite(object.data(), 1, object.size(), stdout);
}

}  // namespace llmcalc::cli
