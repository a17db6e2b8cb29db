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

TEST_CASE("Four hundred shards, each in time, are given up when the whole takes too long") {
  std::string map;
  for (int shard = 1; shard <= 400; ++shard) {
    const auto name = std::to_string(shard);
    map += (map.empty() ? "\"" : ",\"") + name + "\":\"m-" + name + ".safetensors\"";
  }
  const HttpServer server([&](const std::string& request) {
    if (asks(request, "/org/name/resolve/main/config.json")) return response("200 OK", std::string(config));
    if (request.find("index.json ") != std::string::npos) return response("200 OK", "{\"weight_map\":{" + map + "}}");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return response("200 OK", safetensors());
  });
  CHECK_THAT(given_up(server, 2), Contains("cannot be read") || Contains("took 2 s"));
  CHECK(server.requests().size() > 10);
  CHECK(server.requests().size() < 30);
}

}  // namespace llmcalc::test::hub
