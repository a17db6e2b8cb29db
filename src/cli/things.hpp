// What --from names: a file, a folder, a command, a model of the Hub, an address of the web. Bytes are read here; what
// they mean is read's.
#pragma once

#include "dialects/reading.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace llmcalc::cli {

struct HubEnvironment;

/// Whether a word can only be such a thing, and no preset's name.
bool is_thing(const std::string& word);

/// A file or folder that is there.
dialects::Reading read_path(const std::filesystem::path& path);

/// Whether a folder holds a configuration or weights.
bool holds_model(const std::filesystem::path& folder);

/// \throws quantity::BadInput when it is nothing that is known
dialects::Reading read_thing(const std::string& thing);

/// "https://…", "http://…", and a repository as git writes it.
bool is_address(std::string_view thing);

/// A launch file at an address, of GitHub and the Hub also by the page that shows it, or a model of the Hub by its
/// page. Files that it names are elsewhere and not asked for. \throws quantity::BadInput where it is neither, or cannot
/// be read
dialects::Reading read_address(const std::string& address, const HubEnvironment& hub);

/// A launch file or a configuration from elsewhere: what it names is there and not asked for.
dialects::Reading read_alone(std::string_view text, std::string_view name);

/// Files that a thing names, where they lie in its folder or below, or in one between that and the working directory.
dialects::FindFile files_below(const std::string& folder);

}  // namespace llmcalc::cli
