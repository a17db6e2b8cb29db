// Requests one by one through an engine's scheduler: against queues whose waits are known in closed form, and what
// holds of every server.
#include "catch.hpp"
#include "serving/answer.hpp"
#include "serving/inner/load_clock.hpp"
#include "serving/questions.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace llmcalc;
using serving::Answered;
using serving::SteppedEngine;
using spec::Request;
using test::served;
using Words = std::vector<std::string>;

/// A step reads one prompt of 1,000 tokens in a second, or makes a token of each sequence in `decode` seconds.
SteppedEngine engine_of(double decode) {
  SteppedEngine engine;
  engine.decode = [decode](double, double) { return decode; };
  engine.prompt = [](double tokens, double) { return tokens / 1000; };
  engine.step_tokens = 1000;
  engine.sequences = 1000;
  return engine;
}

std::vector<Request> arriving(double rate, std::size_t count) {
  std::mt19937_64 draws(7);
  std::exponential_distribution<double> gap(rate);
  std::vector<Request> requests(count, {0, 1000, 1});
  double now = 0;
  for (Request& each : requests) each.arrival = now += gap(draws);
  return requests;
}

double mean_wait(const std::vector<Answered>& answered) {
  double sum = 0;
  for (const Answered& each : answered) sum += each.first - each.sent;
  return sum / static_cast<double>(answered.size());
}

}  // namespace

// Pollaczek (1930) and Khinchine (1932): requests that come by chance, each served in a second, wait rho / (2 (1 -
// rho)) seconds in the mean, and are then served.
TEST_CASE("prompts that fill a step wait as a queue of one server with equal services does") {
  for (const double load : {0.3, 0.6, 0.8}) {
    const auto stepped = serving::step_through(engine_of(0), arriving(load, 60'000), 0);
    CAPTURE(load);
    CHECK(mean_wait(stepped.requests) == Approx(1 + load / (2 * (1 - load))).epsilon(0.04));
  }
}

TEST_CASE("clients of a server that takes one at a time wait for all others") {
  SteppedEngine engine = engine_of(0.5);
  engine.sequences = 1;
  const std::vector<Request> requests(40, {0, 1000, 5});
  const auto stepped = serving::step_through(engine, requests, 4);
  // A request takes 1 s for its prompt and first token and 0.5 s for each of the four later ones.
  for (std::size_t i = 4; i < requests.size(); ++i) {
    const Answered& each = stepped.requests[i];
    CHECK(each.first - each.sent == Approx(3 * 3.0 + 1.0));
    CHECK(each.last - each.first == Approx(2.0));
  }
}

// A batch is in each of four stages for a quarter of a second: n of them leave after (n + 3) / 4 (GPipe, Huang et al.
// 2019, arXiv:1811.06965 section 2.3), and clients that come after a prompt wait for no more than those before it.
TEST_CASE("prompts follow one another through the stages of a pipeline") {
  SteppedEngine engine = engine_of(0);
  engine.stages = 4;
  const auto stepped = serving::step_through(engine, std::vector<Request>(40, {0, 1000, 1}), 0);
  for (std::size_t i = 0; i < 40; ++i) {
    CHECK(stepped.requests[i].first == Approx((static_cast<double>(i) + 4) / 4));
    CHECK(stepped.requests[i].last >= stepped.requests[i].first);
  }
}

// A prompt whose kernels take a second, handed over in three: ten tokens of the other request are half a second apart
// but for the one that waits for it, which a host that began with the step before keeps half a second less.
TEST_CASE("a host that schedules ahead launches a prompt while the step before is at work") {
  SteppedEngine engine = engine_of(0.5);
  engine.step_tokens = 2000;
  engine.launch_s = 3;
  const std::vector<Request> requests{{0, 1000, 11}, {4.2, 1000, 2}};
  const auto later = [&] {
    const Answered each = serving::step_through(engine, requests, 0).requests[0];
    return each.last - each.first;
  };
  CHECK(later() == Approx(9 * 0.5 + 3.0));
  engine.ahead = true;
  CHECK(later() == Approx(9 * 0.5 + 2.5));
}

// The other copy reads 1,000 tokens while this one makes its twenty: 0.75 s of its own and half of 0.25 s that the
// copies share, instead of the 0.5 s of a step.
TEST_CASE("copies whose tokens meet at experts wait for each other's prompts") {
  SteppedEngine engine = engine_of(0.5);
  engine.met = [](double tokens, double) { return tokens / 4000; };
  const std::vector<Request> requests{{0, 1000, 21}, {0, 200, 5}};
  const auto later = [&](std::size_t copies) {
    engine.together = copies;
    const Answered each = serving::step_through(engine, requests, 1).requests[0];
    return each.last - each.first;
  };
  CHECK(later(1) == Approx(20 * 0.5));
  CHECK(later(2) == Approx(19 * 0.5 + 0.75 + 0.125));
}

// TensorRT-LLM lets no prompt in before all copies have one, or so many steps are over: forty tokens of the first
// request are not interrupted by the second, beside which the other copy has none.
TEST_CASE("copies that shall read together hold prompts back until all have one") {
  SteppedEngine engine = engine_of(0.5);
  engine.met = [](double, double) { return 0.0; };
  engine.together = 2;
  const std::vector<Request> requests{{0, 1000, 41}, {0, 1000, 41}, {0, 200, 41}, {0, 200, 41}};
  const auto later = [&](bool gathers, double steps) {
    engine.gathers = gathers;
    engine.poll_steps = steps;
    const Answered each = serving::step_through(engine, requests, 2).requests[0];
    return each.last - each.first;
  };
  CHECK(later(false, 1) > 40 * 0.5);
  CHECK(later(true, 10) > 40 * 0.5);
  CHECK(later(true, 1000) == Approx(40 * 0.5));
}

// Two sequences of 1,000 + 600 positions do not fit into 3,000 together: the later one is read again, with what it had
// written, and both have all of their tokens.
TEST_CASE("what outgrows the cache gives its room up and is read again") {
  SteppedEngine engine = engine_of(0.01);
  engine.position_share = 1.0 / 3000;
  const std::vector<Request> requests(2, {0, 1000, 600});
  const auto stepped = serving::step_through(engine, requests, 0);
  CHECK(stepped.preempted == 1);
  CHECK(stepped.requests[1].last > stepped.requests[0].last + 1.0);
  // An engine that lets a request in only where all of its answer will have room keeps the second one waiting instead.
  engine.kept_ahead = 1;
  const auto kept = serving::step_through(engine, requests, 0);
  CHECK(kept.preempted == 0);
  CHECK(kept.requests[1].first >= kept.requests[0].last);
}

// vLLM v1/core/sched/async_scheduler.py, SGLang event_loop_overlap: what comes while a step runs, of which the next one
// is decided already, is in the one behind that.
TEST_CASE("a step that is decided ahead holds what came before the one at work began", "[scheduler]") {
  SteppedEngine engine = engine_of(1.0);
  const std::vector<Request> requests{{0, 1000, 20}, {3.5, 900, 1}};
  const auto at_work = serving::step_through(engine, requests, 0);
  // Steps of a second from the first prompt's on: the one at work ends at 4, its own takes a prompt and a token.
  CHECK(at_work.requests[1].first == Approx(4 + 1.9));
  engine.ahead = true;
  CHECK(serving::step_through(engine, requests, 0).requests[1].first == Approx(5 + 1.9));
}

// Preempted or not, whatever is asked is written, and no step holds more than the cache.
TEST_CASE("every request has all of its tokens, whatever the cache holds", "[scheduler]") {
  for (const double positions : {1500.0, 3000.0, 9000.0}) {
    SteppedEngine engine = engine_of(0.01);
    engine.position_share = 1 / positions;
    for (const std::int64_t clients : {0, 1, 7}) {
      const std::vector<Request> requests(40, {0, 700, 300});
      const auto stepped = serving::step_through(engine, requests, clients);
      CAPTURE(positions, clients);
      for (const Answered& each : stepped.requests) {
        CHECK(each.first > each.sent);
        CHECK(each.last >= each.first + 299 * 0.01 - 1e-9);
      }
    }
  }
}

// Tokens that are proposed four at a time in four times the seconds come as tokens one by one do, to a step: whoever
// outgrows the cache does so at the same position.
TEST_CASE("a step of several tokens is several steps of one, whatever the cache holds", "[scheduler]") {
  const std::vector<Request> requests(3, {0, 1000, 600});
  for (int positions = 1700; positions <= 5000; positions += 60) {
    SteppedEngine engine = engine_of(0.01);
    engine.position_share = 1.0 / positions;
    const auto one = serving::step_through(engine, requests, 0);
    engine.decode = [](double, double) { return 0.04; };
    engine.tokens = 4;
    const auto four = serving::step_through(engine, requests, 0);
    CAPTURE(positions);
    CHECK(four.preempted == one.preempted);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CHECK(four.requests[i].first == Approx(one.requests[i].first).margin(0.1));
      CHECK(four.requests[i].last == Approx(one.requests[i].last).margin(0.2));
    }
  }
}

// vLLM mixes prompts into the steps of running sequences, SGLang reads them first: what runs then has no token.
TEST_CASE("prompts that are read alone hold up what runs, mixed ones make a token of it a step") {
  SteppedEngine engine = engine_of(0.01);
  engine.step_tokens = 101;
  const std::vector<Request> requests{{0, 100, 12}, {0.105, 1000, 1}};
  const auto mixed = serving::step_through(engine, requests, 0);
  engine.prompts_alone = true;
  const auto alone = serving::step_through(engine, requests, 0);
  CHECK(mixed.requests[0].last < mixed.requests[1].first + 0.2);
  CHECK(alone.requests[0].last > alone.requests[1].first);
  CHECK(alone.requests[1].first < mixed.requests[1].first);
}

TEST_CASE("of every server the slower shares of requests wait longer, and a faster pace makes none wait less") {
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    serving::Tail before;
    for (const std::string rate : {"0.5", "2", "8"}) {
      CAPTURE(engine, rate);
      const auto answer =
          serving::serve(served({"engine", engine, "model", "llama-3.1-8b", "gpu", "h100-sxm", "rate", rate}));
      REQUIRE(answer.speed->tail);
      const serving::Tail& tail = *answer.speed->tail;
      CHECK((tail.ttft.p50 <= tail.ttft.p95 && tail.ttft.p95 <= tail.ttft.p99));
      CHECK((tail.tpot.p50 <= tail.tpot.p95 && tail.tpot.p95 <= tail.tpot.p99));
      CHECK(tail.ttft.p95 >= before.ttft.p95);
      CHECK(tail.tpot.p95 >= before.tpot.p95);
      CHECK(answer.speed->ttft == tail.ttft.mean);
      before = tail;
    }
  }
}

TEST_CASE("clients' percentiles lie around the mean") {
  const auto answer = serving::serve(
      served({"model", "llama-3.1-8b", "gpu", "h100-sxm", "concurrency", "24", "context", "2048", "tpot_p95", "1s"}));
  REQUIRE(answer.speed->tail);
  CHECK(quantity::in_seconds(answer.speed->tail->ttft.mean) == Approx(quantity::in_seconds(answer.speed->ttft)));
  CHECK(answer.speed->tail->tpot.p99 > answer.speed->tpot);
  CHECK(answer.speed->tail->tpot.p50 < 1.2 * answer.speed->tpot);
}
