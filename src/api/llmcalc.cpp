
#include "api/asked.hpp"
#include "api/c_door.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "render/understood.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace llmcalc {

bool Answer::fits() const {
  using trust::VerdictKind;
  return estimate.verdict.kind == VerdictKind::fits || estimate.verdict.kind == VerdictKind::tight;
}

Answer ask(std::span<const Word> words) {
  std::vector<read::Given> given;
  for (const Word& word : words)
    given.push_back({word.term, word.text, {read::Source::flag, spec::option_of(word.term)}});
  return api::fit(given, std::nullopt, read::Catalogue());
}

Answer ask(std::initializer_list<Word> words) { return ask(std::span(words.begin(), words.size())); }

Answer ask(const spec::Question& question) {
  return api::fit(read::words_of(question), std::nullopt, read::Catalogue(), {question.model.shape, question.gpu});
}

std::string to_json(const Answer& answer) { return render::to_json(answer); }

Reply ask(std::string_view verb, std::span<const Word> words, const Outside& outside) {
  return api::ask(verb, words, api::Surroundings(outside));
}

Reply ask(std::string_view verb, std::initializer_list<Word> words, const Outside& outside) {
  return ask(verb, std::span(words.begin(), words.size()), outside);
}

std::string to_json(const Reply& reply) { return reply.show("json"); }

std::string to_text(const Reply& reply) { return reply.show("text"); }

spec::Shape model_preset(std::string_view name) { return read::Catalogue().model(name, "model").shape; }

spec::Accelerator gpu_preset(std::string_view name) { return read::Catalogue().accelerator(name, "gpu").accelerator; }

std::string_view version() { return LLMCALC_VERSION; }

namespace {

using nlohmann::json;
using quantity::BadInput;

/// Texts as they are, numbers as JSON writes them, switches as 0 and 1.
std::string text_of(const std::string& term, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number()) return value.dump();
  throw BadInput("/" + term, "expected a text, a number or a boolean, found " + value.dump());
}

/// The name of the list in which stands what belongs to no option.
constexpr std::string_view names = "names";

std::string form_of(const std::vector<Word>& words) {
  const auto said = std::ranges::find(words, "format", &Word::term);
  return said == words.end() ? "json" : said->text;
}

struct Outcome {
  int code = LLMCALC_NOT_ANSWERED;
  std::string text;
};

Outcome refused(const BadInput& error) { return {LLMCALC_NOT_ANSWERED, render::to_json(error, version())}; }

/// A form that is no text, as a snapshot, would end at its first zero.
Outcome answered(std::string_view verb, const std::vector<Word>& words, const api::Surroundings& around) {
  const Reply reply = api::ask(verb, words, around);
  auto text = reply.show(form_of(words));
  if (text.find('\0') != std::string::npos)
    throw BadInput("format", "'" + form_of(words) + "' is bytes, and answers here are texts", "ask the command line");
  return {static_cast<int>(reply.code), std::move(text)};
}

Outcome answered(const char* verb, const char* question, const api::Surroundings& around) {
  if (verb == nullptr) throw BadInput("verb", "is a null pointer");
  if (question == nullptr) throw BadInput("question", "is a null pointer");
  return answered(verb, api::words_of_object(question), around);
}

std::vector<std::string> words_of_list(const char* line) {
  const auto list = json::parse(line == nullptr ? "" : line, nullptr, false);
  if (!list.is_array() || list.empty()) throw BadInput("line", "is no JSON list of words", R"(["fit", "llama-3-8b"])");
  return quantity::mapped(list, [](const json& word) { return text_of("line", word); });
}

Outcome answered(const char* line, const api::Surroundings& around) {
  const auto words = api::spelled_out(words_of_list(line));
  if (auto told = api::told_of_program(words)) return {LLMCALC_FITS, *std::move(told)};
  const auto& verb = api::find_verb(words.front());
  return answered(verb.name, api::words_of_line(api::all_flags(verb), std::span(words).subspan(1)), around);
}

template <class Ask>
Outcome outcome_of(const Ask& ask) try {
  return ask();
} catch (const BadInput& error) {
  return refused(error);
} catch (const quantity::Overflow&) {
  return refused(BadInput("question", "the answer has no room in 64 bits"));
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& error) {
  return refused(BadInput("question", std::string("internal error: ") + error.what()));
}

char* copy_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

template <class Ask>
int in_c(const Ask& ask, char** answer) noexcept try {
  const Outcome outcome = outcome_of(ask);
  if (answer != nullptr) *answer = copy_of(outcome.text);
  return outcome.code;
} catch (const std::bad_alloc&) {
  if (answer != nullptr) *answer = nullptr;
  return LLMCALC_NOT_ANSWERED;
}

}  // namespace

namespace api {

std::vector<Word> words_of_object(std::string_view question) {
  const auto object = json::parse(question, nullptr, false);
  if (!object.is_object()) {
    throw BadInput("question", "is no JSON object", R"({"model": "llama-3-8b", "gpu": "h100-sxm:8"})");
  }
  std::vector<Word> words;
  for (const auto& [term, value] : object.items()) {
    const std::string option = term == names ? std::string() : term;
    if (!value.is_array()) {
      words.push_back({option, text_of(term, value)});
      continue;
    }
    for (const json& each : value) words.push_back({option, text_of(term, each)});
  }
  return words;
}

Outside outside_of(const llmcalc_outside* given) {
  Outside outside;
  if (given == nullptr) return outside;
  if (given->read != nullptr) {
    outside.read = [given](const std::string& path) -> std::optional<std::string> {
      const char* text = given->read(given->data, path.c_str());
      return text == nullptr ? std::nullopt : std::optional<std::string>(text);
    };
  }
  if (given->progress != nullptr) {
    outside.progress = [given](double share) { return given->progress(given->data, share) == 0; };
  }
  return outside;
}

int answer_in_c(const char* verb, const char* question, const Surroundings& around, char** answer) noexcept {
  return in_c([&] { return answered(verb, question, around); }, answer);
}

int answer_line_in_c(const char* line, const Surroundings& around, char** answer) noexcept {
  return in_c([&] { return answered(line, around); }, answer);
}

}  // namespace api

}  // namespace llmcalc

extern "C" {

int llmcalc_ask_with(const char* verb, const char* question, const llmcalc_outside* outside, char** answer) {
  const auto around = llmcalc::api::outside_of(outside);
  return llmcalc::api::answer_in_c(verb, question, llmcalc::api::Surroundings(around), answer);
}

int llmcalc_ask(const char* verb, const char* question, char** answer) {
  return llmcalc_ask_with(verb, question, nullptr, answer);
}

int llmcalc_fit(const char* question, char** answer) { return llmcalc_ask("fit", question, answer); }

void llmcalc_free(char* answer) { std::free(answer); }

const char* llmcalc_version(void) { return LLMCALC_VERSION; }
}
