#include "llmcalc/llmcalc.h"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "render/error.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace llmcalc {
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

std::vector<Word> words_of(const char* question) {
  if (question == nullptr) throw BadInput("question", "is a null pointer");
  const auto object = json::parse(question, nullptr, false);
  if (!object.is_object()) {
    throw BadInput("question", "is no JSON object", R"({"model": "llama-3-8b", "gpu": "h100-sxm:8"})");
  }
  std::vector<Word> words;
  for (const auto& [term, value] : object.items()) words.push_back({term, text_of(term, value)});
  return words;
}

struct Outcome {
  int code = LLMCALC_NOT_ANSWERED;
  std::string text;
};

Outcome refused(const BadInput& error) { return {LLMCALC_NOT_ANSWERED, render::to_json(error, version())}; }

Outcome fit(const char* question) try {
  const Answer answer = ask(words_of(question));
  const bool misses = answer.estimate.verdict.kind == trust::VerdictKind::does_not_fit;
  return {misses ? LLMCALC_DOES_NOT_FIT : LLMCALC_FITS, to_json(answer)};
} catch (const BadInput& error) {
  return refused(error);
} catch (const quantity::Overflow&) {
  return refused(BadInput("question", "the answer has no room in 64 bits"));
} catch (const std::exception& error) {
  return refused(BadInput("question", std::string("internal error: ") + error.what()));
}

char* copy_of(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace
}  // namespace llmcalc

extern "C" {

int llmcalc_fit(const char* question, char** answer) try {
  const auto outcome = llmcalc::fit(question);
  if (answer != nullptr) *answer = llmcalc::copy_of(outcome.text);
  return outcome.code;
} catch (const std::bad_alloc&) {
  if (answer != nullptr) *answer = nullptr;
  return LLMCALC_NOT_ANSWERED;
}

void llmcalc_free(char* answer) { std::free(answer); }

const char* llmcalc_version(void) { return LLMCALC_VERSION; }
}
