// From the words of the command line to the outcome, and what of it goes to which stream.
#pragma once

#include "cli/machine.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

/// Text for each stream and the exit code.
struct Outcome {
  std::string answer;                      ///< stdout: the answer and nothing else
  std::vector<std::string> notes = {};     ///< stderr
  std::vector<std::string> warnings = {};  ///< stderr
  ExitCode code = ExitCode::fits;
};

/// Touches no stream.
/// \throws quantity::BadInput, quantity::Overflow when the question cannot be answered
Outcome run(std::span<const std::string> words, const Environment& environment);

/// A piece of an answer, on stdout.
/// \throws quantity::BadInput when stdout does not take it, unless nobody reads it any more
void print_piece(std::string_view text);

/// The answer alone on stdout, everything else on stderr.
/// \throws quantity::BadInput when stdout does not take the answer, unless nobody reads it any more
void print(const Outcome& outcome);

/// On stderr, and where the words ask for JSON an object on stdout, so that whoever parses it finds out why.
void print_error(const quantity::BadInput& error, std::span<const std::string> words);

// The program as a server of the Model Context Protocol on its standard streams: one JSON-RPC message a line. It speaks
// revision 2026-07-28, where each request carries its version, and 2025-11-25, which begins with `initialize`
// (modelcontextprotocol.io/specification; shapes as PyPI's mcp 2.3.0 checks them, mcp_types).

/// The answer to a message, in one line without its end; empty where nothing is to be said.
std::string mcp_answer(std::string_view message, const Environment& environment);

/// Answers until the input ends.
void serve_mcp(const Environment& environment);

/// The completions of a shell: "bash", "zsh" or "fish".
/// \throws quantity::BadInput for another
std::string completion(std::string_view shell);

/// A page for man: "llmcalc", "llmcalc-fit"; "list": the names of all pages, one a line.
/// \throws quantity::BadInput for another
std::string manual(std::string_view page);

}  // namespace llmcalc::cli
