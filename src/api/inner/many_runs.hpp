// Many questions in one call: accelerators between commas, the rows of a file, or a term at several values.
#pragma once

#include "api/asked.hpp"
#include "llmcalc/spec/question.hpp"
#include "render/answers.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

/// One question, and what tells it from the others.
struct NamedRun {
  std::string name;
  std::vector<read::Given> words;

  /// The file that describes the model: a row may name another than the command line does.
  std::optional<read::ConfigText> config(const AskedQuestion& asked, const Surroundings& around) const;
};

/// Questions that are made when they are asked.
struct ManyRuns {
  std::size_t count = 0;
  std::function<NamedRun()> next;  ///< asked so many times
};

/// Whether these words ask more than one question.
/// \param forms  of the answer that have a line for each, so that one question has such an answer too
bool asks_many(const Arguments& arguments, const std::vector<read::Given>& words,
               std::initializer_list<std::string_view> forms);

/// A question for each row of a file; what the command line says holds for all that do not say otherwise.
/// \throws quantity::BadInput for a file that cannot be read
ManyRuns runs_of_rows(const std::string& path, const std::vector<read::Given>& words, const Surroundings& around);

/// \param asked  what the words ask where nothing is varied
/// \throws quantity::BadInput for a file or a term that cannot be read
ManyRuns runs_of(const Arguments& arguments, const std::vector<read::Given>& words, const Surroundings& around,
                 const std::function<spec::Question()>& asked);

/// A line each; exit 2 where one has no answer, 1 where one does not fit. Where the surroundings take pieces, and the
/// form has them, lines are told as they come and not kept.
Reply answer_each(const Arguments& arguments, const ManyRuns& asked, const Surroundings& around,
                  const std::function<render::RunLine(const NamedRun&)>& answer);

}  // namespace llmcalc::api
