#include "render/sample_report.hpp"

namespace llmcalc::render {
namespace {

using namespace quantity;
using answer::Estimate;
using answer::FlopFigure;
using answer::LedgerLine;
using memory::Holding;
using memory::Phase;
using trust::VerdictKind;

constexpr std::int64_t llama_parameters = 8'030'261'248;
constexpr double llama_tokens = 15e12;

std::vector<LedgerLine> ledger() {
  const auto states = bytes(2 * llama_parameters);
  return {
      {Holding::weights,
       "weights (bf16)",
       states,
       {"parameters x bytes of bf16", "8,030,261,248 x 2 B", "IEEE 754"},
       false},
      {Holding::gradients, "gradients (bf16)", states, {"parameters x bytes of bf16", "", ""}, false},
      {Holding::optimizer_states, "optimizer states (int8)", states, {}, false},
      {Holding::activations, "activations", gib(4), {}, false},
      // One bf16 row of the vocabulary for each of 8,192 tokens: 128,256 x 8,192 x 2 B.
      {Holding::logits, "logits", bytes(2'101'346'304), {}, false},
      {Holding::context, "CUDA context", mib(512), {}, true},
  };
}

std::vector<FlopFigure> flop_figures() {
  const auto figure = [](std::string id, std::string label, double per_token) {
    return FlopFigure{std::move(id), std::move(label), flops(per_token), flops(per_token * llama_tokens), {}};
  };
  auto six_pd = figure("six_pd", "6PD", 6.0 * llama_parameters);
  six_pd.why = {"6 x parameters x tokens", "6 x 8,030,261,248 x 15T", "Kaplan et al. 2020, section 2.1"};
  return {six_pd, figure("model", "model", 5e10), figure("hardware", "hardware", 6e10)};
}

Estimate sample_estimate() {
  Estimate e;
  e.size = {parameters(llama_parameters), parameters(llama_parameters), parameters(llama_parameters),
            parameters(1'050'673'152)};
  e.memory.ledger = ledger();
  e.memory.phases = {{Phase::forward, gib(40)},
                     {Phase::loss, gib(44)},
                     {Phase::backward, bytes(54'577'881'088)},
                     {Phase::optimizer, gib(45)}};
  e.memory.peak_phase = Phase::backward;
  e.memory.peak_place = "backward of layer 31 of 32";
  e.memory.persistent = bytes(6 * llama_parameters);
  e.memory.peak_first_step = gib(36);
  e.memory.peak_allocated = bytes(54'577'881'088);
  e.memory.peak_reserved = bytes(54'577'881'088);
  e.memory.peak_device = e.memory.peak_needed = bytes(55'114'752'000);
  e.memory.peak_why = {"states + activations", "44.87 GiB + 5.96 GiB", "walk over the step program"};
  e.memory.timeline = {{Phase::forward, "embedding", gib(38)},
                       {Phase::forward, "layer 1", gib(39)},
                       {Phase::forward, "layer 2", gib(40)},
                       {Phase::loss, "head", gib(44)},
                       {Phase::backward, "head", bytes(54'577'881'088)},
                       {Phase::backward, "layer 2", gib(43)},
                       {Phase::backward, "layer 1", gib(42)},
                       {Phase::backward, "embedding", gib(41)},
                       {Phase::optimizer, "all weights", gib(45)}};
  for (auto& point : e.memory.timeline) {
    point.held = {{Holding::weights, gib(16)}, {Holding::activations, point.allocated - gib(16)}};
  }
  e.verdict = {.kind = VerdictKind::fits,
               .capacity = bytes(84'987'740'160),
               .needed = e.memory.peak_needed,
               .error = {0.08, 0.08},
               .error_source = "measured runs of this class",
               .reserved = {0.2, 0.2},
               .shown = {0.3, 0.3},
               .low = bytes(50'705'571'840),
               .high = bytes(59'523'932'160),  // 0.92 and 1.08 times what is needed
               .host_capacity = bytes(0),
               .host_needed = bytes(0)};
  e.compute.tokens = tokens(llama_tokens);
  e.compute.tokens_source = "--tokens 15T";
  e.compute.flops = flop_figures();
  e.compute.pflop_days = in_pflop_days(e.compute.flops.front().total);
  e.compute.mfu = 0.415;
  e.compute.mfu_source = "--mfu";
  e.compute.peak = teraflops(312);
  e.compute.step = seconds(0.350);
  e.compute.tokens_per_gpu = 2340;
  e.compute.useful = days(33);
  e.compute.goodput = {33.0 / 34.0, false, bytes(14 * llama_parameters),     seconds(45), seconds(5400), seconds(600),
                       hours(48),   17.0,  {"t / T", "33 / 34", "Daly 2006"}};
  e.compute.total = days(34);
  e.compute.gpu_hours = 816;
  e.compute.cost = dollars(1234);
  e.compute.price_source = "--price";
  e.compute.footprint = {watts(554),
                         1.1,
                         kilowatt_hours(497),
                         {"GPU-hours x power x PUE", "816 h x 554 W x 1.1", "--"},
                         grams_per_kilowatt_hour(400),
                         "as given",
                         kilograms(199),
                         {}};
  e.timed = true;
  e.notes = {"27.82 GiB are left on each accelerator"};
  return e;
}

}  // namespace

Report sample_report() {
  return {{{"model", "llama-3-8b", {spec::Source::flag, "--model"}},
           {"gpu", "a100-80-sxm", {spec::Source::flag, "--gpu"}},
           {"gpus", "1", {spec::Source::default_value, ""}}},
          sample_estimate(),
          {{}, search::Headroom{5, 40960}},
          {},
          {{"sequences of 8,192 tokens"}},
          "1.2.3"};
}

Report report_that_does_not_fit() {
  auto report = sample_report();
  report.estimate.verdict.kind = VerdictKind::does_not_fit;
  report.estimate.verdict.capacity = gib(24);
  report.advised.headroom.reset();
  report.advised.changes = {
      {{{"recompute", "full"}}, "layers computed again", "time: a third more compute", gib(20), VerdictKind::fits, {}},
      {{{"optimizer", "adamw-8bit"}, {"seq", "4096"}}, "two changes", "numerics", gib(12), VerdictKind::fits, {}}};
  return report;
}

Report report_without_accelerator() {
  auto report = sample_report();
  report.question.resize(1);
  report.estimate.verdict.kind = VerdictKind::no_accelerator;
  report.estimate.verdict.capacity = {};
  report.advised.headroom.reset();
  report.estimate.timed = false;
  report.estimate.compute.goodput.reset();
  report.estimate.compute.footprint.reset();
  return report;
}

Report empty_report() { return {}; }

}  // namespace llmcalc::render
