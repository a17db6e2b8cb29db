#include "catch.hpp"
#include "laws/inner/curves.hpp"
#include "laws/scaling_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace llmcalc::laws;

namespace {

constexpr LawChoice refit{ScalingLaw::chinchilla};
constexpr LawChoice kaplan{ScalingLaw::kaplan};
constexpr LawChoice llama{ScalingLaw::llama_3};

constexpr LawChoice unique(double tokens) { return {ScalingLaw::data_constrained, tokens}; }

}  // namespace

TEST_CASE("The Chinchilla refit gives the model that Chinchilla's authors built", "[scaling_law]") {
  // Hoffmann et al. 2022 trained 70B on 1.4T for Gopher's 5.76e23 FLOP; their printed constants would give 32B on 3T.
  const auto best = optimum_at(refit, 5.76e23);
  CHECK(best.split.params == Approx(72.2e9).epsilon(0.002));
  CHECK(best.split.tokens == Approx(1.33e12).epsilon(0.002));
  CHECK(*loss_of(refit, {70e9, 1.4e12}) == Approx(1.974).epsilon(3e-4));
  CHECK(best.split.compute() == Approx(5.76e23).epsilon(1e-12));
  // Besiroglu et al. 2024, abstract and section 4: about 20 tokens a parameter, parameters growing as C^0.51.
  CHECK(std::log10(optimum_at(refit, 1e25).split.params / optimum_at(refit, 1e24).split.params) ==
        Approx(0.5126).epsilon(1e-3));
}

TEST_CASE("The lowest point of the surface is its closed form", "[scaling_law]") {
  constexpr LossSurface surface{1.8172, 482.01, 0.3478, 2085.43, 0.3658};
  for (const double compute : {1e18, 5.76e23, 1e27}) {
    const auto split = [&](double params) { return Allocation{params, compute / (training_flops * params)}; };
    const double found = lowest([&](double p) { return reducible_loss(surface, split(p)); }, 1.0, compute);
    CHECK(found == Approx(optimum(surface, compute).params).epsilon(1e-6));
  }
  const auto split = optimum(surface, 1e22);
  CHECK(optimal_params(surface, split.tokens) == Approx(split.params).epsilon(1e-9));
}

TEST_CASE("A crossing is found to the precision of a double, whatever the curve", "[scaling_law]") {
  CHECK(crossing([](double x) { return x * x * x; }, 2.7e31) == Approx(3.0e10).epsilon(1e-13));
  CHECK(crossing([](double x) { return -1.0 / x; }, -1e-40) == Approx(1e40).epsilon(1e-13));
  CHECK(crossing([](double x) { return x < 5e9 ? 0.0 : 1.0; }, 0.5) == Approx(5e9).epsilon(1e-13));
  CHECK(crossing([](double x) { return x; }, 0.5) == search_min);
  CHECK(crossing([](double) { return 0.0; }, 1.0) == search_max);
  int asked = 0;
  crossing([&](double x) { return ++asked, std::log(x); }, 50.0);
  CHECK(asked < 32);  // halves take 52
}

TEST_CASE("Kaplan's law gives the numbers of its paper", "[scaling_law]") {
  constexpr double pflop_day = 8.64e19;
  const auto best = optimum_at(kaplan, pflop_day);  // table 6: 1.3e9 parameters, table 5: 3.1e8^0.05
  CHECK(best.split.params == Approx(1.3e9));
  CHECK(*best.loss == Approx(2.658).epsilon(1e-3));
  const auto larger = optimum_at(kaplan, 1000.0 * pflop_day);  // table 6: C^0.73
  CHECK(larger.split.params / best.split.params == Approx(std::pow(1000.0, 0.73)).epsilon(1e-6));
  // Equation 1.5 in its limits: an infinite model has (Dc / D)^0.103, infinite data (Nc / N)^0.076.
  CHECK(*loss_of(kaplan, {1e40, 1.8e10}) == Approx(std::pow(1e3, 0.103)).epsilon(1e-6));
  CHECK(*loss_of(kaplan, {6.4e10, 1e40}) == Approx(std::pow(1e3, 0.076)).epsilon(1e-6));
  // Section 1.2: eight times the model needs about five times the data.
  const double small = *loss_of(kaplan, {1e8, 1e60}) / *loss_of(kaplan, {1e8, 1e9});
  const double large = *loss_of(kaplan, {8e8, 1e60}) / *loss_of(kaplan, {8e8, 5e9});
  CHECK(small == Approx(large).epsilon(0.01));
}

TEST_CASE("Llama 3's law gives its flagship", "[scaling_law]") {
  const auto best = optimum_at(llama, 3.8e25);
  CHECK(best.split.tokens == Approx(16.55e12).epsilon(1e-9));
  CHECK(best.split.params == Approx(402e9).epsilon(0.05));  // as printed, though 6 x 402B x 16.55T is 3.99e25
  CHECK_FALSE(best.loss.has_value());
  CHECK_FALSE(compute_for_loss(llama, 2.0).has_value());
}

TEST_CASE("Repeated data is worth what Muennighoff et al. found", "[scaling_law]") {
  CHECK(effective_tokens(4.0, 1.0) == Approx(3.73).epsilon(2e-3));  // four epochs
  CHECK(effective_tokens(0.5, 1.0) == 0.5);
  CHECK(effective_tokens(1e6, 1.0) == Approx(16.39).epsilon(1e-3));  // 1 + R*: no repetition brings more

  // Section 6: 8.7B for four epochs of 44B ends 0.5 % above the same model on 178B unique tokens.
  const double once = *loss_of(unique(178e9), {8.7e9, 178e9});
  const double four_times = *loss_of(unique(44e9), {8.7e9, 178e9});
  CHECK(four_times / once - 1.0 == Approx(0.005).margin(0.005));
  CHECK(four_times > once);

  // Section 5: at 9.3e21 FLOP and 25B unique tokens the best model has 27 % fewer parameters than Chinchilla's choice.
  const double fewer = optimum_at(unique(25e9), 9.3e21).split.params / optimum_at(unique(1e15), 9.3e21).split.params;
  CHECK(fewer == Approx(0.73).margin(0.05));
}

TEST_CASE("The law of limited data is the sum that its paper prints") {
  // Muennighoff et al. 2023, equations 3 to 6 and appendix A: logarithms of E, A and B, one exponent for both, and how
  // fast repeated tokens and parameters beyond those that the unique tokens carry lose their worth.
  const double e = std::exp(0.6254804), a = std::exp(6.255414), b = std::exp(7.3049974), alpha = 0.3526596;
  const auto worth = [](double amount, double unique, double half) {
    const double used = std::min(amount, unique);
    return used + used * half * (1.0 - std::exp(-(amount / used - 1.0) / half));
  };
  for (const double data : {1e9, 25e9, 1e13}) {
    for (const double params : {1e8, 8.7e9, 1e11}) {
      for (const double tokens : {5e8, 178e9, 4e12}) {
        CAPTURE(data, params, tokens);
        // Of the unique tokens in use: A / N^alpha = B / D^alpha, Hoffmann et al. 2022, equation 4.
        const double carried = std::min(data, tokens) * std::pow(a / b, 1.0 / alpha);
        const double of_params = a / std::pow(worth(params, carried, 5.309743), alpha);
        const double of_tokens = b / std::pow(worth(tokens, data, 15.387756), alpha);
        CHECK(*loss_of(unique(data), {params, tokens}) == Approx(e + of_params + of_tokens).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("Losses fall with parameters and tokens, and an optimum is below its neighbours", "[scaling_law]") {
  const LawChoice choices[] = {refit, kaplan, unique(1e9), unique(25e9), unique(1e13)};
  for (const auto& choice : choices) {
    CAPTURE(facts(choice.law).name, choice.unique_tokens);
    for (double compute = 1e17; compute < 1e27; compute *= 7.3) {
      const auto split = optimum_at(choice, compute).split;
      const double loss = *loss_of(choice, split);
      CHECK(*loss_of(choice, {split.params * 1.5, split.tokens}) <= loss);
      CHECK(*loss_of(choice, {split.params, split.tokens * 1.5}) <= loss);
      if (!facts(choice.law).surface) continue;
      constexpr double rounding = 1e-12;
      CHECK(*loss_of(choice, {split.params * 1.01, split.tokens / 1.01}) >= loss - rounding);
      CHECK(*loss_of(choice, {split.params / 1.01, split.tokens * 1.01}) >= loss - rounding);
    }
  }
}

TEST_CASE("Every law is found back from its own optimum", "[scaling_law]") {
  for (const auto& choice : {refit, kaplan, llama, unique(25e9)}) {
    CAPTURE(facts(choice.law).name);
    const auto best = optimum_at(choice, 3e21);
    CHECK(compute_for_params(choice, best.split.params) == Approx(3e21).epsilon(1e-6));
    CHECK(compute_for_tokens(choice, best.split.tokens) == Approx(3e21).epsilon(1e-6));
    if (best.loss) CHECK(*compute_for_loss(choice, *best.loss) == Approx(3e21).epsilon(1e-6));
  }
  const double loss = *loss_of(refit, {7e9, 2e12});
  CHECK(*tokens_for_loss(refit, 7e9, loss) == Approx(2e12).epsilon(1e-6));
  CHECK(*params_for_loss(refit, 2e12, loss) == Approx(7e9).epsilon(1e-6));
  CHECK_FALSE(tokens_for_loss(refit, 1e8, loss).has_value());  // too small for it on any amount of data
  CHECK_FALSE(compute_for_loss(refit, 1.8).has_value());       // below the irreducible 1.8172
}

TEST_CASE("Every law has a name, a source and a place in its own table", "[scaling_law]") {
  for (const auto& law : scaling_laws()) {
    CHECK(facts(law.law).name == law.name);
    CHECK_THAT(std::string(law.source), Catch::Matchers::Contains("arXiv:"));
    CHECK(law.formula.empty() == !loss_of({law.law, 1e9}, {1e9, 1e9}).has_value());
  }
}
