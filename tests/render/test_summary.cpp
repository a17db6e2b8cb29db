// The answer on one screen.
#include "catch.hpp"
#include "render/inner/page.hpp"
#include "render/inner/text.hpp"
#include "render/sample_report.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace llmcalc::render {
namespace {

const TextStyle short_style{};

/// A report with the words of the question that the screen tells of.
Report asked_report() {
  auto report = sample_report();
  for (const auto& said : {std::pair("model", "llama-3-8b"), std::pair("method", "qlora"), std::pair("lora_rank", "16"),
                           std::pair("seq", "8192"), std::pair("micro_batch", "2"), std::pair("global_batch", "64"),
                           std::pair("framework", "hf")}) {
    std::erase_if(report.question, [&](const spec::Word& line) { return line.term == said.first; });
    report.question.push_back({said.first, said.second, {spec::Source::flag, std::string("--") + said.first}});
  }
  return report;
}

bool has_text(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the screen is verdict, largest parts, time, room, what was assumed and where more is") {
  CHECK(to_text(asked_report(), short_style) ==
        R"(FITS  llama-3-8b, qlora rank 16, seq 8192, micro-batch 2, global batch 64,
  a100-80-sxm
  as hf runs it
  needs 51.33 of 79.15 GiB (65 %), 27.82 free; error bar 47.22 to 55.44 GiB

  largest at the peak        GiB  share
  weights (bf16)           14.96   29 %
  gradients (bf16)         14.96   29 %
  optimizer states (int8)  14.96   29 %
  activations               4.00    8 %
  2 smaller ones            2.46    5 %
  peak in backward of layer 31 of 32

  step      350 ms, 2,340 tokens/s a GPU, MFU 41.5 %
  run       34 days for 15T tokens, 816 GPU-hours, $1,234

  room      up to --micro-batch 5, or --seq 40960

  assumed   sequences of 8,192 tokens

  more      --full tables, --explain formulas, --timeline, --format json
FITS  needs 51.33 of 79.15 GiB (65 %), 27.82 free
)");
}

TEST_CASE("a text that the screen cuts off says that it goes on, and a command is whole or not there") {
  const auto on_screen = [](std::size_t lines) {
    Paragraph table{{"table"}};
    Paragraph text{{"a text", "that goes on"}};
    text.prose = true;
    Paragraph command{{"serve \\", "  --more"}};
    command.ends = {0, 2};
    std::array blocks{table, text, command};
    return on_a_screen(blocks, lines);
  };
  CHECK(on_screen(5) == "table\na text\nthat goes on\nserve \\\n  --more\n");
  CHECK(on_screen(4) == "table\n\na text\nthat goes on\n");
  CHECK(on_screen(2) == "table\na text ...\n");
  CHECK(on_screen(1) == "table\n");
}

TEST_CASE("an option with a list is an option, and words behind it are words") {
  auto report = asked_report();
  report.assumptions = {
      {{}, "lora_targets", "q,v"}, {{}, "lora_dropout", "0.05"}, {"adapters in fp32", "dtype", "bf16"}};
  CHECK(has_text(to_text(report, short_style), "--lora-targets q,v --lora-dropout 0.05; --dtype bf16"));
}

TEST_CASE("memory is told in the unit that was asked for, 10^9 bytes to a GB") {
  TextStyle decimal;
  decimal.unit = "GB";
  CHECK(has_text(to_text(asked_report(), decimal), "needs 55.11 of 84.99 GB"));
}

TEST_CASE("what does not fit says by how much, and what would fit") {
  const auto text = to_text(report_that_does_not_fit(), short_style);
  CHECK(text.rfind("DOES NOT FIT", 0) == 0);
  CHECK(has_text(text, "needs 51.33 of 24.00 GiB, 27.33 short"));
  CHECK(has_text(text, "to make it fit"));
  for (const auto& advice : report_that_does_not_fit().advised.changes) CHECK(has_text(text, options_of(advice)));
}

TEST_CASE("changes are there whole or not at all") {
  auto report = report_that_does_not_fit();
  const auto change = report.advised.changes.front();
  for (int i = 0; i < 30; ++i) report.advised.changes.front().terms.push_back({"optimizer_impl", "fused"});
  report.advised.changes.push_back(change);
  for (std::size_t warnings = 0; warnings < 10; ++warnings) {
    report.estimate.warnings.assign(warnings, "look at this");
    const auto text = to_text(report, short_style);
    const auto said = [&](const search::Advice& advice) {
      std::string plain;
      for (const auto& line : lines_of(text))
        plain += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + " ";
      return has_text(plain, options_of(advice) + " ");
    };
    CHECK(said(report.advised.changes.front()));
    CHECK(has_text(text, "optimizer-impl") == said(report.advised.changes.front()));
  }
}

TEST_CASE("on a terminal the need is drawn as a part of the memory") {
  const auto drawn = [](std::int64_t needed) {
    return gauge(quantity::gib(needed), quantity::gib(80), {.bars = true}).front();
  };
  const auto columns = [](const std::string& line, const std::string& block) {
    std::size_t count = 0;
    for (auto at = line.find(block); at != std::string::npos; at = line.find(block, at + 1)) ++count;
    return count;
  };
  CHECK(columns(drawn(40), "█") == 32);
  CHECK(columns(drawn(40), "░") == 32);
  CHECK(columns(drawn(160), "█") == 32);
  CHECK(columns(drawn(160), "▒") == 32);
  CHECK(has_text(drawn(160), "  2 x"));
  CHECK(display_width(drawn(100'000)) <= page_columns);
  CHECK(gauge(quantity::gib(1), quantity::gib(80), {}).empty());
}

TEST_CASE("without an accelerator the screen says how to get a verdict and a time") {
  const auto text = to_text(report_without_accelerator(), short_style);
  CHECK(text.rfind("NO VERDICT", 0) == 0);
  CHECK(has_text(text, "needs 51.33 GiB; name an accelerator with --gpu for a verdict"));
  CHECK(has_text(text, "time      needs an accelerator"));
}

TEST_CASE("a full screen loses gaps and the last assumptions before anything else") {
  auto report = asked_report();
  report.assumptions.assign(40, {"that something which takes most of a line is as it usually is"});
  report.estimate.warnings.assign(5, "look at this");
  const auto text = to_text(report, short_style);
  const auto lines = lines_of(text);
  CHECK(lines.size() == 22 - 5);
  CHECK(has_text(text, "  room      "));
  CHECK(lines.back() == "FITS  needs 51.33 of 79.15 GiB (65 %), 27.82 free");
}

TEST_CASE("colour changes nothing but colour on the screen") {
  for (const auto& report : {asked_report(), report_that_does_not_fit()}) {
    auto coloured = lines_of(to_text(report, {.colour = true}));
    const auto uncoloured = lines_of(to_text(report, short_style));
    REQUIRE(coloured.size() == uncoloured.size());
    for (std::size_t i = 0; i < coloured.size(); ++i) {
      CHECK(display_width(coloured[i]) == display_width(uncoloured[i]));
    }
  }
}

}  // namespace llmcalc::render
