// A command that the program prints for a framework, read back with --from, asks for the same run.

#include "../answer/asking.hpp"
#include "catch.hpp"
#include "dialects/launch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// \param further  options beside the file: what its framework does not say
spec::Question read_back(const std::string& line, std::string_view framework, std::vector<read::Given> further) {
  const auto all = dialects::launches(test::question(line));
  std::string command = std::ranges::find(all, framework, &dialects::Launch::framework)->command;
  constexpr std::string_view data = "$DATA";  // a data set that is named, as nothing is executed to know it
  if (const auto at = command.find(data); at != std::string::npos) command.replace(at, data.size(), "data");
  CAPTURE(command);
  // The files that a command needs it writes itself.
  const dialects::FindFile nothing = [](const std::string&) { return std::optional<dialects::NamedFile>(); };
  const auto reading = dialects::read_launch_command(command, "command", nothing);
  CHECK(reading.unread.empty());
  return read::resolve(with_options(reading, further), std::nullopt, read::Catalogue()).question;
}

read::Given option(std::string term, std::string text) {
  return {term, std::move(text), {read::Source::flag, "--" + term}};
}

void check_same_layout(const spec::Layout& a, const spec::Layout& b) {
  CHECK(a.gpus == b.gpus);
  CHECK(a.nodes == b.nodes);
  CHECK(a.dp == b.dp);
  CHECK(a.tp == b.tp);
  CHECK(a.sp == b.sp);
  CHECK(a.pp == b.pp);
  CHECK(a.cp == b.cp);
  CHECK(a.ep == b.ep);
  CHECK(a.etp == b.etp);
}

void check_same_batch(const spec::Training& a, const spec::Training& b) {
  CHECK(a.seq == b.seq);
  CHECK(a.micro_batch == b.micro_batch);
  CHECK(a.global_batch == b.global_batch);
}

}  // namespace

TEST_CASE("Megatron-LM's command read back is the same run of the same model") {
  for (const std::string line : {
           "--model llama-3-8b --framework megatron --gpu h100-sxm:8 --sharding zero1 --seq 4096 --dtype bf16",
           "--model llama-3-70b --framework megatron --gpu h100-sxm:64 --tp 8 --sp 1 --pp 4 --grad-accum 8 "
           "--sharding zero1 --seq 8192 --dtype bf16 --recompute full",
           "--model mixtral-8x7b --framework megatron --gpu h100-sxm:8 --tp 4 --etp 1 --ep 1 --sharding zero1 --seq "
           "4096 "
           "--dtype bf16",
           "--model mixtral-8x7b --framework megatron --gpu h100-sxm:8 --tp 2 --etp 2 --ep 4 --sharding zero1 --seq "
           "4096 "
           "--dtype bf16",
           "--model gpt3-175b --framework megatron --gpu a100-80:64 --tp 8 --sp 1 --pp 8 --vpp 3 --grad-accum 64 "
           "--recompute selective --sharding zero1 --seq 2048 --dtype bf16",
       }) {
    CAPTURE(line);
    const auto asked = test::question(line);
    const auto vocabulary = std::to_string(asked.model.shape.vocab);  // the arguments name a tokenizer instead
    const auto read = read_back(line, "Megatron-LM", {option("gpu", asked.gpu->id), option("vocab", vocabulary)});
    check_same_layout(read.layout, asked.layout);
    CHECK(read.layout.vpp == asked.layout.vpp);
    CHECK(read.layout.sharding == asked.layout.sharding);
    check_same_batch(read.training, asked.training);
    CHECK(read.training.recompute.policy == asked.training.recompute.policy);
    CHECK(read.model.shape.layers == asked.model.shape.layers);
    CHECK(read.model.shape.hidden == asked.model.shape.hidden);
    CHECK(read.model.shape.kv_heads == asked.model.shape.kv_heads);
    CHECK(read.model.shape.ffn == asked.model.shape.ffn);
    CHECK(read.model.shape.mlp == asked.model.shape.mlp);
    CHECK(read.model.shape.tied == asked.model.shape.tied);
    CHECK(read.training.precision.weights == asked.training.precision.weights);
  }
}
