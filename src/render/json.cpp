// The JSON of `fit`; docs/json.md says what each key means, docs/llmcalc.schema.json is held against it by a test.
#include "llmcalc/render/report.hpp"
#include "render/inner/json_list.hpp"
#include "render/inner/json_question.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/time_json.hpp"

namespace llmcalc::render {
namespace {

using answer::Verdict;
using quantity::in_bytes;
using quantity::in_flops;
using quantity::in_parameters;
using trust::VerdictKind;

std::string_view word_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::fits: return "fits";
    case VerdictKind::tight: return "tight";
    case VerdictKind::does_not_fit: return "does_not_fit";
    case VerdictKind::no_accelerator: break;
  }
  return "no_accelerator";
}

void add_verdict(Json& object, const Verdict& verdict) {
  const bool has_capacity = verdict.kind != VerdictKind::no_accelerator;
  object["verdict"] = word_of(verdict.kind);
  object["capacity_bytes"] = has_capacity ? Json(in_bytes(verdict.capacity)) : Json();
  object["needed_bytes"] = in_bytes(verdict.needed);
  object["headroom_bytes"] = has_capacity ? Json(in_bytes(verdict.capacity - verdict.needed)) : Json();
  object["error_bar"] = {
      {"share", finite(verdict.error.above)},         {"share_below", finite(verdict.error.below)},
      {"source", text_or_null(verdict.error_source)}, {"low_bytes", in_bytes(verdict.low)},
      {"likely_bytes", in_bytes(verdict.needed)},     {"high_bytes", in_bytes(verdict.high)},
      {"shown_share", finite(verdict.shown.above)},   {"shown_share_below", finite(verdict.shown.below)}};
}

Json model(const answer::SizeAnswer& size) {
  return {{"parameters_total", in_parameters(size.total)},
          {"parameters_active", in_parameters(size.active)},
          {"parameters_trainable", in_parameters(size.trainable)},
          {"parameters_embedding", in_parameters(size.embedding)}};
}

Json ledger_line(const answer::LedgerLine& line) {
  Json object = {{"id", memory::id_of(line.holding)},
                 {"label", line.label},
                 {"bytes", in_bytes(line.size)},
                 {"empirical", line.empirical}};
  add_explanation(object, line.why);
  return object;
}

Json phase_peak(const answer::PhasePeak& peak) {
  return {{"phase", identifier(memory::name_of(peak.phase))}, {"allocated_bytes", in_bytes(peak.allocated)}};
}

Json timeline_point(const answer::TimelinePoint& point) {
  return {{"phase", identifier(memory::name_of(point.phase))},
          {"place", point.place},
          {"allocated_bytes", in_bytes(point.allocated)}};
}

Json stages(const std::vector<memory::StagePeak>& peaks) {
  Json list = Json::array();
  for (const auto& peak : peaks) {
    list.push_back({{"stage", peak.stage}, {"peak_allocated_bytes", in_bytes(peak.allocated)}});
  }
  return list;
}

Json peak_explanation(const answer::Explanation& why) {
  Json object = Json::object();
  add_explanation(object, why);
  return object;
}

Json advice(const search::Advice& change) {
  return {{"flag", options_of(change)},
          {"change", change.change},
          {"cost", change.cost},
          {"needed_bytes", in_bytes(change.needed)},
          {"verdict", word_of(change.verdict)},
          {"speed_ratio", finite_or_null(change.speed)}};
}

Json trainer(const TrainerNeed& need) {
  return {{"framework", need.framework}, {"needed_bytes", in_bytes(need.needed)}};
}

Json card(const search::CardVerdict& card) { return {{"gpu", card.gpu}, {"verdict", word_of(card.verdict)}}; }

Json room(const std::optional<search::Headroom>& headroom) {
  return {{"largest_micro_batch", headroom ? Json(headroom->micro_batch) : Json()},
          {"longest_seq", headroom ? Json(headroom->seq) : Json()}};
}

Json memory_object(const answer::MemoryAnswer& memory, const Verdict& verdict) {
  const bool has_machine = verdict.host_capacity > quantity::Bytes{};
  return {{"ledger", json_list(memory.ledger, ledger_line)},
          {"phases", json_list(memory.phases, phase_peak)},
          {"peak_phase", identifier(memory::name_of(memory.peak_phase))},
          {"peak_place", text_or_null(memory.peak_place)},
          {"peak_why", peak_explanation(memory.peak_why)},
          {"timeline", json_list(memory.timeline, timeline_point)},
          {"persistent_bytes", in_bytes(memory.persistent)},
          {"peak_allocated_bytes", in_bytes(memory.peak_allocated)},
          {"peak_reserved_bytes", in_bytes(memory.peak_reserved)},
          {"peak_device_bytes", in_bytes(memory.peak_device)},
          {"peak_needed_bytes", in_bytes(memory.peak_needed)},
          {"peak_first_step_bytes", in_bytes(memory.peak_first_step)},
          {"stage", memory.stage},
          {"stages", stages(memory.stages)},
          {"host_bytes", in_bytes(memory.host)},
          {"host_ledger", json_list(memory.host_ledger, ledger_line)},
          {"host_needed_bytes", in_bytes(verdict.host_needed)},
          {"host_capacity_bytes", has_machine ? Json(in_bytes(verdict.host_capacity)) : Json()},
          {"nvme_bytes", in_bytes(memory.nvme)},
          {"paged_bytes", in_bytes(memory.paged)}};
}

Json flop_figure(const answer::FlopFigure& figure) {
  Json object = {{"id", figure.id},
                 {"label", figure.label},
                 {"per_token", finite(in_flops(figure.per_token))},
                 {"total", finite(in_flops(figure.total))},
                 {"utilization", figure.utilization > 0 ? finite(figure.utilization) : Json()}};
  add_explanation(object, figure.why);
  return object;
}

Json compute(const answer::TimeAnswer& answer) {
  return {{"tokens", finite(in_tokens(answer.tokens))},
          {"tokens_source", text_or_null(answer.tokens_source)},
          {"flops", json_list(answer.flops, flop_figure)},
          {"pflop_days", finite(answer.pflop_days)}};
}

}  // namespace

std::string to_json(const Report& report) {
  const auto& estimate = report.estimate;
  Json object = json_answer("fit", report.version);
  add_verdict(object, estimate.verdict);
  object["question"] = question_json(report.question);
  object["model"] = model(estimate.size);
  object["memory"] = memory_object(estimate.memory, estimate.verdict);
  object["compute"] = compute(estimate.compute);
  object["time"] = time_json(estimate);
  object["advice"] = json_list(report.advised.changes, advice);
  object["cards"] = json_list(report.advised.cards, card);
  object["trainers"] = json_list(report.trainers, trainer);
  object["room"] = room(report.advised.headroom);
  object["assumptions"] = report.assumptions;
  object["warnings"] = estimate.warnings;
  object["notes"] = estimate.notes;
  return dump(object);
}

}  // namespace llmcalc::render
