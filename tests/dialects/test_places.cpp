// What a reading says of where it found something: no word and no unread key comes from a line that is empty, or from a
// member that is not there.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>

namespace llmcalc::places {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The reading of a text that stands in the place of a file, beside the others of its folder; nothing where it is
/// refused.
std::optional<dialects::Reading> read_as(const fs::path& path, const std::string& text) {
  const dialects::FindFile beside = [&](const std::string& name) -> std::optional<dialects::NamedFile> {
    const fs::path other = path.parent_path() / name;
    if (!fs::is_regular_file(other)) return std::nullopt;
    return dialects::NamedFile{name, text_of(other)};
  };
  try {
    return dialects::read_launch_file(text, path.filename().string(), beside);
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

/// Lines "7" and members "/optimizer/type" of the file that a reading points to.
std::set<std::string> places_in(const dialects::Reading& reading, const std::string& name) {
  std::set<std::string> places;
  const auto add = [&](const std::string& where) {
    const auto at = where.find(name + ":");
    if (at == where.npos) return;
    const auto begin = at + name.size() + 1;
    const bool is_member = where.substr(begin).starts_with('/');
    const auto end = is_member ? where.find_first_of(" ),", begin) : where.find_first_not_of("0123456789", begin);
    if (end != begin) places.insert(where.substr(begin, end - begin));
  };
  for (const auto& word : reading.words) add(word.origin.where);
  for (const auto& word : reading.open) add(word.origin.where);
  for (const auto& key : reading.unread) add(key);
  return places;
}

/// The text with nothing at this place; empty where it has no such place.
std::string without(const std::string& text, const std::string& place) {
  if (place.starts_with('/')) {
    auto all = nlohmann::json::parse(text, nullptr, false, true);
    const nlohmann::json::json_pointer member(place);
    if (all.is_discarded() || !all.contains(member)) return {};
    auto& parent = all[member.parent_pointer()];
    if (parent.is_object()) parent.erase(member.back());
    if (parent.is_array()) parent.erase(std::stoul(member.back()));
    return all.dump();
  }
  std::size_t begin = 0;
  for (auto left = std::stoul(place); left > 1 && begin != text.npos; --left) {
    begin = text.find('\n', begin);
    if (begin != text.npos) ++begin;
  }
  if (begin == text.npos || begin >= text.size()) return {};
  const auto end = std::min(text.find('\n', begin), text.size());
  return text.substr(0, begin) + text.substr(end);
}

}  // namespace

TEST_CASE("what is said to stand at a place of a file is gone with what stands there") {
  std::size_t asked = 0;
  for (const auto& entry : fs::recursive_directory_iterator(LLMCALC_TEST_DATA "/golden")) {
    const auto& path = entry.path();
    const std::string name = path.filename().string();
    const bool is_input = path.parent_path().filename().string().starts_with("from-") && path.has_extension() &&
                          path.extension() != ".bin";
    if (!is_input || !entry.is_regular_file() || entry.file_size() > 20'000) continue;
    const auto text = text_of(path);
    const auto reading = read_as(path, text);
    if (!reading) continue;
    for (const auto& word : reading->words) {
      CAPTURE(path.parent_path().filename().string(), name, word.term, word.origin.where);
      const auto& where = word.origin.where;
      const bool is_placed = where.find(':') != where.npos || where.ends_with(" default");
      CHECK((word.origin.source != spec::Source::file || is_placed));
    }
    for (const auto& place : places_in(*reading, name)) {
      CAPTURE(path.parent_path().filename().string(), name, place);
      const auto rest = without(text, place);
      CHECK_FALSE(rest.empty());
      const auto again = read_as(path, rest);
      // Variables of a model of llama-swap stand before its command, wherever the file has them.
      const bool is_moved = path.parent_path().filename() == "from-llama-swap" && place == "13";
      if (again && !is_moved) CHECK_FALSE(places_in(*again, name).contains(place));
      ++asked;
    }
  }
  CHECK(asked > 600);
}

}  // namespace llmcalc::places
