#include "api/c_door.hpp"
#include "api/verbs.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace llmcalc::cli {
namespace {

using api::Flag;
using api::Verb;
using nlohmann::json;
using quantity::BadInput;

constexpr std::string_view newest = "2026-07-28";
/// Revisions that begin with `initialize`, the latest first.
constexpr std::array<std::string_view, 4> with_handshake{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* server_key = "io.modelcontextprotocol/serverInfo";

/// Codes of JSON-RPC 2.0 (section 5.1), and the protocol's own for a revision that is not spoken.
enum class Fault : int {
  parse = -32700,
  request = -32600,
  method = -32601,
  parameters = -32602,
  revision = -32022,
};

/// Ends a request.
struct Refusal {
  Fault code;
  std::string message;
  json data = nullptr;
};

constexpr std::string_view instructions =
    "llmcalc says whether training, fine-tuning or serving a large language model fits an accelerator, where its "
    "memory "
    "peaks, how long it takes and what it costs. Ask `fit` about a run, `serve` about a server, `plan` for a layout. "
    "`help` lists every option of a tool. Numbers are estimates with the error bar that they name.";

/// Options of a person at a terminal.
constexpr std::string_view of_terminals[] = {"format", "quiet", "color", "help", "write", "force"};

std::vector<Flag> flags_of(const Verb& verb) {
  auto flags = all_flags(verb);
  std::erase_if(flags, [](const Flag& flag) { return quantity::contains(of_terminals, flag.name); });
  return flags;
}

json schema_of(const Flag& flag) {
  json schema{{"description", std::string(flag.help) + (flag.is_switch() ? "" : " <" + flag.values + ">")}};
  const bool is_list = flag.values.find('|') != std::string::npos && flag.values.find(' ') == std::string::npos;
  if (flag.is_switch() || flag.values == "0|1") {
    schema["type"] = "boolean";
  } else if (is_list) {
    schema["enum"] = quantity::pieces_of(flag.values, "|");
  } else if (flag.repeats) {
    schema["type"] = "array";
    schema["items"] = {{"type", "string"}};
  } else {
    schema["type"] = {"string", "number"};
  }
  return schema;
}

json tool_of(const Verb& verb) {
  json properties{{"names",
                   {{"type", "array"},
                    {"items", {{"type", "string"}}},
                    {"description", "words without an option: " + std::string(verb.usage)}}}};
  const auto usual = quantity::pieces_of(verb.usual, " ");
  for (const Flag& flag : flags_of(verb)) {
    if (usual.empty() || quantity::contains(usual, flag.name)) properties[flag.name] = schema_of(flag);
  }
  const std::string further = "any other option of llmcalc " + std::string(verb.name) + ": the tool help lists them";
  const json others{{"type", {"string", "number", "boolean", "array"}}, {"description", further}};
  std::string description(verb.summary);
  for (const auto example : quantity::pieces_of(verb.examples, "\n")) {
    description += "\nAs on the command line: " + std::string(example);
  }
  return {{"name", verb.name},
          {"description", description},
          {"inputSchema", {{"type", "object"}, {"properties", properties}, {"additionalProperties", others}}},
          {"annotations", {{"readOnlyHint", true}}}};
}

json help_tool() {
  const auto names = quantity::mapped(api::verbs(), &Verb::name);
  return {{"name", "help"},
          {"description", "every option of a tool, as text"},
          {"inputSchema",
           {{"type", "object"},
            {"properties", {{"tool", {{"enum", names}}}}},
            {"required", {"tool"}},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}}}};
}

json tools() {
  json list = json::array({help_tool()});
  for (const Verb& verb : api::verbs()) list.push_back(tool_of(verb));
  return {{"tools", list}};
}

bool is_scalar(const json& value) { return !value.is_structured(); }

/// The single values of an answer, and the numbers one below: a page instead of a book.
json summary_of(const json& answer) {
  json summary = json::object();
  for (const auto& [key, value] : answer.items()) {
    if (is_scalar(value)) summary[key] = value;
    if (!value.is_object()) continue;
    for (const auto& [inner, below] : value.items()) {
      if (below.is_number()) summary[key][inner] = below;
    }
  }
  return summary;
}

json said(const std::string& text, bool is_error) {
  return {{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", is_error}};
}

json asked(const Verb& verb, const json& arguments, const Environment& environment) {
  for (const auto option : of_terminals) {
    if (arguments.contains(option)) throw BadInput("--" + std::string(option), "is said on a command line alone");
  }
  const Machine machine(environment);
  const auto words = api::words_of_object(arguments.dump());
  const Reply reply = api::ask(verb.name, words, machine);
  std::string text = reply.show("text");
  for (const auto& warning : reply.warnings) text += "warning: " + warning + "\n";
  for (const auto& note : reply.notes) text += "note: " + note + "\n";
  json result = said(text, false);
  result["structuredContent"] = summary_of(json::parse(reply.show("json")));
  return result;
}

/// A question that cannot be answered is the model's to mend: it is told as a person is.
json called(const json& parameters, const Environment& environment) try {
  const std::string name = parameters.value("name", "");
  const json arguments = parameters.value("arguments", json::object());
  if (!arguments.is_object()) throw Refusal{Fault::parameters, "arguments are no object"};
  if (name == "help") {
    const Verb& verb = api::find_verb(arguments.value("tool", ""));
    return said(api::verb_help(verb, flags_of(verb)), false);
  }
  const auto* verb = quantity::find_or_null(api::verbs(), name, &Verb::name);
  if (verb == nullptr) throw Refusal{Fault::parameters, "Unknown tool: " + name};
  return asked(*verb, arguments, environment);
} catch (const BadInput& error) {
  return said(error.what(), true);
} catch (const quantity::Overflow& error) {
  return said(error.what(), true);
} catch (const json::type_error&) {
  throw Refusal{Fault::parameters, "a parameter has the wrong type"};
}

json server() { return {{"name", "llmcalc"}, {"version", LLMCALC_VERSION}}; }

json initialized(const json& parameters) {
  const json asked = parameters.value("protocolVersion", json());
  const bool known = asked.is_string() && quantity::contains(with_handshake, asked.get<std::string>());
  return {{"protocolVersion", known ? asked : json(with_handshake.front())},
          {"capabilities", {{"tools", json::object()}}},
          {"serverInfo", server()},
          {"instructions", instructions}};
}

json discovered() {
  return {
      {"supportedVersions", {newest}}, {"capabilities", {{"tools", json::object()}}}, {"instructions", instructions}};
}

/// Whether a request carries its revision itself; refused where that is not spoken.
bool is_modern(const json& parameters) {
  const json meta = parameters.value("_meta", json::object());
  if (!meta.is_object() || !meta.contains(version_key)) return false;
  const json& version = meta[version_key];
  if (!version.is_string()) throw Refusal{Fault::parameters, "the protocol version is no text"};
  if (version != newest) {
    throw Refusal{Fault::revision, "Unsupported protocol version", {{"supported", {newest}}, {"requested", version}}};
  }
  if (!meta.contains(capabilities_key)) {
    throw Refusal{Fault::parameters, std::string("params._meta lacks ") + capabilities_key};
  }
  return true;
}

/// Keys that the revision of 2026 wants of every result, and of those that a client may keep.
json completed(json result, bool may_be_kept) {
  constexpr int a_day = 24 * 60 * 60 * 1000;
  result["resultType"] = "complete";
  result["_meta"][server_key] = server();
  if (may_be_kept) {
    result["ttlMs"] = a_day;
    result["cacheScope"] = "public";
  }
  return result;
}

json result_of(const std::string& method, const json& parameters, const Environment& environment) {
  const bool modern = is_modern(parameters);
  if (method == "initialize" && !modern) return initialized(parameters);
  if (method == "ping" && !modern) return json::object();
  if (method == "server/discover" && modern) return completed(discovered(), true);
  if (method == "tools/list") return modern ? completed(tools(), true) : tools();
  if (method == "tools/call") {
    json result = called(parameters, environment);
    return modern ? completed(std::move(result), false) : result;
  }
  throw Refusal{Fault::method, "Method not found: " + method};
}

json refused(const json& id, const Refusal& refusal) {
  json error{{"code", static_cast<int>(refusal.code)}, {"message", refusal.message}};
  if (!refusal.data.is_null()) error["data"] = refusal.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", error}};
}

json answered(const json& message, const Environment& environment) {
  const bool is_request = message.is_object() && message.value("jsonrpc", json()) == "2.0" &&
                          message.contains("method") && message["method"].is_string();
  const json id = message.is_object() ? message.value("id", json()) : json();
  const json parameters = message.is_object() ? message.value("params", json::object()) : json();
  if (!is_request || !parameters.is_object()) return refused(id, {Fault::request, "no request of JSON-RPC 2.0"});
  if (!message.contains("id")) return {};  // a notification
  try {
    const std::string method = message["method"];
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result_of(method, parameters, environment)}};
  } catch (const Refusal& refusal) {
    return refused(id, refusal);
  }
}

}  // namespace

std::string mcp_answer(std::string_view message, const Environment& environment) {
  const json parsed = json::parse(message, nullptr, false);
  const json answer =
      parsed.is_discarded() ? refused(nullptr, {Fault::parse, "no JSON"}) : answered(parsed, environment);
  return answer.is_null() ? std::string() : answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

void serve_mcp(const Environment& environment) {
  const Environment alone{.presets = environment.presets};  // no terminal
  std::string line;
  for (int c = std::getc(stdin); c != EOF; c = std::getc(stdin)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const std::string answer = line.empty() ? std::string() : mcp_answer(line, alone) + "\n";
    if (answer.size() > 1) std::fwrite(answer.data(), 1, answer.size(), stdout);
    std::fflush(stdout);
    line.clear();
  }
}

}  // namespace llmcalc::cli
