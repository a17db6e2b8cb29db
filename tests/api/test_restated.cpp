// An answer's own question, asked again, is the same answer: every option, drawn from the vocabulary itself.
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/llmcalc.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace llmcalc;
using nlohmann::json;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The answer to a question; nothing where it is refused.
std::optional<json> restated_answer(const std::string& verb, const Pairs& words) try {
  std::vector<Word> said;
  for (const auto& pair : words) said.push_back({pair.first, pair.second});
  return json::parse(to_json(ask(verb, said, {})));
} catch (const quantity::BadInput&) {
  return std::nullopt;
}

/// Terms that somebody said, as the answer shows them.
Pairs said_in(const json& answer) {
  Pairs words;
  for (const auto& [term, shown] : answer["question"].items()) {
    if (shown["origin"] == "flag") words.emplace_back(term, shown["value"]);
  }
  return words;
}

/// All of a closed vocabulary, or texts of which every other kind of term takes some.
std::vector<std::string> values_for(const read::Term& term) {
  if (term.words != nullptr) {
    const auto words = term.words();
    return {words.begin(), words.end()};
  }
  return {"2",       "3",    "1",   "0",        "4",    "8",   "64",  "128",  "1024",
          "0.5",     "7.5",  "2h",  "30ms",     "4GiB", "10%", "q,v", "bf16", "eagle=me/mine:3",
          "2025-06", "q:64", "mlp", "query,out"};
}

const json& shown_of(const json& answer, std::string_view term) {
  static const json nothing;
  const auto found = answer["question"].find(term);
  return found == answer["question"].end() ? nothing : (*found)["value"];
}

/// The base with the first value that the term takes and that changes what is shown.
std::optional<json> with_another(const std::string& verb, const Pairs& base, const json& plain,
                                 const read::Term& term) {
  for (const auto& value : values_for(term)) {
    Pairs words = base;
    words.emplace_back(term.name, value);
    auto answer = restated_answer(verb, words);
    if (answer && shown_of(*answer, term.name) != shown_of(plain, term.name)) return answer;
  }
  return std::nullopt;
}

/// \return terms that no base takes
std::vector<std::string> check_restated(const std::string& verb, std::span<const read::Term> terms,
                                        const std::vector<Pairs>& bases) {
  std::vector<json> plain;
  for (const Pairs& base : bases) plain.push_back(restated_answer(verb, base).value());
  std::vector<std::string> untaken;
  for (const read::Term& term : terms) {
    bool taken = false;
    for (std::size_t i = 0; i < bases.size() && !taken; ++i) {
      if (shown_of(plain[i], term.name).is_string() && plain[i]["question"][term.name]["origin"] == "flag") continue;
      const auto answer = with_another(verb, bases[i], plain[i], term);
      if (!answer) continue;
      taken = true;
      const Pairs again = said_in(*answer);
      CAPTURE(term.name, shown_of(*answer, term.name).dump(), bases[i].front().second, i);
      CHECK((*answer)["question"][term.name]["origin"] == "flag");
      const auto restated = restated_answer(verb, again);
      REQUIRE(restated);
      CHECK(restated->dump() == answer->dump());
    }
    if (!taken) untaken.emplace_back(term.name);
  }
  return untaken;
}

}  // namespace

TEST_CASE("every option of a server, said again as the answer shows it, is the same answer", "[long]") {
  const Pairs one{{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm"}};
  const auto with = [&](Pairs words, const Pairs& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto untaken = check_restated(
      "serve", read::serving_vocabulary(),
      {one,
       with(one, {{"gpus", "4"}, {"tp", "2"}, {"prefill_servers", "1"}}),
       {{"model", "mixtral-8x7b"}, {"gpu", "h100-sxm"}, {"gpus", "4"}},
       with(one, {{"gpus", "16"}, {"tp", "16"}}),
       with(one, {{"engine", "sglang"}}),
       with(one, {{"draft", "eagle:3"}}),
       with(one, {{"quant", "awq"}}),
       with(one, {{"max_loras", "2"}}),
       {{"model", "qwen3-30b-a3b"}, {"gpu", "rtx-4090"}, {"gpus", "2"}, {"engine", "llama.cpp"}, {"quant", "iq4_xs"}},
       {{"model", "qwen2.5-vl-7b"}, {"gpu", "h100-sxm"}},
       {{"model", "deepseek-v3"}, {"gpu", "b200-sxm"}, {"gpus", "8"}}});
  CHECK(untaken == std::vector<std::string>{"model", "gpu"});
}

TEST_CASE("every option of a run, said again as the answer shows it, is the same answer", "[long]") {
  const Pairs eight{{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm"}, {"gpus", "8"}};
  const auto with = [&](const Pairs& more) {
    Pairs words = eight;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto untaken = check_restated(
      "fit", read::vocabulary(),
      {eight,
       with({{"framework", "megatron"}, {"tp", "2"}, {"pp", "2"}, {"global_batch", "64"}}),
       with({{"method", "lora"}}),
       with({{"method", "qlora"}, {"framework", "trl"}}),
       with({{"algorithm", "ppo"}}),
       with({{"algorithm", "grpo"}}),
       with({{"algorithm", "dpo"}}),
       with({{"framework", "deepspeed"}, {"sharding", "zero3"}}),
       with({{"method", "adapter"}}),
       with({{"method", "prefix"}}),
       with({{"method", "adalora"}}),
       with({{"optimizer", "galore-adamw-8bit"}}),
       with({{"framework", "deepspeed"}, {"sharding", "zero1"}, {"offload", "optimizer"}}),
       {{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm"}},
       with({{"framework", "megatron"}, {"recompute", "selective"}}),
       with({{"framework", "megatron"}, {"compute", "fp8"}}),
       with({{"framework", "megatron"}, {"mtp_num_layers", "2"}}),
       with({{"framework", "torchtitan"}, {"compute", "fp8"}}),
       with({{"offload", "activations"}, {"recompute", "full"}}),
       with({{"framework", "deepspeed"}, {"sharding", "zero3"}, {"offload", "optimizer"}}),
       with({{"framework", "maxtext"}, {"recompute", "full"}}),
       with({{"sharding", "fsdp2"}}),
       with({{"samples", "1000"}}),
       {{"model", "mixtral-8x7b"}, {"gpu", "h100-sxm"}, {"gpus", "16"}, {"framework", "megatron"}, {"ep", "8"}},
       {{"model", "qwen2.5-vl-7b"}, {"gpu", "h100-sxm"}, {"gpus", "8"}},
       {{"model", "deepseek-v3"}, {"gpu", "h100-sxm"}, {"gpus", "512"}}});
  CHECK(untaken == std::vector<std::string>{"model", "gpu"});
}

namespace {

/// The terms of an advice, which is written as options.
Pairs terms_of(const std::string& options) {
  std::istringstream text(options);
  Pairs terms;
  for (std::string word; text >> word;) {
    if (word.starts_with("--")) {
      std::ranges::replace(word, '-', '_');
      terms.emplace_back(word.substr(2), std::string());
    } else {
      terms.back().second += word;
    }
  }
  return terms;
}

bool says(const Pairs& words, std::string_view term) {
  return std::ranges::find(words, term, &Pairs::value_type::first) != words.end();
}

/// Sequences of a step.
std::int64_t step_batch(const json& run) {
  const auto whole = [&](const char* term) { return std::stoll(run["question"][term]["value"].get<std::string>()); };
  return whole("micro_batch") * whole("grad_accum") * whole("dp");
}

}  // namespace

TEST_CASE("an advice that does not speak of batch, length or recomputation leaves them, in every trainer") {
  std::size_t followed = 0;
  for (const auto* row : frameworks::rows()) {
    const std::string framework(spec::name_of(row->framework));
    for (const std::string way : {"full", "lora", "dpo"}) {
      const Pairs asked{{"model", "qwen2.5-14b"},
                        {"gpu", "v100-sxm2-32:4"},
                        {"framework", framework},
                        {way == "dpo" ? "algorithm" : "method", way}};
      const auto run = restated_answer("fit", asked);
      if (!run || !run->contains("advice")) continue;
      for (const json& advice : (*run)["advice"]) {
        const std::string options = advice["flag"];
        CAPTURE(framework, way, options);
        const Pairs change = terms_of(options);
        Pairs words = asked;
        std::erase_if(words, [&](const auto& word) { return says(change, word.first); });
        words.insert(words.end(), change.begin(), change.end());
        const auto again = restated_answer("fit", words);
        REQUIRE(again);
        ++followed;
        if (!says(change, "seq")) CHECK(shown_of(*again, "seq") == shown_of(*run, "seq"));
        const bool recomputes = shown_of(*run, "recompute") != "none";
        if (recomputes && !says(change, "recompute"))
          CHECK(shown_of(*again, "recompute") == shown_of(*run, "recompute"));
        if (says(change, "micro_batch") || says(change, "global_batch")) continue;
        CHECK(shown_of(*again, "micro_batch") == shown_of(*run, "micro_batch"));
        CHECK(step_batch(*again) == step_batch(*run));
      }
    }
  }
  CHECK(followed > 100);
}
