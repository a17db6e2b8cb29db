// What a run of equal layers, micro-batches and positions grows with: one more adds as much as the one before it,
// whatever is trained and by whom.
#include "asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::affine {
namespace {

std::optional<answer::Estimate> estimated(const std::string& line) try {
  return answer::estimate(test::question(line));
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

/// The values of an option, evenly apart.
struct Steps {
  std::string option;
  std::array<int, 3> values;
};

using Three = std::array<answer::Estimate, 3>;

/// Nothing where one of them is refused.
std::optional<Three> estimated(const std::string& line, const Steps& steps) {
  Three three;
  for (std::size_t i = 0; i < three.size(); ++i) {
    auto one = estimated(line + " --" + steps.option + " " + std::to_string(steps.values[i]));
    if (!one) return std::nullopt;
    three[i] = std::move(*one);
  }
  return three;
}

/// The last step is as high as the first.
template <class Figure>
void check_even(const Three& three, const Figure& figure, double rounding) {
  const double first = figure(three[1]) - figure(three[0]), last = figure(three[2]) - figure(three[1]);
  CAPTURE(figure(three[0]), figure(three[1]), figure(three[2]));
  CHECK(std::abs(last - first) <= rounding * std::abs(figure(three[2])));
}

const std::vector<std::string> shapes{
    "--hidden 1024 --heads 16 --kv-heads 4 --ffn 2816 --vocab 32000 --mlp swiglu --norm rmsnorm",
    "--hidden 768 --heads 12 --ffn 3072 --vocab 50257 --position learned --max-position 8192 --mlp gelu",
    "--hidden 512 --heads 8 --ffn 1024 --vocab 32000 --experts 8 --top-k 2 --mlp swiglu --norm rmsnorm"};
const std::vector<std::string> methods{"full", "lora --lora-targets all-linear", "qlora --lora-targets q,v"};
const std::vector<std::string> layouts{"", "--recompute full", "--tp 2", "--zero 3"};

template <class Check>
int each_run(const std::string& words, const Steps& steps, const Check& check) {
  int asked = 0;
  std::size_t turn = 0;
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const auto& shape : shapes) {
      const auto& method = methods[turn % methods.size()];
      const auto& layout = layouts[turn++ / 2 % layouts.size()];
      const std::string line = shape + " --framework " + framework + " --method " + method + " " + layout +
                               " --gpu h100-sxm:4 --memory 1TiB " + words;
      const auto three = estimated(line, steps);
      if (!three) continue;
      CAPTURE(line, steps.option);
      check(*three);
      ++asked;
    }
  }
  return asked;
}

double flops(const answer::Estimate& each) { return in_flops(each.compute.flops[1].per_token); }
double step(const answer::Estimate& each) { return in_seconds(each.compute.step); }
double persistent(const answer::Estimate& each) { return static_cast<double>(in_bytes(each.memory.persistent)); }

}  // namespace

TEST_CASE("four layers more add as much as the four before them") {
  const int asked = each_run("--seq 512 --micro-batch 2", {"layers", {8, 12, 16}}, [](const Three& three) {
    check_even(
        three, [](const auto& each) { return static_cast<double>(quantity::in_parameters(each.size.total)); }, 0);
    check_even(
        three, [](const auto& each) { return static_cast<double>(quantity::in_parameters(each.size.trainable)); }, 0);
    check_even(three, flops, 1e-9);
    check_even(three, persistent, 0.01);  // buckets and units are whole
    CHECK(step(three[2]) > step(three[1]));
    CHECK(persistent(three[2]) >= persistent(three[1]));
  });
  CHECK(asked > 40);
}

TEST_CASE("a micro-batch more in a step takes as long as the one before it, and rests nothing more") {
  const int asked = each_run("--layers 8 --seq 512 --micro-batch 2", {"grad-accum", {4, 6, 8}}, [](const Three& three) {
    check_even(three, step, 1e-6);
    check_even(three, persistent, 0);
    check_even(three, flops, 1e-9);
    CHECK(flops(three[1]) == Approx(flops(three[0])));
    CHECK(step(three[1]) > step(three[0]));
  });
  CHECK(asked > 40);
}

/// Each position is multiplied by the weights once and with each position before it.
TEST_CASE("work of a token grows evenly with the length of its sequence") {
  const int asked = each_run("--layers 8", {"seq", {1024, 2048, 3072}}, [](const Three& three) {
    check_even(three, flops, 1e-9);
    CHECK(flops(three[1]) > flops(three[0]));
    check_even(three, persistent, 0.01);
  });
  CHECK(asked > 40);
}

}  // namespace llmcalc::affine
