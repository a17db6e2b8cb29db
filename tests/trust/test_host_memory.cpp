// Memory of machines: how much there is, what offloading takes of it, and what that makes of a verdict.

#include "../answer/asking.hpp"
#include "catch.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "spec/node.hpp"

#include <string>

using namespace llmcalc;
using quantity::gib;
using quantity::in_bytes;
using test::question;
using trust::VerdictKind;

namespace {

quantity::Bytes machine(const std::string& hardware) {
  return spec::host_capacity_of(question("--model llama-3-8b " + hardware)).value();
}

VerdictKind offloaded(const std::string& memory) {
  const std::string line = "--model llama-3-8b --framework deepspeed --zero 3 --dtype bf16 --gpu h100-sxm:8 --offload ";
  return answer::estimate(question(line + "params+optimizer --host-memory " + memory)).verdict.kind;
}

}  // namespace

// Data sheets: DGX H100 2 TB for 8, DGX A100 320GB 1 TB for 8; a Grace Hopper superchip 480 GB.
TEST_CASE("a machine has the memory that its accelerators come with, or as much as is said") {
  CHECK(machine("--gpu h100-sxm:8") == gib(2048));
  CHECK(machine("--gpu h100-sxm:16") == gib(2048));
  CHECK(machine("--gpu a100-40:8") == gib(1024));
  CHECK(machine("--gpu gh200") == gib(480));
  CHECK(machine("--gpu rtx-4090") == gib(64));
  CHECK(machine("--gpu rtx-4090:4") == gib(256));
  CHECK(machine("--gpu apple-m3-max") == gib(0));
  CHECK(machine("--gpu rtx-4090 --host-memory 128GiB") == gib(128));
  CHECK_FALSE(spec::host_capacity_of(question("--model llama-3-8b")));
}

// DeepSpeed 0.17 runtime/zero/stage3.py, estimate_zero3_model_states_mem_needs: 18 bytes a parameter where weights and
// optimizer are on the host, spread over its ranks, and half as much again for buffers.
TEST_CASE("stage 3 on the host takes 18 bytes a parameter of one machine") {
  constexpr double parameters = 8'030'261'248.0;
  const auto verdict =
      answer::estimate(question("--model llama-3-8b --framework deepspeed --zero 3 --dtype bf16 --gpu h100-sxm:8 "
                                "--offload params+optimizer"))
          .verdict;
  CHECK(static_cast<double>(in_bytes(verdict.host_needed)) == Approx(18.0 * parameters).epsilon(0.001));
  CHECK(verdict.host_capacity == gib(2048));
  CHECK(offloaded("100GiB") == VerdictKind::does_not_fit);
  CHECK(offloaded("150GiB") == VerdictKind::tight);
  CHECK(offloaded("210GiB") == VerdictKind::fits);
}

TEST_CASE("two machines share what one would hold") {
  const std::string line = "--model llama-3-8b --framework deepspeed --zero 3 --dtype bf16 --offload params+optimizer ";
  const auto one = answer::estimate(question(line + "--gpu h100-sxm:8")).verdict.host_needed;
  const auto two = answer::estimate(question(line + "--gpu h100-sxm:16")).verdict.host_needed;
  CHECK(in_bytes(one) == Approx(2.0 * static_cast<double>(in_bytes(two))).epsilon(0.001));
}

// AdamW moments leave the accelerator for managed memory (bitsandbytes, paged_adamw): in bf16 4 bytes a parameter.
TEST_CASE("paged states need room somewhere") {
  const std::string line =
      "--model llama-3-8b --framework hf --dtype bf16 --optimizer paged-adamw --micro-batch 1 --gpu h200-sxm "
      "--host-memory ";
  CHECK(answer::estimate(question(line + "28GiB")).verdict.kind == VerdictKind::does_not_fit);
  CHECK(answer::estimate(question(line + "200GiB")).verdict.kind != VerdictKind::does_not_fit);
}

TEST_CASE("what stays on the accelerator asks nothing of the machine") {
  const auto verdict = answer::estimate(question("--model llama-3.2-1b --gpu h100-sxm --host-memory 1GiB")).verdict;
  CHECK(verdict.host_needed == gib(0));
  CHECK(verdict.kind != VerdictKind::does_not_fit);
}
