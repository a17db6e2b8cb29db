// What --from names by an address of the web.
#pragma once

#include "cli/hub.hpp"

#include <string>
#include <string_view>

namespace llmcalc::cli {

/// "https://…", "http://…", and a repository as git writes it.
bool is_address(std::string_view thing);

/// A launch file at an address, of GitHub and the Hub also by the page that shows it, or a model of the Hub by its
/// page. Files that it names are elsewhere and not asked for. \throws quantity::BadInput where it is neither, or cannot
/// be read
dialects::Reading read_address(const std::string& address, const HubEnvironment& hub);

}  // namespace llmcalc::cli
