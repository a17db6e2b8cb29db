// A Hub that takes its time is given up, however each of its answers is in time.
#include "catch.hpp"
#include "cli/hub_server.hpp"
#include "llmcalc/quantity/error.hpp"

#include <chrono>
#include <thread>

namespace llmcalc::test::hub {

using Catch::Matchers::Contains;

namespace {

/// What is wrong with a model of a Hub that may take so many seconds for all, and that it was given up in time.
std::string given_up(const HttpServer& server, long whole) {
  auto hub = hub_at(server);
  hub.whole = whole;
  const auto start = std::chrono::steady_clock::now();
  try {
    cli::fetch(some_model, hub);
  } catch (const quantity::BadInput& error) {
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(whole + 2));
    return error.problem();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("Headers and bodies that come octet by octet are given up when the whole takes too long") {
  // Nine octets a second are faster than what is too slow for a transfer.
  constexpr std::chrono::milliseconds pause(110);
  const HttpServer headers([](const std::string&) { return response("200 OK", std::string(config)); }, pause);
  CHECK_THAT(given_up(headers, 2), Contains("cannot be read"));
}

/// An index of so many shards that says no size, and each of them after a pause.
HttpServer sharded(std::size_t shards, std::chrono::milliseconds pause = {}) {
  std::string map;
  for (std::size_t shard = 1; shard <= shards; ++shard) {
    const auto name = std::to_string(shard);
    map += (map.empty() ? "\"" : ",\"") + name + "\":\"m-" + name + ".safetensors\"";
  }
  return HttpServer([map, pause](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (request.find("index.json ") != std::string::npos) return response("200 OK", "{\"weight_map\":{" + map + "}}");
    std::this_thread::sleep_for(pause);
    return response("200 OK", safetensors());
  });
}

TEST_CASE("Four hundred shards, each in time, are given up when the whole takes too long") {
  const HttpServer server = sharded(400, std::chrono::milliseconds(100));
  CHECK_THAT(given_up(server, 2), Contains("cannot be read") || Contains("took 2 s"));
  CHECK(server.requests().size() > 10);
  CHECK(server.requests().size() < 30);
}

TEST_CASE("Shards of an index that says no size are added up, four hundred at most") {
  for (const std::size_t shards : {1U, 2U, 7U, 60U}) {
    const HttpServer server = sharded(shards);
    auto hub = hub_at(server);
    const auto weights = cli::fetch(some_model, hub).weights;
    REQUIRE(weights);
    CHECK(weights->parameters == 4 * shards);
    CHECK(weights->bytes == 8 * shards);
    CHECK(weights->tensors == shards);
    CHECK(weights->shards == shards);
    CHECK(weights->counts_all);
  }
  CHECK_THAT(given_up(sharded(401), 9), Contains("too many files"));
}

}  // namespace llmcalc::test::hub
