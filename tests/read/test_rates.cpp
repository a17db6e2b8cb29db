// Which measured rates an accelerator gets, and what a user can put in their place.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"

#include <string>

using Catch::Matchers::Contains;
using namespace llmcalc;
using read::Catalogue;

namespace {

Catalogue with_rates(const std::string& json, const std::string& accelerators = "[]") {
  return Catalogue({}, {{"gpus.json", accelerators}}, {}, {{"mine.json", json}});
}

spec::Rates rates_of(const Catalogue& catalogue, const std::string& gpu) {
  return catalogue.accelerator(gpu, "--gpu").accelerator.rates;
}

std::string refusal(const std::string& json, const std::string& accelerators = "[]") {
  try {
    with_rates(json, accelerators);
  } catch (const quantity::BadInput& error) {
    return std::string(error.place()) + ": " + std::string(error.problem()) + " " + std::string(error.hint());
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("an accelerator has the rates of the measured part with its die and its share of matrix units") {
  const std::pair<const char*, const char*> parts[] = {{"a30", "a100"},
                                                       {"a800-80-sxm", "a100"},
                                                       {"a10", "a40"},
                                                       {"a10g", "a10g"},
                                                       {"rtx-a6000", "a40"},
                                                       {"rtx-3090", "ampere-geforce"},
                                                       {"rtx-4090", "rtx-4090"},
                                                       {"l40", "ada-cut"},
                                                       {"l4", "l40s"},
                                                       {"h100-sxm", "h100"},
                                                       {"h200-sxm", "h200"},
                                                       {"gh200-96", "h200"},
                                                       {"h20", "h20"},
                                                       {"b200-sxm", "b200"},
                                                       {"gb300", "b300"},
                                                       {"rtx-5080", "rtx-5090"},
                                                       {"dgx-spark-gb10", "rtx-pro-6000"},
                                                       {"v100-sxm2-32", "v100"},
                                                       {"t4", "rtx-2080-ti"},
                                                       {"mi250", "mi210"},
                                                       {"mi325x", "mi300x"},
                                                       {"mi350x", "mi355x"},
                                                       {"tpu-v6e", "tpu-v6e"},
                                                       {"tpu-v7", "tpu-v5e"},
                                                       {"apple-m4-max", "apple"},
                                                       {"gaudi3", "unmeasured"},
                                                       {"p40", "unmeasured"}};
  for (const auto& [gpu, id] : parts) {
    CAPTURE(gpu);
    CHECK(rates_of(Catalogue(), gpu).id == id);
  }
  CHECK(rates_of(Catalogue(), "h800-sxm").measured == "H100 SXM and H200");
  CHECK(rates_of(Catalogue(), "h200-sxm").products.tile == rates_of(Catalogue(), "h100-sxm").products.tile);
}

TEST_CASE("every accelerator that ships has rates with which time can be told") {
  for (const auto& preset : Catalogue().accelerators()) {
    CAPTURE(preset.accelerator.id);
    const spec::Rates& rates = preset.accelerator.rates;
    CHECK_FALSE(rates.measured.empty());
    CHECK(rates.products.ceiling > 0.0);
    CHECK(rates.memory.kernels > 0.0);
    CHECK(rates.host.update > quantity::seconds(0));
    CHECK((rates.power.watts <= 0.0 || rates.power.peak > quantity::FlopRate()));
  }
}

TEST_CASE("a share above the peak is the measured part's own, and no other's of its kind") {
  CHECK(rates_of(Catalogue(), "rtx-5090").products.ceiling == 1.213);
  CHECK(rates_of(Catalogue(), "rtx-4090").products.tile == 1.085);
  // Its own best product: 76.6 of 71 TFLOP/s (zzc0721/torch-performance-test-data database.md).
  CHECK(rates_of(Catalogue(), "rtx-3090").products.ceiling == Approx(76.6 / 71).epsilon(1e-3));
  const auto other = rates_of(Catalogue(), "rtx-5080");
  CHECK(other.products.tile == 1.0);
  CHECK(other.products.narrow <= 1.0);
  // Attention keeps its ratio to products: 204.0 over 254.0 TFLOP/s with heads of 128 (gau-nernst/learn-cuda).
  const auto measured = rates_of(Catalogue(), "rtx-5090");
  CHECK(other.attention.native.share / other.products.ceiling ==
        Approx(measured.attention.native.share / measured.products.ceiling));
  // What stands for others within the peak stays as it is.
  CHECK(rates_of(Catalogue(), "l4").products.ceiling == rates_of(Catalogue(), "l40s").products.ceiling);
}

TEST_CASE("a user's rates override those of the same name for all that they stand for") {
  const auto catalogue =
      with_rates(R"({"id": "h100", "base": "h100", "products": {"tile_share_of_peak": 0.5}, "measured": "ours"})");
  const auto rates = rates_of(catalogue, "h800-sxm");
  CHECK(rates.measured == "ours");
  CHECK(rates.products.tile == 0.5);
  CHECK(rates.products.ceiling == rates_of(Catalogue(), "h800-sxm").products.ceiling);
  CHECK(rates_of(catalogue, "a100-80-sxm").products.tile == rates_of(Catalogue(), "a100-80-sxm").products.tile);
}

TEST_CASE("a user's rates stand for the accelerators that they describe, or that name them") {
  const std::string rates = R"([{"id": "pascal", "stands_for": {"arch": "Pascal"}, "units": 30},
                                {"id": "slow", "base": "pascal", "in_a_run": {"products_over_alone": 0.4}}])";
  const auto catalogue = with_rates(rates, R"([{"id": "a", "base": "p40", "rates": "slow"}, {"id": "b", "base": "a"},
                                               {"id": "c", "base": "a100", "rates": "h100"}])");
  CHECK(rates_of(catalogue, "p40").id == "pascal");
  CHECK(rates_of(catalogue, "p40").units == 30.0);
  CHECK(rates_of(catalogue, "p40").run.products == rates_of(Catalogue(), "p40").run.products);
  CHECK(rates_of(catalogue, "a").run.products == 0.4);
  CHECK(rates_of(catalogue, "b").id == "slow");
  CHECK(rates_of(catalogue, "c").id == "h100");
  for (const auto& preset : catalogue.accelerators()) {
    if (preset.accelerator.id == "b") CHECK(preset.accelerator.rates.id == "slow");
  }
}

TEST_CASE("an accelerator that was put together by hand gets rates, and keeps its own") {
  spec::Accelerator gpu;
  gpu.arch = "Hopper";
  Catalogue().add_rates(gpu);
  CHECK(gpu.rates.id == "h100");
  gpu.arch = "Volta";
  Catalogue().add_rates(gpu);
  CHECK(gpu.rates.id == "h100");
}

TEST_CASE("mistakes in a user's rates are named with file and JSON pointer") {
  CHECK_THAT(refusal(R"([{"id": "a", "produts": {}}])"), Contains("mine.json:/0/produts") && Contains("products"));
  CHECK_THAT(refusal(R"({"id": "a", "products": {"tile": 1}})"), Contains("mine.json:/products/tile:"));
  CHECK_THAT(refusal(R"({"id": "a", "products": {"tile_share_of_peak": 0}})"),
             Contains("mine.json:/products/tile_share_of_peak"));
  CHECK_THAT(refusal(R"({"id": "a", "products": {"whole_waves": 1.5}})"), Contains("mine.json:/products/whole_waves"));
  CHECK_THAT(refusal(R"({"id": "a", "attention": {"native": {"share_of_peak": -1}}})"),
             Contains("mine.json:/attention/native/share_of_peak"));
  CHECK_THAT(refusal(R"({"id": "a", "power": {"watts": 300}})"), Contains("peak_tflops"));
  CHECK_THAT(refusal(R"({"id": "a", "stands_for": {"name": "GeForce"}})"), Contains("mine.json:/stands_for"));
  CHECK_THAT(refusal(R"({"id": "a", "base": "h10"})"), Contains("mine.json:/base") && Contains("h100"));
  CHECK_THAT(refusal(R"([{"id": "a"}, {"id": "A"}])"), Contains("mine.json:/1") && Contains("taken"));
  CHECK_THAT(refusal(R"({"products": {}})"), Contains("\"id\""));
  CHECK_THAT(refusal("[]", R"([{"id": "x", "base": "h100-sxm", "rates": "h1000"}])"),
             Contains("gpus.json:/0/rates") && Contains("h100"));
}
