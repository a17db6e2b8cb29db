// The JSON of `serve`; docs/json.md says what each key means.
#include "render/inner/json_list.hpp"
#include "render/inner/json_question.hpp"
#include "render/inner/serving_speed_json.hpp"
#include "render/serving.hpp"
#include "spec/names.hpp"

#include <algorithm>

namespace llmcalc::render {
namespace {

using quantity::in_bytes;
using serving::Candidate;
using serving::ServingVerdict;

std::string_view word_of(ServingVerdict verdict) {
  switch (verdict) {
    case ServingVerdict::fits: return "fits";
    case ServingVerdict::does_not_fit: return "does_not_fit";
    case ServingVerdict::no_accelerator: break;
  }
  return "no_accelerator";
}

Json engine_json(const serving::Deployment& deployment) {
  const auto& setup = deployment.setup;
  const auto& row = serving::row_of(deployment.question.serving.engine);
  return {{"name", spec::name_of(row.engine)},
          {"version", deployment.question.serving.engine_version.empty() ? std::string(row.newest)
                                                                         : deployment.question.serving.engine_version},
          {"kv_dtype", spec::name_of(setup.cache)},
          {"memory_fraction", finite(setup.memory_fraction)},
          {"batched_tokens", setup.batched_tokens},
          {"max_seqs", setup.max_sequences},
          {"largest_graph", setup.graph_batch},
          {"slots", setup.slots},
          {"flash", setup.flash}};
}

Json part_json(const serving::MemoryLine& holding) {
  return {{"id", holding.id},
          {"label", holding.label},
          {"bytes", in_bytes(holding.size)},
          {"kind", holding.measured ? "measured-constant" : "computed"},
          {"formula", holding.formula},
          {"source", holding.source}};
}

Json rank_json(const serving::RankMemory& rank) {
  return {{"held_bytes", in_bytes(rank.held())},
          {"pool_bytes", in_bytes(rank.pool)},
          {"needed_bytes", in_bytes(rank.needed)},
          {"parts", json_list(rank.holdings, part_json)}};
}

Json memory_json(const serving::ServingAnswer& answer) {
  const auto& memory = answer.memory;
  return {{"capacity_bytes", in_bytes(memory.capacity)}, {"limit_bytes", in_bytes(memory.limit)},
          {"held_bytes", in_bytes(memory.held())},       {"beside_bytes", in_bytes(memory.beside)},
          {"host_bytes", in_bytes(memory.host)},         {"model_bytes", in_bytes(answer.model)},
          {"file_bytes", in_bytes(answer.file)},         {"parts", json_list(memory.holdings, part_json)},
          {"ranks", json_list(answer.ranks, rank_json)}};
}

Json group_json(const serving::BlockGroup& group) {
  const auto& layer = group.group.layer;
  return {{"kind", serving::name_of(layer.reach)},
          {"layers", group.group.layers},
          {"window", layer.window},
          {"elements_per_token", layer.elements},
          {"state_elements", layer.state_elements},
          {"blocks_at_context", group.blocks},
          {"page_bytes", in_bytes(group.page)}};
}

Json cache_json(const serving::ServingAnswer& answer) {
  const auto& memory = answer.memory;
  return {{"bytes", in_bytes(std::max(memory.pool, quantity::bytes(0)))},
          {"needed_bytes", in_bytes(memory.needed)},
          {"bytes_per_token", in_bytes(answer.bytes_per_token)},
          {"state_bytes", in_bytes(answer.state)},
          {"block", memory.block},
          {"blocks", memory.blocks},
          {"tokens", answer.capacity.cache_tokens},
          {"groups", json_list(memory.groups, group_json)}};
}

Json capacity_json(const serving::Capacity& capacity) {
  return {{"context", capacity.context},
          {"max_context", capacity.max_context},
          {"max_context_at_concurrency", capacity.shared_context},
          {"max_concurrency", capacity.max_concurrency},
          {"binding", capacity.binding}};
}

Json load_json(const serving::ServingAnswer& answer) {
  const auto& load = answer.deployment.question.serving.load;
  return {{"prompt", load.prompt},
          {"output", load.output},
          {"concurrency", load.concurrency},
          {"running", answer.capacity.running},
          {"queued", answer.capacity.queued},
          {"rate", load.rate ? finite(*load.rate) : Json(nullptr)}};
}

Json limits_json(const serving::ServingAnswer& answer) {
  const auto& load = answer.deployment.question.serving.load;
  const auto limit = [](const std::optional<quantity::Seconds>& time) -> Json {
    return time ? finite(quantity::in_seconds(*time)) : Json(nullptr);
  };
  const bool asked = answer.speed && (load.ttft || load.tpot);
  return {{"ttft_s", limit(load.ttft)},
          {"tpot_s", limit(load.tpot)},
          {"kept", asked ? Json(serving::keeps_limits(load, *answer.speed)) : Json(nullptr)}};
}

Json candidate_json(const Candidate& candidate) {
  return {{"change", candidate.change},
          {"cost", text_or_null(candidate.cost)},
          {"starts", candidate.starts},
          {"max_context", candidate.max_context},
          {"max_concurrency", candidate.max_concurrency},
          {"carries_load", candidate.carries}};
}

Json card_json(const serving::CardAnswer& card) {
  return {{"gpu", card.gpu}, {"verdict", word_of(card.takes_it ? ServingVerdict::fits : ServingVerdict::does_not_fit)}};
}

Json cell_json(const serving::CapacityCell& cell) {
  return {{"context", cell.context},
          {"concurrency", cell.concurrency},
          {"fits", cell.fits},
          {"cache_share", finite(cell.cache_share)}};
}

}  // namespace

std::string to_json(const ServingReport& report) {
  const auto& answer = report.answer;
  Json object = json_answer("serve", report.version);
  object["verdict"] = word_of(answer.verdict);
  object["reason"] = text_or_null(answer.reason);
  object["question"] = question_json(report.question);
  object["engine"] = engine_json(answer.deployment);
  object["parameters"] = answer.parameters;
  object["memory"] = memory_json(answer);
  object["kv"] = cache_json(answer);
  object["capacity"] = capacity_json(answer.capacity);
  object["load"] = load_json(answer);
  object["limits"] = limits_json(answer);
  object["speed"] = answer.speed ? speed_json(*answer.speed) : Json(nullptr);
  object["plans"] = report.plans ? plans_json(*report.plans) : Json(nullptr);
  object["advice"] = json_list(report.advice, candidate_json);
  object["cards"] = json_list(report.cards, card_json);
  object["found"] = json_list(report.found, candidate_json);
  object["table"] = json_list(report.table, cell_json);
  object["launch"] = text_or_null(report.launch);
  object["assumptions"] = report.assumptions;
  object["notes"] = answer.notes;
  return dump(object);
}

}  // namespace llmcalc::render
