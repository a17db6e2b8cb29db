#include "laws/inner/scaling_inference.hpp"

#include "laws/inner/relation.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <cmath>

namespace llmcalc::laws {

namespace {

namespace q = quantity;

constexpr std::string_view decode_bound = "roofline of decoding one sequence: each weight is read once a token";

double bytes_per_weight(const ScaleQuestion& question) { return q::in_bits_per_element(*question.weight) / 8.0; }

std::string weight_text(const ScaleQuestion& question) {
  return q::format_number(bytes_per_weight(question), 6) + " B";
}

ScaleLine parameter_line(std::string_view id, std::string_view label, double value, answer::Explanation why) {
  if (!(value < facts(Variable::params).max)) throw q::BadInput("params", fmt::format("{:.4g} are too many", value));
  const double whole = std::floor(value);
  return {id, label, whole, text_of(Variable::params, whole), Standing::derived, std::move(why)};
}

}  // namespace

void check_inference(const ScaleQuestion& question) {
  const auto raw = [](const auto& value, auto in_unit) {
    return value ? std::optional<double>(static_cast<double>(in_unit(*value))) : std::nullopt;
  };
  require_positive("weight", raw(question.weight, q::in_bits_per_element));
  require_positive("memory", raw(question.memory, q::in_bytes));
  require_positive("decode rate", question.decode_rate);
  require_positive("bandwidth", raw(question.bandwidth, q::in_bytes_per_second));
  if (question.memory && !question.weight) {
    throw q::BadInput("memory", "how many weights it holds depends on their width", "give the dtype of the weights");
  }
  if (question.decode_rate && !(question.weight && question.bandwidth)) {
    throw q::BadInput("decode rate", "it needs the width of the weights and the bandwidth of the memory they are in",
                      "give the dtype of the weights and an accelerator or a bandwidth");
  }
}

std::vector<ScaleLine> inference_limits(const ScaleQuestion& question) {
  std::vector<ScaleLine> limits;
  if (question.memory) {
    const double most = static_cast<double>(q::in_bytes(*question.memory)) / bytes_per_weight(question);
    limits.push_back(parameter_line(
        "largest_in_memory_params", "largest model in this memory", most,
        {"memory / bytes of a weight", q::format_gib(*question.memory) + " / " + weight_text(question), "definition"}));
  }
  if (question.decode_rate) {
    const double most =
        q::in_bytes_per_second(*question.bandwidth) / (*question.decode_rate * bytes_per_weight(question));
    limits.push_back(parameter_line("largest_at_speed_params", "largest model at this speed", most,
                                    {"bandwidth / (tokens per second x bytes of a weight)",
                                     fmt::format("{} / ({} x {})", q::format_bandwidth(*question.bandwidth),
                                                 q::format_number(*question.decode_rate, 4), weight_text(question)),
                                     std::string(decode_bound)}));
  }
  return limits;
}

void add_inference(const ScaleQuestion& question, double params, ScaleAnswer& answer) {
  if (!question.weight) return;
  const double weights = params * bytes_per_weight(question);
  const std::string product = text_of(Variable::params, params) + " x " + weight_text(question);
  answer.lines.push_back({"weights_bytes",
                          "weights at inference",
                          weights,
                          q::format_number(weights / q::giga, 4) + " GB",
                          Standing::derived,
                          {"params x bytes of a weight", product, "definition"}});
  answer.assumptions.emplace_back("inference counts the weights alone: no KV cache, no activations, no runtime");
  if (!question.bandwidth || question.decode_rate) return;
  const double rate = q::in_bytes_per_second(*question.bandwidth) / weights;
  answer.lines.push_back(
      {"decode_tokens_per_s",
       "decoding at most",
       rate,
       q::format_number(rate, 4) + " tokens/s",
       Standing::derived,
       {"bandwidth / (params x bytes of a weight)", q::format_bandwidth(*question.bandwidth) + " / (" + product + ")",
        std::string(decode_bound)}});
}

}  // namespace llmcalc::laws
