// From words to the effective question: sources of the model, completion and contradictions.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "read/resolve.hpp"
#include "read/typed.hpp"
#include "read/words/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

using namespace llmcalc;
using namespace llmcalc::test;
using quantity::BadInput;
using read::Given;
using read::Resolved;
using read::Source;

TEST_CASE("the main job resolves as typed") {
  const auto resolved = ask("--params 1e9 --dtype bf16 --gpu a100-80");
  CHECK(resolved.question.stated_parameters == quantity::parameters(1'000'000'000));
  REQUIRE(resolved.question.gpu);
  CHECK(resolved.question.gpu->id == "a100-80-sxm");
  CHECK(resolved.question.training.seq == 2048);
  CHECK(echoed(resolved, "gpu").origin.where == "--gpu");
  CHECK(echoed(resolved, "seq").origin.source == Source::assumed);
  CHECK(echoed(resolved, "hidden").origin.source == Source::assumed);
  CHECK(resolved.assumptions.size() == 5);  // shape, framework, seq, micro-batch, tokens
}

TEST_CASE("overrides of a preset carry what follows from them") {
  const auto shape = ask("--model llama-3-70b --layers 12").question.model.shape;
  CHECK(shape.layers == 12);
  CHECK(shape.kv_heads == 8);
  const auto narrow = ask("--model llama-2-7b --heads 16").question.model.shape;
  CHECK(narrow.head_dim == 256);
  CHECK(narrow.kv_heads == 16);
  const auto resolved = ask("--model llama-3-8b --vocab 128k");
  CHECK(echoed(resolved, "vocab").origin.source == Source::flag);
  CHECK(echoed(resolved, "layers").origin.source == Source::preset);
  CHECK(echoed(resolved, "layers").origin.where == "llama-3-8b");
}

TEST_CASE("a preset is written as its family is") {
  CHECK(ask("--model gemma-2-9b").question.model.shape.writing.caps_scores);
  CHECK(ask("--model phi-2").question.model.shape.writing.chained_gelu);
  CHECK(ask("--model llama-3-8b").question.model.shape.writing == spec::Writing{});
}

TEST_CASE("a raw shape is completed") {
  const auto resolved = ask("--layers 12 --hidden 768 --heads 12 --vocab 50257 --mlp gelu --position learned --seq 1k");
  const auto& shape = resolved.question.model.shape;
  CHECK(shape.ffn == 4 * 768);
  CHECK(shape.kv_heads == 12);
  CHECK(shape.head_dim == 64);
  CHECK(shape.max_position == 1024);
  CHECK(shape.position_rows == 1024);
}

TEST_CASE("machines are completed from any two of gpus, nodes and gpus_per_node") {
  const auto nodes = [](std::string_view line) {
    return ask("--params 7B " + std::string(line)).question.layout.nodes;
  };
  CHECK(nodes("--gpu h100-sxm:16") == 2);
  CHECK(nodes("--gpu h100-sxm:16 --gpus-per-node 4") == 4);
  CHECK(nodes("--gpu h100-sxm:16 --gpus-per-node 4 --nodes 4") == 4);
  CHECK(nodes("--gpu gb200:16") == 4);
  const auto counted = ask("--params 7B --gpu h100-sxm --nodes 4 --gpus-per-node 8 --tp 2");
  CHECK(counted.question.layout.gpus == 32);
  CHECK(counted.question.layout.dp == 16);
  CHECK(echoed(counted, "gpus_per_node").text == "8");
  CHECK(echoed(counted, "gpus_per_node").origin.where == "--gpus-per-node");
  CHECK(echoed(ask("--params 7B --gpus 6 --nodes 2"), "gpus_per_node").text == "3");
}

TEST_CASE("the network of a node is read with its unit") {
  const auto gigabits = [](std::string_view text) { return read::parse_network_rate(text, "--inter-node"); };
  CHECK(gigabits("400Gbps") == 400.0);
  CHECK(gigabits("8x400Gbps") == 3200.0);
  CHECK(gigabits("8 x 200 Gb/s") == 1600.0);
  CHECK(gigabits("50GB/s") == 400.0);
  CHECK(gigabits("3.2 Tbit/s") == 3200.0);
  CHECK(gigabits("100gbps") == 100.0);
  CHECK(ask("--params 7B --inter-node 4x200Gbps").question.layout.inter_node_gbps == 800.0);
  for (const std::string_view text : {"", "400", "400gb/s", "x400Gbps", "8x", "8x8x1Gbps", "0Gbps", "-1Gbps",
                                      "1.5x400Gbps", "400 mph", "1.2.3Gbps", "99999999999999999999Gbps", "Gbps"}) {
    INFO(text);
    CHECK_THROWS_AS(gigabits(text), BadInput);
  }
}

TEST_CASE("the layout is completed from the number of accelerators") {
  const auto layout = ask("--params 7B --gpu h100-sxm:64 --tp 4 --pp 2 --zero 1").question.layout;
  CHECK(layout.gpus == 64);
  CHECK(layout.dp == 8);
  CHECK(layout.nodes == 8);
  CHECK(layout.sharding == spec::Sharding::zero1);
  CHECK(ask("--params 7B --dp 2 --tp 4").question.layout.gpus == 8);
  CHECK(ask("--params 7B --gpu 8x h100-sxm").question.layout.dp == 8);
  CHECK(ask("--params 7B --gpu h100x8").question.layout.dp == 8);
  CHECK(ask("--params 7B --gpu h100 --gpus-per-node 8").question.layout.gpus == 8);
  CHECK(ask("--params 7B --gpu h100 --gpus-per-node 8 --tp 2").question.layout.dp == 4);
  CHECK(ask("--params 7B --gpu h100-sxm:8").question.layout.sharding == spec::Sharding::ddp);
}

TEST_CASE("cards are counted as people write it") {
  struct Counted {
    std::string_view typed;
    std::string_view gpu;
    std::int64_t gpus = 1;
    std::int64_t nodes = 1;
  };
  // Numbers of accelerators: the clouds' own lists, as beside the table.
  for (const Counted& each : {Counted{"8x NVIDIA H100 80GB HBM3", "h100-sxm", 8},
                              {"4090 x2", "rtx-4090", 2},
                              {"4090x2", "rtx-4090", 2},
                              {"2x4090", "rtx-4090", 2},
                              {"2x titan rtx", "titan-rtx", 2},
                              {"8h100", "h100-sxm", 8},
                              {"7900xt", "rx-7900-xt"},
                              {"7900xtx x2", "rx-7900-xtx", 2},
                              {"9060xt8", "rx-9060-xt-8"},
                              {"2x9060xt-16", "rx-9060-xt-16", 2},
                              {"8xt4", "t4", 8},
                              {"rx 7600", "rx-7600"},
                              {"3090ti", "rtx-3090-ti"},
                              {"p5.48xlarge", "h100-sxm", 8},
                              {"2x p5.48xlarge", "h100-sxm", 16, 2},
                              {"P4de.24xlarge:2", "a100-80-sxm", 16, 2},
                              {"g5.xlarge", "a10g"},
                              {"g6e.12xlarge", "l40s", 4},
                              {"a3-highgpu-2g", "h100-sxm", 2},
                              {"g2-standard-48", "l4", 4},
                              {"Standard_ND96isr_H100_v5", "h100-sxm", 8},
                              {"Standard_NC48ads_A100_v4", "a100-80-pcie", 2},
                              {"BM.GPU.MI300X.8", "mi300x", 8},
                              {"gpu_8x_h100_sxm5", "h100-sxm", 8},
                              {"trn1.32xlarge", "trainium1", 16},
                              {"v5e-8", "tpu-v5e", 8},
                              {"v5p-8", "tpu-v5p", 4},
                              {"v6e", "tpu-v6e"}}) {
    INFO(each.typed);
    const auto question =
        resolve({{"params", "1B", {}}, {"gpu", std::string(each.typed), {}}}, std::nullopt, read::Catalogue()).question;
    CHECK(question.gpu->id == each.gpu);
    CHECK(question.layout.gpus == each.gpus);
    CHECK(question.layout.nodes == each.nodes);
  }
  CHECK(ask("--params 1B --gpu p5.48xlarge --gpus 16").question.layout.nodes == 2);
  CHECK_THROWS_AS(ask("--params 1B --gpu p5.48xlarge --gpus 4"), BadInput);
  CHECK(ask("--params 1B --gpu p5.48xlarge --nodes 4").question.layout.gpus == 32);
}

/// NVIDIA Multi-Instance GPU User Guide, "Supported MIG Profiles": memory and share of the multiprocessors.
TEST_CASE("a slice of an accelerator has its part of memory, bandwidth and multiprocessors") {
  const auto whole = ask("--params 1B --gpu a100-40").question.gpu.value();
  const auto slice = ask("--params 1B --gpu a100-40-mig-3g.20gb").question.gpu.value();
  CHECK(quantity::in_gib(slice.memory_usable) == Approx(19.62).epsilon(0.01));
  CHECK(quantity::in_gib(ask("--params 1B --gpu a100-40-mig-1g.5gb").question.gpu->memory_usable) ==
        Approx(4.75).epsilon(0.01));
  CHECK(slice.peaks.bf16.value() / whole.peaks.bf16.value() == Approx(3.0 / 7.0));
  CHECK(slice.memory_bandwidth / whole.memory_bandwidth == Approx(0.5));
  CHECK_FALSE(slice.link);
  CHECK(ask("--params 1B --gpu " + slice.id).question.gpu->memory_usable == slice.memory_usable);
  CHECK_THROWS_AS(ask("--params 1B --gpu a100-40-mig-3g.40gb:x"), BadInput);
  CHECK_THROWS_AS(ask("--params 1B --gpu h100-sxm-mig-3g.47gb"), BadInput);
  CHECK_THROWS_AS(ask("--params 1B --gpu h100-sxm-mig-8g.80gb"), BadInput);
  CHECK_THROWS_AS(ask("--params 1B --gpu rtx-4090-mig-1g.3gb"), BadInput);
  CHECK(ask("--params 1B --gpu a30-mig-1g.6gb").question.gpu->peaks.bf16.value() /
            ask("--params 1B --gpu a30").question.gpu->peaks.bf16.value() ==
        Approx(1.0 / 4.0));
}

/// The same, the profiles of each; those of B200 and B300 by aws/sagemaker-hyperpod-cli, training/constants.py.
TEST_CASE("every profile of MIG is a slice of its accelerator, whatever is written behind it") {
  const std::pair<const char*, const char*> profiles[] = {
      {"a30", "1g.6gb 1g.6gb+me 2g.12gb 2g.12gb+me 4g.24gb"},
      {"a100-40-sxm", "1g.5gb 1g.5gb+me 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb"},
      {"a100-80-sxm", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
      {"h100-sxm", "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb"},
      {"h100-nvl", "1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb"},
      {"gh200-96", "1g.12gb 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb"},
      {"h200-sxm", "1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb"},
      {"b200-sxm", "1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"},
      {"b300-sxm", "1g.34gb 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb"},
      {"rtx-pro-6000-blackwell", "1g.24gb 1g.24gb+gfx 1g.24gb+me 2g.48gb 4g.96gb"},
  };
  for (const auto& [whole, names] : profiles) {
    for (const auto profile : quantity::pieces_of(names, " ")) {
      CAPTURE(whole, profile);
      const auto gpu = read::Catalogue().accelerator(fmt::format("{}-mig-{}", whole, profile), "--gpu").accelerator;
      CHECK(gpu.id == fmt::format("{}-mig-{}", whole, profile.substr(0, profile.find('+'))));
      try {
        ask(fmt::format("--params 1B --gpu {}", profile));  // alone it is told of what it may be a slice
        CHECK(false);
      } catch (const BadInput& error) {
        CHECK_THAT(error.hint(), Catch::Matchers::Contains(whole));
      }
    }
  }
}

TEST_CASE("the batch is completed in every direction") {
  const auto batch = [](std::string_view line) {
    return ask("--params 7B --dp 4 " + std::string(line)).question.training;
  };
  CHECK(batch("--micro-batch 2 --grad-accum 8").global_batch == 64);
  CHECK(batch("--global-batch 64").grad_accum == 16);
  CHECK(batch("--global-batch 64 --micro-batch 2").grad_accum == 8);
  CHECK(batch("--global-batch 64 --grad-accum 2").micro_batch == 8);
  CHECK(batch("--global-batch 64 --grad-accum 2 --micro-batch 8").global_batch == 64);
}

TEST_CASE("a measured row states its parameters for information") {
  const auto given = words("--model llama-3-8b --params 8030261248", Source::row);
  CHECK_FALSE(resolve(given, std::nullopt, read::Catalogue()).question.stated_parameters);
}

TEST_CASE("what is echoed can be typed again and means the same") {
  for (const std::string_view line :
       {"--model mixtral-8x7b --gpu h100-sxm:8 --dtype mixed-bf16 --seq 8k --zero 3",
        "--model llama-3-8b --method lora --lora-rank 16 --lora-targets q,v --framework hf",
        "--model gpt2 --recompute every-2 --global-batch 8 --gpu rtx-4090"}) {
    INFO(line);
    const auto first = ask(line);
    std::vector<Given> again;
    for (const auto& echo : first.echo) again.push_back({echo.term, echo.text, {Source::flag, echo.term}});
    const auto second = resolve(again, std::nullopt, read::Catalogue());
    for (const auto& echo : first.echo) CHECK(echoed(second, echo.term).text == echo.text);
  }
}

TEST_CASE("contradictions name both places") {
  struct Case {
    std::string_view line;
    std::string_view place;
    std::string_view other;
  };
  const Case cases[] = {
      {"--params 1e9 --model gpt2", "--params", "--model gpt2"},
      {"--params 7B --gpus 8 --dp 3", "--gpus", "--dp 3"},
      {"--params 7B --gpus 6 --tp 4", "--gpus", "--tp 4"},
      {"--params 7B --gpu h100-sxm:8 --gpus 4", "--gpus", "--gpu"},
      {"--params 7B --global-batch 7 --dp 2", "--global-batch", "--dp 2"},
      {"--params 7B --global-batch 8 --micro-batch 3", "--global-batch", "--micro-batch 3"},
      {"--params 7B --global-batch 8 --micro-batch 2 --grad-accum 2", "--global-batch", "--grad-accum 2"},
      {"--params 7B --lora-rank 8", "--lora-rank", "method full"},
      {"--params 7B --method qlora --weights bf16", "--weights", "--method qlora"},
      {"--params 7B --weights nf4", "--weights", "method full"},
      {"--params 7B --dtype fp32 --master-weights 1", "--master-weights", "weights fp32"},
      {"--params 7B --autocast 1 --weights bf16", "--autocast", "--weights bf16"},
      {"--params 7B --optimizer adamw-8bit --optimizer-states fp32", "--optimizer-states", "--optimizer adamw-8bit"},
      {"--params 7B --recompute full --recompute-modules mlp", "--recompute-modules", "--recompute full"},
      {"--params 7B --top-k 2", "--top-k", "experts 0"},
      {"--params 7B --ep 2 --gpus 2", "--ep", "experts 0"},
      {"--params 7B --sp 1", "--sp", "tp 1"},
      {"--params 7B --vpp 2", "--vpp", "pp 1"},
      {"--model llama-3-8b --pp 4 --vpp 2 --grad-accum 4 --schedule gpipe", "--schedule", "--vpp 2"},
      {"--model llama-3-8b --pp 4 --vpp 2 --grad-accum 4 --schedule zero-bubble", "--schedule", "--vpp 2"},
      {"--model llama-3-8b --pp 4 --vpp 2 --grad-accum 6", "--vpp", "--grad-accum 6"},
      {"--model t5-11b --pp 8 --first-stage-layers 3", "--first-stage-layers", "--model t5-11b"},
      {"--model llama-3-8b --first-stage-layers 8", "--first-stage-layers", "pp 1"},
      {"--model llama-3-8b --pp 4 --first-stage-layers 7", "--first-stage-layers", "layers 32"},
      {"--model llama-3-8b --pp 4 --last-stage-layers 32", "--last-stage-layers", "layers 32"},
      {"--model llama-3-8b --pp 2 --first-stage-layers 15 --last-stage-layers 16", "--first-stage-layers", "layers 32"},
      {"--model llama-3-8b --pp 4 --vpp 2 --grad-accum 4 --first-stage-layers 5", "--first-stage-layers", "--vpp 2"},
      {"--model llama-3-8b --cp 16 --cp-exchange all-to-all", "--cp", "kv_heads 8"},
      {"--model llama-3-8b --tp 2 --cp 8 --cp-exchange all-to-all", "--cp", "kv_heads 8"},
      {"--model llama-3-8b --cp 64 --cp-exchange all-to-all", "--cp", "heads 32"},
      {"--params 7B --gpus 8 --nodes 3", "--nodes", "--gpus 8"},
      {"--params 7B --gpus 8 --gpus-per-node 3", "--gpus", "--gpus-per-node 3"},
      {"--params 7B --gpus 4 --gpus-per-node 8", "--gpus", "--gpus-per-node 8"},
      {"--params 7B --gpus 8 --nodes 2 --gpus-per-node 8", "--gpus-per-node", "--gpus 8"},
      {"--params 7B --dp 3 --nodes 2 --gpus-per-node 8", "--gpus", "--dp 3"},
      {"--params 7B --inter-node 400Gbps --inter-node-gbps 800", "--inter-node-gbps", "--inter-node"},
      {"--params 7B --gpus 8 --sharding-group 4 --sharding ddp", "--sharding-group", "--sharding ddp"},
      {"--params 7B --gpus 8 --sharding-group 3 --zero 3", "--sharding-group", "dp 8"},
      {"--params 7B --zero 3 --sharding ddp", "--sharding", "--zero"},
      {"--params 7B --framework torchtitan --fp8-scaling row", "--fp8-scaling", "compute"},
      {"--params 7B --framework megatron --compute fp8 --fp8-scaling row", "--fp8-scaling", "--framework megatron"},
      {"--model gpt2 --seq 2048", "--seq", "max_position 1024"},
      {"--params 7B --tokens 1T --samples 5", "--samples", "--tokens 1T"},
      {"--params 7B --framework trl --gpus 8 --cp 8 --sharding fsdp2 --samples 5 --sample-tokens 9 --packing 1",
       "--packing", "--cp 8"},
      {"--layers 2 --hidden 100 --heads 3 --vocab 10 --ffn 10", "--heads", "--hidden 100"},
  };
  for (const auto& [line, place, other] : cases) {
    INFO(line);
    try {
      ask(line);
      FAIL_CHECK("accepted");
    } catch (const BadInput& error) {
      CHECK(error.place() == place);
      CHECK_THAT(error.problem(), Catch::Matchers::Contains(std::string(other)));
    }
  }
}

TEST_CASE("uneven stages and exchanged heads that come out even are accepted") {
  for (const std::string_view line :
       {"--model llama-3-8b --pp 4 --first-stage-layers 5",
        "--model llama-3-8b --pp 4 --first-stage-layers 7 --last-stage-layers 5",
        "--model llama-3-8b --pp 2 --first-stage-layers 15 --last-stage-layers 17",
        "--model llama-3-8b --pp 4 --schedule zero-bubble", "--model llama-3-8b --tp 2 --cp 4 --cp-exchange all-to-all",
        "--model llama-3-8b --cp 16 --cp-exchange ring"}) {
    INFO(line);
    CHECK_NOTHROW(ask(line));
  }
}

TEST_CASE("what is missing or unknown is named with the next step") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"--seq 8k", "no model was named"},
      {"--layers 12 --hidden 768", "--heads: is missing"},
      {"--layers 12 --hidden 768 --heads 12 --vocab 100", "--ffn: is missing"},
      {"--params 7B --gpu h100-smx", "did you mean"},
      {"--params 7B --dtype bf61", "did you mean 'bf16'"},
      {"--params 7B --zero 4", "0 to 3"},
      {"--params 7B --micro-bach 4", "did you mean 'micro_batch'"},
      {"--params 7B --gpu h100-sxm:", "is not an accelerator"},
      {"--params 7B --gpu h100-sxm:0", "out of range"},
      {"--params 0", "params"},
      {"--params 1e16", "out of range"},
  };
  for (const auto& [line, part] : cases) {
    INFO(line);
    CHECK_THROWS_WITH(ask(line), Catch::Matchers::Contains(std::string(part)));
  }
}

TEST_CASE("a model of mixtures alone has no dense MLP whose width could be missing") {
  const std::string shape = "--layers 4 --hidden 64 --heads 2 --vocab 100 --experts 8 --top-k 2 --expert-ffn 64";
  CHECK(ask(shape).question.model.shape.ffn == 0);
  CHECK_THROWS_WITH(ask(shape + " --dense-layers 1"), Catch::Contains("--ffn"));
}
