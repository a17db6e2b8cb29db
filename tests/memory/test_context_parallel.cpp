// Measured context-parallel runs: Llama 3 70B cut to 12 layers on 8 B200, TransformerEngine 2.11 with all-to-all
// (SimuMax v1.2 docs/b200, b200_release_v1.2_summary.json and b200_real_repro_guide.md section 7); and Qwen3 of a
// million tokens on 8 H100 in TRL, whose ring is PyTorch's (trl pull requests 6845 and 6846).

#include "asked.hpp"
#include "catch.hpp"

using namespace llmcalc;

namespace {

double peak(const std::string& layout) {
  const std::string run =
      "--model llama-3-70b --layers 12 --vocab 128256 --framework megatron --dtype mixed-bf16 --loss te-fused "
      "--micro-batch 1 --grad-accum 4 --sharding zero1 --gpu b200-sxm --gpus 8 --cp-exchange all-to-all ";
  const test::Asked asked(run + layout);
  return static_cast<double>(quantity::in_bytes(asked.walk().peak().alive.total()));
}

}  // namespace

TEST_CASE("peaks of 32k and 131k tokens over 4 and 8 context-parallel ranks to 0.1 %") {
  CHECK(peak("--seq 32768 --tp 2 --sp 1 --cp 4") == Approx(73'474'310'656.0).epsilon(0.001));
  CHECK(peak("--seq 32768 --cp 8") == Approx(112'215'577'088.0).epsilon(0.001));
  CHECK(peak("--seq 131072 --tp 2 --sp 1 --cp 4") == Approx(120'976'285'184.0).epsilon(0.001));
  CHECK(peak("--seq 131072 --cp 8") == Approx(158'900'576'768.0).epsilon(0.001));
}

TEST_CASE("peaks of a million tokens over eight ranks of PyTorch's ring to 4 %") {
  const auto peak_of = [](const std::string& words) {
    const std::string run =
        "--framework trl --method full --seq 1048576 --micro-batch 1 --recompute full --attention sdpa "
        "--gpu h100-sxm:8 --cp 8 --cp-exchange ring --sharding fsdp2 --framework-version trl==1.16,torch==2.12 ";
    return static_cast<double>(quantity::in_bytes(test::Asked(run + words).walk().peak().alive.total()));
  };
  CHECK(peak_of("--model qwen3-0.6b") == Approx(27.9e9).epsilon(0.04));
  CHECK(peak_of("--model qwen3-0.6b --offload activations") == Approx(20.8e9).epsilon(0.04));
  CHECK(peak_of("--model qwen3-8b --offload activations") == Approx(56.2e9).epsilon(0.04));
}
