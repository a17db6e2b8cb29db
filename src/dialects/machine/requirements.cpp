// Packages of Python with their releases, as `pip freeze` and `pip list` print them and requirements.txt pins them (PEP
// 440, PEP 508; pip's "Requirements File Format").

#include "dialects/machine/texts.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// One line: a name, and what is said of its release.
struct Package {
  std::string name;      ///< in small letters, with '-' between words (PEP 503)
  std::string_view how;  ///< "==", ">=", "@"; empty: nothing is said
  std::string_view said;
  int line = 0;
};

/// Servers by the name of their package.
struct Server {
  std::string_view package;
  std::string_view engine;
};
constexpr Server servers[] = {{"vllm", "vllm"}, {"sglang", "sglang"}, {"tensorrt-llm", "trtllm"}};

bool is_of_name(char c) { return quantity::is_name_char(c) || c == '-' || c == '.'; }

std::string normal(std::string_view name) {
  std::string lower = quantity::to_lower(name);
  std::ranges::replace_if(
      lower, [](char c) { return c == '_' || c == '.'; }, '-');
  return lower;
}

std::string_view without_remark(std::string_view line) {
  line = quantity::trim(line);
  if (line.starts_with('#')) return {};
  line = line.substr(0, line.find(" #"));
  return quantity::trim(quantity::without_end(quantity::trim(line), "\\"));
}

constexpr std::string_view comparisons[] = {"===", "==", ">=", "<=", "~=", "!=", ">", "<", "@"};

/// "torch==2.4.0+cu121 ; python_version >= '3.9'", "vllm[audio]>=0.10", "trl @ git+https://...@v0.21.0"; empty for a
/// line that is none.
std::optional<Package> package_in(std::string_view line, int number) {
  const auto marker = line.find(';');
  line = quantity::trim(line.substr(0, marker));
  const auto end = std::find_if_not(line.begin(), line.end(), is_of_name);
  const auto name = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  if (name.empty() || !(quantity::is_letter(name[0]) || quantity::is_digit(name[0]))) return std::nullopt;
  auto rest = quantity::trim(line.substr(name.size()));
  if (rest.starts_with('[')) rest = quantity::trim(rest.substr(std::min(rest.find(']'), rest.size() - 1) + 1));
  rest = quantity::without_end(quantity::without_start(rest, "("), ")");
  Package package{normal(name), {}, {}, number};
  if (rest.empty()) return package;
  const auto* how = std::ranges::find_if(comparisons, [&](std::string_view each) { return rest.starts_with(each); });
  if (how == std::end(comparisons)) return std::nullopt;
  package.how = *how;
  package.said = quantity::trim(rest.substr(how->size()));
  package.said = package.said.substr(0, package.said.find(" --hash"));
  return package;
}

/// Options of pip and archives, which say nothing of a release here.
bool is_option(std::string_view line) {
  return line.starts_with('-') || line.starts_with("git+") || line.starts_with("https://");
}

/// `pip list`: two columns under a line of dashes.
std::optional<std::vector<Package>> listed(std::string_view text) {
  std::vector<Package> packages;
  bool begun = false;
  for (int number = 1; !text.empty(); ++number) {
    const auto words = words_of_line(quantity::trim(quantity::take_until(text, "\n")));
    const bool is_pair = words.size() >= 2;
    if (!begun && !(is_pair && words[0] == "Package" && words[1] == "Version") && number == 1) return std::nullopt;
    if (begun && is_pair && !words[0].starts_with('-')) packages.push_back({normal(words[0]), "==", words[1], number});
    begun = true;
  }
  return begun ? std::optional(std::move(packages)) : std::nullopt;
}

/// Every line is a package or an option, and one at least says a release.
std::optional<std::vector<Package>> required(std::string_view text) {
  std::vector<Package> packages;
  for (int number = 1; !text.empty(); ++number) {
    const auto line = without_remark(quantity::take_until(text, "\n"));
    if (line.empty() || is_option(line)) continue;
    auto package = package_in(line, number);
    if (!package) return std::nullopt;
    packages.push_back(*std::move(package));
  }
  const auto says = [](const Package& each) { return !each.how.empty(); };
  return std::ranges::any_of(packages, says) ? std::optional(std::move(packages)) : std::nullopt;
}

/// "4.46.3" of "==4.46.3", "==4.46.*" and "@ git+https://...@v4.46.3"; empty where one release is not said.
std::string release_of(const Package& package) {
  auto text = package.said;
  if (package.how == "@") {
    const auto tag = text.rfind("@v");
    if (tag == text.npos) return {};
    text = text.substr(tag + 2);
  } else if (!package.how.starts_with("==")) {
    return {};
  }
  text = quantity::without_end(text.substr(0, text.find_first_of("+,# ")), ".*");
  const bool plain = !text.empty() && quantity::is_digit(text[0]) && std::ranges::all_of(text, is_of_name);
  return plain ? std::string(text) : std::string();
}

void take_servers(const std::vector<Package>& packages, std::string_view place, Reading& reading) {
  std::vector<std::pair<const Server*, const Package*>> found;
  for (const Package& package : packages) {
    const auto* server = quantity::find_or_null(servers, package.name, &Server::package);
    if (server != nullptr && !release_of(package).empty()) found.emplace_back(server, &package);
  }
  const auto where = [&](const Package& package) { return fmt::format("{}:{}", place, package.line); };
  if (found.size() > 1) {
    reading.assumptions.push_back(
        {fmt::format("{} ({}) and {} ({}) are both there: --engine says which serves", found[0].second->name,
                     where(*found[0].second), found[1].second->name, where(*found[1].second)),
         "engine"});
  }
  if (found.size() != 1) return;
  const auto& [server, package] = found.front();
  reading.words.push_back({"engine", std::string(server->engine), {Source::file, where(*package)}});
  reading.words.push_back({"engine_version", release_of(*package), {Source::file, where(*package)}});
}

bool is_known(const Package& package) {
  return read::is_library(package.name) || quantity::find_or_null(servers, package.name, &Server::package) != nullptr;
}

}  // namespace

std::optional<Reading> read_requirements(std::string_view text, std::string_view place) {
  auto packages = listed(text);
  if (!packages) packages = required(text);
  if (!packages) return std::nullopt;
  Reading reading;
  reading.kind = "releases of packages";
  reading.place = place;
  std::string releases;
  std::string where;
  for (const Package& package : *packages) {
    if (!is_known(package)) continue;
    const std::string release = release_of(package);
    if (release.empty()) {
      reading.assumptions.push_back({fmt::format("{}{}{} ({}:{}) says no one release: the newest that is known",
                                                 package.name, package.how, package.said, place, package.line)});
    } else if (read::is_library(package.name)) {
      if (where.empty()) where = fmt::format("{}:{}", place, package.line);
      releases += fmt::format("{}{} {}", releases.empty() ? "" : ", ", package.name, release);
    }
  }
  if (!releases.empty()) reading.words.push_back({"framework_version", releases, {Source::file, where}});
  take_servers(*packages, place, reading);
  if (reading.words.empty() && reading.assumptions.empty()) {
    throw quantity::BadInput(std::string(place), "names no package whose releases are known",
                             "known are those of transformers, torch, trl, peft, vllm, sglang and their kin");
  }
  return reading;
}

}  // namespace llmcalc::dialects
