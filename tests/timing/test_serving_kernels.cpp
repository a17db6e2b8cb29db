#include "catch.hpp"
#include "timing/kernel_prices.hpp"
#include "timing/serving_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using timing::Operands;
using timing::ServingKernels;

namespace {

ServingKernels kernels_of(const std::string& gpu, std::string_view engine = "fastest") {
  return {*test::question_of("--model llama-3-8b --gpu " + gpu).gpu, engine};
}

double us(quantity::Seconds time) { return 1e6 * quantity::in_seconds(time); }

struct Row {
  std::string gpu;
  double rows, n, k;
  double measured;
};

struct Read {
  std::string gpu;
  double sequences, positions;
  double measured;
};

constexpr double half = 2.0;

}  // namespace

// NVIDIA aiconfigurator, silicon database, vllm gemm_perf: numbers of rows that scripts/fit-operations leaves out.
TEST_CASE("products of few rows take what was measured between the fitted sizes", "[serving]") {
  const std::vector<Row> rows{{"h100-sxm", 48, 10240, 8192, 57.68}, {"h100-sxm", 96, 8192, 3584, 26.35},
                              {"h200-sxm", 192, 4096, 4096, 16.58}, {"b200-sxm", 80, 16384, 5120, 28.60},
                              {"b200-sxm", 768, 8192, 8192, 70.4},  {"a100-80-sxm", 96, 12288, 4096, 86.67},
                              {"l40s", 96, 8192, 4096, 105.98}};
  for (const Row& row : rows) {
    INFO(row.gpu << ' ' << row.rows << " x " << row.n << " x " << row.k);
    const double time = us(kernels_of(row.gpu).product({row.rows, row.n, row.k, half * row.n * row.k}, Operands::half));
    CHECK(time == Approx(row.measured).epsilon(0.2));
  }
}

// The same database, rows of gemm_perf and moe_perf of B200 and H100. TensorRT-LLM's in FP8 are less the scaling of
// their inputs (its quantize table: 10.7 and 10.6 us), which its servers do in the kernels before.
TEST_CASE("engines multiply in few bits by kernels of their own", "[serving]") {
  struct Product {
    std::string engine, gpu;
    Operands operands;
    double rows, n, k, bits;
    double measured;
  };
  const std::vector<Product> rows{{"vllm", "b200-sxm", Operands::nvfp4, 16, 8192, 8192, 4.5, 13.2},
                                  {"vllm", "b200-sxm", Operands::nvfp4, 16, 65536, 4096, 4.5, 33.4},
                                  {"sglang", "b200-sxm", Operands::nvfp4, 16, 16384, 5120, 4.5, 13.7},
                                  {"trtllm", "b200-sxm", Operands::fp8, 16, 16384, 8192, 8, 39.4 - 10.7},
                                  {"trtllm", "b200-sxm", Operands::fp8, 4, 8192, 8192, 8, 26.1 - 10.4}};
  for (const auto& row : rows) {
    INFO(row.engine << ' ' << row.rows << " x " << row.n << " x " << row.k);
    const auto kernels = kernels_of(row.gpu, row.engine);
    const double time = us(kernels.product({row.rows, row.n, row.k, row.bits / 8 * row.n * row.k}, row.operands));
    CHECK(time == Approx(row.measured).epsilon(0.2));
  }
  // Qwen3 235B's experts, 32 of 128 on each of four ranks, 64 tokens: 226.4 us of TensorRT-LLM, 237.9 of vLLM.
  const double expert = 3.0 * 4096 * 1536;
  const timing::MixtureWork work{64 * 8 / 4.0, 32, 32 * expert, 2 * 128 * expert, 2.0 * 64 * 4096};
  CHECK(us(kernels_of("h100-sxm", "trtllm").mixture(work, Operands::fp8_block)) == Approx(226.4).epsilon(0.15));
  CHECK(us(kernels_of("h100-sxm", "vllm").mixture(work, Operands::fp8_block)) == Approx(237.9).epsilon(0.15));
  const auto other = us(kernels_of("h100-sxm", "hf").mixture(work, Operands::fp8_block));
  CHECK(other == us(kernels_of("h100-sxm").mixture(work, Operands::fp8_block)));
}

// The same database, SGLang 0.5.14: the curves come from vLLM's kernels. 32 heads, 8 of keys and values, of 128.
TEST_CASE("decoding reads the cache as fast as another engine's kernel was measured to", "[serving]") {
  const std::vector<Read> reads{{"h100-sxm", 8, 8192, 98.645},  {"h100-sxm", 64, 2048, 186.96},
                                {"h100-sxm", 64, 8192, 694.28}, {"h200-sxm", 64, 4096, 251.85},
                                {"h200-sxm", 64, 8192, 483.70}, {"b200-sxm", 8, 8192, 47.024},
                                {"b200-sxm", 64, 4096, 158.40}, {"b200-sxm", 64, 8192, 309.86}};
  for (const Read& read : reads) {
    INFO(read.gpu << ' ' << read.sequences << " sequences of " << read.positions);
    const double pairs = read.sequences * read.positions;
    const double time = us(kernels_of(read.gpu).decode_attention(
        {half * pairs * 2 * 8 * 128, 4 * pairs * 32 * 128, read.positions}, false));
    CHECK(time == Approx(read.measured).epsilon(0.15));
  }
}

// The same, SGLang 0.5.14 on H100, 16 heads of DeepSeek-V3 a rank: the curves come from TensorRT-LLM's kernel.
TEST_CASE("decoding reads latents as fast as another engine's kernel was measured to", "[serving]") {
  const std::vector<Read> reads{
      {"h100-sxm", 16, 8192, 69.334}, {"h100-sxm", 64, 4096, 121.58}, {"h100-sxm", 64, 8192, 218.53}};
  for (const Read& read : reads) {
    const double pairs = read.sequences * read.positions;
    const double time = us(
        kernels_of(read.gpu).decode_latent({half * pairs * 576, 2 * pairs * 16 * (576 + 512), read.positions}, false));
    CHECK(time == Approx(read.measured).epsilon(0.15));
  }
}

// The same, SGLang 0.5.14 on H100, one and eight prompts of 4096 tokens and eight of 1024.
TEST_CASE("prompts' attention takes what another engine's kernel was measured to", "[serving]") {
  struct Prompt {
    double sequences, positions, measured;
  };
  for (const Prompt& p : {Prompt{1, 4096, 253.37}, Prompt{8, 4096, 2028.1}, Prompt{8, 1024, 201.17}}) {
    const double tokens = p.sequences * p.positions;
    const double time =
        us(kernels_of("h100-sxm")
               .prompt_attention(
                   {4 * tokens * p.positions / 2 * 32 * 128, 4 * tokens * 128 * (32 + 8), p.positions, 128}, false));
    CHECK(time == Approx(p.measured).epsilon(0.25));
  }
  // Heads of 64 fill the tiles of 128 columns half, and wider ones do not (FlashAttention-3, arXiv:2407.08608, fig. 5).
  const auto takes = [&](int width) {
    return kernels_of("h100-sxm").prompt_attention({1e12, 1e8, 4096, width}, false);
  };
  CHECK(takes(64) > takes(96));
  CHECK(takes(96) == takes(128));
}

TEST_CASE("an all-reduce never gets shorter with its size, nor with ranks on one link", "[serving]") {
  for (const char* gpu : {"a100-80-sxm", "h100-sxm", "b200-sxm", "rtx-4090", "mi300x"}) {
    const ServingKernels kernels = kernels_of(gpu);
    for (const int ranks : {2, 4, 8}) {
      double last = 0.0;
      for (double bytes = 256; bytes < 1e10; bytes *= 1.7) {
        const double time = us(kernels.all_reduce(bytes, ranks));
        CHECK(time >= last);
        last = time;
      }
      // Between two measured sizes, which are powers of two from 4 KiB to 64 MiB, time is a straight line.
      for (double size = 4096; size < 6e7; size *= 2) {
        const double ends = us(kernels.all_reduce(size, ranks)) + us(kernels.all_reduce(2 * size, ranks));
        CHECK(2 * us(kernels.all_reduce(1.5 * size, ranks)) == Approx(ends));
      }
    }
  }
  CHECK(us(kernels_of("h100-sxm").all_reduce(1e6, 1)) == 0.0);
}

TEST_CASE("a faster PCIe never makes an all-reduce slower", "[serving]") {
  for (const char* gpu : {"l4", "l40s", "rtx-4090", "rtx-pro-6000-blackwell", "h100-pcie"}) {
    auto card = *test::question_of(std::string("--model llama-3-8b --gpu ") + gpu).gpu;
    card.link.reset();
    std::vector<ServingKernels> faster;
    for (double rate = 4; rate < 300; rate *= 1.03) {
      card.pcie = quantity::gigabytes_per_second(rate);
      faster.emplace_back(card, "fastest");
    }
    for (const int ranks : {2, 4, 8, 16}) {
      for (double bytes = 1024; bytes < 1e9; bytes *= 1.9) {
        CAPTURE(gpu, ranks, bytes);
        const auto takes = [&](const ServingKernels& kernels) { return us(kernels.all_reduce(bytes, ranks)); };
        const auto slower = [&](const auto& one, const auto& next) { return takes(next) > takes(one) * (1 + 1e-12); };
        CHECK(std::ranges::adjacent_find(faster, slower) == faster.end());
      }
    }
  }
}

// NVIDIA aiconfigurator, vllm custom_allreduce of L40S: a mebibyte among 2, 4 and 8.
TEST_CASE("a card with the measured PCIe exchanges in the measured time", "[serving]") {
  const ServingKernels kernels = kernels_of("l40s");
  for (const auto& [ranks, measured] : {std::pair{2, 60.25}, {4, 123.4}, {8, 193.8}})
    CHECK(us(kernels.all_reduce(1 << 20, ranks)) == Approx(measured));
}

// nccl-tests of two RTX 2080 Ti without a bridge (Anthony-Hoo.github.io
// posts/AutoDL_Multi-GPU_Interconnection_Test.md), eight RTX 4090 of 8 bytes (NVIDIA/nccl issue 1530). Two RTX 5090
// read a token of a model of 40 layers and 2,048 faster where a patched driver lets them reach each other, by 8.3 us
// of 10,000 and 17.4 of 90,000 (noonghunna/club-3090 issue 873).
TEST_CASE("cards that do not reach each other's memory exchange through the host's", "[serving]") {
  const auto card = [](const char* gpu, bool peers) {
    auto found = *test::question_of(std::string("--model llama-3-8b --gpu ") + gpu).gpu;
    found.link.reset();
    if (peers) found.peers = true;
    return ServingKernels(found, "vllm");
  };
  CHECK(us(card("rtx-2080-ti", false).all_reduce(1 << 20, 2)) == Approx(279.5));
  CHECK(us(card("rtx-2080-ti", false).all_reduce(1 << 12, 2)) == Approx(11.79));
  CHECK(us(card("rtx-4090", false).all_reduce(8, 8)) == Approx(42).epsilon(0.2));
  const auto spared = [&](double tokens) {
    const double bytes = tokens * 2 * 2048;
    return us(card("rtx-5090", false).all_reduce(bytes, 2)) - us(card("rtx-5090", true).all_reduce(bytes, 2));
  };
  CHECK(81 * spared(8192) / 8192 > 8.3);
  CHECK(81 * spared(8192) / 8192 < 17.4);
  for (const char* gpu : {"rtx-2080-ti", "rtx-3090", "rtx-4090", "rtx-5090"}) {
    for (const int ranks : {2, 4}) {  // the eight L40S that were measured did not reach each other either
      for (double bytes = 256; bytes < 1e9; bytes *= 1.7)
        CHECK(us(card(gpu, false).all_reduce(bytes, ranks)) > us(card(gpu, true).all_reduce(bytes, ranks)));
    }
  }
}

TEST_CASE("a bridge carries all-reduces of the pair that it joins", "[serving]") {
  auto card = *test::question_of("--model llama-3-8b --gpu rtx-3090").gpu;
  const ServingKernels bridged(card, "vllm");
  card.link.reset();
  const ServingKernels apart(card, "vllm");
  for (const double bytes : {1e4, 1e6, 1e8}) {
    CHECK(us(bridged.all_reduce(bytes, 2)) < us(apart.all_reduce(bytes, 2)));
    CHECK(us(bridged.all_reduce(bytes, 4)) == us(apart.all_reduce(bytes, 4)));
  }
}

// Operands for which a part has no units are widened: what remains is that fewer bytes are read.
TEST_CASE("narrow weights on a part without narrow units cost their bytes", "[serving]") {
  const ServingKernels kernels = kernels_of("a100-80-sxm");
  const double elements = 8192.0 * 8192.0;
  const double wide = us(kernels.product({1, 8192, 8192, 2 * elements}, Operands::half));
  const double narrow = us(kernels.product({1, 8192, 8192, elements}, Operands::fp8));
  CHECK(narrow < 0.65 * wide);
  CHECK(us(kernels.product({4096, 8192, 8192, elements}, Operands::fp8)) ==
        Approx(us(kernels.product({4096, 8192, 8192, 2 * elements}, Operands::half))).epsilon(0.05));
}
