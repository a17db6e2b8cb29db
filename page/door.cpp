// What the page loads: the command line's words in, the command line's answers out. Its files are those that somebody
// dropped on it.
#include "api/c_door.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/checkpoint.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace {

using namespace llmcalc;

/// A file, or the beginning of one that holds weights.
struct Dropped {
  std::string head;
  std::uint64_t size = 0;
};

std::map<std::string, Dropped, std::less<>>& dropped() {
  static std::map<std::string, Dropped, std::less<>> files;
  return files;
}

const Outside& outside() {
  static const Outside files{.read = [](const std::string& name) -> std::optional<std::string> {
    const auto found = dropped().find(name);
    return found == dropped().end() ? std::nullopt : std::optional(found->second.head);
  }};
  return files;
}

/// A browser's page: what was dropped on it, and nothing else of the machine that shows it.
class Page : public api::Surroundings {
 public:
  Page() : Surroundings(outside()) {}

  dialects::Reading thing(const std::string& name, api::Lookup lookup) const override {
    const auto found = dropped().find(name);
    if (found == dropped().end()) return Surroundings::thing(name, lookup);
    const read::FileHead file{found->second.head, found->second.size};
    const bool is_gguf = read::is_gguf(file.bytes);
    if (!is_gguf && !read::is_safetensors(file)) return Surroundings::thing(name, lookup);
    auto found_in = is_gguf ? read::read_gguf(file, name) : read::read_safetensors(file, name);
    if (found_in.checkpoint) return dialects::weights_alone(*std::move(found_in.checkpoint), name);
    throw quantity::BadInput(name, "has a header that is longer than what a page reads of it");
  }
};

nlohmann::json shown(const api::Flag& flag) {
  return {{"name", flag.name}, {"values", flag.values}, {"help", flag.help}};
}

}  // namespace

extern "C" {

/// Answers a line, a JSON list of words, with the exit code; llmcalc_free takes the text back.
int page_ask(const char* line, char** answer) { return api::answer_line_in_c(line, Page(), answer); }

/// The options of a verb, for whoever picks them, as JSON that holds until the next.
const char* page_options(const char* verb) {
  static std::string list;
  list = nlohmann::json(quantity::mapped(api::all_flags(api::find_verb(verb)), shown)).dump();
  return list.c_str();
}

/// From now on a word of that name is this file.
void page_drop(const char* name, const char* head, std::size_t length, double size) {
  dropped()[name] = {std::string(head, length), static_cast<std::uint64_t>(size)};
}

}  // extern "C"
