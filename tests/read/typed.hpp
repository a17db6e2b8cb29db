// What a command line of words resolves to.
#pragma once

#include "catch.hpp"
#include "frameworks/table.hpp"
#include "read/resolve.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// "--seq 8k --gpu h100-sxm:8" as words; a flag that stands twice counts the last time.
inline std::vector<read::Given> words(std::string_view line, read::Source source = read::Source::flag) {
  std::vector<read::Given> given;
  while (!line.empty()) {
    const auto end = std::min(line.find(" --"), line.size());
    const std::string flag(line.substr(0, line.find(' ')));
    const auto text = line.substr(flag.size() + 1, end - flag.size() - 1);
    std::string term = flag.substr(2);
    std::ranges::replace(term, '-', '_');
    std::erase_if(given, [&](const auto& word) { return word.term == term; });
    given.push_back({term, std::string(text), {source, flag}});
    line.remove_prefix(end == line.size() ? end : end + 1);
  }
  return given;
}

/// What the words of a line are completed to. They are the textbook's unless they name a framework, and where that asks
/// for the batch of a step it is one micro-batch unless they say another.
inline read::Resolved ask(std::string_view line, const read::Catalogue& catalogue = {}) {
  auto given = words(line);
  const auto find = [&](std::string_view term) { return std::ranges::find(given, term, &read::Given::term); };
  if (find("framework") == given.end()) given.push_back({"framework", "generic", {read::Source::flag, "--framework"}});
  const auto* framework = spec::find_name<spec::Framework>(find("framework")->text);
  const bool asks = framework != nullptr && frameworks::row_of(framework->value).asks_for_batch;
  const bool is_said = find("global_batch") != given.end() || find("grad_accum") != given.end();
  if (asks && !is_said) given.push_back({"grad_accum", "1", {read::Source::flag, "--grad-accum"}});
  return read::resolve(given, std::nullopt, catalogue);
}

/// What is echoed of a term.
inline read::Given echoed(const read::Resolved& resolved, std::string_view term) {
  const auto found = std::ranges::find(resolved.echo, term, &read::Given::term);
  REQUIRE(found != resolved.echo.end());
  return *found;
}

}  // namespace llmcalc::test
