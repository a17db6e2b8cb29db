// What a machine tells of itself: nvidia-smi's output as people have pasted it, and releases of packages.

#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"

#include <optional>
#include <string>
#include <string_view>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

dialects::Reading read_machine(const std::string& text) {
  return dialects::read_launch_file(text, "m.txt",
                                    [](const std::string&) { return std::optional<dialects::NamedFile>(); });
}

std::string machine_word(const dialects::Reading& reading, std::string_view term) {
  for (const auto& each : reading.words) {
    if (each.term == term) return each.text;
  }
  return "";
}

std::string machine_notes(const dialects::Reading& reading) {
  std::string all;
  for (const auto& each : reading.assumptions) all += each.words + "\n";
  return all;
}

/// Driver 418 of 2020 (dpressel/mead-baseline's documentation), which cuts names off.
constexpr std::string_view busy_1080_ti =
    "Tue Oct  6 15:03:35 2020       \n"
    "+-----------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 418.39       Driver Version: 418.39       CUDA Version: 10.1     |\n"
    "|-------------------------------|----------------------|----------------------+\n"
    "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
    "|===============================+======================+======================|\n"
    "|   0  GeForce GTX 108...  Off  | 00000000:01:00.0  On |                  N/A |\n"
    "| 29%   35C    P2   103W / 250W |   5573MiB / 11175MiB |     87%      Default |\n"
    "+-------------------------------|----------------------|----------------------+\n"
    "                                                                               \n"
    "+-----------------------------------------------------------------------------+\n"
    "| Processes:                                                       GPU Memory |\n"
    "|  GPU       PID   Type   Process name                             Usage      |\n"
    "|=============================================================================|\n"
    "|    0     17871      C   /usr/bin/python3                            4783MiB |\n"
    "+-----------------------------------------------------------------------------+\n";

/// Driver 535 (an EKS workshop's page), whose container sees no processes.
constexpr std::string_view busy_a10g =
    "| NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |\n"
    "|-----------------------------------------+----------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                      |               MIG M. |\n"
    "|=========================================+======================+======================|\n"
    "|   0  NVIDIA A10G                    On  | 00000000:00:1E.0 Off |                    0 |\n"
    "|  0%   59C    P0             196W / 300W |  17878MiB / 23028MiB |    100%      Default |\n"
    "|                                         |                      |                  N/A |\n"
    "+-----------------------------------------+----------------------+----------------------+\n"
    "| Processes:                                                                            |\n"
    "|  GPU   GI   CI        PID   Type   Process name                            GPU Memory |\n"
    "|=======================================================================================|\n";

/// Driver 418 on Power (IBM's documentation), two cards that are cut off to the same name.
constexpr std::string_view idle_v100 =
    "      | NVIDIA-SMI 418.87.00    Driver Version: 418.87.00    CUDA Version: 10.1     |\n"
    "      |===============================+======================+======================|\n"
    "      |   0  Tesla V100-SXM2...  On   | 00000004:04:00.0 Off |                    0 |\n"
    "      | N/A   32C    P0    37W / 300W |      0MiB / 16130MiB |      0%      Default |\n"
    "      +-------------------------------+----------------------+----------------------+\n"
    "      |   1  Tesla V100-SXM2...  On   | 00000035:03:00.0 Off |                    0 |\n"
    "      | N/A   33C    P0    37W / 300W |      0MiB / 16130MiB |      0%      Default |\n"
    "      | Processes:                                                       GPU Memory |\n"
    "      |  No running processes found                                                 |\n";

/// Driver 580 (a laptop), whose card has less than the desktop's of the same first words.
constexpr std::string_view laptop_5090 =
    "| NVIDIA-SMI 580.142                Driver Version: 580.142        CUDA Version: 13.0     |\n"
    "|   0  NVIDIA GeForce RTX 5090 ...    Off |   00000000:02:00.0 Off |                  N/A |\n"
    "| N/A   50C    P4             15W /   95W |      15MiB /  24463MiB |      0%      Default |\n";

}  // namespace

TEST_CASE("nvidia-smi's table says the card, and what others leave of it") {
  const auto ti = read_machine(std::string(busy_1080_ti));
  CHECK(machine_word(ti, "gpu") == "gtx-1080-ti");
  CHECK(machine_word(ti, "gpus") == "1");
  const auto free = std::stoi(machine_word(ti, "memory"));  // 11,175 - 5,573, and what the driver keeps to itself
  CHECK(free <= 11'175 - 5'573);
  CHECK(free > 11'175 - 5'573 - 300);
  CHECK_THAT(machine_notes(ti), Contains("process 17871 with 4.67 GiB"));
  CHECK(ti.words.front().origin.where == "m.txt:8");

  const auto a10g = read_machine(std::string(busy_a10g));
  CHECK(machine_word(a10g, "gpu") == "a10g");
  CHECK(std::stoi(machine_word(a10g, "memory")) <= 23'028 - 17'878);

  const auto v100 = read_machine(std::string(idle_v100));
  CHECK(machine_word(v100, "gpu") == "v100-sxm2-16");
  CHECK(machine_word(v100, "gpus") == "2");
}

/// The name of NVIDIA's laptop part goes on behind what the table shows; several parts of 8 GiB begin as the other
/// does.
TEST_CASE("A name that is cut off is that of the card that is as large, or left to an option") {
  CHECK(machine_word(read_machine(std::string(laptop_5090)), "gpu") == "rtx-5090-laptop");
  const auto several = read_machine(
      "| NVIDIA-SMI 440.33       Driver Version: 440.33       CUDA Version: 10.2     |\n"
      "|   0  GeForce RTX 207...  Off  | 00000000:01:00.0  On |                  N/A |\n"
      "| 29%   35C    P2   103W / 175W |    573MiB /  7982MiB |     87%      Default |\n");
  CHECK(machine_word(several, "gpu").empty());
  CHECK_THROWS_WITH(dialects::with_options(several, {}),
                    Contains("m.txt:2") && Contains("rtx-2070") && Contains("rtx-2070-super"));
  CHECK_NOTHROW(dialects::with_options(several, {{"gpu", "rtx-2070", {read::Source::flag, "--gpu"}}}));
}

/// Fields as `nvidia-smi --help-query-gpu` names them; free is without what is reserved, and counts.
TEST_CASE("nvidia-smi's query says the same as its table") {
  const auto all = read_machine(
      "index, name, memory.total [MiB], memory.used [MiB], memory.free [MiB]\n"
      "0, NVIDIA H100 80GB HBM3, 81559 MiB, 10240 MiB, 70768 MiB\n"
      "1, NVIDIA H100 80GB HBM3, 81559 MiB, 1 MiB, 81007 MiB\n");
  CHECK(machine_word(all, "gpu") == "h100-sxm");
  CHECK(machine_word(all, "gpus") == "2");
  CHECK(machine_word(all, "memory") == "70768MiB");

  const auto used = read_machine(
      "name, memory.total [MiB], memory.used [MiB]\n"
      "NVIDIA H100 80GB HBM3, 81559, 10240\n");
  CHECK(machine_word(used, "memory") == "70768MiB");  // 81,008 are usable (torch's 79.11 GiB)

  CHECK_THROWS_WITH(read_machine("index, memory.total [MiB]\n0, 81559 MiB\n"), Contains("m.txt:2") && Contains("name"));
  CHECK_THROWS_WITH(read_machine("name, memory.total [MiB]\nNVIDIA H100 80GB HBM3, 81559 MiB\nTesla T4, 15360 MiB\n"),
                    Contains("not alike") && Contains("Tesla T4"));
}

TEST_CASE("nvidia-smi's list says cards, or the slices of one") {
  const auto cards = read_machine(
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-4ec7dd3a-6c3c-5f2f-9b0d-2b0a8a9a1c11)\n");
  CHECK(machine_word(cards, "gpu") == "a100-40-sxm");
  CHECK(machine_word(cards, "gpus") == "2");
  CHECK(machine_word(cards, "memory").empty());

  const auto slices = read_machine(
      "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\n"
      "  MIG 3g.40gb     Device  0: (UUID: MIG-7e10f7d2-0000-5f2f-9b0d-2b0a8a9a1c11)\n"
      "  MIG 3g.40gb     Device  1: (UUID: MIG-7e10f7d2-0001-5f2f-9b0d-2b0a8a9a1c11)\n");
  CHECK(machine_word(slices, "gpu") == "a100-80-sxm-mig-3g.40gb");
  CHECK(machine_word(slices, "gpus") == "2");
}

/// Driver 550 on an A10 (a public test of nvidia-smi -q), of which 526 MiB are the driver's own.
TEST_CASE("nvidia-smi's log says the card and what is free of it") {
  const std::string log =
      "\n==============NVSMI LOG==============\n\nTimestamp                                 : Wed Jan 22 04:28:41 "
      "2025\n"
      "Attached GPUs                             : 1\nGPU 00000000:06:00.0\n"
      "    Product Name                          : NVIDIA A10\n    MIG Mode\n"
      "        Current                           : N/A\n    FB Memory Usage\n"
      "        Total                             : 23028 MiB\n        Reserved                          : 526 MiB\n"
      "        Used                              : 1 MiB\n        Free                              : 22503 MiB\n"
      "    BAR1 Memory Usage\n        Total                             : 32768 MiB\n"
      "        Free                              : 32767 MiB\n    Processes                             : None\n";
  const auto reading = read_machine(log);
  CHECK(machine_word(reading, "gpu") == "a10");
  CHECK(machine_word(reading, "gpus") == "1");
  CHECK(machine_word(reading, "memory") == "22503MiB");
  std::string cut = log;
  cut.replace(cut.find("N/A"), 3, "Enabled");
  CHECK_THROWS_WITH(read_machine(cut), Contains("slices"));
}

TEST_CASE("nvidia-smi's rows without a header say the card, and its memory where the largest amount is that") {
  const auto totals = read_machine("NVIDIA A10G, 23028 MiB, 17878 MiB\nNVIDIA A10G, 23028 MiB, 0 MiB\n");
  CHECK(machine_word(totals, "gpu") == "a10g");
  CHECK(machine_word(totals, "gpus") == "2");
  CHECK_THAT(machine_notes(totals), Contains("what others hold is not read"));
  CHECK(machine_word(read_machine("0, Tesla T4, 00000000:00:1E.0, 3 MiB\n"), "gpu") == "t4");
  CHECK(machine_word(read_machine("NVIDIA H100 80GB HBM3\nNVIDIA H100 80GB HBM3\n"), "gpus") == "2");
}

TEST_CASE("A card that no preset is called is named as the driver does, for a preset of one's own") {
  const auto reading = read_machine("GPU 0: NVIDIA Prototype 7 (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\n");
  CHECK(machine_word(reading, "gpu") == "NVIDIA Prototype 7");
  CHECK(reading.open.empty());
}

/// PEP 440: a local version is not the release's, a range is not one release.
TEST_CASE("pip's releases are those of the software") {
  const auto frozen = read_machine(
      "accelerate==1.10.0\nflash_attn==2.8.3\nnumpy==2.2.6\ntorch==2.8.0+cu128\ntransformers==4.55.2\n"
      "trl @ git+https://github.com/huggingface/trl@v0.21.0\nvllm==0.10.1.1\n");
  CHECK(machine_word(frozen, "framework_version") ==
        "accelerate 1.10.0, flash-attn 2.8.3, torch 2.8.0, transformers 4.55.2, trl 0.21.0");
  CHECK(machine_word(frozen, "engine") == "vllm");
  CHECK(machine_word(frozen, "engine_version") == "0.10.1.1");
  CHECK(machine_notes(frozen).empty());

  const auto required = read_machine(
      "# training\n--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.4.*\n"
      "transformers[torch]>=4.44  # for Llama 3.1\npeft\nsglang==0.4.9 ; sys_platform == 'linux'\nvllm==0.9.2\n");
  CHECK(machine_word(required, "framework_version") == "torch 2.4");
  CHECK(machine_word(required, "engine").empty());
  CHECK_THAT(machine_notes(required), Contains("transformers>=4.44 (m.txt:4) says no one release") &&
                                          Contains("peft (m.txt:5) says no one release") &&
                                          Contains("sglang (m.txt:6) and vllm (m.txt:7) are both there"));

  const auto listed = read_machine("Package    Version\n---------- -------\ntorch      2.6.0\nnumpy      2.1.0\n");
  CHECK(machine_word(listed, "framework_version") == "torch 2.6.0");

  CHECK_THROWS_WITH(read_machine("numpy==2.1.0\nrequests>=2\n"), Contains("names no package whose releases are known"));
}

TEST_CASE("An engine that an option names has not the release of another") {
  const auto frozen = read_machine("vllm==0.10.1\n");
  const auto words = dialects::with_options(frozen, {{"engine", "sglang", {read::Source::flag, "--engine"}}});
  CHECK_FALSE(read::has_word(words, "engine_version"));
}

/// nvsmi_device_v12.dtd, driver 535: the log of -q as XML, where BAR1 has amounts of the same names.
TEST_CASE("nvidia-smi's XML says what its log says") {
  const auto reading = read_machine(
      "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n"
      "<gpu id=\"00000000:00:1E.0\">\n<product_name>NVIDIA A10G</product_name>\n"
      "<mig_mode>\n<current_mig>N/A</current_mig>\n</mig_mode>\n"
      "<fb_memory_usage>\n<total>23028 MiB</total>\n<used>17878 MiB</used>\n<free>4637 MiB</free>\n</fb_memory_usage>\n"
      "<bar1_memory_usage>\n<total>32768 MiB</total>\n<free>32767 MiB</free>\n</bar1_memory_usage>\n"
      "<processes>\n<process_info>\n<pid>1234</pid>\n<used_memory>17866 MiB</used_memory>\n</process_info>\n"
      "</processes>\n</gpu>\n</nvidia_smi_log>\n");
  CHECK(machine_word(reading, "gpu") == "a10g");
  CHECK(machine_word(reading, "gpus") == "1");
  CHECK(machine_word(reading, "memory") == "4637MiB");
  CHECK_THAT(machine_notes(reading), Contains("process 1234"));
  CHECK(reading.words.front().origin.where == "m.txt:5");
}

/// A card that only a preset of one's own is called after: what others hold of it is not free either.
TEST_CASE("What is free of a card that no preset knows is what there is of it") {
  const auto reading =
      read_machine("name, memory.total [MiB], memory.free [MiB]\nNVIDIA Foo 9000, 50000 MiB, 20000 MiB\n");
  CHECK(machine_word(reading, "gpu") == "NVIDIA Foo 9000");
  CHECK(machine_word(reading, "memory") == "20000MiB");
}
