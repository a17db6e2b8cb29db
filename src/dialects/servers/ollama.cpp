// Ollama: its Modelfile (docs/modelfile.md), and `ollama run` with the variables of the server (envconfig/config.go).
#include "dialects/servers/server_rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// The type that Ollama's library has under a tag that says none.
bool is_usual(formats::Quant quant) { return quant == formats::Quant::q4_k_m || quant == formats::Quant::mxfp4_moe; }

/// "llama3.1:8b-instruct-q8_0"
bool says_type(std::string_view tag, formats::Quant quant) {
  return quantity::to_lower(tag).ends_with(formats::facts(quant).name);
}

/// The model that Ollama runs: a name of its library, a repository of the Hub, or a file by way of a Modelfile.
struct Runnable {
  std::string name;
  bool is_file = false;
};

Runnable runnable(const ServedNames& names, formats::Quant quant) {
  if (is_gguf_repository(names.model)) return {"hf.co/" + fetched(names, quant)};
  const bool is_tag = names.model.find('/') == std::string::npos && names.model.find(':') != std::string::npos;
  return is_tag && (is_usual(quant) || says_type(names.model, quant)) ? Runnable{names.model}
                                                                      : Runnable{"./" + gguf_file(names, quant), true};
}

using Text = std::optional<std::string>;

/// Its own where nobody asked for one.
Text context(const ServerLetter& letter) { return if_so(letter.asks_context(), letter.text("context")); }

Text slots(const ServerLetter& letter) { return above(1, letter.deployment.setup.slots); }

/// A narrow cache needs it.
Text flash(const ServerLetter& letter) {
  const auto& said = letter.serving().options.flash;
  if (said) return *said ? "1" : "0";
  return if_so(letter.serving().cache != spec::CacheType::automatic, "1");
}

Text drafted(const ServerLetter& letter) {
  const spec::Draft& draft = letter.serving().options.draft;
  return draft.kind == spec::DraftKind::mtp ? above(0, draft.tokens) : std::nullopt;
}

constexpr Told told[] = {{"OLLAMA_CONTEXT_LENGTH", &context},
                         {"OLLAMA_NUM_PARALLEL", &slots},
                         {"OLLAMA_FLASH_ATTENTION", &flash},
                         {"draft_num_predict", &drafted}};

struct Instruction {
  std::string name;
  std::string_view argument;
};

Instruction instruction_of(std::string_view line) {
  line = quantity::trim(line);
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  return {quantity::to_lower(line.substr(0, end)), quantity::trim(line.substr(end))};
}

/// Words that a Modelfile may begin with.
constexpr std::string_view instructions[] = {"from",    "parameter", "template", "system",
                                             "adapter", "license",   "message",  "requires"};

/// People write comments behind numbers.
std::string_view without_comment(std::string_view value) {
  const auto comment = value.find(" #");
  return comment == value.npos ? value : quantity::trim(value.substr(0, comment));
}

/// Whether a text in three quotes begins on a line and does not end there.
bool opens_text(std::string_view argument) {
  constexpr std::string_view quotes = "\"\"\"";
  const auto first = argument.find(quotes);
  return first != std::string_view::npos && argument.find(quotes, first + quotes.size()) == std::string_view::npos;
}

}  // namespace

void modelfile_rules(Sheet& sheet) {
  take_served_model(sheet, {"from"});
  if (const Setting* tokens = sheet.find("draft_num_predict")) sheet.say("draft", "mtp:" + tokens->text, *tokens);
  assume_load(sheet);
}

void ollama_rules(Sheet& sheet) {
  take_served_model(sheet, {"positional.0"});
  assume_load(sheet);
}

/// Variables are of a server that is started with them, and its client waits for none (ollama cmd/start_default.go):
/// what waits, half a minute at most, asks for its version (docs/api.md, GET /api/version) at its own address
/// (envconfig/config.go, Host).
std::string start_ollama(const ServerLetter& letter) {
  const Runnable model = runnable(letter.names, letter.serving().quant);
  std::string variables;
  std::string parameters;
  for (const auto& [name, value] : lines_of(letter, told)) {
    const bool is_variable = name.starts_with("OLLAMA_");
    if (is_variable) variables += fmt::format("{}={} ", name, value);
    if (!is_variable) parameters += fmt::format("\\nPARAMETER {} {}", name, value);
  }
  constexpr std::string_view awaited =
      "ollama serve & curl -sSo /dev/null --retry 30 --retry-delay 1 --retry-connrefused "
      "http://127.0.0.1:11434/api/version && ";
  const std::string server = variables.empty() ? "" : variables + std::string(awaited);
  if (!model.is_file && parameters.empty()) return server + "ollama run " + model.name;
  return fmt::format("printf \"FROM {}{}\\n\" > Modelfile; {}ollama create served -f Modelfile && ollama run served",
                     model.name, parameters, server);
}

std::optional<Settings> parse_modelfile(std::string_view text, std::string_view place) {
  Settings settings;
  int line_number = 0;
  bool in_text = false;
  while (!text.empty()) {
    const auto line = quantity::take_until(text, "\n");
    ++line_number;
    if (in_text) {
      in_text = line.find("\"\"\"") == std::string_view::npos;
      continue;
    }
    const auto [name, argument] = instruction_of(line);
    if (name.empty() || name.starts_with('#')) continue;
    const bool known = quantity::contains(instructions, name);
    if (settings.all().empty() && (!known || argument.empty())) return std::nullopt;
    in_text = opens_text(argument);
    const std::string where = fmt::format("{}:{}", place, line_number);
    if (name == "parameter") {
      const auto [key, value] = instruction_of(argument);
      settings.put({key, std::string(without_comment(value)), {}, where, {}});
    } else {
      settings.put({name, std::string(argument), {}, where, {}});
    }
  }
  return settings.has("from") ? std::optional(std::move(settings)) : std::nullopt;
}

}  // namespace llmcalc::dialects
