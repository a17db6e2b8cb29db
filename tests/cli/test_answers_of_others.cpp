// What an answer says of another question is what that question answers: of more room, other cards, other trainers, a
// table of loads.
#include "catch.hpp"
#include "cli/answered.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace llmcalc::answers_of_others {
namespace {

using nlohmann::json;
using test::answered;

const std::vector<std::string> runs{"llama-3.2-1b --framework hf --method full",
                                    "llama-3-8b --framework trl --method qlora",
                                    "llama-3-8b --framework torchtitan --sharding fsdp2",
                                    "gpt2 --framework megatron --recompute full",
                                    "olmoe-1b-7b --framework megatron --method full",
                                    "mixtral-8x7b --framework deepspeed --zero 3",
                                    "--params 7B",
                                    "--params 350M --seq 1k"};
const std::vector<std::string> machines{"a100-80", "h100-sxm:8", "rtx-4090:2", "rtx-3090", "l40s:4", "t4"};

/// The run on each machine that answers it, with the cards that stand in the place of its own.
template <class Check>
std::size_t each_run(const Check& check) {
  std::size_t asked = 0;
  for (const auto& run : runs) {
    for (const auto& machine : machines) {
      const std::string line = "fit " + run + " --gpu " + machine;
      const json answer = answered(line);
      if (!answer.is_object()) continue;
      CAPTURE(line);
      check(line, machine.substr(std::min(machine.find(':'), machine.size())), answer);
      ++asked;
    }
  }
  return asked;
}

std::string verdict_of(const std::string& line) {
  const json answer = answered(line);
  return answer.is_object() ? answer["verdict"].get<std::string>() : "";
}

}  // namespace

TEST_CASE("a run has the room that it is said to have and no more") {
  std::size_t rooms = 0;
  each_run([&](const std::string& line, const std::string&, const json& answer) {
    const json& room = answer["room"];
    for (const auto& [key, option, step] :
         {std::tuple("largest_micro_batch", " --micro-batch ", 1), {"longest_seq", " --seq ", 1024}}) {
      if (!room[key].is_number() || line.find(option) != std::string::npos) continue;
      const auto most = room[key].get<std::int64_t>();
      CAPTURE(key, most);
      CHECK(verdict_of(line + option + std::to_string(most)) != "does_not_fit");
      CHECK(verdict_of(line + option + std::to_string(most + step)) != "fits");
      ++rooms;
    }
  });
  CHECK(rooms > 20);
}

TEST_CASE("cards that are named beside a run answer it as they are said to") {
  std::size_t cards = 0;
  each_run([&](const std::string& line, const std::string& count, const json& answer) {
    for (const json& card : answer["cards"]) {
      if (cards % 2 == 1 && ++cards) continue;
      const auto gpu = card["gpu"].get<std::string>();
      CAPTURE(gpu);
      CHECK(verdict_of(line.substr(0, line.find(" --gpu")) + " --gpu " + gpu + count) == card["verdict"]);
      ++cards;
    }
  });
  CHECK(cards > 30);
}

TEST_CASE("trainers of a size alone need what they answer") {
  std::size_t trainers = 0;
  each_run([&](const std::string& line, const std::string&, const json& answer) {
    for (const json& trainer : answer["trainers"]) {
      std::string words = line + " --framework " + trainer["framework"].get<std::string>();
      for (const auto& [option, term] : {std::pair(" --seq ", "seq"), {" --micro-batch ", "micro_batch"}}) {
        const auto value = answer["question"][term]["value"].get<std::string>();
        if (line.find(option) == std::string::npos) words += option + value;  // as the textbook takes them
      }
      const json asked = answered(words);
      CAPTURE(trainer.dump());
      CHECK(asked["needed_bytes"] == trainer["needed_bytes"]);
      ++trainers;
    }
  });
  CHECK(trainers > 10);
}

TEST_CASE("cells of a server's table fit as the server does that is asked for them") {
  std::size_t cells = 0;
  for (const std::string server :
       {"llama-3-8b --gpu l40s --engine vllm", "llama-3-8b --gpu rtx-4090 --engine llama.cpp --quant q4_k_m",
        "qwen3-30b-a3b --gpu h100-sxm --engine sglang", "deepseek-v2-lite --gpu a100-40 --engine trtllm"}) {
    const json table = answered("serve " + server + " --table context,concurrency")["table"];
    for (std::size_t i = 0; i < table.size(); i += 3) {
      const json& cell = table[i];
      CAPTURE(server, cell.dump());
      const json asked = answered("serve " + server + " --context " + std::to_string(cell["context"].get<int>()) +
                                  " --concurrency " + std::to_string(cell["concurrency"].get<int>()));
      CHECK((asked["verdict"] == "fits" && asked["load"]["queued"] == 0) == cell["fits"].get<bool>());
      CHECK((cell["cache_share"].get<double>() <= 1) == cell["fits"].get<bool>());
      ++cells;
    }
  }
  CHECK(cells > 30);
}

TEST_CASE("cards that are named where a server has none answer as they are said to") {
  std::size_t cards = 0;
  for (const std::string server : {"llama-3-8b", "llama-3-70b --quant awq", "qwen3-30b-a3b --context 8k", "gpt2"}) {
    const json answer = answered("serve " + server);
    for (const json& card : answer["cards"]) {
      CAPTURE(server, card.dump());
      const json asked = answered("serve " + server + " --gpu " + card["gpu"].get<std::string>());
      CHECK(asked["verdict"] == card["verdict"]);
      ++cards;
    }
  }
  CHECK(cards > 20);
}

TEST_CASE("no load that is asked by itself is answered faster than by the layout that is found to be the best") {
  for (const auto& [server, figure] : {std::pair("bge-m3 --gpu l40s:2 --engine vllm", "prompt_tokens_per_s"),
                                       {"llama-3.2-1b --gpu l40s:2 --engine sglang --context 2k", "tokens_per_s"}}) {
    const std::string line = std::string("serve ") + server;
    const json best = answered(line + " --find layout")["plans"]["best"];
    REQUIRE(best.size() > 1);
    for (const char* load :
         {" --concurrency 1", " --concurrency 16", " --concurrency 64", " --tp 2 --concurrency 32"}) {
      CAPTURE(line, load);
      CHECK(answered(line + load)["speed"][figure] <= 1.001 * best[0]["speed"][figure].get<double>());
    }
    CHECK(best[0]["speed"][figure] >= best[1]["speed"][figure]);
  }
}

}  // namespace llmcalc::answers_of_others
