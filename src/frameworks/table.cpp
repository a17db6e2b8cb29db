#include "frameworks/table.hpp"

#include "frameworks/inner/profiles.hpp"
#include "frameworks/inner/values.hpp"
#include "frameworks/release.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::frameworks {

namespace {

constexpr auto framework_count = static_cast<std::size_t>(spec::Framework::count);

using Table = std::array<const FrameworkRow*, framework_count>;

using spec::SaveCheckpoint;

/// What a framework has of another is all but what that one is called, does unasked and was measured by.
constexpr FrameworkRow like(FrameworkRow other) {
  other.words = {};
  other.title = {};
  other.defaults = other.otherwise = {};
  return other;
}

#include "frameworks/sheets.inc"

constexpr Table assemble() {
  Table table{};
  for (const FrameworkRow& row : sheets) table[static_cast<std::size_t>(row.framework)] = &row;
  return table;
}

constexpr Table table = assemble();

/// Looks at the rows and not for null pointers, which GCC 12 does not compare at compile time under -fsanitize.
constexpr bool has_every_framework() {
  std::array<bool, framework_count> seen{};
  for (const FrameworkRow& row : sheets) seen[static_cast<std::size_t>(row.framework)] = row.words.size() > 0;
  return std::ranges::find(seen, false) == seen.end();
}
static_assert(has_every_framework(), "a framework of the enumeration has no file in presets/frameworks");

/// A search tries only what the framework can do.
constexpr bool is_searchable(const FrameworkRow& row) {
  bool can = true;
  for (const auto sharding : row.space.shardings) can = can && row.shardings.has(sharding);
  for (const auto schedule : row.space.schedules) can = can && row.schedules.has(schedule);
  for (const auto offload : row.space.offloads) can = can && row.offloads.has(offload);
  return can;
}
static_assert(std::ranges::all_of(table, [](const FrameworkRow* row) { return is_searchable(*row); }));

constexpr std::size_t count_words() {
  std::size_t sum = 0;
  for (const FrameworkRow* row : table) sum += row->words.size();
  return sum;
}

constexpr auto list_words() {
  std::array<spec::Named<spec::Framework>, count_words()> all{};
  std::size_t next = 0;
  for (const FrameworkRow* row : table) {
    for (const std::string_view word : row->words) all[next++] = {row->framework, word};
  }
  return all;
}

constexpr auto words = list_words();

}  // namespace

const FrameworkRow& row_of(spec::Framework framework) { return *table[static_cast<std::size_t>(framework)]; }

bool pretrains(const spec::Question& question) {
  const auto& training = question.training;
  const bool makes_all = training.method == spec::Method::full && training.algorithm == spec::Algorithm::sft;
  return makes_all && (question.stated_parameters || !row_of(training.framework).tunes_checkpoints);
}

/// Elsewhere it does not depend on the sharding: DeepSpeed itself widened them without sharding until 0.17, and takes
/// the model's type since (runtime/engine.py, get_data_types, of 0.19.6).
formats::Dtype gradients_of(const spec::Training& training, spec::Sharding sharding) {
  const spec::Precision& precision = training.precision;
  const bool widens = row_of(training.framework).widens_gradients && precision.master;
  if (!widens || precision.weights != formats::Dtype::bf16) return precision.grads;
  return spec::zero_stage(sharding) <= 1 ? formats::Dtype::fp32 : formats::Dtype::bf16;
}

/// accelerate/utils/dataclasses.py, DeepSpeedPlugin; transformers/integrations/deepspeed.py.
bool hands_to_deepspeed(const spec::Training& training, spec::Sharding sharding) {
  const bool is_zero = spec::zero_stage(sharding) > 0 && !spec::is_fsdp(sharding);
  return is_zero && row_of(training.framework).engine == TrainingEngine::trainer;
}

/// Its engine casts the whole module and leaves autocast off (runtime/engine.py, _configure_distributed_model); what is
/// trained has fp32 masters and moments whatever the trainer would have had (runtime/zero/stage_1_and_2.py,
/// single_partition_of_fp32_groups; stage3.py, _create_fp32_partitions).
spec::Precision precision_under(const spec::Training& training, spec::Sharding sharding) {
  using formats::Dtype;
  spec::Precision precision = training.precision;
  const bool is_half = precision.compute == Dtype::bf16 || precision.compute == Dtype::fp16;
  const bool rests_wider = precision.weights == Dtype::fp32 && !precision.autocast;
  if (!hands_to_deepspeed(training, sharding) || !is_half || rests_wider) return precision;
  if (precision.autocast) precision.weights = precision.compute;
  precision.autocast = false;
  if (training.method != spec::Method::full) return precision;
  precision.grads = precision.compute;
  precision.master = true;
  if (formats::facts(precision.moments).bits == 16) precision.moments = Dtype::fp32;
  return precision;
}

std::span<const FrameworkRow* const> rows() { return table; }

const Default* default_of(const spec::Question& question, std::string_view term) {
  const auto is_it = [&](const Default& row) {
    return row.term == term && (row.holds == nullptr || row.holds(question));
  };
  const FrameworkRow& row = row_of(question.training.framework);
  const Default* own = quantity::find_if_or_null(row.defaults, is_it);
  return own != nullptr ? own : quantity::find_if_or_null(row.otherwise, is_it);
}

}  // namespace llmcalc::frameworks

namespace llmcalc::spec {

template <>
std::span<const Named<Framework>> vocabulary<Framework>() {
  return frameworks::words;
}

}  // namespace llmcalc::spec

namespace llmcalc::frameworks {

bool widens_embedding_moments(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::trainer &&
         holds(Behaviour::wide_embedding_moments, training.software);
}

bool keeps_random_projector(const spec::Training& training) {
  return row_of(training.framework).states != StateRecipe::textbook;
}

formats::Dtype adapters_rest_in(const spec::Training& training) {
  const spec::Precision& precision = training.precision;
  const bool quantized = training.method == spec::Method::qlora || formats::is_quantized(precision.weights);
  if (quantized && row_of(training.framework).narrows_adapters) return formats::Dtype::bf16;
  return row_of(training.framework).adapters_rest_as_model && !precision.autocast ? precision.compute
                                                                                  : formats::Dtype::fp32;
}

}  // namespace llmcalc::frameworks
