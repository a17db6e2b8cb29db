// The answers of `fit`, `serve` and `plan` are one screen whatever is asked, warnings beside it included.
#include "catch.hpp"
#include "cli/run.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"
#include "render/inner/page.hpp"

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<std::string>;

constexpr std::size_t most_lines = 22;
constexpr std::size_t most_columns = 80;

/// What a terminal shows of the answer and of the warnings.
std::vector<std::string> screen_of(const cli::Outcome& outcome) {
  auto lines = render::lines_of(outcome.answer);
  for (const auto& warning : outcome.warnings) {
    for (auto& line : render::lines_of(render::wrapped("llmcalc: warning: " + warning, 0, 2))) lines.push_back(line);
  }
  return lines;
}

std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) text += word + ' ';
  return text;
}

/// Words of the program's own that nobody outside knows.
constexpr std::string_view shop_words[] = {" mb ", " vpp ", "forward of", "none as it is", "counts of the sampler"};

void check_screen(const Words& words) {
  const auto outcome = cli::run(words, cli::Environment{});
  const auto lines = screen_of(outcome);
  INFO(joined(words));
  for (const auto word : shop_words) CHECK(outcome.answer.find(word) == std::string::npos);
  CHECK(lines.size() <= most_lines);
  for (const auto& line : lines) {
    INFO(line);
    CHECK(render::display_width(line) <= most_columns);
  }
}

/// One of several; "" stands for an option that is not said.
const std::string& any_of(const Words& values, std::mt19937& random) { return values[random() % values.size()]; }

struct Choice {
  std::string flag;
  Words values;
};

const std::vector<Choice> choices{
    {"--gpu", {"", "rtx-4090", "h100-sxm:8", "a100-80:64", "b200:512", "mi300x:8", "h100-sxm:16384", "l40s"}},
    {"--framework", {"", "hf", "megatron", "deepspeed", "torchtitan", "litgpt", "axolotl"}},
    {"--method", {"", "", "full", "lora", "qlora", "forward-only"}},
    {"--dtype", {"", "bf16", "mixed-bf16", "fp32"}},
    {"--seq", {"", "512", "8k", "128k"}},
    {"--micro-batch", {"", "1", "16"}},
    {"--zero", {"", "", "1", "3"}},
    {"--tp", {"", "", "8"}},
    {"--pp", {"", "", "4"}},
    {"--recompute", {"", "selective", "full"}},
    {"--offload", {"", "", "optimizer", "params+optimizer"}},
    {"--activations", {"", "", "", "none", "rule-of-thumb"}},
    {"--tokens", {"", "1B", "15T"}},
    {"--price", {"", "2"}},
    {"--mtbf", {"", "", "50000", "10"}},
};

Words random_question(const std::vector<read::ModelPreset>& models, std::mt19937& random) {
  Words words{"fit"};
  if (random() % 4 == 0) {
    words.insert(words.end(), {"--params", any_of({"1e9", "7B", "350M", "1.8T"}, random)});
  } else {
    words.insert(words.end(), {"--model", models[random() % models.size()].id});
  }
  for (const auto& [flag, values] : choices) {
    const auto& value = any_of(values, random);
    if (!value.empty()) words.insert(words.end(), {flag, value});
  }
  return words;
}

}  // namespace

TEST_CASE("every model preset is answered on one screen, whether it fits or not", "[long]") {
  for (const auto& model : read::Catalogue().models()) {
    check_screen({"fit", "--model", model.id, "--gpu", "rtx-4090"});
    check_screen({"fit", "--model", model.id, "--gpu", "h100-sxm:8", "--zero", "3"});
  }
}

TEST_CASE("a server is answered on one screen where its limits, its load and its command are long") {
  for (const Words& words :
       {Words{"--model", "mamba-1.4b", "--gpu", "b300-sxm:8", "--batched-tokens", "128", "--rate", "0.5",
              "--max-memory", "8GiB"},
        {"--model", "llama-13b", "--gpu", "tpu-v4", "--pp", "1", "--tpot-p95", "30ms", "--price", "1e6"},
        {"--model", "clip-vit-large-patch14", "--gpu", "rx-9070-xt", "--rate", "10", "--gpus-per-node", "4",
         "--carbon-intensity", "400", "--margin", "1GiB"}}) {
    Words asked{"serve"};
    asked.insert(asked.end(), words.begin(), words.end());
    check_screen(asked);
  }
}

TEST_CASE("a server for every model preset is answered on one screen, whether it starts or not", "[long]") {
  for (const auto& model : read::Catalogue().models()) {
    for (const Words& server : {Words{"--gpu", "rtx-4090"},
                                {"--gpu", "h100-sxm:8", "--tp", "8", "--concurrency", "64"},
                                {"--engine", "llama.cpp", "--quant", "q4_k_m", "--gpu", "rtx-4090"},
                                {}}) {
      Words words{"serve", "--model", model.id};
      words.insert(words.end(), server.begin(), server.end());
      try {
        check_screen(words);
      } catch (const quantity::BadInput&) {  // what that engine does not serve has no answer
      }
    }
  }
}

namespace {

/// Of `stride` presets one is planned in a way of its own.
void check_plan_screens(std::size_t stride) {
  const std::vector<Words> ways{{"--gpu", "h100:8"},
                                {"--gpu", "rtx-4090", "--method", "qlora", "--framework", "trl"},
                                {"--gpu", "h100,rtx-4090:2", "--method", "lora", "--framework", "axolotl"},
                                {"--gpu", "a100-80:16", "--framework", "megatron", "--seq", "256"},
                                {"--gpu", "b200:8", "--framework", "torchtitan", "--objective", "cost"}};
  const auto models = read::Catalogue().models();
  for (std::size_t n = 0; n < models.size(); n += stride) {
    Words words{"plan", "--model", models[n].id};
    const auto& way = ways[n / stride % ways.size()];
    words.insert(words.end(), way.begin(), way.end());
    try {
      check_screen(words);
    } catch (const quantity::BadInput& refused) {  // what cannot be asked has no answer
      CHECK(refused.place() != "plan");
    }
  }
}

}  // namespace

TEST_CASE("plans are answered on one screen, whether something fits or not", "[long]") {
  check_plan_screens(16);
  check_screen({"plan", "llama-3.1-8b", "--gpu", "h100,a100-80,b200,mi300x,4090", "--gpus", "8"});
  check_screen({"plan", "--largest", "params", "--gpu", "4090", "--method", "qlora"});
}

TEST_CASE("plans of all presets, and of all accelerators, are answered on one screen", "[.whole]") {
  check_plan_screens(1);
  check_screen({"plan", "llama-3.1-8b", "--gpu", "any"});
}

/// A budget of compute, money or time, a size or data, known by any law, on any machine.
TEST_CASE("laws of scaling are answered on one screen whatever is known") {
  for (const std::string law : {"", "chinchilla", "kaplan", "llama-3"}) {
    for (const Words& known :
         {Words{"--params", "7B"}, Words{"--params", "400B", "--tokens", "15T"}, Words{"--compute", "1e25"},
          Words{"--tokens", "1T"}, Words{"--cost", "50000"}, Words{"--days", "30"}, Words{"--gpu-hours", "1e6"}}) {
      for (const std::string gpu : {"", "h100:8", "rtx-pro-6000-blackwell:1024"}) {
        Words words{"scale"};
        words.insert(words.end(), known.begin(), known.end());
        if (!law.empty()) words.insert(words.end(), {"--law", law});
        if (!gpu.empty()) words.insert(words.end(), {"--gpu", gpu});
        try {
          check_screen(words);
        } catch (const quantity::BadInput&) {  // what a law says nothing of has no answer
        }
      }
    }
  }
}

TEST_CASE("every model preset is scaled, and compared over cards, on one screen", "[long]") {
  std::size_t turn = 0;
  for (const auto& model : read::Catalogue().models()) {
    const bool tunes = turn++ % 2 == 0;
    check_screen({"scale", model.id, "--gpu", "h100-sxm:64", "--tokens", "15T"});
    check_screen({"fit", "--model", model.id, "--method", tunes ? "qlora" : "full", "--gpu",
                  "rtx-pro-6000-blackwell,rtx-4070-ti-super:2,mi300x:8,a100-80-pcie-mig-3g.40gb"});
    check_screen({"serve", "--model", model.id, "--context", "512", "--gpu",
                  "rtx-pro-6000-blackwell:2,rtx-4070-ti-super:2,dgx-spark-gb10,a100-80-sxm:8"});
  }
}

/// Tables that somebody asks for may be as long as what is in them, and no line of them is too wide.
TEST_CASE("no line of any verb is wider than a screen", "[long]") {
  const auto check_widths = [](const Words& words) {
    INFO(joined(words));
    for (const auto& line : screen_of(cli::run(words, cli::Environment{}))) {
      INFO(line);
      CHECK(render::display_width(line) <= most_columns);
    }
  };
  for (const auto& model : read::Catalogue().models()) check_widths({"model", "show", model.id});
  for (const auto& gpu : read::Catalogue().accelerators()) {
    check_widths({"gpu", "show", gpu.accelerator.id});
    check_screen({"fit", "llama-3.2-1b", "--method", "lora", "--gpu", gpu.accelerator.id});
    check_screen({"serve", "llama-3.2-1b", "--gpu", gpu.accelerator.id});
  }
  for (const Words& words : {Words{"model", "list"}, Words{"gpu", "list"}, Words{"dtype"}, Words{"dtype", "fp8-e4m3"},
                             Words{"fit", "llama-3.1-8b", "--gpu", "4090", "--sweep", "seq,micro-batch"},
                             Words{"fit", "llama-3.1-8b", "--gpu", "4090", "--full"},
                             Words{"fit", "llama-3.1-8b", "--gpu", "4090", "--explain"},
                             Words{"serve", "llama-3.1-8b", "--gpu", "h100", "--explain"},
                             Words{"serve", "llama-3.1-8b", "--gpu", "h100", "--full"},
                             Words{"serve", "llama-3.1-8b", "--gpu", "h100", "--table", "context,concurrency"},
                             Words{"serve", "llama-3.1-8b", "--find", "gpus", "--rate", "20", "--gpu", "h100"},
                             Words{"plan", "llama-3.2-1b", "--gpu", "h100:4", "--full"},
                             Words{"plan", "llama-3.2-1b", "--gpu", "h100:4", "--table", "seq,micro-batch"},
                             Words{"plan", "--serve", "llama-3.1-8b", "--gpu", "h100:4"},
                             Words{"scale", "--params", "7B", "--frontier", "sizes"},
                             Words{"scale", "--compute", "1e24", "--frontier", "budgets"},
                             Words{"scale", "--params", "7B", "--hyperparameters", "--explain"}})
    check_widths(words);
}

TEST_CASE("the verdict stands first and again last, beside the prompt") {
  for (const Words& words : {Words{"fit", "--params", "1e9", "--gpu", "a100-80"},
                             {"fit", "--params", "70e9", "--gpu", "h100-sxm"},
                             {"fit", "--params", "7e9"},
                             {"fit", "--params", "1e9", "--gpu", "a100-80", "--full"},
                             {"serve", "--model", "llama-3-8b", "--gpu", "rtx-4090"},
                             {"serve", "--model", "llama-3-8b"},
                             {"serve", "--model", "llama-3-70b", "--gpu", "rtx-4090"},
                             {"plan", "--model", "llama-3.2-1b", "--gpu", "h100:4"},
                             {"plan", "--model", "llama-3.2-1b", "--gpu", "h100:4", "--full"},
                             {"plan", "--model", "llama-3-70b", "--gpu", "rtx-4090:2"}}) {
    INFO(joined(words));
    const auto lines = screen_of(cli::run(words, cli::Environment{}));
    const auto verdict = lines.front().substr(0, lines.front().find("  "));
    bool last = false;  // of its last lines, one may be the end of the other
    for (const auto& line : std::span(lines).last(3)) last = last || line.starts_with(verdict + "  ");
    CHECK(last);
  }
}

TEST_CASE("500 questions of all kinds are answered on one screen", "[long]") {
  const auto models = read::Catalogue().models();
  std::mt19937 random(12);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same questions on every machine
  int answered = 0;
  while (answered < 500) {
    const auto words = random_question(models, random);
    INFO(joined(words));
    try {
      check_screen(words);
      ++answered;
    } catch (const quantity::BadInput&) {  // what cannot be asked has no answer
    }
  }
}
