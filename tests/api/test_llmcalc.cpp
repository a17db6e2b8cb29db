// The front door says what the command line says, whichever way it is asked.
#include "catch.hpp"
#include "llmcalc/llmcalc.hpp"
#include "read/presets.hpp"

#include <nlohmann/json.hpp>

using namespace llmcalc;
using quantity::BadInput;

namespace {

std::string value_of(const Answer& answer, std::string_view term) {
  for (const auto& line : answer.question) {
    if (line.term == term) return line.text;
  }
  return {};
}

}  // namespace

TEST_CASE("a question of words is completed, and its values have origins") {
  const Answer answer = ask({{"model", "llama-3-8b"}, {"gpu", "h100-sxm:8"}, {"zero", "3"}, {"micro-batch", "2"}});
  CHECK(answer.completed.layout.dp == 8);
  CHECK(value_of(answer, "sharding") == "zero3");
  CHECK(value_of(answer, "micro_batch") == "2");
  CHECK(answer.version == version());
}

TEST_CASE("a typed question answers what the same words answer") {
  const read::Catalogue catalogue;
  spec::Question question;
  question.model.shape = catalogue.model("llama-3-8b", "test").shape;
  question.gpu = catalogue.accelerator("a100-80-sxm", "test").accelerator;
  question.training.framework = spec::Framework::hf;
  question.training.method = spec::Method::lora;
  question.training.adapter.rank = 32;
  question.training.micro_batch = 4;
  question.training.seq = 1024;
  const Answer typed = ask(question);
  const Answer said = ask({{"model", "llama-3-8b"},
                           {"gpu", "a100-80-sxm"},
                           {"framework", "hf"},
                           {"method", "lora"},
                           {"lora-rank", "32"},
                           {"micro-batch", "4"},
                           {"seq", "1024"}});
  CHECK(typed.fits());
  CHECK(typed.estimate.memory.peak_needed == said.estimate.memory.peak_needed);
  CHECK(in_seconds(typed.estimate.compute.step) == in_seconds(said.estimate.compute.step));
  CHECK(typed.completed.training.adapter.targets == said.completed.training.adapter.targets);
}

TEST_CASE("a typed question is checked as words are") {
  spec::Question question;
  CHECK_THROWS_AS(ask(question), BadInput);  // a model of nothing
  question.model.shape = read::Catalogue().model("llama-3-8b", "test").shape;
  question.layout.gpus = 8;
  question.layout.tp = 3;
  CHECK_THROWS_AS(ask(question), BadInput);
  question.layout.tp = 1;
  question.layout.gpus = 1;
  question.training.seq = -1;
  CHECK_THROWS_AS(ask(question), BadInput);
}

TEST_CASE("words that are wrong are named") {
  CHECK_THROWS_WITH(ask("fit", {{"model", "gpt2"}, {"gpu", "local"}}),
                    Catch::Matchers::Contains("'local' is what a machine has"));
  const std::initializer_list<Word> unknown{{"params", "7B"}, {"seqq", "4k"}};
  CHECK_THROWS_AS(ask(unknown), BadInput);
  const std::initializer_list<Word> contradiction{{"model", "llama-3-8b"}, {"params", "7B"}};
  CHECK_THROWS_AS(ask(contradiction), BadInput);
}

TEST_CASE("a validation and a list of runs are followed, and end with what there is when told to") {
  const std::string measured = "model,gpu,framework,quantity,value\nllama-3-8b,a100-80,hf,peak_allocated,70GiB\n";
  const std::string rows = "model,gpu\nllama-3-8b,a100-80\nllama-3.2-1b,a100-80\n";
  std::vector<double> told;
  llmcalc::Outside outside;
  outside.read = [&](const std::string& path) { return path == "rows.csv" ? rows : measured; };
  outside.progress = [&](double share) {
    told.push_back(share);
    return told.size() < 2;
  };
  const auto runs = llmcalc::ask("fit", {{"rows", "rows.csv"}}, outside);
  CHECK(told == std::vector<double>{0.0, 0.5});
  const auto lines = nlohmann::json::parse(to_json(runs))["runs"];
  CHECK(lines[0]["error"].is_null());
  CHECK(lines[1]["error"] == "interrupted");
  CHECK(runs.code == llmcalc::ExitCode::bad_question);
  CHECK_THROWS_WITH(llmcalc::ask("validate", {{"", "measured.csv"}}, outside),
                    Catch::Matchers::Contains("interrupted before it"));
}

TEST_CASE("a plan of a server is the search of servers, as it is typed and as it is asked") {
  std::vector<spec::Word> words{{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:2"}, {"rate", "20"}, {"ttft", "1s"}};
  const auto with = [&](spec::Word word) {
    auto more = words;
    more.push_back(std::move(word));
    return more;
  };
  const auto searched = ask("serve", with({"find", "layout"})).show("json");
  CHECK(ask("plan", with({"serve", "true"})).show("json") == searched);
  CHECK_THROWS_AS(ask("plan", with({"serve", "0"})), BadInput);  // --rate is no option of a run
}
