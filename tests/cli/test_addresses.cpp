// What --from reads at an address of the web.
#include "catch.hpp"
#include "cli/http_server.hpp"
#include "cli/hub.hpp"
#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/words.hpp"

using namespace llmcalc;
using Catch::Matchers::Contains;
using test::HttpServer;

namespace {

const std::string recipe = "model_name_or_path: org/name\nper_device_train_batch_size: 4\n";

std::string replied(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

cli::HubEnvironment hub_with_token() {
  cli::HubEnvironment hub;
  hub.token = "hf_secret";
  hub.timeout = 1;
  return hub;
}

std::string refusal(const std::string& address, const cli::HubEnvironment& hub) {
  try {
    cli::read_address(address, hub);
  } catch (const quantity::BadInput& error) {
    return error.what();
  }
  return "accepted";
}

std::string model_of(const dialects::Reading& reading) { return read::find_word(reading.words, "model")->text; }

}  // namespace

TEST_CASE("a launch file is read at its address, and the Hub's token goes nowhere else") {
  const HttpServer server([](const std::string&) { return replied("200 OK", recipe); });
  const auto reading = cli::read_address(server.url() + "/configs/train.yaml?raw=true", hub_with_token());
  CHECK(model_of(reading) == "org/name");
  CHECK(read::find_word(reading.words, "micro_batch")->origin.where == "train.yaml:2");
  CHECK_THAT(server.requests().front(), Contains("GET /configs/train.yaml?raw=true ") && !Contains("hf_secret"));
}

TEST_CASE("a page of the Hub is its model, and one that shows a file is the file") {
  const HttpServer server([](const std::string&) { return replied("200 OK", recipe); });
  auto hub = hub_with_token();
  hub.endpoint = server.url();
  CHECK(model_of(cli::read_address(server.url() + "/org/name/", hub)) == "org/name");
  CHECK(server.requests().empty());
  cli::read_address(server.url() + "/org/name/blob/main/train.yaml", hub);
  CHECK_THAT(server.requests().front(), Contains("GET /org/name/resolve/main/train.yaml ") && Contains("hf_secret"));
}

// RFC 9110 section 15: of the classes of answers the second alone holds what was asked for.
TEST_CASE("what a server answers instead of a file is refused with its number") {
  for (const std::string status :
       {"300", "304", "399", "400", "401", "404", "410", "429", "499", "500", "503", "599"}) {
    const HttpServer server([&](const std::string&) { return replied(status + " X", recipe); });
    CHECK_THAT(refusal(server.url() + "/train.yaml", hub_with_token()), Contains(status));
  }
}

TEST_CASE("an address that names no file, or cannot be asked, is refused by name") {
  const HttpServer server([](const std::string&) { return replied("404 Not Found", "no"); });
  auto hub = hub_with_token();
  CHECK_THAT(refusal(server.url() + "/train.yaml", hub), Contains("404"));
  for (const auto* repository :
       {"https://github.com/org/name", "https://github.com/org/name.git", "git@github.com:org/name"})
    CHECK_THAT(refusal(repository, hub), Contains("repository"));
  hub.offline = true;
  CHECK_THAT(refusal(server.url() + "/train.yaml", hub), Contains("switched off"));
  CHECK(server.requests().size() == 1);
}
