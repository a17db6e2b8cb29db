// Any bytes, read as lines of "field=number", are a scaling question that is answered in finite numbers or refused.
#include "laws/scaling.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/parse.hpp"
#include "render/answers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace llmcalc;
using laws::ScaleQuestion;

struct Field {
  std::string_view name;
  void (*set)(ScaleQuestion& question, double value);
};

constexpr double most_params = 9.2e18;  // below 2^63
constexpr double laws = 4;

/// What is no number counts as 0.
std::int64_t whole(double value) {
  return std::isnan(value) ? 0 : std::llround(std::clamp(value, -most_params, most_params));
}

laws::ScalingLaw law_of(double value) {
  return static_cast<laws::ScalingLaw>(whole(std::floor(std::fmod(std::abs(value), laws))));
}

constexpr Field fields[] = {
    {"params", [](auto& q, double v) { q.params = quantity::parameters(whole(v)); }},
    {"tokens", [](auto& q, double v) { q.tokens = quantity::tokens(v); }},
    {"ratio", [](auto& q, double v) { q.tokens_per_parameter = v; }},
    {"compute", [](auto& q, double v) { q.compute = quantity::flops(v); }},
    {"loss", [](auto& q, double v) { q.loss = v; }},
    {"unique", [](auto& q, double v) { q.unique_tokens = quantity::tokens(v); }},
    {"epochs", [](auto& q, double v) { q.epochs = v; }},
    {"cost", [](auto& q, double v) { q.cost = quantity::dollars(v); }},
    {"price", [](auto& q, double v) { q.price = quantity::dollars(v); }},
    {"hours", [](auto& q, double v) { q.gpu_time = quantity::hours(v); }},
    {"gpus", [](auto& q, double v) { q.gpus = whole(v); }},
    {"days", [](auto& q, double v) { q.time = quantity::days(v); }},
    {"mfu", [](auto& q, double v) { q.mfu = v; }},
    {"usual_mfu",
     [](auto& q, double v) {
       q.usual_mfu = {v, "fuzz"};
     }},
    {"peak", [](auto& q, double v) { q.peak = quantity::flops_per_second(v); }},
    {"law", [](auto& q, double v) { q.law = law_of(v); }},
    {"smaller", [](auto& q, double v) { q.follow_ups.smaller = v; }},
    {"served", [](auto& q, double v) { q.follow_ups.served = quantity::tokens(v); }},
    {"serving_mfu", [](auto& q, double v) { q.follow_ups.serving_mfu = v; }},
    {"batch", [](auto& q, double v) { q.follow_ups.batch = quantity::tokens(v); }},
    {"hyperparameters", [](auto& q, double v) { q.follow_ups.hyperparameters = v > 0; }},
    {"frontier",
     [](auto& q, double v) { q.follow_ups.frontier = v > 0 ? laws::Frontier::budgets : laws::Frontier::sizes; }},
};

ScaleQuestion question_of(std::string_view text) {
  ScaleQuestion question;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto equals = std::min(line.find('='), line.size());
    const auto* field = std::ranges::find(fields, line.substr(0, equals), &Field::name);
    if (field == std::end(fields) || equals == line.size()) continue;
    field->set(question, quantity::parse_real(line.substr(equals + 1), "fuzz"));
  }
  return question;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto answer = laws::scale(question_of({reinterpret_cast<const char*>(data), size}));
    render::to_text(answer, {.explain = true});
    render::to_json(answer, "fuzz");  // throws for what is not finite
    for (const auto& line : answer.lines) {
      if (!(line.value >= 0.0)) std::abort();
    }
  } catch (const quantity::BadInput&) {  // a question that cannot be answered
  }
  return 0;
}
