// A server for agents, in both revisions of the Model Context Protocol: tools are verbs, answers a screen.
#include "api/verbs.hpp"
#include "catch.hpp"
#include "cli/run.hpp"
#include "quantity/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace llmcalc;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json agent_told(const json& message) { return json::parse(cli::mcp_answer(message.dump(), {})); }

json agent_request(const std::string& method, json parameters) {
  return {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(parameters)}};
}

json modern_request(json parameters, const std::string& version = "2026-07-28") {
  parameters["_meta"] = {{"io.modelcontextprotocol/protocolVersion", version},
                         {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  return parameters;
}

json agent_call(const std::string& tool, const json& arguments) {
  return agent_told(agent_request("tools/call", {{"name", tool}, {"arguments", arguments}}))["result"];
}

}  // namespace

TEST_CASE("a session of 2025 begins with what both speak") {
  for (const auto* version : {"2025-11-25", "2025-06-18", "2024-11-05"}) {
    const auto result = agent_told(agent_request("initialize", {{"protocolVersion", version}}))["result"];
    CHECK(result["protocolVersion"] == version);
    CHECK(result["serverInfo"]["name"] == "llmcalc");
    CHECK(result["capabilities"].contains("tools"));
  }
  CHECK(agent_told(agent_request("initialize", {{"protocolVersion", "1999-01-01"}}))["result"]["protocolVersion"] ==
        "2025-11-25");
  CHECK(agent_told(agent_request("ping", json::object()))["result"] == json::object());
  CHECK(cli::mcp_answer(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", {}).empty());
}

TEST_CASE("a request of 2026 carries its revision, and is told those that are spoken") {
  const auto found = agent_told(agent_request("server/discover", modern_request(json::object())))["result"];
  CHECK(found["supportedVersions"] == json::array({"2026-07-28"}));
  CHECK(found["resultType"] == "complete");
  CHECK(found["cacheScope"] == "public");
  CHECK(found["ttlMs"].is_number_unsigned());
  const auto list = agent_told(agent_request("tools/list", modern_request(json::object())))["result"];
  CHECK(list["resultType"] == "complete");
  CHECK(list.contains("ttlMs"));
  const auto error = agent_told(agent_request("tools/list", modern_request(json::object(), "2027-01-01")))["error"];
  CHECK(error["code"] == -32022);
  CHECK(error["data"] == json{{"supported", {"2026-07-28"}}, {"requested", "2027-01-01"}});
  CHECK(agent_told(agent_request("initialize", modern_request(json::object())))["error"]["code"] == -32601);
  json no_capabilities = modern_request(json::object());
  no_capabilities["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  CHECK(agent_told(agent_request("tools/list", no_capabilities))["error"]["code"] == -32602);
}

TEST_CASE("every verb is a tool, with its usual options and no more than an agent can read") {
  const auto tools = agent_told(agent_request("tools/list", json::object()))["result"]["tools"];
  CHECK(tools.size() == api::verbs().size() + 1);
  CHECK(tools.dump().size() < 32'000);
  for (const auto& verb : api::verbs()) {
    INFO(verb.name);
    const auto is_verb = [&](const json& tool) { return tool["name"] == verb.name; };
    const auto tool = std::find_if(tools.begin(), tools.end(), is_verb);
    REQUIRE(tool != tools.end());
    for (const auto option : quantity::pieces_of(verb.usual, " ")) {
      CHECK((*tool)["inputSchema"]["properties"].contains(option) == (option != "format"));
    }
    const auto help = agent_call("help", {{"tool", verb.name}});
    CHECK_THAT(help["content"][0]["text"].get<std::string>(), Contains("usage: llmcalc " + std::string(verb.name)));
  }
}

TEST_CASE("a tool answers the screen of the command line, and a summary of its JSON") {
  const json question{{"names", {"llama-3-8b"}}, {"gpu", "h100-sxm:8"}, {"zero", 3}, {"micro-batch", "2"}};
  const auto result = agent_call("fit", question);
  const std::vector<std::string> line{"fit", "llama-3-8b", "--gpu", "h100-sxm:8", "--zero", "3", "--micro-batch", "2"};
  const auto screen = cli::run(line, {});
  CHECK(result["isError"] == false);
  CHECK_THAT(result["content"][0]["text"].get<std::string>(), Catch::Matchers::StartsWith(screen.answer));
  std::vector<std::string> as_json = line;
  as_json.insert(as_json.end(), {"--format", "json"});
  const auto whole = json::parse(cli::run(as_json, {}).answer);
  const auto& summary = result["structuredContent"];
  CHECK(summary["verdict"] == whole["verdict"]);
  CHECK(summary["needed_bytes"] == whole["needed_bytes"]);
  CHECK(summary["time"]["step_seconds"] == whole["time"]["step_seconds"]);
  CHECK(result.dump().size() < 8'000);
}

TEST_CASE("an agent is warned of what a person is warned of, and noted what is noted") {
  int warned = 0;
  for (const std::string gpu : {"4090", "h100-sxm", "a100-80"}) {
    for (const std::string verb : {"fit", "serve"}) {
      const std::string most = verb == "fit" ? "method" : "concurrency";
      const std::string value = verb == "fit" ? "qlora" : "500";
      const std::vector<std::string> line{verb, "llama-3-8b", "--gpu", gpu, "--" + most, value};
      const auto screen = cli::run(line, {});
      const auto result = agent_call(verb, {{"model", "llama-3-8b"}, {"gpu", gpu}, {most, value}});
      const auto text = result["content"][0]["text"].get<std::string>();
      CAPTURE(verb, gpu);
      for (const auto& each : screen.warnings) CHECK_THAT(text, Contains("warning: " + each + "\n"));
      for (const auto& each : screen.notes) CHECK_THAT(text, Contains("note: " + each + "\n"));
      warned += static_cast<int>(screen.warnings.size());
    }
  }
  CHECK(warned > 0);
}

TEST_CASE("what an agent asks wrongly it is told as a person is, and may mend") {
  const auto wrong = agent_call("fit", {{"model", "llama-3-8c"}});
  CHECK(wrong["isError"] == true);
  CHECK_THAT(wrong["content"][0]["text"].get<std::string>(), Contains("did you mean 'llama-3-8b'"));
  CHECK(agent_call("fit", {{"model", "llama-3-8b"}, {"seqq", 1}})["isError"] == true);
  CHECK(agent_call("plan", {{"model", "llama-3-8b"}, {"write", "/tmp/x"}})["isError"] == true);
  CHECK(agent_told(agent_request("tools/call", {{"name", "fitt"}}))["error"]["code"] == -32602);
  CHECK(agent_told(agent_request("tools/call", {{"name", 4}}))["error"]["code"] == -32602);
  CHECK(agent_told(agent_request("no/such", json::object()))["error"]["code"] == -32601);
}

TEST_CASE("every question that the command line refuses is an error of its tool, in the same words") {
  const std::vector<json> wrong{{{"model", "llama-3-8b"}, {"seq", "2147483647"}, {"micro-batch", "2147483647"}},
                                {{"params", "1e30"}},
                                {{"model", "llama-3-8b"}, {"gpu", "h100-sxm:7"}, {"tp", 2}},
                                {{"model", "llama-3-8b"}, {"micro-batch", -1}},
                                {{"model", "llama-3-8b"}, {"dtype", "bf17"}},
                                {{"no-such-option", true}}};
  int asked = 0;
  for (const auto& question : wrong) {
    for (const std::string verb : {"fit", "serve", "plan"}) {
      CAPTURE(verb, question.dump());
      std::vector<std::string> line{verb};
      for (const auto& [option, value] : question.items()) {
        line.push_back("--" + option);
        if (!value.is_boolean()) line.push_back(value.is_string() ? value.get<std::string>() : value.dump());
      }
      std::string refused;
      try {
        cli::run(line, {});
      } catch (const std::exception& error) {
        refused = error.what();
      }
      if (refused.empty()) continue;  // a plan leaves out what does not go together
      ++asked;
      const auto result = agent_call(verb, question);
      CHECK(result["isError"] == true);
      CHECK_THAT(result["content"][0]["text"].get<std::string>(), Contains(refused.substr(refused.find(": ") + 2)));
    }
  }
  CHECK(asked > 14);
}

TEST_CASE("whatever comes in, JSON goes out") {
  for (const auto* text : {"", "{", "[]", "7", "null", R"({"id":1})", R"({"jsonrpc":"2.0","id":1,"method":7})",
                           R"({"id":1,"method":"tools/list"})", R"({"jsonrpc":"1.0","id":1,"method":"tools/list"})",
                           R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]})"}) {
    INFO(text);
    const auto error = json::parse(cli::mcp_answer(text, {}))["error"];
    CHECK((error["code"] == -32600 || error["code"] == -32700));
  }
}
