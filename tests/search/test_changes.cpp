// What the search for advice takes for granted of the changes that it makes.
#include "catch.hpp"
#include "read/resolve.hpp"
#include "search/inner/changes.hpp"
#include "too_large.hpp"

using namespace llmcalc;
using test::question;
using test::restated;
using test::some_larger;
using test::too_large;

namespace {

/// A run after a change, in each of its forms that can be made.
std::vector<search::Changed> after(const search::Change& change, const spec::Question& run, search::Larger larger) {
  std::vector<search::Changed> forms;
  for (std::size_t step = 0; step < change.steps(run, larger); ++step) {
    search::Changed changed{run, {}, {}, {}};
    if (change.apply(changed, larger, step)) forms.push_back(std::move(changed));
  }
  return forms;
}

}  // namespace

TEST_CASE("what states need is part of the need, and stays where a change leaves them alone", "[search]") {
  search::Probe probe;
  const auto larger = some_larger();
  for (const auto& line : too_large) {
    INFO(line);
    const auto run = question(line);
    const auto before = probe.need(run);
    CHECK((before && before->at_rest > quantity::Bytes{} && before->at_rest <= before->accelerator));
    for (const auto& change : search::all_changes()) {
      if (!search::leaves_states(change.kind)) continue;
      for (const auto& changed : after(change, run, larger)) {
        INFO(changed.change);
        const auto need = probe.need(changed.question);
        CHECK((need && need->at_rest == before->at_rest));
      }
    }
  }
}

TEST_CASE("what passes keep stays where only states rest otherwise, and over however many ranks", "[search]") {
  search::Probe probe;
  const auto larger = some_larger();
  for (const auto& line : too_large) {
    INFO(line);
    const auto run = question(line);
    for (const auto& change : search::all_changes()) {
      if (!search::leaves_passes(change.kind) && !change.makes_room) continue;
      auto before = change.makes_room ? std::nullopt : probe.need(run);
      for (const auto& changed : after(change, run, larger)) {
        INFO(changed.change);
        const auto need = probe.need(changed.question);
        if (!before) before = need;
        CHECK((need && need->kept >= before->kept));
      }
    }
  }
}

TEST_CASE("a micro-batch of fewer or shorter sequences needs no more, in every trainer", "[search]") {
  search::Probe probe;
  int asked = 0;
  const auto ask = [&](const spec::Question& run, const search::Change& change) {
    std::optional<search::Probed> longer;
    for (const auto& changed : after(change, run, {})) {
      CAPTURE(changed.change);
      const auto shorter = probe.need(changed.question);
      if (longer && shorter) CHECK(shorter->accelerator <= longer->accelerator);
      if (longer && shorter) CHECK(shorter->host <= longer->host);
      longer = shorter;
      ++asked;
    }
  };
  const auto ask_both = [&](const std::string& line) {
    CAPTURE(line);
    const auto run = restated(line, {});
    for (const auto& change : search::all_changes()) {
      using enum search::ChangeKind;
      if (run && (change.kind == micro_batch || change.kind == sequence)) ask(run->question, change);
    }
  };
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const std::string model : {"llama-3-8b", "mixtral-8x7b", "gemma-2-9b", "qwen2.5-vl-7b", "mamba-2.8b"}) {
      for (const std::string how : {"full", "lora", "qlora", "lora --gpus 8", "full --gpus 8"}) {
        ask_both("--seq 8192 --micro-batch 8 --gpu h100-sxm --framework " + framework + " --model " + model +
                 " --method " + how);
      }
    }
  }
  CHECK(asked > 3500);
}

TEST_CASE("a change that cannot be made leaves the run as it was, in every trainer", "[search]") {
  const auto larger = some_larger();
  int left = 0;
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const std::string rest : {"", " --gpus 16", " --gpus 8 --method lora"}) {
      const std::string line = "--model mixtral-8x7b --gpu rtx-4090 --framework " + framework + rest;
      const auto run = restated(line, {});
      if (!run) continue;
      for (const auto& change : search::all_changes()) {
        for (std::size_t step = 0; step < change.steps(run->question, larger); ++step) {
          search::Changed changed{run->question, {}, {}, {}};
          if (change.apply(changed, larger, step)) continue;
          CAPTURE(line, &change - search::all_changes().data(), step);
          CHECK(read::differences(changed.question, run->question).empty());
          ++left;
        }
      }
    }
  }
  CHECK(left > 500);
}
