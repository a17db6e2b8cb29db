#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"
#include "read/words/draft_steps.hpp"
#include "read/words/software.hpp"
#include "read/words/terms.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

/// Defaults that hardly move an answer, or that everybody has.
bool goes_without_saying(std::string_view term, std::string_view value) {
  return term == "attention" || term == "optimizer_impl" || (term == "sharding" && value == "ddp") ||
         (term == "recompute" && value == "none");
}

}  // namespace

bool take_default(QuestionDraft& draft, std::string_view term) {
  if (draft.given(term)) return false;
  const frameworks::Default* found = frameworks::default_of(draft.question, term);
  const Term* row = find_term(term);
  if (found == nullptr || row == nullptr) return false;
  row->apply(draft.question, found->value, found->source);
  const std::string how = std::string(spec::name_of(draft.training().framework)) + " default";
  if (goes_without_saying(term, found->value)) {
    draft.derive(term, how);
  } else {
    draft.assume(term, how, std::string(found->value));
  }
  return true;
}

void take_software(QuestionDraft& draft) {
  const Given* word = draft.words.find("framework_version");
  if (word == nullptr) return;
  const spec::Software& software = draft.training().software;
  if (!software.is_known() && word->origin.source == Source::flag) {
    throw quantity::BadInput(word->origin.where, quantity::quoted(word->text) + " names no library, release or date",
                             "\"transformers 4.56, torch 2.8\", or a date as 2025-06");
  }
  if (software.unread.empty()) return;
  std::string rest;
  for (const auto& unread : software.unread) rest += (rest.empty() ? "" : ", ") + unread;
  const std::string known = software.is_known() ? write_software(software) : "nothing";
  draft.assume("--framework-version is read as " + known + "; not understood: " + rest);
}

}  // namespace llmcalc::read
