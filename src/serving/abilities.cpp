// What an engine can run: weights, caches, accelerators and models; and what it is told: which option it has for a
// term.
#include "frameworks/release.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"
#include "spec/load.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace llmcalc::serving {

using formats::Quant;
using quantity::BadInput;
using spec::EngineOptions;
using spec::Serving;

namespace {

/// An option of ours that not every engine has, and how a question shows that it was said.
struct OptionRow {
  std::string_view term;
  bool (*said)(const Serving& serving);
  std::string_view instead = {};  ///< the term that says so to the other engines
};

template <auto member>
bool has(const Serving& serving) {
  return (serving.options.*member).has_value();
}

template <auto member>
bool is_positive(const Serving& serving) {
  return serving.options.*member > 0;
}

constexpr OptionRow option_rows[] = {
#include "vocabulary/engine_terms.inc"
};

const EngineOption* option_of(const EngineRow& row, std::string_view term) {
  return quantity::find_or_null(row.options, term, &EngineOption::term);
}

const OptionRow* unknown_option(const Serving& serving) {
  const EngineRow& engine = row_of(serving.engine);
  const auto is_unknown = [&](const OptionRow& row) { return row.said(serving) && !takes(engine, row.term); };
  return quantity::find_if_or_null(option_rows, is_unknown);
}

std::string flag_of(std::string_view term) {
  std::string flag = "--" + std::string(term);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

/// "vllm (--block-size)", or the engine alone where no option of its own says it.
std::string with_word(std::string_view whose, const EngineOption* option) {
  return option == nullptr ? std::string(whose) : fmt::format("{} ({})", whose, option->printed());
}

/// "--slots (-np) is what it has", where there is such an option.
std::string nearest(const OptionRow& row, const EngineRow& engine) {
  if (row.instead.empty()) return {};
  const EngineOption* option = option_of(engine, row.instead);
  const bool of_its_own = quantity::contains(option_rows, row.instead, &OptionRow::term);
  if (of_its_own && option == nullptr) return {};
  return with_word(flag_of(row.instead), of_its_own ? option : nullptr) + " is what it has";
}

/// "vllm (--block-size), sglang (--page-size)"
std::string who_has(const OptionRow& row) {
  std::string who;
  for (const EngineRow& engine : all_engines()) {
    if (!takes(engine, row.term)) continue;
    who.append(who.empty() ? "" : ", ").append(with_word(spec::name_of(engine.engine), option_of(engine, row.term)));
  }
  return "it is an option of " + who;
}

/// "OLLAMA_NUM_PARALLEL" is read as "num_parallel".
std::string_view without_program(std::string_view name) {
  const bool is_variable = name.front() >= 'A' && name.front() <= 'Z';
  return is_variable ? name.substr(name.find('_') + 1)
                     : name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

char plain(char letter) {
  return letter == '-' ? '_' : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

/// Engines that can, for a person who named one that cannot.
template <class Can>
std::string others(const Can& can) {
  std::string names;
  for (const EngineRow& row : all_engines()) {
    if (can(row)) names.append(names.empty() ? "" : ", ").append(spec::name_of(row.engine));
  }
  return names.empty() ? "gptq and bnb-nf4 run there" : names + " can";
}

std::string_view release_asked(const EngineRow& row, const spec::Serving& serving) {
  return row.engine != serving.engine || serving.engine_version.empty() ? row.newest : serving.engine_version;
}

/// Row that keeps the engine from the model's family in the release that is asked about; null: nothing that is known.
const frameworks::Unserved* unserved(const EngineRow& row, const spec::Question& question) {
  const auto* known = frameworks::find_unserved(row.engine, question.model.shape.family);
  if (known == nullptr) return nullptr;
  const EngineRelease last{known->last.major, known->last.minor, known->last.patch};
  return parse_release(release_asked(row, question.serving)) > last ? known : nullptr;
}

std::string text_of(const spec::Release& release) {
  return fmt::format("{}.{}.{}", release.major, release.minor, release.patch);
}

void check_family(const EngineRow& row, const spec::Question& question) {
  const auto* known = unserved(row, question);
  if (known == nullptr) return;
  const auto ended = known->last == spec::Release{} ? "" : ": " + text_of(known->last) + " was the last that did";
  throw BadInput("--engine",
                 fmt::format("{} {} serves no {}{}", spec::name_of(row.engine), release_asked(row, question.serving),
                             question.model.shape.family, ended),
                 others([&](const EngineRow& other) { return unserved(other, question) == nullptr; }));
}

void check_pooling(const EngineRow& row, const spec::Question& question) {
  if (row.pools || !spec::reads_only(question.serving.load)) return;
  throw BadInput("--engine", fmt::format("{} serves no embeddings and no scores", spec::name_of(row.engine)),
                 others([](const EngineRow& other) { return other.pools; }));
}

/// Whether it proposes tokens where layers are cut into stages. A server that only reads prompts makes none of its own.
bool drafts_as_cut(const EngineRow& row, const spec::Question& question) {
  const spec::Serving& serving = question.serving;
  const bool none = serving.options.draft.kind == spec::DraftKind::none || serving.role == spec::ServerRole::prefill;
  return none || question.layout.pp == 1 || parse_release(release_asked(row, serving)) >= row.drafts_in_stages;
}

void check_stages(const EngineRow& row, const spec::Question& question) {
  if (drafts_as_cut(row, question)) return;
  throw BadInput("--draft",
                 fmt::format("{} {} proposes no tokens with --pp {}, where layers are cut into stages", row.program,
                             release_asked(row, question.serving), question.layout.pp),
                 "--pp 1, or " + others([&](const EngineRow& other) {
                   return drafts_as_cut(other, question) && !spec::reads_gguf(other.engine) && takes(other, "draft");
                 }));
}

bool runs_on(const EngineRow& row, const spec::Accelerator& gpu) {
  return row.vendors.find(gpu.vendor) != std::string_view::npos;
}

/// Those that engines on PyTorch have no slow way for: generations without kernels for them run GPTQ and bitsandbytes.
bool needs_kernels(Quant quant) { return quant == Quant::awq || quant == Quant::nvfp4_a16 || formats::is_fp8(quant); }

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
    throw BadInput(
        "--quant", fmt::format("{} does not run {}", engine, spec::name_of(serving.quant)),
        fmt::format("{}; {} runs {}", others([&](const EngineRow& other) { return other.runs(serving.quant); }), engine,
                    spec::name_of(nearest(row, serving.quant))));
  }
  if (serving.cache != spec::CacheType::automatic && !row.keeps(serving.cache)) {
    throw BadInput("--kv-dtype", fmt::format("{} keeps no cache in {}", engine, spec::name_of(serving.cache)),
                   others([&](const EngineRow& other) { return other.keeps(serving.cache); }));
  }
}

}  // namespace

bool takes(const EngineRow& row, std::string_view term) {
  return option_of(row, term) != nullptr || quantity::contains(row.beside, term);
}

bool EngineOption::is_called(std::string_view key) const {
  std::string_view rest = names;
  while (!rest.empty()) {
    const auto name = without_program(quantity::take_until(rest, " "));
    if (std::ranges::equal(name, key, {}, plain, plain)) return true;
  }
  return false;
}

namespace {

/// Refuses what was said to an engine that has no such option, with what says the same there, or with the engines that
/// have it: of options that not every engine has a table says who does. \throws quantity::BadInput at the option
void check_options(const Serving& serving) {
  const OptionRow* row = unknown_option(serving);
  if (row == nullptr) return;
  const std::string own = nearest(*row, row_of(serving.engine));
  throw quantity::BadInput(flag_of(row->term), fmt::format("{} has no such option", spec::name_of(serving.engine)),
                           own.empty() ? who_has(*row) : own);
}

}  // namespace

bool takes_options(const Serving& serving) { return unknown_option(serving) == nullptr; }

bool can_run(const spec::Question& question) {
  const EngineRow& row = row_of(question.serving.engine);
  const Quant quant = question.serving.quant;
  if (unserved(row, question) != nullptr) return false;
  if (!row.pools && spec::reads_only(question.serving.load)) return false;
  if (!drafts_as_cut(row, question)) return false;
  return question.gpu ? answers(row, *question.gpu, quant) : row.runs(quant);
}

void check_abilities(const spec::Question& question) {
  const EngineRow& row = row_of(question.serving.engine);
  check_options(question.serving);
  check_types(row, question.serving);
  check_groups(question.serving);
  check_family(row, question);
  check_pooling(row, question);
  check_stages(row, question);
  if (question.gpu) check_accelerator(row, *question.gpu, question.serving.quant);
}

}  // namespace llmcalc::serving
