// Whatever a server's command and file say, read back they start the same server: term by term, and to the byte and the
// second. What they cannot say is named, and no command is printed.
#include "api/asked.hpp"
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"
#include "serving/answer.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<read::Given>;

struct Value {
  std::string term;
  std::string text;
};

Words given(const std::vector<Value>& values) {
  Words words;
  for (const auto& [term, text] : values) {
    words.push_back({term, text, {read::Source::flag, "--" + read::option_name(term)}});
  }
  return words;
}

/// Models on the machine that people serve them on.
const std::vector<std::vector<Value>> machines{
    {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm"}},
    {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm:8"}, {"tp", "4"}},
    {{"model", "llama-3.1-70b"}, {"gpu", "h100-sxm:8"}, {"tp", "4"}, {"pp", "2"}},
    {{"model", "llama-3.1-405b"}, {"gpu", "h100-sxm:16"}, {"tp", "8"}, {"pp", "2"}},
    {{"model", "deepseek-v3"}, {"gpu", "h200-sxm:8"}, {"tp", "8"}, {"ep", "8"}},
    {{"model", "deepseek-v3"}, {"gpu", "h200-sxm:16"}, {"tp", "8"}, {"ep", "8"}},
    {{"model", "deepseek-v3"}, {"gpu", "h200-sxm:8"}, {"tp", "8"}, {"ep", "4"}},
    {{"model", "deepseek-v3"}, {"gpu", "h200-sxm:8"}, {"tp", "1"}, {"attention_dp", "8"}, {"ep", "8"}},
    {{"model", "qwen3-30b-a3b"}, {"gpu", "l40s:2"}},
};

/// What is said beside, one at a time; a value that an engine does not take is refused by name.
const std::vector<Value> options{
    {"", ""},
    {"quant", "fp8"},
    {"quant", "awq"},
    {"quant", "bnb-nf4"},
    {"quant", "nvfp4"},
    {"quant", "q4_k_m"},
    {"quant", "q8_0"},
    {"kv_dtype", "bf16"},
    {"kv_dtype", "fp16"},
    {"kv_dtype", "fp32"},
    {"kv_dtype", "fp8"},
    {"kv_dtype", "int8"},
    {"kv_dtype", "nvfp4"},
    {"kv_dtype", "q8_0"},
    {"kv_dtype", "q5_1"},
    {"kv_dtype", "q5_0"},
    {"kv_dtype", "q4_1"},
    {"kv_dtype", "q4_0"},
    {"kv_dtype", "iq4_nl"},
    {"memory_fraction", "0.8125"},
    {"role", "prefill"},
    {"role", "decode"},
    {"kv_bytes", "4GiB"},
    {"batched_tokens", "4096"},
    {"max_seqs", "48"},
    {"block", "64"},
    {"graphs", "0"},
    {"largest_graph", "64"},
    {"ubatch", "256"},
    {"slots", "4"},
    {"gpu_layers", "20"},
    {"cpu_experts", "3"},
    {"flash", "0"},
    {"flash", "1"},
    {"prefix_cache", "0"},
    {"prefix_cache", "1"},
    {"wait_steps", "4"},
    {"stream_interval", "20"},
    {"max_loras", "3"},
    {"split", "row"},
    {"split", "tensor"},
    {"dcp", "2"},
    {"draft", "mtp:2"},
    {"draft", "eagle:3"},
    {"draft", "eagle=me/mine:3"},
    {"draft", "llama-3.2-1b:4"},
    {"shared_prefix", "512"},
    {"context", "32k"},
};

std::string figures(const spec::Question& question) {
  const auto answer = serving::serve(question);
  std::string text = std::to_string(quantity::in_bytes(answer.memory.held())) + " " +
                     std::to_string(quantity::in_bytes(answer.memory.pool)) + " " +
                     std::to_string(answer.capacity.max_concurrency) + " " +
                     std::to_string(answer.capacity.max_context);
  if (answer.speed) text += " " + std::to_string(quantity::in_seconds(answer.speed->tpot));
  return text;
}

/// Terms of the load and of the checkpoint stand beside a command.
Words beside(const Words& said, const dialects::Reading& reading, bool ggml) {
  static constexpr std::array<std::string_view, 6> always{"gpu",    "model",  "concurrency",
                                                          "prompt", "output", "shared_prefix"};
  Words words;
  for (const auto& word : said) {
    const bool of_checkpoint = word.term == "quant" && !read::has_word(reading.words, "quant");
    const bool listed = std::ranges::find(always, word.term) != always.end();
    if (listed || of_checkpoint || (ggml && word.term == "gpus")) words.push_back(word);
  }
  for (auto& word : words) {  // the command says how many of them
    const auto colon = word.text.find(':');
    if (word.term == "gpu" && !ggml && colon != std::string::npos) word.text.resize(colon);
  }
  return words;
}

/// A draft that is a model of its own is named by its repository or its file, layers by their checkpoint.
void name_draft(dialects::Reading& reading, const Words& said) {
  const auto asked = std::ranges::find(said, "draft", &read::Given::term);
  for (auto& word : reading.words) {
    if (asked != said.end() && word.term == "draft" && asked->text.starts_with("llama"))
      word.text = "llama-3.2-1b" + word.text.substr(word.text.rfind(':'));
    if (asked != said.end() && word.term == "draft" && asked->text == "eagle:3")
      word.text = "eagle" + word.text.substr(word.text.rfind(':'));
  }
}

struct Count {
  int said = 0;
  int named = 0;
};

/// \return whether a command says it all
bool check_law(const Words& words, const std::string& engine) {
  const auto report = api::serve(words, std::nullopt, read::Catalogue(), {});
  const auto asked = read::resolve_serving(words, std::nullopt, read::Catalogue()).question;
  if (report.launch.empty()) {
    const auto names_it = [](const std::string& note) {
      return note.find("starts this server: none says --") != std::string::npos;
    };
    CHECK((engine == "hf" || std::ranges::any_of(report.launch_notes, names_it)));
    return false;
  }
  CAPTURE(report.launch);
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  auto reading = dialects::read_launch_command(report.launch, "command", nothing);
  CHECK(reading.unread.empty());
  name_draft(reading, words);
  const bool ggml = spec::reads_gguf(asked.serving.engine);
  auto again =
      read::resolve_serving(with_options(reading, beside(words, reading, ggml)), std::nullopt, read::Catalogue());
  CHECK(again.question.layout.tp == asked.layout.tp);
  CHECK(again.question.layout.pp == asked.layout.pp);
  CHECK(again.question.layout.ep == asked.layout.ep);
  CHECK(again.question.serving.options.draft == asked.serving.options.draft);
  if (report.servers > 1) return true;  // each takes its share of the requests
  CHECK(again.question.layout.gpus == asked.layout.gpus);
  CHECK(again.question.layout.nodes == asked.layout.nodes);
  CHECK(figures(again.question) == figures(asked));
  return true;
}

}  // namespace

TEST_CASE("a server's command read back is the same server, to the byte and the second") {
  std::map<std::string, Count> counts;
  for (const serving::EngineRow& row : serving::all_engines()) {
    const std::string engine(spec::name_of(row.engine));
    for (const auto& machine : machines) {
      for (const Value& option : options) {
        auto words = given(machine);
        words.push_back({"engine", engine, {read::Source::flag, "--engine"}});
        if (option.term != "context") words.push_back({"context", "8k", {read::Source::flag, "--context"}});
        if (!option.term.empty()) words.push_back(given({option}).front());
        CAPTURE(engine, machine.front().text, option.term, option.text);
        try {
          const bool said = check_law(words, engine);
          ++(said ? counts[engine].said : counts[engine].named);
        } catch (const quantity::BadInput&) {
          continue;  // what the engine does not do is refused by name
        }
      }
    }
  }
  CHECK(counts["vllm"].said >= 189);
  CHECK(counts["sglang"].said >= 187);
  CHECK(counts["trtllm"].said >= 180);
  CHECK(counts["llama.cpp"].said >= 46);
  CHECK(counts["ollama"].said >= 26);
  CHECK(counts["hf"].said == 0);  // a program starts it
}

TEST_CASE("no command has an option that its release of the engine lacks") {
  struct Known {
    std::string model, cards;
    Value said;
    std::string option;
    std::string without, with;  ///< releases
  };
  // vllm/engine/arg_utils.py of the five releases.
  const std::vector<Known> all{
      {"llama-3.1-70b", "8", {"kv_bytes", "4GiB"}, "--kv-cache-memory-bytes", "0.9.2", "0.11.0"},
      {"qwen3-235b-a22b", "8", {"dcp", "2"}, "--decode-context-parallel-size", "0.9.2", "0.11.0"},
      {"llama-3.1-70b", "8", {"draft", "llama-3.2-1b:4"}, "--speculative-config", "0.7.3", "0.8.5"},
      {"llama-3.1-405b", "16", {"nodes", "2"}, "--nnodes", "0.11.0", "0.15.0"}};
  for (const auto& [model, cards, said, option, without, with] : all) {
    for (const auto& release : {without, with}) {
      CAPTURE(option, release);
      const auto words = given({{"model", model},
                                {"gpu", "h100-sxm:" + cards},
                                {"tp", cards},
                                {"context", "8k"},
                                {"engine", "vllm"},
                                {"engine_version", release},
                                said});
      const auto launch = api::serve(words, std::nullopt, read::Catalogue(), {}).launch;
      CHECK((launch.find(option) != std::string::npos) == (release == with));
    }
  }
}
