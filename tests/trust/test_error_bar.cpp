// Error bars: narrow where runs like it were measured, wider where not, and never less than what ran out of memory.

#include "../read/typed.hpp"
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "spec/names.hpp"
#include "trust/error_bar.hpp"
#include "trust/inner/measured_bars.hpp"

#include <algorithm>
#include <string>

using namespace llmcalc;

namespace {

spec::Question asked(const std::string& words) {
  return test::ask("--model llama-3-8b --gpu h100-sxm " + words).question;
}

}  // namespace

/// The nearest that was measured of trl is transformers, of lightning's reserved level what other loops of torch held.
TEST_CASE("what nobody measured takes the bar of the engine under it, no narrower than who was measured, and says so") {
  for (const auto& [framework, engine] :
       {std::pair{"ms-swift", "hf"}, {"llama-factory", "hf"}, {"lightning", "torchtitan"}}) {
    const auto bar = trust::error_bar(asked("--framework " + std::string(framework)));
    const auto under = trust::error_bar(asked("--framework " + std::string(engine)));
    CHECK(bar.allocated_runs == 0);
    CHECK(bar.source.find("engine under it") != std::string_view::npos);
    CHECK(bar.reserved.below >= under.reserved.below);
    CHECK(bar.device.below >= under.device.below);
  }
}

/// A publication of one level says nothing of another: max_memory_allocated is known to a few percent, what the
/// allocator caches beside it is not.
TEST_CASE("every level of every framework has a bar, the widest those of what is cached") {
  for (const auto& row : trust::engine_bars()) CHECK(row.share > 0.0);
  for (const std::string framework : {"hf", "torchtitan", "megatron", "deepspeed"}) {
    const auto bar = trust::error_bar(asked("--framework " + framework));
    CHECK(bar.allocated.above < bar.reserved.above);
    CHECK(bar.allocated.above < bar.device.above);
  }
}

TEST_CASE("ZeRO of transformers' trainers is as well known as DeepSpeed, which runs it") {
  for (const std::string trainer : {"hf", "trl", "llama-factory", "ms-swift", "axolotl"}) {
    const auto words = " --method full --gpus 4 --sharding zero3 --framework ";
    const auto handed_on = trust::error_bar(asked(words + trainer));
    CHECK(handed_on.name == trust::error_bar(asked(words + std::string("deepspeed"))).name);
    CHECK(handed_on.allocated_runs == 0);
  }
}

/// Of 61 runs of Hugging Face that ran out of memory the estimate of four lies up to 5 % below the capacity.
TEST_CASE("a bar of Hugging Face reaches the runs that were measured to run out of memory") {
  CHECK(trust::error_bar(asked("--framework hf")).allocated.above >= 0.05);
  CHECK(trust::error_bar(asked("--framework hf --method lora")).allocated.above >= 0.05);
}

/// Exchange between machines is the part of a step that is known worst.
TEST_CASE("times over several machines have a bar of their own, no narrower than one machine's") {
  for (const std::string framework : {"megatron", "hf", "composer", "lightning"}) {
    const auto one = trust::time_error_bar(asked("--framework " + framework + " --gpus 8"), 0.0);
    const auto several = trust::time_error_bar(asked("--framework " + framework + " --gpus 16 --nodes 2"), 0.0);
    CHECK(one.kind != several.kind);
    CHECK(several.spread.below >= one.spread.below);
  }
}

TEST_CASE("times say whether the framework was measured, and widen on a generation that was not") {
  const auto here = trust::time_error_bar(asked("--framework megatron"), 0.0);
  CHECK(here.runs > 0);
  CHECK(trust::time_error_bar(asked("--framework ms-swift"), 0.0).runs == 0);
  auto elsewhere = asked("--framework megatron");
  elsewhere.gpu->generation.is_nearest = true;
  CHECK(trust::time_error_bar(elsewhere, 0.0).spread == trust::even(trust::wider_by_generation * here.spread.below));
  const trust::Spread slow = trust::time_error_bar(asked("--framework megatron"), 1.0).spread;
  CHECK(slow.below == here.spread.below);
  CHECK(slow.above == Approx(1.0 + 2.0 * here.spread.below));
}

/// 1.266 is what FSDP's runs cached over what they allocated.
TEST_CASE("sharded layers whose cached blocks reach the capacity are tight, though what must fit does") {
  auto sharded = asked("--framework hf --gpus 8 --sharding fsdp1");
  auto replicated = asked("--framework hf --gpus 8 --sharding ddp");
  sharded.pricing.memory = replicated.pricing.memory = quantity::gib(80);
  CHECK(trust::doubt_of(sharded, {quantity::gib(66)}) == trust::Doubt::cached);
  CHECK(trust::doubt_of(sharded, {quantity::gib(60)}) == trust::Doubt::none);
  CHECK(trust::doubt_of(replicated, {quantity::gib(66)}) == trust::Doubt::none);
  CHECK(trust::doubt_of(sharded, {quantity::gib(79)}) == trust::Doubt::error_bar);
  CHECK(trust::doubt_of(sharded, {quantity::gib(81)}) == trust::Doubt::none);
}

/// Who says by how much more is reserved has measured what is cached.
TEST_CASE("a ratio of reserved memory that is said stands in place of what is cached") {
  auto sharded = asked("--framework hf --gpus 8 --sharding fsdp1 --reserved-ratio 1.02");
  sharded.pricing.memory = quantity::gib(80);
  CHECK(trust::doubt_of(sharded, {quantity::gib(66)}) == trust::Doubt::none);
}

TEST_CASE("who was not measured has no narrower bar than each that was, nor has a generation that was not") {
  for (const auto& word : spec::vocabulary<spec::Framework>()) {
    auto question = asked("--framework " + std::string(word.name));
    CAPTURE(std::string(word.name));
    double narrowest = 1.0;
    for (const auto& measured : trust::measured_bars()) {
      const bool alike =
          frameworks::row_of(measured.framework).memory_runs == frameworks::row_of(word.value).memory_runs;
      if (alike && measured.level == trust::Level::allocated) narrowest = std::min(narrowest, measured.share);
    }
    const auto bar = trust::error_bar(question);
    if (bar.allocated_runs == 0 && narrowest < 1.0) CHECK(bar.allocated.above >= narrowest);
    const double known = trust::time_error_bar(question, 0.0).spread.above;
    question.gpu->generation.is_nearest = true;
    CHECK(trust::time_error_bar(question, 0.0).spread.above > known);
  }
}
