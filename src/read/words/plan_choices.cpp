#include "read/words/plan_choices.hpp"

#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "read/plan_words.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

using spec::Question;
using spec::RunChoices;

constexpr ChoiceTerm terms[] = {
    {"dp", [](RunChoices& c, const Question& q) { c.dp.push_back(q.layout.dp); }},
    {"tp", [](RunChoices& c, const Question& q) { c.tp.push_back(q.layout.tp); }},
    {"sp", [](RunChoices& c, const Question& q) { c.sp.push_back(q.layout.sp); }},
    {"pp", [](RunChoices& c, const Question& q) { c.pp.push_back(q.layout.pp); }},
    {"vpp", [](RunChoices& c, const Question& q) { c.vpp.push_back(q.layout.vpp); }},
    {"schedule", [](RunChoices& c, const Question& q) { c.schedule.push_back(q.layout.schedule); }},
    {"cp", [](RunChoices& c, const Question& q) { c.cp.push_back(q.layout.cp); }},
    {"cp_exchange", [](RunChoices& c, const Question& q) { c.cp_exchange.push_back(q.layout.cp_exchange); }},
    {"ep", [](RunChoices& c, const Question& q) { c.ep.push_back(q.layout.ep); }},
    {"etp", [](RunChoices& c, const Question& q) { c.etp.push_back(q.layout.etp); }},
    {"sharding", [](RunChoices& c, const Question& q) { c.sharding.push_back(q.layout.sharding); }},
    {"micro_batch", [](RunChoices& c, const Question& q) { c.micro_batch.push_back(q.training.micro_batch); }},
    {"recompute", [](RunChoices& c, const Question& q) { c.recompute.push_back(q.training.recompute); }},
    {"offload", [](RunChoices& c, const Question& q) { c.offload.push_back(q.training.offload); }},
    {"node_dispatch", [](RunChoices& c, const Question& q) { c.node_dispatch.push_back(q.layout.node_dispatch); }},
    {"expert_overlap", [](RunChoices& c, const Question& q) { c.expert_overlap.push_back(q.layout.expert_overlap); }},
    {"cuda_graph", [](RunChoices& c, const Question& q) { c.cuda_graph.push_back(q.training.cuda_graph); }},
};

}  // namespace

std::span<const ChoiceTerm> choice_terms() { return terms; }

std::string_view canonical(std::string_view word) {
  const Term* term = find_term(word);
  return term == nullptr ? word : term->name;
}

bool is_choice(std::string_view term) { return quantity::contains(terms, canonical(term), &ChoiceTerm::name); }

}  // namespace llmcalc::read
