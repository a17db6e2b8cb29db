#include "read/instances.hpp"

#include "quantity/text.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace llmcalc::read {
namespace {

/// A name, or several: `*` is a number, `~` any word. Where `cards` is 0 the number says how many there are, and of
/// TPUs of two cores to a chip how many cores.
struct Row {
  std::string_view pattern;
  std::string_view gpu;
  std::int64_t cards = 0;
  std::int64_t cores = 1;
};

/// Clouds' own lists, November 2026: aws.amazon.com/ec2/instance-types (accelerated computing);
/// cloud.google.com/compute/ docs/gpus and cloud.google.com/tpu/docs (accelerator types: v2 to v4 and v5p count cores,
/// v5e and v6e chips); learn.microsoft.com/azure/virtual-machines/sizes (GPU); docs.oracle.com Compute Shapes;
/// cloud.lambda.ai, instance types.
constexpr Row rows[] = {
    {"p3.2xlarge", "v100-16", 1},
    {"p3.8xlarge", "v100-16", 4},
    {"p3.16xlarge", "v100-16", 8},
    {"p3dn.24xlarge", "v100-32", 8},
    {"p4d.24xlarge", "a100-40", 8},
    {"p4de.24xlarge", "a100-80", 8},
    {"p5.4xlarge", "h100-sxm", 1},
    {"p5.48xlarge", "h100-sxm", 8},
    {"p5e.48xlarge", "h200", 8},
    {"p5en.48xlarge", "h200", 8},
    {"p6-b200.48xlarge", "b200", 8},
    {"p6-b300.48xlarge", "b300", 8},
    {"p6e-gb200.36xlarge", "gb200", 4},
    {"g4dn.12xlarge", "t4", 4},
    {"g4dn.metal", "t4", 8},
    {"g4dn.~", "t4", 1},
    {"g5.12xlarge", "a10g", 4},
    {"g5.24xlarge", "a10g", 4},
    {"g5.48xlarge", "a10g", 8},
    {"g5.~", "a10g", 1},
    {"g6.12xlarge", "l4", 4},
    {"g6.24xlarge", "l4", 4},
    {"g6.48xlarge", "l4", 8},
    {"g6.~", "l4", 1},
    {"g6e.12xlarge", "l40s", 4},
    {"g6e.24xlarge", "l40s", 4},
    {"g6e.48xlarge", "l40s", 8},
    {"g6e.~", "l40s", 1},
    {"trn1.2xlarge", "trainium1", 1},
    {"trn1.32xlarge", "trainium1", 16},
    {"trn1n.32xlarge", "trainium1", 16},
    {"trn2.48xlarge", "trainium2", 16},
    {"inf2.xlarge", "inferentia2", 1},
    {"inf2.8xlarge", "inferentia2", 1},
    {"inf2.24xlarge", "inferentia2", 6},
    {"inf2.48xlarge", "inferentia2", 12},
    {"a2-highgpu-*g", "a100-40"},
    {"a2-megagpu-*g", "a100-40"},
    {"a2-ultragpu-*g", "a100-80"},
    {"a3-highgpu-*g", "h100-sxm"},
    {"a3-megagpu-*g", "h100-sxm"},
    {"a3-edgegpu-*g", "h100-sxm"},
    {"a3-ultragpu-*g", "h200"},
    {"a4-highgpu-*g", "b200"},
    {"a4x-highgpu-*g", "gb200"},
    {"g2-standard-24", "l4", 2},
    {"g2-standard-48", "l4", 4},
    {"g2-standard-96", "l4", 8},
    {"g2-standard-~", "l4", 1},
    {"v2-*", "tpu-v2", 0, 2},
    {"v3-*", "tpu-v3", 0, 2},
    {"v4-*", "tpu-v4", 0, 2},
    {"v5p-*", "tpu-v5p", 0, 2},
    {"v5e-*", "tpu-v5e"},
    {"v5litepod-*", "tpu-v5e"},
    {"v6e-*", "tpu-v6e"},
    {"standard_nc~_t4_v3", "t4", 1},
    {"standard_nc64as_t4_v3", "t4", 4},
    {"standard_nc6s_v3", "v100-pcie-16", 1},
    {"standard_nc12s_v3", "v100-pcie-16", 2},
    {"standard_nc24s_v3", "v100-pcie-16", 4},
    {"standard_nd40rs_v2", "v100-32", 8},
    {"standard_nd96asr_v4", "a100-40", 8},
    {"standard_nd96amsr_a100_v4", "a100-80", 8},
    {"standard_nc24ads_a100_v4", "a100-80-pcie", 1},
    {"standard_nc48ads_a100_v4", "a100-80-pcie", 2},
    {"standard_nc96ads_a100_v4", "a100-80-pcie", 4},
    {"standard_nv36ads_a10_v5", "a10", 1},
    {"standard_nv72ads_a10_v5", "a10", 2},
    {"standard_nc40ads_h100_v5", "h100-nvl", 1},
    {"standard_nc80adis_h100_v5", "h100-nvl", 2},
    {"standard_nd96isr_h100_v5", "h100-sxm", 8},
    {"standard_nd96isr_h200_v5", "h200", 8},
    {"standard_nd96isr_mi300x_v5", "mi300x", 8},
    {"standard_nd128isr_ndr_gb200_v6", "gb200", 4},
    {"vm.gpu.a10.*", "a10"},
    {"bm.gpu.a10.*", "a10"},
    {"bm.gpu4.8", "a100-40", 8},
    {"bm.gpu.a100-v2.*", "a100-80"},
    {"bm.gpu.l40s.*", "l40s"},
    {"bm.gpu.h100.*", "h100-sxm"},
    {"bm.gpu.h200.*", "h200"},
    {"bm.gpu.b200.*", "b200"},
    {"bm.gpu.mi300x.*", "mi300x"},
    {"gpu_*x_a10", "a10"},
    {"gpu_*x_a6000", "rtx-a6000"},
    {"gpu_*x_a100", "a100-40"},
    {"gpu_*x_a100_sxm4", "a100-40"},
    {"gpu_*x_a100_80gb_sxm4", "a100-80"},
    {"gpu_*x_h100_pcie", "h100-pcie"},
    {"gpu_*x_h100_sxm5", "h100-sxm"},
    {"gpu_*x_gh200", "gh200-96"},
    {"gpu_*x_b200_sxm6", "b200"},
};

bool is_of_word(char c) { return quantity::is_digit(c) || (c >= 'a' && c <= 'z'); }

/// The number in the place of `*`, 1 where the pattern has none; empty where the name is another.
std::optional<std::int64_t> number_in(std::string_view name, std::string_view pattern) {
  constexpr std::string_view wild = "*~";
  const auto at = pattern.find_first_of(wild);
  if (at == std::string_view::npos) return name == pattern ? std::optional<std::int64_t>(1) : std::nullopt;
  const auto before = pattern.substr(0, at);
  const auto after = pattern.substr(at + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  const auto word = name.substr(before.size(), name.size() - before.size() - after.size());
  if (pattern[at] == '~') return std::ranges::all_of(word, is_of_word) ? std::optional<std::int64_t>(1) : std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<Instance> find_instance(std::string_view name) {
  const std::string lower = quantity::to_lower(quantity::trim(name));
  for (const Row& row : rows) {
    const auto number = number_in(lower, row.pattern);
    if (!number) continue;
    return Instance{row.gpu, row.cards > 0 ? row.cards : std::max<std::int64_t>(1, *number / row.cores)};
  }
  return std::nullopt;
}

}  // namespace llmcalc::read
