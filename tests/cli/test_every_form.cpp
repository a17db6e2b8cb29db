// What an answer's JSON tells, the whole screen tells with the same figures, and a page and Markdown tell of memory.
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/llmcalc.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <sstream>
#include <string>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

/// Words with one blank between: without the breaks of lines, the columns of tables and the tags of a page.
std::string flowed(std::string text) {
  for (std::size_t begin = text.find('<'); begin != text.npos; begin = text.find('<', begin)) {
    const auto end = text.find('>', begin);
    const bool is_tag = end != text.npos && begin + 1 < text.size() &&
                        (std::isalpha(static_cast<unsigned char>(text[begin + 1])) != 0 || text[begin + 1] == '/');
    if (is_tag) text.replace(begin, end - begin + 1, " ");
    begin += is_tag ? 0 : 1;
  }
  std::string flow;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word != "|" && word != "*" && word != "\\") flow += (flow.empty() ? "" : " ") + word;
  }
  return flow;
}

/// One answer and a form of it.
class Said {
 public:
  Said(const std::string& verb, std::vector<Word> words, const std::string& form)
      : answer_(json::parse(to_json(ask(verb, words)))) {
    if (form == "text") words.insert(words.end(), {{"full", "1"}, {"explain", "1"}});
    if (verb == "fit") words.push_back({"unit", "GiB"});
    text_ = flowed(ask(verb, words).show(form));
  }

  const json& answer() const { return answer_; }

  void check(const std::string& told) const {
    const auto sought = flowed(told);
    INFO(sought << "\nis not said in\n" << text_);
    CHECK(text_.find(sought) != text_.npos);
  }

  void check_each(const json& list) const {
    for (const auto& entry : list) check(entry.get<std::string>());
  }

  void check_bytes(const json& ledger) const {
    for (const auto& line : ledger) {
      check(fmt::format("{} {:.2f}", line["label"].get<std::string>(), line["bytes"].get<double>() / 1073741824.0));
    }
  }

  /// Formula, numbers and source of every line.
  void check_explained(const json& lines) const {
    for (const auto& line : lines) {
      check(line["label"].get<std::string>());
      check(line["formula"].get<std::string>());
      check("= " + line["numbers"].get<std::string>() + " source: " + line["source"].get<std::string>());
    }
  }

 private:
  json answer_;
  std::string text_;
};

std::string in_thousands(std::int64_t number) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

void check_screen_of_run(const Said& said) {
  const json& answer = said.answer();
  const json& memory = answer["memory"];
  said.check_bytes(memory["ledger"]);
  said.check_explained(memory["ledger"]);
  for (const auto& stage : memory["stages"]) {
    const double highest = stage["peak_allocated_bytes"].get<double>() / 1073741824.0;
    if (memory["stages"].size() > 1) said.check(fmt::format("pp={} {:.2f}", stage["stage"].get<int>(), highest));
  }
  said.check_explained(answer["time"]["step_parts"]);
  for (const auto& line : answer["compute"]["flops"]) {
    said.check(fmt::format("{} {:.3g} FLOP {:.3g} FLOP", line["label"].get<std::string>(),
                           line["per_token"].get<double>(), line["total"].get<double>()));
  }
  said.check_explained(answer["compute"]["flops"]);
  for (const auto* count : {"parameters_total", "parameters_active", "parameters_trainable", "parameters_embedding"}) {
    said.check(in_thousands(answer["model"][count].get<std::int64_t>()));
  }
  said.check(fmt::format("MFU {:.3g} % {}", 100 * answer["time"]["mfu"].get<double>(),
                         answer["time"]["mfu_source"].get<std::string>()));
  for (const auto* list : {"assumptions", "notes"}) said.check_each(answer[list]);
}

const std::vector<std::string> machines{"a100-40:8", "h100-sxm:8", "rtx-4090:2", "mi300x:8"};

}  // namespace

TEST_CASE("the whole screen of a run says what its JSON says", "[long]") {
  std::size_t turn = 0;
  for (const auto* row : frameworks::rows()) {
    const std::string framework(row->words.front());
    const bool has_stages = framework.starts_with("megatron");
    CAPTURE(framework);
    check_screen_of_run(Said("fit",
                             {{"model", turn % 3 == 0 ? "mixtral-8x7b" : "llama-3-8b"},
                              {"framework", framework},
                              {"gpu", machines[turn % machines.size()]},
                              {"pp", has_stages ? "2" : "1"}},
                             "text"));
    ++turn;
  }
}

TEST_CASE("a run's page and Markdown have every line of its ledger") {
  for (const auto* form : {"html", "markdown"}) {
    const Said said("fit", {{"model", "llama-3-8b"}, {"framework", "megatron"}, {"gpu", "a100-40:8"}, {"pp", "2"}},
                    form);
    CAPTURE(form);
    for (const auto& line : said.answer()["memory"]["ledger"]) said.check(line["label"].get<std::string>());
    for (const auto& change : said.answer()["advice"]) {
      said.check(change["flag"].get<std::string>());
      said.check(change["change"].get<std::string>());
    }
    said.check_each(said.answer()["assumptions"]);
    said.check_each(said.answer()["notes"]);
  }
}

TEST_CASE("the whole screen of a server says what its JSON says", "[long]") {
  for (const auto& row : serving::all_engines()) {
    const std::string engine(spec::name_of(row.engine));
    CAPTURE(engine);
    const Said said("serve", {{"model", "llama-3-8b"}, {"engine", engine}, {"gpu", "h100-sxm"}}, "text");
    const json& answer = said.answer();
    said.check_bytes(answer["memory"]["parts"]);
    for (const auto& part : answer["memory"]["parts"]) said.check(part["formula"].get<std::string>());
    for (const auto& part : answer["speed"]["parts"]) {
      if (part["seconds"].get<double>() > 1e-6) said.check(part["label"].get<std::string>());
    }
    said.check(in_thousands(answer["capacity"]["max_context"].get<std::int64_t>()) + " tokens");
    said.check(in_thousands(answer["kv"]["bytes_per_token"].get<std::int64_t>()) + " bytes a token");
    if (answer["launch"].is_string()) said.check(answer["launch"].get<std::string>());
  }
}
