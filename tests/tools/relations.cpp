#include "tools/relations.hpp"

#include "api/asked.hpp"
#include "llmcalc/llmcalc.hpp"
#include "quantity/text.hpp"
#include "serving/answer.hpp"
#include "serving/speed.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace llmcalc::test {

namespace {

/// A card that is better in every rate by a quarter, and has twice the memory.
spec::Accelerator better(spec::Accelerator gpu) {
  constexpr double factor = 1.25;
  const auto raise = [](auto& rate) {
    if (rate) rate = *rate * factor;
  };
  auto& peaks = gpu.peaks;
  for (auto* peak : {&peaks.fp64, &peaks.fp64_matrix, &peaks.fp32, &peaks.fp32_matrix, &peaks.tf32, &peaks.fp16,
                     &peaks.bf16, &peaks.fp8, &peaks.int8, &peaks.fp4}) {
    raise(*peak);
  }
  for (auto* link : {&gpu.link, &gpu.pcie, &gpu.host_link}) raise(*link);
  raise(gpu.network_gbps);
  raise(gpu.tdp_watts);
  gpu.memory_bandwidth = gpu.memory_bandwidth * factor;
  gpu.memory_nominal = gpu.memory_nominal * 2;
  gpu.memory_usable = gpu.memory_usable * 2;
  return gpu;
}

/// A better card is no slower and fits no less.
void check_better_card(const Answer& answer, std::vector<std::string>& broken) {
  if (!answer.estimate.timed) return;
  spec::Question question = answer.completed;
  question.gpu = better(*question.gpu);
  const answer::Estimate faster = answer::estimate(question);
  if (const double ratio = faster.compute.step / answer.estimate.compute.step; ratio > 1.0 + 1e-9) {
    broken.push_back("a better card takes " + std::to_string(ratio) + " of its time");
  }
  if (answer.fits() && faster.verdict.kind == trust::VerdictKind::does_not_fit) {
    broken.emplace_back("it does not fit a better card");
  }
}

/// Twice the replicas share the same states or have copies of them: each rank holds no more. Of one alone the second
/// brings the buffers of their exchange.
void check_more_replicas(const Answer& answer, std::vector<std::string>& broken) {
  spec::Question question = answer.completed;
  auto& layout = question.layout;
  if (layout.dp < 2) return;
  layout.dp *= 2;
  layout.gpus *= 2;
  layout.nodes *= 2;
  const auto held = answer.estimate.memory.peak_allocated;
  if (const auto more = answer::estimate(question).memory.peak_allocated; more > held) {
    broken.push_back("each of twice the replicas holds " + std::to_string(more / held) + " times as much");
  }
}

/// A card whose rates alone are better, but for links, whose curves were each measured at its own, answers the same
/// load no later, one with twice the memory holds no less, and twice the price costs twice.
void check_better_server(std::span<const spec::Word> words, std::vector<std::string>& broken) {
  const serving::ServingAnswer answer = api::serve({words.begin(), words.end()}, {}, {}).answer;
  const spec::Question& question = answer.deployment.question;
  if (!question.gpu || !answer.speed || answer.speed->saturated) return;
  spec::Question changed = question;
  changed.gpu = better(*question.gpu);
  changed.gpu->memory_nominal = question.gpu->memory_nominal;
  changed.gpu->memory_usable = question.gpu->memory_usable;
  changed.gpu->link = question.gpu->link;
  changed.gpu->pcie = question.gpu->pcie;
  const auto faster = serving::serve(changed).speed;
  if (!faster) broken.emplace_back("a better card does not run it");
  if (faster && faster->request > 1.000001 * answer.speed->request) {
    broken.push_back("on a better card a request takes " + std::to_string(faster->request / answer.speed->request) +
                     " of its time");
  }
  const auto price = serving::price_of(question);
  changed = question;
  if (price) changed.pricing.price_per_hour = *price * 2;
  const auto& cost = answer.speed->cost;
  const auto dearer = serving::serve(changed).speed->cost;
  if (price && cost.all && (*dearer.all > 2.000001 * *cost.all || *dearer.all < 1.999999 * *cost.all)) {
    broken.emplace_back("twice the price does not cost twice");
  }
  changed = question;
  changed.gpu->memory_nominal = question.gpu->memory_nominal * 2;
  changed.gpu->memory_usable = question.gpu->memory_usable * 2;
  const auto roomier = serving::serve(changed);
  const auto& larger = roomier.capacity;
  const auto left = [](const serving::ServingAnswer& each) {
    return std::pair(each.deployment.setup.host_layers, each.deployment.setup.host_experts);
  };
  if (left(roomier) > left(answer)) broken.emplace_back("twice the memory leaves more to the host");
  // Ollama chooses the context by the memory, vLLM how many tokens a step has, each of which a window keeps, and what
  // is left to the host keeps its cache there.
  const bool is_alike = larger.context == answer.capacity.context && left(roomier) == left(answer) &&
                        roomier.deployment.setup.batched_tokens == answer.deployment.setup.batched_tokens;
  if (!is_alike) return;
  if (larger.max_concurrency < answer.capacity.max_concurrency || larger.max_context < answer.capacity.max_context) {
    broken.emplace_back("twice the memory holds less");
  }
}

}  // namespace

std::vector<std::string> broken_relations(std::string_view verb, std::span<const spec::Word> words) {
  std::vector<std::string> broken;
  if (verb == "fit") {
    const Answer answer = ask(words);
    check_better_card(answer, broken);
    check_more_replicas(answer, broken);
  }
  if (verb == "serve") check_better_server(words, broken);
  return broken;
}

std::vector<std::string> broken_command(const nlohmann::json& plan) {
  constexpr double rounding = 1e-9;
  const auto& best = plan.at("best");
  const auto command = plan.value("fit_command", std::string());
  if (best.empty() || command.find('\'') != command.npos) return {};  // what a shell would take apart otherwise
  std::vector<spec::Word> words;
  for (const auto piece : quantity::pieces_of(command, " ")) {
    if (piece.starts_with("--")) {
      words.push_back({std::string(piece.substr(2)), {}});
    } else if (!words.empty()) {
      words.back().text = piece;
    }
  }
  const answer::Estimate typed = ask(words).estimate;
  std::vector<std::string> broken;
  const auto compare = [&](const char* figure, double again) {
    const double found = best[0].at("figures").value(figure, again);
    if (std::abs(again - found) <= rounding * found) return;
    broken.push_back(std::string(figure) + " of " + command + " is " + std::to_string(again) + ", the plan's " +
                     std::to_string(found));
  };
  compare("needed_bytes", static_cast<double>(in_bytes(typed.memory.peak_needed)));
  compare("step_seconds", in_seconds(typed.compute.step));
  compare("total_seconds", in_seconds(typed.compute.total));
  return broken;
}

}  // namespace llmcalc::test
