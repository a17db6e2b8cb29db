#include "catch.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "render/inner/page.hpp"
#include "render/inner/text.hpp"
#include "render/sample_report.hpp"

#include <limits>
#include <regex>
#include <sstream>

namespace llmcalc::render {
namespace {

const TextStyle plain{.full = true};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string first_line(const Report& report) { return lines_of(to_text(report, plain)).front(); }

/// The line that begins with `label`, without its indentation.
std::string line_of(const std::string& text, const std::string& label) {
  for (const auto& line : lines_of(text)) {
    const auto start = line.find_first_not_of(' ');
    if (start != std::string::npos && line.compare(start, label.size(), label) == 0) return line.substr(start);
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result.append(text);
  return result;
}

/// A report that needs, allocates and holds `bytes` for one thing.
Report report_of(std::int64_t bytes) {
  auto report = empty_report();
  auto& estimate = report.estimate;
  estimate.memory.ledger = {{memory::Holding::weights, "weights", quantity::bytes(bytes), {}, false}};
  estimate.memory.peak_needed = quantity::bytes(bytes);
  estimate.verdict.needed = quantity::bytes(bytes);
  return report;
}

}  // namespace

TEST_CASE("the text answer is verdict, ledger, phases, advice, compute, time, notes") {
  CHECK(to_text(sample_report(), plain) ==
        R"(FITS  needs 51.33 of 79.15 GiB (65 %), 27.82 free, a100-80-sxm x1
  peak in backward of layer 31 of 32
  error bar ±8 %, 47.22 to 55.44 GiB (measured runs of this class)

  memory at the peak         GiB  share
  weights (bf16)           14.96   29 %
  gradients (bf16)         14.96   29 %
  optimizer states (int8)  14.96   29 %
  activations               4.00    8 %
  logits                    1.96    4 %
  CUDA context *            0.50    1 %
  total                    51.33  100 %
  * measured constant of the runtime

  allocated         GiB
  forward         40.00
  loss            44.00
  backward        50.83  peak
  optimizer step  45.00
  between steps   44.87
  first step      36.00  before optimizer states exist

  levels at the peak    GiB
  allocated           50.83  torch.cuda.max_memory_allocated
  reserved            50.83  torch.cuda.max_memory_reserved
  nvidia-smi          51.33  reserved, NCCL's buffers and the CUDA context

  room left             one change at a time
  --micro-batch      5  sequences at once
  --seq          40960  tokens a sequence

  parameters
  total               8.03B  8,030,261,248
  active for a token  8.03B  8,030,261,248
  trainable           8.03B  8,030,261,248
  embedding and head  1.05B  1,050,673,152

  compute               per token      whole run
  6PD               4.82e+10 FLOP  7.23e+23 FLOP
  model                5e+10 FLOP   7.5e+23 FLOP
  hardware             6e+10 FLOP     9e+23 FLOP
  PFLOP-days (6PD)                         8,365

  time
  tokens             15T  --tokens 15T
  MFU             41.5 %  --mfu
  peak       312 TFLOP/s  of one accelerator
  step            350 ms
  tokens/s         2,340  on each accelerator
  goodput         97.1 %  a failure every 2 days, 10 min to restart; a
                          checkpoint of 112 GB in 45 s every 90 min
  run            34 days  33 days of steps
  GPU-hours          816
  cost            $1,234  --price
  energy         497 kWh  199 kg CO2e at 400 g/kWh, as given

  assumed
  - sequences of 8,192 tokens

  notes
  - 27.82 GiB are left on each accelerator

FITS  needs 51.33 of 79.15 GiB (65 %), 27.82 free
)");
}

TEST_CASE("the first line is the verdict") {
  auto report = sample_report();
  report.estimate.verdict.kind = trust::VerdictKind::tight;
  report.estimate.verdict.doubt = trust::Doubt::error_bar;
  CHECK(first_line(report) ==
        "TIGHT  needs 51.33 of 79.15 GiB (65 %), 27.82 free, within the error bar, a100-80-sxm x1");
  CHECK(first_line(report_that_does_not_fit()) ==
        "DOES NOT FIT  needs 51.33 of 24.00 GiB, 27.33 short, a100-80-sxm x1");
  CHECK(first_line(report_without_accelerator()) == "NO VERDICT  needs 51.33 GiB");
}

TEST_CASE("goodput is shown where it is noticed or asked about") {
  auto report = sample_report();
  auto& goodput = report.estimate.compute.goodput.value();
  goodput.share = 0.9996;
  CHECK_FALSE(contains(to_text(report, plain), "goodput"));
  CHECK_FALSE(contains(to_text(report, plain), "of steps"));
  CHECK(contains(to_text(report, {.explain = true}), "Daly 2006"));
  goodput.stated = true;
  goodput.interval = report.estimate.compute.useful;
  CHECK(contains(to_text(report, plain), "checkpoint of 112 GB in 45 s at the end"));
  goodput.share = 0.0;
  CHECK(contains(to_text(report, plain), "never  failures come faster than it restarts"));
}

TEST_CASE("a pipeline's stages are listed, a long one's ends and extremes, and the peak names its own") {
  auto report = sample_report();
  auto& memory = report.estimate.memory;
  memory.stage = 1;
  memory.stages = {{0, quantity::gib(40)}, {1, quantity::gib(50)}, {2, quantity::gib(30)}};
  const auto text = to_text(report, plain);
  CHECK(contains(text, "  peak in backward of layer 31 of 32 on pipeline stage 1 of 3\n"));
  CHECK(line_of(text, "pp=1") == "pp=1             50.00  allocated at its peak, the highest");
  for (int stage = 3; stage < 64; ++stage) memory.stages.push_back({stage, quantity::gib(35)});
  memory.stage = 2;
  const auto few = to_text(report, plain);
  for (const auto* shown : {"pp=0 ", "pp=1 ", "pp=2 ", "pp=63"}) CHECK_FALSE(line_of(few, shown).empty());
  CHECK(line_of(few, "pp=3 ").empty());
  CHECK(contains(line_of(few, "pp=2"), "this answer"));
}

TEST_CASE("of stages that peak alike the first is the highest, and that of the answer is always listed") {
  auto report = sample_report();
  auto& memory = report.estimate.memory;
  for (int stage = 0; stage < 16; ++stage) memory.stages.push_back({stage, quantity::gib(stage == 5 ? 30 : 50)});
  memory.stage = 9;
  const auto text = to_text(report, plain);
  CHECK(line_of(text, "pp=0") == "pp=0             50.00  allocated at its peak, the highest");
  CHECK(line_of(text, "pp=9") == "pp=9             50.00  this answer");
  for (const auto* shown : {"pp=5", "pp=15"}) CHECK_FALSE(line_of(text, shown).empty());
  CHECK(line_of(text, "pp=14").empty());
}

TEST_CASE("need and capacity stand in the unit of the capacity") {
  auto report = sample_report();
  auto& verdict = report.estimate.verdict;
  verdict.needed = quantity::gib(3) * quantity::mebi;
  verdict.capacity = quantity::gib(80);
  verdict.kind = trust::VerdictKind::does_not_fit;
  CHECK(contains(to_text(report, plain), "needs 3.00 PiB of 80.00 GiB, 3.00 PiB short"));
}

TEST_CASE("what rests elsewhere than on the accelerator is a line") {
  auto report = sample_report();
  CHECK_FALSE(contains(to_text(report, plain), "host memory"));
  report.estimate.memory.host_ledger = {
      {memory::Holding::offloaded, "of this rank, for what is offloaded", quantity::gib(12), {}}};
  report.estimate.memory.nvme = quantity::gib(90);
  CHECK(contains(to_text(report, plain), "host memory         12.00  of this rank"));
  CHECK(contains(to_text(report, plain), "NVMe                90.00  of this rank"));
}

TEST_CASE("no line of prose is wider than 80 columns") {
  auto report = report_that_does_not_fit();
  const std::string words = repeated("word ", 40) + "word";
  report.estimate.notes = {words};
  report.assumptions = {{words}};
  report.estimate.verdict.error_source = words;
  report.advised.changes.front().cost = words;
  report.estimate.compute.price_source = words;
  for (const auto& line : lines_of(to_text(report, {.bars = true, .timeline = true, .explain = true}))) {
    INFO(line);
    CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("text is broken at spaces, and a long word stands alone") {
  CHECK(wrapped("aa bb cc", 0, 2, 5) == "aa bb\n  cc");
  CHECK(wrapped("aa bb cc", 3, 0, 5) == "aa\nbb cc");
  CHECK(wrapped("aa bbbbbbbb cc", 0, 0, 4) == "aa\nbbbbbbbb\ncc");
  CHECK(wrapped("", 0, 0, 4).empty());
}

TEST_CASE("without an accelerator the text says why there is no time") {
  const auto text = to_text(report_without_accelerator(), plain);
  CHECK(contains(text, "no accelerator was named, so there is no time and no cost (name one with --gpu)"));
  CHECK(contains(text, "tokens  15T  --tokens 15T"));
  CHECK_FALSE(contains(text, "MFU"));
}

TEST_CASE("a cost without a price is unknown, not free") {
  auto report = sample_report();
  report.estimate.compute.cost.reset();
  CHECK(line_of(to_text(report, plain), "cost") == "cost           unknown  no price is known (give one with --price)");
}

TEST_CASE("explanations stand under their line, and only when asked for") {
  const auto text = to_text(sample_report(), {.explain = true});
  CHECK(contains(text,
                 "  weights (bf16)           14.96   29 %\n"
                 "      parameters x bytes of bf16\n"
                 "      = 8,030,261,248 x 2 B\n"
                 "      source: IEEE 754\n"
                 "  gradients (bf16)         14.96   29 %\n"
                 "      parameters x bytes of bf16\n"
                 "  optimizer states (int8)"));
  CHECK(contains(text, "      source: Kaplan et al. 2020, section 2.1\n"));
  CHECK_FALSE(contains(to_text(sample_report(), plain), "source:"));
}

TEST_CASE("where the peak is, is explained with the other lines") {
  const auto text = to_text(sample_report(), {.explain = true});
  CHECK(contains(text, "  backward        50.83  peak\n      states + activations\n      = 44.87 GiB + 5.96 GiB\n"));
}

TEST_CASE("what would make a run fit stands in the order of cost, with the words to type") {
  const auto text = to_text(report_that_does_not_fit(), plain);
  CHECK(contains(text,
                 "  what would make it fit (GiB)\n"
                 "  20.00  --recompute full\n"
                 "         layers computed again\n"
                 "         costs time: a third more compute\n"
                 "  12.00  --optimizer adamw-8bit --seq 4096\n"
                 "         two changes\n"
                 "         costs numerics\n"));
  CHECK_FALSE(contains(text, "room left"));
  auto hopeless = report_that_does_not_fit();
  hopeless.advised.changes.clear();
  CHECK(contains(to_text(hopeless, plain), "no change, and no four of them together, that llmcalc knows"));
}

TEST_CASE("the timeline has a bar a block, 28 columns for the peak, which is marked") {
  const auto text = to_text(sample_report(), {.timeline = true});
  // 44 of 50.83 GiB are 24.24 of 28 columns: 24 and two eighths.
  CHECK(line_of(text, "loss            head") == "loss            head         44.00  " + repeated("█", 24) + "▎");
  CHECK(line_of(text, "backward        head") == "backward        head         50.83  " + repeated("█", 28) + "  peak");
  CHECK(contains(text, "                  layer 2      40.00  "));
  CHECK_FALSE(contains(to_text(sample_report(), plain), "timeline"));
}

TEST_CASE("a long timeline is drawn in at most 40 rows, neighbouring layers as one") {
  auto report = sample_report();
  auto& points = report.estimate.memory.timeline;
  points.clear();
  for (int layer = 1; layer <= 100; ++layer) {
    points.push_back({memory::Phase::forward, "layer " + std::to_string(layer), quantity::gib(layer)});
  }
  for (int layer = 100; layer >= 1; --layer) {
    points.push_back({memory::Phase::backward, "layer " + std::to_string(layer), quantity::gib(layer)});
  }
  const auto text = to_text(report, {.timeline = true});
  // 200 points in groups of 5: 20 rows a phase.
  CHECK(contains(text, "forward   layer 1 to 5       5.00  "));
  CHECK(contains(text, "backward  layer 100 to 96  100.00  "));
  CHECK(contains(text, "layer 96 to 100  100.00  " + repeated("█", 28) + "  peak"));
}

TEST_CASE("bars are drawn when asked for, 20 columns for the whole") {
  CHECK_FALSE(contains(to_text(sample_report(), plain), "█"));
  // 16,060,522,496 of 55,114,752,000 bytes of 20 columns are 5.83 columns; 4 GiB are 1.56, 12 eighths.
  const auto text = to_text(sample_report(), {.bars = true, .full = true});
  CHECK(line_of(text, "weights") == "weights (bf16)           14.96   29 %  █████▉");
  CHECK(line_of(text, "activations") == "activations               4.00    8 %  █▌");
  CHECK(line_of(text, "total") == "total                    51.33  100 %");
}

TEST_CASE("colour changes nothing but colour") {
  const std::regex colour_code("\x1b\\[[0-9;]*m");
  for (const auto& report : {sample_report(), report_that_does_not_fit(), report_without_accelerator()}) {
    const auto coloured = to_text(report, {.colour = true, .bars = true, .timeline = true, .explain = true});
    const auto uncoloured = to_text(report, {.bars = true, .timeline = true, .explain = true});
    CHECK(contains(coloured, "\x1b["));
    CHECK_FALSE(contains(uncoloured, "\x1b"));
    CHECK(std::regex_replace(coloured, colour_code, "") == uncoloured);
  }
}

TEST_CASE("the verdict is green, yellow or red") {
  const TextStyle colour{.colour = true};
  auto report = sample_report();
  CHECK(to_text(report, colour).rfind("\x1b[1;32mFITS\x1b[0m", 0) == 0);
  report.estimate.verdict.kind = trust::VerdictKind::tight;
  CHECK(to_text(report, colour).rfind("\x1b[1;33mTIGHT\x1b[0m", 0) == 0);
  CHECK(to_text(report_that_does_not_fit(), colour).rfind("\x1b[1;31mDOES NOT FIT\x1b[0m", 0) == 0);
}

TEST_CASE("no line ends in a space") {
  for (const auto& report :
       {sample_report(), report_that_does_not_fit(), report_without_accelerator(), empty_report()}) {
    for (const auto& line : lines_of(to_text(report, {.bars = true, .timeline = true, .explain = true}))) {
      CHECK((line.empty() || line.back() != ' '));
    }
  }
}

TEST_CASE("all memory figures of an answer have one binary unit") {
  const auto exabytes = to_text(report_of(std::numeric_limits<std::int64_t>::max()), plain);
  CHECK(line_of(exabytes, "weights") == "weights             8.00  100 %");
  CHECK(line_of(exabytes, "memory at the peak") == "memory at the peak   EiB  share");
  const auto nothing = to_text(report_of(0), plain);
  CHECK(line_of(nothing, "weights") == "weights             0.00    0 %");
  CHECK(line_of(nothing, "memory at the peak") == "memory at the peak   MiB  share");
}

TEST_CASE("units are binary: 80 GB are 74.51 GiB") {
  CHECK(first_line(report_of(80'000'000'000)) == "NO VERDICT  needs 74.51 GiB");
}

TEST_CASE("the unit of memory is the largest that is not larger than the figure") {
  using quantity::bytes;
  CHECK(memory_unit_for(bytes(0)).name == "MiB");
  CHECK(memory_unit_for(bytes(quantity::gibi - 1)).name == "MiB");
  CHECK(memory_unit_for(bytes(quantity::gibi)).name == "GiB");
  CHECK(memory_unit_for(quantity::gib(1024)).name == "TiB");
  CHECK(in_unit(quantity::gib(1536), memory_unit_for(quantity::gib(1536))) == "1.50");
}

TEST_CASE("figures are read, not decoded") {
  CHECK(figure_text(0) == "0");
  CHECK(figure_text(0.0123) == "0.0123");
  CHECK(figure_text(20.44) == "20.4");
  CHECK(figure_text(7'720'000) == "7,720,000");
  CHECK(figure_text(3.5e16) == "3.5e+16");
}

TEST_CASE("a share that rounds to nothing is not called nothing") {
  CHECK(share_text(0) == "0 %");
  CHECK(share_text(0.0001) == "<1 %");
  CHECK(share_text(0.005) == "<1 %");
  CHECK(share_text(0.006) == "1 %");
  CHECK(share_text(0.29) == "29 %");
  CHECK(share_text(1) == "100 %");
  CHECK(spread_text({0.18, 0.181}) == "±18 %");
  CHECK(spread_text({0.18, 1.2}) == "-18 to +120 %");
}

}  // namespace llmcalc::render
