// Peaks are those of dense products: vendors print twice as much where two of four elements are zero.
#include "catch.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

using namespace llmcalc;

namespace {

double teraflops(const std::optional<quantity::FlopRate>& peak) {
  REQUIRE(peak.has_value());
  return quantity::in_flops_per_second(*peak) / 1e12;
}

struct Sheet {
  const char* gpu;
  double half, eight_bits;  ///< dense; 0: none
  const char* source;
};

constexpr Sheet sheets[] = {
    {"t4", 65.0, 130.0, "NVIDIA Turing architecture whitepaper, table 4"},
    {"a100-80-sxm", 312.0, 624.0, "NVIDIA A100 datasheet, figures without sparsity"},
    {"a10", 125.0, 250.0, "NVIDIA A10 datasheet"},
    {"l4", 121.0, 242.0, "NVIDIA L4 datasheet, half of the figures with sparsity"},
    {"l40s", 362.0, 733.0, "NVIDIA L40S datasheet"},
    {"h100-sxm", 989.4, 1978.9, "NVIDIA H100 architecture whitepaper, table 2"},
    {"h100-pcie", 756.4, 1512.9, "NVIDIA H100 architecture whitepaper, table 2"},
    {"h200-sxm", 989.4, 1978.9, "NVIDIA H200 datasheet, half of the figures with sparsity"},
    {"b200-sxm", 2250.0, 4500.0, "NVIDIA DGX B200 datasheet, half of the figures with sparsity"},
    {"mi300x", 1307.4, 2614.9, "AMD MI300X datasheet"},
};

}  // namespace

TEST_CASE("peaks are the dense ones of the datasheets") {
  const read::Catalogue catalogue;
  for (const Sheet& sheet : sheets) {
    CAPTURE(sheet.gpu, sheet.source);
    const auto peaks = catalogue.accelerator(sheet.gpu, "test").accelerator.peaks;
    CHECK(teraflops(peaks.fp16) == Approx(sheet.half).epsilon(0.005));
    CHECK(teraflops(peaks.int8) == Approx(sheet.eight_bits).epsilon(0.005));
  }
}

TEST_CASE("NVIDIA's matrix units are twice as fast in half the width, dense with dense") {
  for (const auto& preset : read::Catalogue().accelerators()) {
    const auto& gpu = preset.accelerator;
    if (gpu.vendor != "NVIDIA" || !gpu.memory_type.starts_with("HBM")) continue;
    CAPTURE(gpu.id);
    const auto& p = gpu.peaks;
    if (p.bf16 && p.tf32) CHECK(*p.bf16 / *p.tf32 == Approx(2.0).epsilon(0.02));
    if (p.bf16 && p.fp16) CHECK(*p.fp16 / *p.bf16 == Approx(1.0).epsilon(0.02));
    if (p.fp8 && p.bf16) CHECK(*p.fp8 / *p.bf16 == Approx(2.0).epsilon(0.02));
  }
}

// A dense peak is what all units multiply in a clock, times the clock: a figure with sparsity is twice that.
TEST_CASE("peaks are units times clock times what a unit multiplies") {
  int checked = 0;
  for (const auto& file : std::filesystem::directory_iterator(LLMCALC_TEST_DATA "/../presets/accelerators")) {
    std::ifstream in(file.path());
    for (const auto& gpu : nlohmann::json::parse(in)) {
      const auto chip = gpu.value("chip", nlohmann::json::object());
      const auto peaks = gpu.value("peak_tflops", nlohmann::json::object());
      if (!chip.contains("fp16_flop_per_unit_clock") || !chip.contains("boost_mhz")) continue;
      CAPTURE(gpu.value("id", ""));
      const double flops_per_clock = chip.at("units").get<double>() * chip.at("fp16_flop_per_unit_clock").get<double>();
      const double half = std::max(peaks.value("fp16", 0.0), peaks.value("bf16", 0.0));
      CHECK(half == Approx(flops_per_clock * chip.at("boost_mhz").get<double>() / 1e6).epsilon(0.02));
      const double eight_bits = peaks.value("fp8", 0.0);
      CHECK((eight_bits == 0.0 || eight_bits <= 2.05 * half));
      ++checked;
    }
  }
  CHECK(checked > 100);
}
