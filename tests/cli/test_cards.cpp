// The cards of a machine by what the kernel shows of them, in a folder that stands for its root.
#include "catch.hpp"
#include "cli/machine.hpp"
#include "cli/run.hpp"
#include "folder.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/error.hpp"

#include <nlohmann/json.hpp>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

constexpr const char* amdgpu_ids =
    "# List of AMDGPU IDs\n1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n744C,\tCC,\tAMD Radeon RX 7900 XT\n";
constexpr const char* pci_ids =
    "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n\te20b  Another [Not Intel's]\n"
    "8086  Intel Corporation\n\te20b  Battlemage G21 [Arc B580]\n";

void put_card(const test::Folder& root, const std::string& card, const std::string& vendor, const std::string& device) {
  const auto folder = "sys/class/drm/" + card + "/device/";
  root.write(folder + "vendor", vendor + "\n");
  root.write(folder + "device", device + "\n");
}

void put_amd(const test::Folder& root, const std::string& card, std::uint64_t total, std::uint64_t used) {
  put_card(root, card, "0x1002", "0x744c");
  const auto folder = "sys/class/drm/" + card + "/device/";
  root.write(folder + "revision", "0xc8\n");
  root.write(folder + "mem_info_vram_total", std::to_string(total) + "\n");
  root.write(folder + "mem_info_vram_used", std::to_string(used) + "\n");
}

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

}  // namespace

TEST_CASE("cards of AMD are those with memory of their own, all of them, named by libdrm's table") {
  const test::Folder root;
  root.write("usr/share/libdrm/amdgpu.ids", amdgpu_ids);
  put_amd(root, "card1", 24 * gib, 3 * gib);
  put_amd(root, "card2", 24 * gib, gib);
  root.write("sys/class/drm/card1-DP-1/status", "connected\n");  // an output, no card
  put_card(root, "card0", "0x1a03", "0x2000");                   // of the board's management
  const auto cards = cli::kernel_cards(root.path());
  REQUIRE(cards.size() == 2);
  CHECK(cards[0].name == "AMD Radeon RX 7900 XTX");
  CHECK(cards[0].total == 24 * gib);
  CHECK(cards[0].free == 21 * gib);
  CHECK(cards[1].free == 23 * gib);
}

TEST_CASE("cards of Intel are named by the table of PCI devices, their memory by its region") {
  const test::Folder root;
  root.write("usr/share/misc/pci.ids", pci_ids);
  put_card(root, "card0", "0x8086", "0xe20b");
  root.write("sys/class/drm/card0/device/resource",
             "0x00000000a0000000 0x00000000a0ffffff 0x0000000000140204\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
             "0x0000004000000000 0x00000042ffffffff 0x000000000014220c\n");
  put_card(root, "card1", "0x8086", "0x4680");  // within a processor: a window of 256 MiB
  root.write("sys/class/drm/card1/device/resource", "0x0000004000000000 0x000000400fffffff 0x000000000014220c\n");
  const auto cards = cli::kernel_cards(root.path());
  REQUIRE(cards.size() == 1);
  CHECK(cards[0].name == "Arc B580");
  CHECK(cards[0].total == 12 * gib);
  CHECK_FALSE(cards[0].free.has_value());
}

TEST_CASE("a machine's cards are asked about as their preset with what is free") {
  if (!cli::nvidia_cards().empty()) return;  // this machine's own come first
  const test::Folder root;
  root.write("usr/share/libdrm/amdgpu.ids", amdgpu_ids);
  put_amd(root, "card0", 24 * gib, 4 * gib);
  const cli::Environment environment{.root = root.path()};
  const std::vector<std::string> line{"fit", "llama-3.2-1b", "--gpu", "local", "--format", "json"};
  const auto answer = nlohmann::json::parse(cli::run(line, environment).answer);
  CHECK(answer["question"]["gpu"]["value"] == "rx-7900-xtx");
  CHECK(answer["capacity_bytes"] == 20 * gib);
  const test::Folder empty;
  CHECK_THROWS_WITH(cli::run(line, cli::Environment{.root = empty.path()}),
                    Contains("no driver of NVIDIA, AMD or Intel"));
  root.write("usr/share/libdrm/amdgpu.ids", "744C,\tC8,\tAMD Radeon Pro Unheard Of\n");
  CHECK_THROWS_WITH(cli::run(line, environment), Contains("Unheard Of") && Contains("24 GiB"));
  CHECK_THROWS_WITH(llmcalc::ask("fit", {{"model", "llama-3-8b"}, {"gpu", "local"}}),
                    Contains("question of the library"));
}

TEST_CASE("graphics of an Apple processor have the part of its memory that macOS leaves them") {
  const read::Catalogue catalogue;
  int asked = 0;
  for (const auto& preset : catalogue.accelerators()) {
    const auto& accelerator = preset.accelerator;
    if (accelerator.vendor != "Apple") continue;
    const cli::Card card{.name = accelerator.name.substr(0, accelerator.name.find(" (")),  // as sysctl says it
                         .arch = {},
                         .total = static_cast<std::uint64_t>(quantity::in_bytes(accelerator.memory_nominal)),
                         .is_shared = true};
    CAPTURE(card.name);
    dialects::Reading reading;
    std::vector<read::Given> words{{"gpu", "local", {spec::Source::flag, "--gpu"}}};
    cli::take_local_cards(reading, words, catalogue, {card});
    CHECK(words.front().text == accelerator.id + ":1");
    CHECK(words.back().text == std::to_string(quantity::in_bytes(accelerator.memory_usable) >> 20U) + "MiB");
    CHECK_THAT(reading.assumptions.back().words, Contains("what graphics may take of"));
    ++asked;
  }
  CHECK(asked >= 18);
}
