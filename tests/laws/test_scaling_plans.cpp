// Budgets, losses and what is asked about a run once it is known.
#include "catch.hpp"
#include "laws/inner/curves.hpp"
#include "laws/scaling.hpp"
#include "llmcalc/quantity/error.hpp"
#include "scale_value.hpp"

#include <cmath>

using namespace llmcalc::laws;
using Catch::Matchers::Contains;
using llmcalc::test::value;
namespace q = llmcalc::quantity;

namespace {

ScaleQuestion run_of(double params, double tokens) {
  ScaleQuestion question;
  question.params = q::parameters(std::llround(params));
  question.tokens = q::tokens(tokens);
  return question;
}

ScaleQuestion budget(double compute) {
  ScaleQuestion question;
  question.compute = q::flops(compute);
  return question;
}

/// Eight accelerators of 1 PFLOP/s at $4 an hour, with 40 % as the usual MFU.
ScaleQuestion machine() {
  ScaleQuestion question;
  question.gpus = 8;
  question.peak = q::teraflops(1000);
  question.usual_mfu = {0.4, "test"};
  question.usual_price = {4.0, "test"};
  return question;
}

}  // namespace

TEST_CASE("Money goes to the model that is best for it", "[scaling]") {
  auto question = machine();
  question.cost = q::dollars(10'000);
  const auto answer = scale(question);
  CHECK(value(answer, "gpu_hours") == Approx(2500));
  CHECK(value(answer, "time_s") == Approx(2500 * 3600 / 8.0));
  CHECK(value(answer, "compute_flops") == Approx(2500 * 3600 * 0.4e15));
  CHECK(value(answer, "price_usd_per_hour") == Approx(4));
  CHECK(find_line(answer, "mfu")->origin == Standing::assumed);
  const auto best = optimum_at({}, 3.6e21);
  CHECK(value(answer, "params") == Approx(best.split.params));
  CHECK(value(answer, "loss") == Approx(*best.loss));

  question.params = q::parameters(1'000'000'000);  // the money then goes into data
  CHECK(value(scale(question), "tokens") == Approx(3.6e21 / 6e9));
  question.tokens = q::tokens(20e9);  // and with both, the MFU follows
  CHECK(value(scale(question), "mfu") == Approx(1.2e20 / (2500 * 3600 * 1e15)));
}

TEST_CASE("A price that cost and time contradict is pointed out", "[scaling]") {
  auto question = machine();
  question.time = q::days(10);
  question.cost = q::dollars(8 * 240 * 4);
  CHECK(scale(question).warnings.empty());
  question.cost = q::dollars(8 * 240 * 2);
  CHECK_THAT(scale(question).warnings.at(0), Contains("$2.00/h") && Contains("$4.00/h is usual"));
}

TEST_CASE("What a run costs follows from its time", "[scaling]") {
  auto question = machine();
  question.time = q::days(30);
  CHECK(value(scale(question), "cost_usd") == Approx(8 * 720 * 4));
  auto bought = run_of(7e9, 140e9);
  bought.cost = q::dollars(100);
  CHECK_THROWS_WITH(scale(bought), Contains("cost: nothing follows from it alone") && Contains("price"));
}

TEST_CASE("The usual MFU lies between those that were published", "[scaling]") {
  llmcalc::spec::Accelerator h100;
  h100.matmul_ceiling = 0.803;
  CHECK(usual_mfu(h100).value == Approx(0.38).margin(0.03));  // Llama 3 405B: 38 to 43 %
  CHECK(usual_mfu({}).value == Approx(0.39));
  CHECK_THAT(usual_mfu({}).source, Contains("median"));
}

TEST_CASE("A loss is reached at least compute", "[scaling]") {
  ScaleQuestion question;
  question.loss = *optimum_at({}, 5.76e23).loss;
  CHECK(value(scale(question), "compute_flops") == Approx(5.76e23).epsilon(1e-6));
  question.params = q::parameters(70'000'000'000);
  CHECK(value(scale(question), "tokens") == Approx(1.4e12).epsilon(0.03));
  CHECK(find_line(scale(question), "loss")->origin == Standing::given);
  question.tokens = q::tokens(1e12);
  CHECK_THROWS_WITH(scale(question), Contains("loss: follows"));
  question = budget(1e21);
  question.loss = 2.0;
  CHECK_THROWS_WITH(scale(question), Contains("loss: follows"));
  question = {};
  question.loss = 1.8;
  CHECK_THROWS_WITH(scale(question), Contains("out of reach") && Contains("1.8172"));
  question.loss = 2.0;
  question.law = ScalingLaw::llama_3;
  CHECK_THROWS_WITH(scale(question), Contains("predicts no loss"));
}

TEST_CASE("A law that is named closes the question", "[scaling]") {
  ScaleQuestion question;
  question.params = q::parameters(70'000'000'000);
  question.law = ScalingLaw::chinchilla;
  CHECK(value(scale(question), "tokens") == Approx(1.29e12).epsilon(0.01));
  CHECK(value(scale(question), "tokens_per_parameter") != Approx(20).epsilon(0.01));
  question = budget(3.8e25);
  question.law = ScalingLaw::llama_3;
  const auto llama = scale(question);
  CHECK(value(llama, "tokens") == Approx(16.55e12).epsilon(1e-6));
  CHECK(find_line(llama, "loss") == nullptr);
  CHECK_THAT(llama.warnings.at(0), Contains("1e+22 FLOP"));
  CHECK(scale(run_of(7e9, 210e9)).warnings.empty());  // inside the range of the fit, and not few
}

TEST_CASE("Unique data bounds what a run can learn", "[scaling]") {
  ScaleQuestion question;
  question.unique_tokens = q::tokens(100e9);
  question.epochs = 4;
  const auto answer = scale(question);
  CHECK(answer.law == ScalingLaw::data_constrained);
  CHECK(value(answer, "tokens") == Approx(400e9));
  CHECK(value(answer, "effective_tokens") == Approx(373e9).epsilon(2e-3));
  question.law = ScalingLaw::chinchilla;
  CHECK_THROWS_WITH(scale(question), Contains("takes all tokens to be unique"));
  question = budget(1e22);
  question.law = ScalingLaw::data_constrained;
  CHECK_THROWS_WITH(scale(question), Contains("give unique tokens"));
  question.unique_tokens = q::tokens(25e9);
  CHECK(value(scale(question), "epochs") == Approx(9.49).epsilon(1e-3));
}

TEST_CASE("Whoever says how much data there is, or how often it is read, is told what repeating it is worth") {
  auto data = run_of(8.7e9, 178e9);
  data.unique_tokens = q::tokens(44e9);
  auto epochs = run_of(8.7e9, 178e9);
  epochs.epochs = 178.0 / 44.0;
  for (const auto& question : {data, epochs}) {
    const auto answer = scale(question);
    CHECK(answer.law == ScalingLaw::data_constrained);
    CHECK(value(answer, "loss") == Approx(*loss_of({ScalingLaw::data_constrained, 44e9}, {8.7e9, 178e9})));
  }
  CHECK(scale(run_of(8.7e9, 178e9)).law == ScalingLaw::chinchilla);
}

TEST_CASE("Two given, the best is shown beside them", "[scaling]") {
  const auto over_trained = scale(run_of(8e9, 15e12));
  CHECK(value(over_trained, "optimal_params") == Approx(optimum_at({}, 7.2e23).split.params));
  CHECK(value(over_trained, "optimal_loss") < value(over_trained, "loss"));
  const double least = value(over_trained, "least_compute_flops");
  CHECK(*optimum_at({}, least).loss == Approx(value(over_trained, "loss")).epsilon(1e-9));
  CHECK(value(over_trained, "extra_compute_share") == Approx(7.2e23 / least - 1));
  CHECK(find_line(scale(budget(1e21)), "optimal_params") == nullptr);
}

TEST_CASE("A smaller model pays for the same loss in data", "[scaling]") {
  auto question = budget(1e22);
  question.follow_ups.smaller = 2;
  const auto answer = scale(question);
  CHECK(value(answer, "smaller_params") == Approx(value(answer, "params") / 2).epsilon(1e-6));
  CHECK(*loss_of({}, {value(answer, "smaller_params"), value(answer, "smaller_tokens")}) ==
        Approx(value(answer, "loss")));
  double before = 0.0;
  for (const double times : {1.2, 1.5, 2.0, 3.0}) {
    question.follow_ups.smaller = times;
    const double extra = value(scale(question), "smaller_extra_compute_share");
    CHECK(extra > before);
    before = extra;
  }
  question.follow_ups.smaller = 100;
  CHECK_THROWS_WITH(scale(question), Contains("on any amount of data"));
  question.follow_ups.smaller = 1;
  CHECK_THROWS_WITH(scale(question), Contains("above 1"));
  question.follow_ups.smaller = 2;
  question.law = ScalingLaw::kaplan;
  CHECK_THROWS_WITH(scale(question), Contains("kaplan cannot compare"));
}

TEST_CASE("Serving moves the best model as Sardana et al. published", "[scaling]") {
  // Figure 1: 13B and 2T served tokens; a 7B model on more data saves 1.7e22 FLOP, 17 %. With the paper's constants.
  constexpr LossSurface paper{1.69, 406.4, 0.336, 410.7, 0.283};
  const double ratio = paper.alpha * paper.a / (paper.beta * paper.b);
  const double balance = std::pow(ratio, 1.0 / (paper.alpha + paper.beta));
  const double tokens = std::pow(13e9 / balance, paper.alpha / paper.beta) / balance;
  const Allocation chinchilla{13e9, tokens};
  CHECK(optimal_params(paper, tokens) == Approx(13e9));
  const double target = reducible_loss(paper, chinchilla);
  const auto tokens_for = [&](double params) -> std::optional<double> {
    const double left = target - paper.a / std::pow(params, paper.alpha);
    if (left <= 0.0) return std::nullopt;
    return std::pow(paper.b / left, 1.0 / paper.beta);
  };
  const auto best = serving_optimum(tokens_for, 13e9, 2e12, 1.0);
  CHECK(best.params == Approx(7e9).epsilon(0.01));
  const double before = lifetime_flops(chinchilla, 2e12, 1.0);
  const double saved = before - lifetime_flops(best, 2e12, 1.0);
  CHECK(saved == Approx(1.7e22).epsilon(0.01));
  CHECK(saved / before == Approx(0.17).margin(0.005));
}

TEST_CASE("The more is served, the smaller the model", "[scaling]") {
  const auto best = scale(budget(1e22));
  double before = value(best, "params");
  ScaleQuestion question;
  question.params = q::parameters(std::llround(before));
  question.tokens = q::tokens(value(best, "tokens"));
  for (const double served : {1e11, 1e12, 1e13, 1e14}) {
    question.follow_ups.served = q::tokens(served);
    const auto answer = scale(question);
    const double params = value(answer, "serving_params");
    CHECK(params < before);
    CHECK(*loss_of({}, {params, value(answer, "serving_tokens")}) == Approx(value(answer, "loss")));
    CHECK(value(answer, "serving_total_flops") < value(answer, "serving_unchanged_flops"));
    before = params;
  }
  question.follow_ups.serving_mfu = 0.05;
  CHECK_THROWS_WITH(scale(question), Contains("MFU of training"));
  question.mfu = 0.4;
  CHECK(value(scale(question), "serving_params") < before);
  question.follow_ups.served.reset();
  CHECK_THROWS_WITH(scale(question), Contains("belongs to inference tokens"));
}

// Kaplan et al. 2020, section 2.1: 6PD to train and 2P a token to serve, whatever was known of the run.
TEST_CASE("What serving costs and saves is what the lines of its plan come to", "[scaling]") {
  ScaleQuestion money = machine();
  money.cost = q::dollars(100'000);
  for (auto question : {run_of(7e9, 140e9), run_of(1e9, 1e12), budget(1e22), budget(3e24), money}) {
    for (const double served : {1e10, 1e12, 1e13}) {
      question.follow_ups.served = q::tokens(served);
      const auto answer = scale(question);
      CAPTURE(served, value(answer, "compute_flops"));
      const auto lifetime = [&](double params, double tokens) { return 6 * params * tokens + 2 * params * served; };
      const double params = value(answer, "serving_params"), tokens = value(answer, "serving_tokens");
      CHECK(value(answer, "serving_training_flops") == Approx(6 * params * tokens).epsilon(1e-6));
      CHECK(value(answer, "serving_total_flops") == Approx(lifetime(params, tokens)).epsilon(1e-6));
      if (find_line(answer, "serving_unchanged_flops") == nullptr) continue;  // a budget is spent, not saved
      const double unchanged = lifetime(value(answer, "params"), value(answer, "tokens"));
      CHECK(value(answer, "serving_unchanged_flops") == Approx(unchanged).epsilon(1e-6));
      const double saved = 1 - lifetime(params, tokens) / unchanged;
      CHECK(value(answer, "serving_saved_share") == Approx(saved).margin(1e-6));
    }
  }
}

TEST_CASE("Training and serving cost their compute at the rate and the price of the accelerators", "[scaling]") {
  for (const double mfu : {0.2, 0.4}) {
    auto question = machine();
    question.params = q::parameters(7'000'000'000);
    question.tokens = q::tokens(1e12);
    question.mfu = mfu;
    question.follow_ups.served = q::tokens(2e12);
    const auto answer = scale(question);
    const double hours = value(answer, "serving_total_flops") / (1e15 * mfu) / 3600;
    CHECK(value(answer, "serving_cost_usd") == Approx(4 * hours));
  }
}

// Sardana et al. 2023, arXiv:2401.00448: what is served is paid for out of the same compute.
TEST_CASE("A budget pays for training and serving, and more serving leaves a smaller model", "[scaling]") {
  ScaleQuestion question;
  question.compute = q::flops(1e23);
  const auto alone = value(scale(question), "loss");
  double before = value(scale(question), "params");
  double loss = alone;
  for (const double served : {1e10, 1e12, 1e13}) {
    question.follow_ups.served = q::tokens(served);
    const auto answer = scale(question);
    CAPTURE(served);
    const double params = value(answer, "serving_params");
    const double tokens = value(answer, "serving_tokens");
    CHECK(6.0 * params * tokens + 2.0 * params * served == Approx(1e23).epsilon(1e-3));
    CHECK(value(answer, "serving_total_flops") <= 1e23 * (1.0 + 1e-6));
    CHECK(params < before);
    CHECK(value(answer, "serving_loss") > loss);
    before = params;
    loss = value(answer, "serving_loss");
  }
  question.follow_ups.served = q::tokens(1e40);
  CHECK_THROWS_WITH(scale(question), Contains("serve"));
}

TEST_CASE("A budget's best size stands between half of it and twice it", "[scaling]") {
  ScaleQuestion question;
  question.compute = q::flops(1e23);
  const auto answer = scale(question);
  REQUIRE(answer.frontier);
  const auto& points = answer.frontier->points;
  REQUIRE(points.size() == 3);
  CHECK(points[1].best);
  CHECK(points[0].split.params == Approx(0.5 * points[1].split.params));
  CHECK(points[2].split.params == Approx(2.0 * points[1].split.params));
  CHECK(*points[0].loss > *points[1].loss);
  CHECK(*points[2].loss > *points[1].loss);
  question.compute.reset();
  question.params = q::parameters(1'000'000'000);
  CHECK_FALSE(scale(question).frontier);
}

TEST_CASE("Batches and learning rates are those that were published", "[scaling]") {
  CHECK(critical_batch(8.64e19) == Approx(2.0e6).epsilon(0.02));  // Kaplan et al. 2020, table 6: B_e
  // DeepSeek-AI 2024, table 2: 7B on 2T with 2304 x 4096 tokens at 4.2e-4; 67B on 2T with 4608 x 4096 at 3.2e-4.
  CHECK(deepseek_batch(6 * 6.9e9 * 2e12) == Approx(2304 * 4096).epsilon(0.04));
  CHECK(deepseek_learning_rate(6 * 6.9e9 * 2e12) == Approx(4.2e-4).epsilon(0.02));
  CHECK(deepseek_batch(6 * 67e9 * 2e12) == Approx(4608 * 4096).epsilon(0.04));
  CHECK(deepseek_learning_rate(6 * 67e9 * 2e12) == Approx(3.2e-4).epsilon(0.02));
  // McCandlish et al. 2018: (S / S_min - 1) (E / E_min - 1) = 1.
  const auto price = batch_price(3e6, 2e6);
  CHECK((price.data - 1) * (price.steps - 1) == Approx(1));

  auto question = run_of(7e9, 2e12);
  question.follow_ups.batch = q::tokens(4e6);
  question.follow_ups.hyperparameters = true;
  const auto answer = scale(question);
  CHECK(value(answer, "batch_steps") == Approx(2e12 / 4e6 * (1 + value(answer, "batch_extra_data_share"))));
  CHECK(value(answer, "deepseek_learning_rate") == Approx(4.2e-4).epsilon(0.02));
}

TEST_CASE("The frontier surrounds the best", "[scaling]") {
  auto question = budget(1e22);
  question.follow_ups.frontier = Frontier::sizes;
  const auto sizes = scale(question).frontier.value().points;
  REQUIRE(sizes.size() == 7);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK(sizes[i].split.compute() == Approx(1e22));
    CHECK(sizes[i].best == (i == 3));
    CHECK(*sizes[i].loss >= *sizes[3].loss);
    if (sizes[i].same_loss_compute) CHECK(*sizes[i].same_loss_compute >= 1.0 - 1e-9);
  }
  question.follow_ups.frontier = Frontier::budgets;
  const auto budgets = scale(question).frontier.value().points;
  REQUIRE(budgets.size() == 9);
  for (std::size_t i = 1; i < budgets.size(); ++i) CHECK(*budgets[i].loss < *budgets[i - 1].loss);
  question.law = ScalingLaw::kaplan;
  CHECK_NOTHROW(scale(question));
  question.follow_ups.frontier = Frontier::sizes;
  CHECK_THROWS_WITH(scale(question), Contains("ask for budgets"));
}
