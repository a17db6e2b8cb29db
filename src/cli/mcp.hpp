// The program as a server of the Model Context Protocol on its standard streams: one JSON-RPC message a line. It speaks
// revision 2026-07-28, where each request carries its version, and 2025-11-25, which begins with `initialize`
// (modelcontextprotocol.io/specification; shapes as PyPI's mcp 2.3.0 checks them, mcp_types).
#pragma once

#include "cli/environment.hpp"

#include <string>
#include <string_view>

namespace llmcalc::cli {

/// What a message is answered with, in one line without its end; empty where nothing is to be said.
std::string mcp_answer(std::string_view message, const Environment& environment);

/// Answers until the input ends.
void serve_mcp(const Environment& environment);

}  // namespace llmcalc::cli
