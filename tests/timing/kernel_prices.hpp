// Prices of a part that ships, in a run of given words.
#pragma once

#include "memory/asked.hpp"
#include "timing/kernels.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace llmcalc::test {

/// A framework that runs there.
inline std::string usual_words(const std::string& gpu) {
  return gpu.starts_with("tpu") ? " --framework pax --dtype bf16" : " --framework megatron --dtype bf16";
}

struct Prices {
  spec::Question question;
  timing::KernelPrices kernels;

  explicit Prices(const std::string& gpu) : Prices(gpu, usual_words(gpu)) {}
  Prices(const std::string& gpu, const std::string& words)
      : question(question_of("--model llama-3-8b --seq 2048 --gpu " + gpu + words)),
        kernels(*question.gpu, question.training, frameworks::make_profile(question.training, question.gpu)) {}
  Prices(const Prices&) = delete;
  Prices& operator=(const Prices&) = delete;

  double product_us(const layers::Product& shape, timing::Pass pass = timing::Pass::forward) const {
    return 1e6 * quantity::in_seconds(kernels.product(shape, question.training.precision.compute, pass));
  }
};

/// Microseconds of a 16-bit product that runs alone, which is faster than inside a run: in bf16, or in fp16 where the
/// part has no bf16.
inline double alone_us(const std::string& gpu, const layers::Product& shape) {
  const Prices run(gpu);
  spec::Accelerator alone = *run.question.gpu;
  alone.rates.run = {1.0, 1.0, 1.0};
  const timing::KernelPrices kernels(alone, run.question.training,
                                     frameworks::make_profile(run.question.training, run.question.gpu));
  const auto half = run.question.gpu->peaks.bf16 ? formats::Dtype::bf16 : formats::Dtype::fp16;
  return 1e6 * quantity::in_seconds(kernels.product(shape, half, timing::Pass::forward));
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace llmcalc::test
