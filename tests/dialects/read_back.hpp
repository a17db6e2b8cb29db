// A launch that was printed, as a question again.
#pragma once

#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/spec/question.hpp"
#include "read/resolve.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmcalc::test {

/// The command as it is typed, on the accelerator and with the model that it leaves to its place.
inline spec::Question read_back(std::string command, const spec::Question& asked) {
  constexpr std::string_view data = "$DATA";  // a data set that is named, as nothing is executed to know it
  if (const auto at = command.find(data); at != std::string::npos) command.replace(at, data.size(), "data");
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  const auto reading = dialects::read_launch_command(command, "command", nothing);
  CHECK(reading.unread.empty());
  std::vector<read::Given> beside;
  const auto vocabulary = std::to_string(asked.model.shape.vocab);  // a tokenizer is named instead
  for (const auto& [term, text] :
       {std::pair{"model", asked.model.shape.name}, std::pair{"gpu", asked.gpu->id}, std::pair{"vocab", vocabulary}}) {
    beside.push_back({term, text, {read::Source::flag, std::string("--") + term}});
  }
  const read::Values values{asked.model.shape, asked.gpu};
  return read::resolve(with_options(reading, beside), std::nullopt, read::Catalogue(), values).question;
}

}  // namespace llmcalc::test
