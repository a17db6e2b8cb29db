// Advice is what a person can type: every flag, appended to the question, gives the figure that was promised.
#include "catch.hpp"
#include "search/inner/changes.hpp"
#include "too_large.hpp"

#include <random>

using namespace llmcalc;
using test::options_of;
using test::question;
using test::restated;
using test::some_larger;
using test::too_large;
using trust::VerdictKind;

namespace {

/// What a person is told about a run, but for the figures.
struct Told : search::Advised {
  answer::Verdict verdict;
};

Told advised(const std::string& line, const search::LargerAccelerators& larger = {}) {
  const auto run = question(line);
  const auto estimate = answer::estimate(run);
  const auto restate = [&](const spec::Question&, const auto& terms) { return restated(line, terms); };
  return {search::advise(run, larger, restate, estimate), estimate.verdict};
}

bool has_options(const search::Advised& told, std::string_view options) {
  return std::ranges::any_of(
      told.changes, [&](const auto& advice) { return options_of(advice.terms).find(options) != std::string::npos; });
}

}  // namespace

TEST_CASE("every advice, typed behind the question, needs what it promised and fits") {
  for (const std::string& line : too_large) {
    const auto told = advised(line, some_larger);
    CAPTURE(line);
    CHECK(told.verdict.kind != VerdictKind::fits);
    CHECK_FALSE(told.changes.empty());
    CHECK_FALSE(told.headroom);
    for (const auto& advice : told.changes) {
      CAPTURE(options_of(advice.terms));
      const auto again = answer::estimate(question(line + options_of(advice.terms)));
      CHECK(again.verdict.kind == advice.verdict);
      CHECK(again.verdict.needed == advice.needed);
      CHECK(again.verdict.needed <= again.verdict.capacity);
      CHECK_FALSE(advice.cost.empty());
    }
  }
}

TEST_CASE("an advice says each option once") {
  for (const std::string line :
       {"--model palm-540b --gpu rtx-4070-super --gpus 8", "--model llama-3-70b --gpu h20 --gpus 4"}) {
    for (const auto& advice : advised(line, some_larger).changes) {
      CAPTURE(options_of(advice.terms));
      for (const auto& said : advice.terms) {
        CHECK(std::ranges::count(advice.terms, said.term, &spec::Word::term) == 1);
      }
    }
  }
}

TEST_CASE("a single change in place comes before another training, and that before another machine") {
  const auto told =
      advised("--model gpt2-xl --dtype bf16 --framework hf --micro-batch 16 --seq 1024 --gpu a100-40-sxm", some_larger);
  REQUIRE(told.changes.size() >= 3);
  CHECK(told.changes.front().terms.front().term != "method");
  CHECK(told.changes.back().terms ==
        std::vector<spec::Word>{{"gpu", "h200-sxm"}});  // the first of those offered that fits
  CHECK(has_options(told, "--recompute full"));
  CHECK(has_options(told, "--micro-batch"));
}

TEST_CASE("the smallest step of a change is advised: one micro-batch less would not fit") {
  const std::string line = "--model gpt2-xl --dtype bf16 --framework hf --micro-batch 32 --seq 1024 --gpu a100-80-sxm";
  const auto told = advised(line);
  const auto found =
      std::ranges::find_if(told.changes, [](const auto& advice) { return advice.terms.front().term == "micro_batch"; });
  REQUIRE(found != told.changes.end());
  const auto batch = question(line + options_of(found->terms)).training.micro_batch;
  const auto larger = answer::estimate(question(line + " --micro-batch " + std::to_string(2 * batch)));
  CHECK(larger.verdict.kind != VerdictKind::fits);
}

TEST_CASE("where no single change in place suffices, two are combined") {
  const auto told = advised("--model llama-3-8b --dtype bf16 --framework hf --micro-batch 4 --gpu h100-sxm");
  REQUIRE_FALSE(told.changes.empty());
  CHECK(std::ranges::any_of(told.changes,
                            [](const auto& advice) { return advice.change.find(", and ") != std::string::npos; }));
}

TEST_CASE("accelerators are asked for only when the run does not fit, and not where the capacity was given") {
  int asked = 0;
  const auto counting = [&] {
    ++asked;
    return some_larger();
  };
  advised("--params 1e9 --dtype bf16 --gpu h100-sxm --framework hf", counting);
  CHECK(asked == 0);
  const auto given = advised("--model llama-3-8b --dtype bf16 --gpu a100-40-sxm --memory 20GiB", counting);
  CHECK(asked == 1);
  CHECK_FALSE(has_options(given, "--gpu h200"));
  CHECK_FALSE(has_options(given, "--gpu b200"));
}

TEST_CASE("the room of a run that fits is the border: one more does not fit") {
  for (const std::string line : {"--params 1e9 --dtype bf16 --gpu a100-80-sxm",
                                 "--model gpt2-xl --dtype bf16 --framework hf --seq 512 --gpu h100-sxm",
                                 "--model llama-3-8b --dtype bf16 --framework hf --attention eager --gpu mi300x "
                                 "--recompute full",
                                 "--model llama-3-8b --dtype bf16 --framework megatron --tp 8 --sp 1 --gpu h100-sxm"}) {
    CAPTURE(line);
    const auto told = advised(line);
    REQUIRE(told.verdict.kind == VerdictKind::fits);
    CHECK(told.changes.empty());
    REQUIRE(told.headroom);
    const auto kind_with = [&](const std::string& flag, std::int64_t value) {
      return answer::estimate(question(line + " --" + flag + " " + std::to_string(value))).verdict.kind;
    };
    CHECK(kind_with("micro-batch", told.headroom->micro_batch) == VerdictKind::fits);
    CHECK(kind_with("micro-batch", told.headroom->micro_batch + 1) != VerdictKind::fits);
    const auto longest = told.headroom->seq;
    CHECK(kind_with("seq", longest) == VerdictKind::fits);
    const auto positions = question(line).model.shape;
    if (positions.position != spec::Position::learned) CHECK(kind_with("seq", longest + 2048) != VerdictKind::fits);
    if (positions.position == spec::Position::learned) CHECK(longest <= positions.max_position);
  }
}

TEST_CASE("the room for micro-batches is one that the stated batch of a step can be split into") {
  const std::string line = "--model gpt2-xl --dtype bf16 --framework hf --seq 512 --gpu h100-sxm --global-batch ";
  const auto room_of = [&](const std::string& more) { return advised(line + more).headroom->micro_batch; };
  for (const std::int64_t batch : {6, 84, 1009, 1024}) {
    CAPTURE(batch);
    std::int64_t largest = 1;
    for (std::int64_t part = 1; part <= batch; ++part) {
      if (batch % part != 0) continue;
      const auto typed = line + std::to_string(batch) + " --micro-batch " + std::to_string(part);
      if (answer::estimate(question(typed)).verdict.kind == VerdictKind::fits) largest = part;
    }
    CHECK(room_of(std::to_string(batch)) == largest);
  }
  CHECK(room_of("6 --micro-batch 2 --grad-accum 3") == 2);
  CHECK(room_of("6 --grad-accum 3") == 2);
  const std::string interleaved = "32 --gpus 8 --framework megatron --pp 8 --vpp 2 --micro-batch ";
  CHECK(room_of(interleaved + "1") == 4);  // eight micro-batches, one a stage, are the fewest
}

TEST_CASE("the longest sequence is one that all ranks can share") {
  for (const std::string degrees : {"--gpus 3 --cp 3", "--gpus 6 --tp 2 --cp 3 --sp 1", "--gpus 5 --cp 5"}) {
    const std::string line = "--model llama-3.2-1b --dtype bf16 --framework megatron --gpu h100-sxm " + degrees;
    CAPTURE(line);
    const auto told = advised(line + " --seq 3840");
    REQUIRE(told.headroom);
    CHECK(told.headroom->seq > 3840);
    CHECK_NOTHROW(question(line + " --seq " + std::to_string(told.headroom->seq)));
  }
}

// Shoeybi et al. 2019, arXiv:1909.08053 section 5.1: ranks that share a model are no replicas any more.
TEST_CASE("cutting a model takes no accelerator and no sequence from the run") {
  int cuts = 0;
  for (const std::string replicas : {"6", "8", "12"}) {
    const std::string line =
        "--model llama-2-13b --dtype bf16 --framework megatron --gpu a100-80-sxm --recompute full --dp " + replicas;
    const auto run = question(line);
    for (const auto& advice : advised(line).changes) {
      const auto options = options_of(advice.terms);
      const auto changed = question(line + options);
      if (changed.layout.tp * changed.layout.pp == 1 || options.find("--gpus") != std::string::npos) continue;
      CAPTURE(line, options);
      CHECK(changed.layout.gpus == run.layout.gpus);
      CHECK(changed.training.global_batch == run.training.global_batch);
      ++cuts;
    }
  }
  CHECK(cuts > 3);
}

TEST_CASE("advice takes any question that an estimate takes") {
  const auto huge = advised(
      "--model llama-3-8b --dtype bf16 --micro-batch 2147483647 --grad-accum 2147483647 "
      "--gpu a100-80-sxm --seq 1");
  CHECK(huge.verdict.kind == VerdictKind::does_not_fit);
  CHECK(advised("--params 1e9 --dtype bf16").changes.empty());
  CHECK_FALSE(advised("--params 1e9 --dtype bf16 --gpu a100-80 --activations none").headroom);
}

TEST_CASE("where gathered checkpoints alone do not fit, others are advised first") {
  const auto told = advised(too_large[0]);
  REQUIRE(told.verdict.kind == VerdictKind::does_not_fit);
  CHECK(options_of(told.changes.front().terms) == " --save-checkpoint full-cpu");
}

TEST_CASE("replicas are sharded before their layers are computed again or their samples cut") {
  for (const std::string line : {"--model llama-3.1-8b --framework accelerate --method full --gpu h100-sxm --gpus 8",
                                 "--model llama-3.1-8b --framework megatron --method full --gpu h100-sxm --gpus 8"}) {
    CAPTURE(line);
    const auto told = advised(line);
    REQUIRE(told.verdict.kind == VerdictKind::does_not_fit);
    CHECK(told.changes.front().terms.front().term == "sharding");
  }
}

TEST_CASE("a run short of a reference model's bytes may store what that would say") {
  const std::string line =
      "--model llama-3-8b --dtype bf16 --framework ms-swift --method full --recompute full --optimizer-impl foreach "
      "--gpu h100-sxm --memory 85GiB --algorithm ";
  CHECK(has_options(advised(line + "dpo"), "--reference precomputed"));
  CHECK_FALSE(has_options(advised(line + "ppo"), "--reference precomputed"));
}

namespace {

/// What a change makes of a run in one of its forms; nothing where it does not apply or counts too far.
std::optional<search::Changed> formed(const search::Changed& run, const search::Change& change, search::Larger larger,
                                      std::size_t step) try {
  auto changed = run;
  if (!change.apply(changed, larger, step)) return std::nullopt;
  return changed;
} catch (const quantity::Overflow&) {
  return std::nullopt;
}

/// Whether a changed run fits, typed behind the line that was asked.
bool fits(const std::string& line, const search::Changed& run, search::Probe& probe) {
  const auto typed = restated(line, run.terms);
  const auto need = typed ? probe.need(typed->question) : std::nullopt;
  return need && trust::judge(typed->question, *need) == VerdictKind::fits;
}

/// Sets of one and two changes are typed whatever the edited question says; of larger ones those that it says fit.
bool seems_to_fit(const spec::Question& question, std::size_t changes, search::Probe& probe) {
  if (changes <= 2) return true;
  const auto need = probe.need(question);
  return need && trust::judge(question, *need) != VerdictKind::does_not_fit;
}

/// Whether up to four changes of different kinds, each in any of its forms, make a run fit on top of those `made`.
bool some_fit(const std::string& line, const search::Changed& run, std::span<const search::Change> changes,
              search::Larger larger, std::vector<search::ChangeKind> made = {}) {
  constexpr std::size_t most = 4;
  search::Probe probe;
  for (std::size_t next = 0; next < changes.size(); ++next) {
    if (std::ranges::find(made, changes[next].kind) != made.end()) continue;
    made.push_back(changes[next].kind);
    for (std::size_t step = 0; step < changes[next].steps(run.question, larger); ++step) {
      const auto changed = formed(run, changes[next], larger, step);
      if (!changed) continue;
      if (seems_to_fit(changed->question, made.size(), probe) && fits(line, *changed, probe)) return true;
      if (made.size() < most && some_fit(line, *changed, changes.subspan(next + 1), larger, made)) return true;
    }
    made.pop_back();
  }
  return false;
}

bool is_elsewhere(const search::Advice& advice) {
  return std::ranges::any_of(advice.terms, [](const auto& term) { return term.term == "gpu" || term.term == "gpus"; });
}

/// Whether a person is told what fits, with more or other accelerators or with those at hand alone.
bool is_saved(const Told& told, bool elsewhere) {
  return std::ranges::any_of(told.changes, [&](const auto& advice) {
    return advice.verdict == VerdictKind::fits && (elsewhere || !is_elsewhere(advice));
  });
}

std::string random_line(std::mt19937& random) {
  const auto any = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  return "--model " + any({"llama-3-8b", "llama-2-13b", "llama-3-70b", "mistral-7b", "llama-3.2-1b", "mixtral-8x7b"}) +
         " --dtype bf16 --framework " + any({"hf", "megatron", "deepspeed", "torchtitan", "generic"}) + " --gpu " +
         any({"rtx-4090", "a100-40-sxm", "h100-sxm", "l40s"}) + " --gpus " + any({"1", "2", "8", "16"}) + " --seq " +
         any({"1024", "4096", "8192"}) + " --micro-batch " + any({"1", "2", "6"}) +
         any({"", " --method lora", " --method qlora", " --recompute full", " --optimizer sgd"}) +
         any({"", "", "", "", "", " --memory 2GiB", " --memory 6GiB", " --memory 12GiB"});
}

}  // namespace

TEST_CASE("of 500 runs that do not fit, each that up to four changes can save is advised what fits", "[long]") {
  std::mt19937 random(4);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same runs on every machine
  const auto larger = some_larger();
  const auto changes = search::all_changes();
  const auto elsewhere = std::ranges::find(changes, true, &search::Change::makes_room);
  const auto here = changes.first(static_cast<std::size_t>(elsewhere - changes.begin()));
  int asked = 0;
  int hopeless = 0;
  while (asked < 500) {
    const auto line = random_line(random);
    if (!restated(line, {})) continue;  // megatron knows no qlora
    const auto told = advised(line, [&] { return larger; });
    if (told.verdict.kind != VerdictKind::does_not_fit) continue;
    ++asked;
    CAPTURE(line);
    const search::Changed run{test::question(line), {}, {}, {}};
    if (!is_saved(told, false)) CHECK_FALSE(some_fit(line, run, here, {}));
    if (is_saved(told, true)) continue;
    CHECK_FALSE(some_fit(line, run, changes, larger));
    ++hopeless;
  }
  CHECK(hopeless > 50);  // where everything is saved by more accelerators, nothing is compared
}

TEST_CASE("the larger accelerators are told by capacity, as no, tight or yes") {
  const auto told = advised("--model llama-3-8b --dtype mixed-bf16 --gpu a100-80-sxm", some_larger);
  REQUIRE(told.cards.size() == 2);
  CHECK(told.cards[0].gpu == "h200-sxm");
  CHECK(told.cards[1].gpu == "b200-sxm");
}
