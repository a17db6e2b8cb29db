// What an engine can run: weights, caches and accelerators, and what is no model for it.
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::serving {

using formats::Quant;
using quantity::BadInput;

namespace {

/// Engines that can, for a person who named one that cannot.
template <class Can>
std::string others(const Can& can) {
  std::string names;
  for (const EngineRow& row : all_engines()) {
    if (can(row)) names.append(names.empty() ? "" : ", ").append(spec::name_of(row.engine));
  }
  return names.empty() ? "gptq and bnb-nf4 run there" : names + " can";
}

bool runs_on(const EngineRow& row, const spec::Accelerator& gpu) {
  return row.vendors.find(gpu.vendor) != std::string_view::npos;
}

/// Those that engines on PyTorch have no slow way for: generations without kernels for them run GPTQ and bitsandbytes.
bool needs_kernels(Quant quant) { return quant == Quant::awq || quant == Quant::fp8 || quant == Quant::fp8_block; }

/// Products of 4-bit floats are NVIDIA's (TensorRT-LLM docs, SGLang srt/layers/quantization/modelopt_quant.py); vLLM
/// unpacks them elsewhere (model_executor/kernels/linear/nvfp4/emulation.py).
bool multiplies(const EngineRow& row, const spec::Accelerator& gpu, Quant quant) {
  if (quant == Quant::nvfp4) return row.emulates_nvfp4 || gpu.generation.can(spec::Ability::nvfp4);
  return !needs_kernels(quant) || gpu.generation.can(spec::Ability::codes);
}

bool answers(const EngineRow& row, const spec::Accelerator& gpu, Quant quant) {
  return row.runs(quant) && runs_on(row, gpu) && multiplies(row, gpu, quant);
}

void check_accelerator(const EngineRow& row, const spec::Accelerator& gpu, Quant quant) {
  const std::string engine(spec::name_of(row.engine));
  if (!runs_on(row, gpu)) {
    throw BadInput("--engine", fmt::format("{} does not run on {}", engine, gpu.id),
                   others([&](const EngineRow& other) { return runs_on(other, gpu); }));
  }
  if (!multiplies(row, gpu, quant)) {
    throw BadInput("--quant", fmt::format("{} does not run {} on {}", engine, spec::name_of(quant), gpu.id),
                   others([&](const EngineRow& other) { return answers(other, gpu, quant); }));
  }
}

/// Whoever quantizes to integers chooses the groups, 128 by default; of 4-bit floats they are part of the type (OCP
/// Microscaling Formats 1.0 section 5.2: 32; NVFP4: 16).
void check_groups(const spec::Serving& serving) {
  constexpr std::int64_t usual = 128;
  if (serving.group_size == 0 || formats::facts(serving.quant).group == usual) return;
  throw BadInput(
      "--group-size",
      fmt::format("{} under {} has no groups to choose", spec::name_of(serving.quant), spec::name_of(serving.engine)),
      "awq, gptq, gptq-8bit and int4 have");
}

void check_types(const EngineRow& row, const spec::Serving& serving) {
  const std::string engine(spec::name_of(row.engine));
  if (!row.runs(serving.quant)) {
    throw BadInput("--quant", fmt::format("{} does not run {}", engine, spec::name_of(serving.quant)),
                   others([&](const EngineRow& other) { return other.runs(serving.quant); }));
  }
  if (serving.cache != spec::CacheType::automatic && !row.keeps(serving.cache)) {
    throw BadInput("--kv-dtype", fmt::format("{} keeps no cache in {}", engine, spec::name_of(serving.cache)),
                   others([&](const EngineRow& other) { return other.keeps(serving.cache); }));
  }
}

}  // namespace

bool can_run(const spec::Question& question) {
  const EngineRow& row = row_of(question.serving.engine);
  const Quant quant = question.serving.quant;
  return question.gpu ? answers(row, *question.gpu, quant) : row.runs(quant);
}

void check_abilities(const spec::Question& question) {
  const EngineRow& row = row_of(question.serving.engine);
  check_options(question.serving);
  check_types(row, question.serving);
  check_groups(question.serving);
  if (question.gpu) check_accelerator(row, *question.gpu, question.serving.quant);
  if (question.model.shape.stack != spec::Stack::encoder) return;
  throw BadInput("--model", "the model is an encoder, which makes no tokens",
                 "a decoder, or an encoder and a decoder; 'fit --method inference' says what one pass takes");
}

}  // namespace llmcalc::serving
