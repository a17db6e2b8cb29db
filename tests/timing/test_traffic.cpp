// What moves beside the operations: the update's states, data-parallel traffic, and what goes to the host.

#include "catch.hpp"
#include "quantity/lists.hpp"
#include "timing/inner/pipeline.hpp"
#include "timing/steps.hpp"
#include "timing/weight_traffic.hpp"

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_seconds;
using test::step_of;

namespace {

timing::WeightTraffic layer_traffic(const test::Asked& asked) {
  const timing::KernelPrices kernels(*asked.question.gpu, asked.question.training, asked.profile);
  return timing::weight_traffic(asked.program.blocks[1], asked.question.training, asked.profile,
                                program::StateSharding(asked.question.layout), kernels);
}

std::int64_t layer_parameters(const test::Asked& asked) {
  std::int64_t sum = 0;
  for (const auto& w : asked.program.blocks[1].weights) sum += w.elements;
  return sum;
}

timing::DataTraffic exchange(const test::Asked& asked) {
  const timing::Network network(*asked.question.gpu, asked.question.layout);
  return timing::data_traffic(layer_traffic(asked), asked.question.layout, network, asked.profile);
}

}  // namespace

/// Read and write 4 + 4 + 4 of fp32 master and moments, write 2 of the weight, read the gradient's 4 for the update and
/// once more for its norm: 34. Megatron-LM reads the master's 4 again for the weight, clears 4 of the whole gradient,
/// and reads and writes them before replicas add theirs.
TEST_CASE("Megatron's fused Adam moves 38 bytes a parameter of its shard, and up to 12 of the whole gradient") {
  const std::string line = "--model llama-3-8b --framework megatron --gpu h100-sxm:8 --seq 4096";
  const test::Asked whole(line);
  CHECK(in_bytes(layer_traffic(whole).updated) == (38 + 4) * layer_parameters(whole));
  const test::Asked shard(line + " --sharding zero1");
  const double part = static_cast<double>(in_bytes(layer_traffic(shard).updated));
  CHECK(part * 8 == Approx((38.0 + 8 * 12.0) * static_cast<double>(layer_parameters(shard))).epsilon(1e-6));
}

/// A = X X', B = bA + cAA, X = aX + BX, five times over (Jordan 2024, zeropower_via_newtonschulz5): 15 products for
/// each of the seven square matrices of a layer.
TEST_CASE("Muon's update multiplies each matrix fifteen times") {
  const test::Asked asked(
      "--layers 2 --hidden 4096 --heads 32 --kv-heads 32 --ffn 4096 --mlp swiglu --vocab 32000 --seq 4096 "
      "--framework torch --optimizer muon --gpu h100-sxm");
  const timing::KernelPrices kernels(*asked.question.gpu, asked.question.training, asked.profile);
  const double one = in_seconds(kernels.product({4096, 4096, 4096, 1}, formats::Dtype::bf16, timing::Pass::forward));
  CHECK(in_seconds(layer_traffic(asked).update_products) == Approx(7 * 15 * one));
}

/// DeepSpeed runtime/bf16_optimizer.py, update_hp_grads: `hp_grad.data.add_(lp.grad.data.to(hp_grad.dtype))`, 2 + 4
/// bytes to cast and 4 + 4 + 4 to add; Megatron-LM's product adds by itself, autograd reads 2 + 2 and writes 2.
TEST_CASE("gradients of a micro-batch are added up in one place") {
  const std::string line = "--model bloom-176b --gpu a100-80-sxm:8 --tp 8 --sharding zero1 --grad-accum 8 --framework ";
  const test::Asked deepspeed(line + "megatron-deepspeed --weights bf16");
  CHECK(deepspeed.profile.gradients.accumulation == frameworks::Accumulation::apart_widened);
  CHECK(in_bytes(layer_traffic(deepspeed).accumulated) == 18 * layer_parameters(deepspeed));
  const test::Asked half(line + "megatron-deepspeed --weights fp16");
  CHECK(in_bytes(layer_traffic(half).accumulated) == 6 * layer_parameters(half));

  const layers::Product shape{2048, 7168, 14336, 1};
  const auto weight_gradient = [&](const test::Asked& asked) {
    const timing::KernelPrices kernels(*asked.question.gpu, asked.question.training, asked.profile);
    return in_seconds(kernels.product(shape, formats::Dtype::bf16, timing::Pass::backward_weight));
  };
  const test::Asked core(line + "megatron --dtype mixed-bf16");
  CHECK(weight_gradient(deepspeed) == Approx(weight_gradient(half)));
  CHECK(weight_gradient(deepspeed) < weight_gradient(core));
}

/// All-reduced gradients pass each link twice (Rajbhandari et al. 2020 §7.1): BF16_Optimizer shards the update alone.
TEST_CASE("gradients that are reduced whole take twice as long as those that are scattered") {
  const std::string line =
      "--model bloom-176b --gpu a100-80-sxm --gpus 64 --tp 8 --nodes 8 --sharding zero1 --inter-node-gbps 400"
      " --framework ";
  const auto whole = exchange(test::Asked(line + "megatron-deepspeed --weights bf16"));
  const auto scattered = exchange(test::Asked(line + "megatron --dtype mixed-bf16"));
  CHECK(in_seconds(whole.reduce) == Approx(2.0 * in_seconds(scattered.reduce)).epsilon(0.01));
  CHECK(in_seconds(whole.gather) == Approx(in_seconds(scattered.gather)));
}

/// Rajbhandari et al. 2020, arXiv:1910.02054 §7: stages 1 and 2 move as much as data parallelism, 2 Psi; stage 3 moves
/// 3 Psi, since weights are gathered in both passes.
TEST_CASE("ZeRO moves what its paper says") {
  const std::string line =
      "--model llama-3-8b --framework torch --weights bf16 --grads bf16 --gpu a100-80-sxm:8 --seq 4096";
  const double all_reduce = in_seconds(exchange(test::Asked(line + " --sharding ddp")).reduce);
  const auto stage_1 = exchange(test::Asked(line + " --sharding zero1"));
  CHECK(in_seconds(stage_1.gather + stage_1.reduce) == Approx(all_reduce).epsilon(0.15));
  const auto stage_3 = exchange(test::Asked(line + " --sharding zero3"));
  CHECK(in_seconds(2.0 * stage_3.gather + stage_3.reduce) == Approx(1.5 * all_reduce).epsilon(0.15));
}

/// Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840 table 4: 10 B parameters in 2.57 s.
TEST_CASE("a host updates as fast as CPU-Adam was measured") {
  timing::WeightTraffic weights;
  weights.updated_parameters = quantity::parameters(10'000'000'000);
  program::Offloaded offload;
  offload.optimizer = true;
  spec::Question question = test::Asked("--params 10e9 --gpu v100-sxm2-32").question;
  const double both_ways = 2 * 20e9 / (0.77 * quantity::in_bytes_per_second(*question.gpu->pcie));
  const auto seconds = [&] { return in_seconds(timing::host_update(offload, question, weights)); };
  CHECK(seconds() == Approx(2.57 + both_ways).epsilon(0.01));

  // Masters, moments and gradients of 4 bytes come from the drives, the first three go back: 28 bytes a parameter.
  offload.to_nvme = true;
  question.runtime.nvme = quantity::gigabytes_per_second(28.0);
  CHECK(seconds() == Approx(2.57 + both_ways + 10.0).epsilon(0.01));
  question.layout.gpus = 4;  // of one node share its host and its drives
  CHECK(seconds() == Approx(4 * (2.57 + 10.0) + both_ways).epsilon(0.01));

  offload.optimizer = false;
  CHECK(seconds() == 0.0);
}

TEST_CASE("offloaded weights are waited for as far as the passes do not hide them") {
  const std::string line = "--model llama-3-8b --framework deepspeed --gpu a100-80-sxm:8 --sharding zero3 --seq 256";
  CHECK(in_seconds(step_of(test::Asked(line)).offload) == 0.0);
  const auto short_step = step_of(test::Asked(line + " --offload params --micro-batch 1"));
  const auto long_step = step_of(test::Asked(line + " --offload params --micro-batch 32"));
  CHECK(in_seconds(short_step.offload) > 0.0);
  CHECK(in_seconds(long_step.offload) < in_seconds(short_step.offload));
  // Each of eight ranks fetches its eighth: a whole model alone takes eight times as long (ZeRO-Infinity section 6.1).
  const auto alone =
      step_of(test::Asked("--model llama-3-8b --framework torch --gpu a100-80-sxm --seq 1 --offload params"));
  const auto shared =
      step_of(test::Asked("--model llama-3-8b --framework torch --gpu a100-80-sxm:8 --sharding zero3 --seq 1 "
                          "--offload params"));
  CHECK(in_seconds(alone.offload) > 5.0 * in_seconds(shared.offload));
}

TEST_CASE("the host is waited for in small layers and not in large ones") {
  const std::string line = "--framework torch --gpu a100-80-sxm --micro-batch 1 --model ";
  const auto small = step_of(test::Asked(line + "gpt2 --seq 256"));
  const auto large = step_of(test::Asked(line + "llama-2-7b --seq 4096"));
  CHECK(small.forward.host / small.forward.total() > 0.5);
  CHECK(large.forward.host / large.forward.total() < 0.05);
}

/// torch/distributed/fsdp: gradients put together 2+2, cast 2+4, divided 4+4; fully_shard: copied out twice 2+2, copied
/// in 2+4. DeepSpeed: put together twice 2+2, into a bucket and in the order of the ranks 4+4 each.
TEST_CASE("FSDP copies 18 bytes a parameter around its collectives, FSDP2 14, DeepSpeed 24") {
  const std::string line =
      "--model llama-3-8b --weights fp32 --compute bf16 --autocast 1 --grads fp32 --gpu a100-80-sxm:8 --seq 4096";
  const auto copied = [&](const std::string& sharding, const std::string& framework = "torch") {
    const test::Asked asked(line + " --framework " + framework + " --sharding " + sharding);
    const auto all =
        in_bytes(timing::copied_around_exchange(layer_traffic(asked), asked.question.layout, asked.profile));
    return static_cast<double>(all) / static_cast<double>(layer_parameters(asked));
  };
  CHECK(copied("fsdp1") == Approx(18.0));
  CHECK(copied("fsdp2") == Approx(14.0));
  CHECK(copied("zero3") == 0.0);
  CHECK(copied("zero3", "deepspeed") == Approx(24.0));
}

/// Lee et al. 2025, arXiv:2507.03114: compute is 18.9 % slower while collectives run beside it.
TEST_CASE("weights that are gathered beside a layer's work slow it down, within a node and between nodes") {
  const std::string line =
      "--model llama-3-8b --framework torch --weights bf16 --grads bf16 --seq 8k --gpu a100-80-sxm:";
  const std::string machines = GENERATE("8", "16 --inter-node-gbps 800");
  const test::Asked asked(line + machines + " --sharding fsdp2 --micro-batch 8");
  const auto layer = exchange(asked);
  const double hidden = in_seconds(2.0 * layer.gather + layer.reduce);
  const auto step = step_of(asked);
  CHECK(in_seconds(step.forward.total()) > 4.0 * 32 * in_seconds(layer.gather));
  CHECK(in_seconds(step.data) > 0.189 * 32 * hidden);
  CHECK(in_seconds(step.data) < 0.6 * 32 * hidden);  // embedding and head have nothing beside them
}

/// InternLM/InternEvo doc/en/train_performance.md, 7B on 1,024 A100: 2,271 tokens a second and GPU where all share the
/// states, 3,625 where those of a node do; steps of 16,384.
TEST_CASE("owners of updated weights broadcast one after the other, as long as InternEvo measured") {
  const std::string line =
      "--model internlm-7b --framework internevo --framework-version InternEvo 2023 --weights bf16 --seq 2048"
      " --micro-batch 2 --grad-accum 4 --gpu a100-80-sxm --gpus 1024 --nodes 128 --inter-node-gbps 400"
      " --sharding zero1 --sharding-group ";
  const auto step = [&](std::string_view group) { return in_seconds(step_of(line + std::string(group)).total()); };
  CHECK(step("1024") - step("8") == Approx(16'384 / 2271.0 - 16'384 / 3625.0).epsilon(0.15));
}

/// A rank without a tensor of its own sends nothing: a layer has fewer than a group of 512 has ranks.
TEST_CASE("no more owners broadcast than there are tensors") {
  const std::string line =
      "--model llama-2-7b --seq 2048 --gpu a100-80-sxm --inter-node-gbps 400 --sharding zero1 --framework megatron"
      " --dtype mixed-bf16 --gpus 512 --nodes 64";
  const test::Asked asked(line);
  frameworks::Profile owners = asked.profile;
  owners.exchange.sends_by_owner = true;
  const timing::Network network(*asked.question.gpu, asked.question.layout);
  const auto traffic = layer_traffic(asked);
  const auto whole = timing::data_traffic(traffic, asked.question.layout, network, asked.profile).gather;
  const auto apart = timing::data_traffic(traffic, asked.question.layout, network, owners).gather;
  // NCCL's src/graph/tuning.cc, ncclFuncBroadcast: 4.0 us for each rank passed in LL128, 14.0 in Simple.
  CHECK(traffic.trained == static_cast<std::int64_t>(asked.program.blocks[1].weights.size()));
  CHECK(in_seconds(apart - whole) > static_cast<double>(traffic.trained) * 510 * 4e-6);
  CHECK(in_seconds(apart - whole) < static_cast<double>(traffic.trained) * 512 * 14e-6);
}

/// Composer until release 0.14 of May 2023: trainer.py, `validate(device_batch)` before each batch. Metrics come once.
TEST_CASE("Composer before release 0.14 evaluates each micro-batch once more") {
  const std::string line =
      "--model llama-2-7b --framework composer --seq 2048 --gpu a100-80-sxm:8 --sharding fsdp1"
      " --weights fp32 --compute bf16 --autocast 1 --framework-version ";
  const auto old = step_of(test::Asked(line + "composer 0.13"));
  const auto later = step_of(test::Asked(line + "composer 0.14"));
  CHECK(in_seconds(old.forward.total()) == Approx(2.0 * in_seconds(later.forward.total())).epsilon(0.01));
  CHECK(in_seconds(old.backward.total()) == Approx(in_seconds(later.backward.total())));
}

/// Narayanan et al. 2021 §4.1: each of t ranks sends 1/t of what all of them hold.
TEST_CASE("stages hand on what tensor-parallel ranks hold whole in parts") {
  const std::string line =
      "--layers 32 --hidden 8192 --heads 64 --kv-heads 64 --ffn 32768 --vocab 51200 --mlp gelu"
      " --seq 2048 --micro-batch 1 --weights fp16 --compute fp16 --grad-accum 8 --gpu a100-80-sxm:32 --nodes 4"
      " --tp 8 --pp 4 --inter-node-gbps 800 --framework ";
  const double scattered = in_seconds(step_of(test::Asked(line + "megatron")).pipeline);
  const double whole = in_seconds(step_of(test::Asked(line + "colossalai")).pipeline);
  CHECK(scattered < 0.25 * whole);
  CHECK(scattered > 0.125 * whole);
}

/// What sequence parallelism leaves a rank is its part already, and stays so (Megatron-LM core/pipeline_parallel/
/// p2p_communication.py, tensor_shape of schedules.py, get_tensor_shapes).
TEST_CASE("sequence-parallel stages hand on their slices and gather nothing") {
  const std::string line =
      "--layers 32 --hidden 8192 --heads 64 --kv-heads 64 --ffn 32768 --vocab 51200 --seq 2048 --micro-batch 1"
      " --grad-accum 8 --dtype bf16 --framework megatron --gpu a100-80-sxm:32 --nodes 4 --tp 8 --pp 4"
      " --inter-node-gbps 800 --sp ";
  const test::Asked asked(line + "1");
  const timing::Network network(*asked.question.gpu, asked.question.layout);
  const auto whole = quantity::bytes(2LL * 2048 * 8192);
  const double part = in_seconds(network.to_next_stage(quantity::bytes(in_bytes(whole) / 8)));
  const double gather =
      in_seconds(network.collective(layers::Collective::all_gather, whole, network.span(layers::RankGroup::tensor)));
  constexpr double times = 2 * (3 + 7);  // both ways, at each of three hops and between eight micro-batches
  CHECK(in_seconds(step_of(asked).pipeline) == Approx(times * part));
  CHECK(in_seconds(step_of(test::Asked(line + "0")).pipeline) == Approx(times * (part + gather)));
}

/// Sinha et al. 2022, arXiv:2208.11035: 8 % between accelerators of one kind, six standard deviations. The largest of
/// 8, 100 and 1000 normal draws is expected at 1.42360, 2.50759 and 3.24144 deviations (Harter 1961, Expected values of
/// normal order statistics, table 1).
TEST_CASE("a step waits for the slowest accelerator, which is slower among more of them") {
  const auto forward = [](int gpus) {
    return in_seconds(
        step_of(test::Asked("--model llama-2-7b --framework megatron --seq 4k --micro-batch 1 --grad-accum 4"
                            " --gpu a100-80-sxm --gpus " +
                            std::to_string(gpus)))
            .forward.total());
  };
  CHECK(forward(8) / forward(1) == Approx(1.0 + 0.08 / 6 * 1.42360).epsilon(0.001));
  CHECK(timing::pace_of_slowest(1) == 1.0);
  CHECK(timing::pace_of_slowest(100) == Approx(1.0 + 0.08 / 6 * 2.50759).epsilon(0.001));
  CHECK(timing::pace_of_slowest(1000) == Approx(1.0 + 0.08 / 6 * 3.24144).epsilon(0.001));
}

/// Shoeybi et al. 2019, arXiv:1909.08053 §3: two all-reduces a layer in either pass. Megatron-DeepSpeed waits for those
/// of the backward pass, Megatron-LM runs them beside the weight gradients' products.
TEST_CASE("gradients of inputs are waited for unless the framework reduces them beside products") {
  const std::string line =
      "--layers 24 --hidden 8192 --heads 64 --kv-heads 64 --ffn 32768 --vocab 51200 --mlp gelu"
      " --seq 2048 --weights fp16 --compute fp16 --gpu a100-80-sxm:8 --tp 8 --framework ";
  const auto waiting = step_of(test::Asked(line + "megatron-deepspeed --framework-version 2021"));
  const auto meanwhile = step_of(test::Asked(line + "megatron"));
  const auto current = step_of(test::Asked(line + "megatron-deepspeed"));
  CHECK(in_seconds(waiting.backward.tensor) == Approx(in_seconds(waiting.forward.tensor)).epsilon(0.05));
  CHECK(in_seconds(meanwhile.backward.tensor) < 0.7 * in_seconds(waiting.backward.tensor));
  CHECK(in_seconds(current.backward.tensor) == Approx(in_seconds(meanwhile.backward.tensor)).epsilon(0.05));
}

/// foundation-model-stack/fms-fsdp, fms_fsdp/policies/mixed_precision.py, bfSixteen: gradients are reduced in bf16 and
/// added up in fp32.
TEST_CASE("a framework may reduce gradients in a narrower type than it adds them up in") {
  const std::string line =
      "--model llama-2-7b --weights fp32 --compute bf16 --autocast 1 --grads fp32 --gpu h100-sxm:8 --seq 4096"
      " --sharding fsdp1 --framework ";
  const auto wide = layer_traffic(test::Asked(line + "torch")).gradients;
  const auto narrow = layer_traffic(test::Asked(line + "fms-fsdp")).gradients;
  CHECK(in_bytes(wide) == 2 * in_bytes(narrow));
}

/// pytorch torch/distributed/_functional_collectives.py, all_gather_tensor: what is gathered along the second dimension
/// is cut along the first and put together again; pytorch/ao torchao/float8/float8_tensor_parallel.py: 8-bit inputs are
/// cast before they are gathered; torchtitan models/llama3/infra/parallelize.py: but for scales by row.
TEST_CASE("a DTensor's positions are copied in order, and it stays gathered for the backward pass") {
  const std::string run =
      "--model llama-3-8b --seq 4096 --micro-batch 2 --weights bf16 --recompute none --gpu h100-sxm:8 --tp 8 --sp 1 ";
  const std::string line = run + "--compute bf16 --framework ";
  const std::string narrow = run + "--compute fp8-e4m3 --framework ";
  const auto gathered = [](const test::Asked& asked) {
    double forward = 0.0;
    double backward = 0.0;
    for (const layers::Op& op : asked.program.blocks[1].ops) {
      for (const layers::Message& m : op.messages) {
        if (m.kind == layers::Collective::all_gather) {
          (m.backward ? backward : forward) += static_cast<double>(in_bytes(m.size));
        }
      }
    }
    return std::pair(forward, backward);
  };
  const double tensor = 2 * 4096.0 * 4096.0;
  const test::Asked titan(line + "torchtitan");
  const auto torch = gathered(titan);
  CHECK(torch.first == Approx(2 * 2 * tensor));   // before q, k, v and before gate and up
  CHECK(torch.second == Approx(2 * 2 * tensor));  // gradients of the two row-cut matrices alone
  CHECK(gathered(test::Asked(line + "megatron --dtype bf16")).second == Approx(4 * 2 * tensor));
  CHECK(gathered(test::Asked(narrow + "torchtitan")).first == Approx(2 * 1 * tensor));
  CHECK(gathered(test::Asked(narrow + "torchtitan --fp8-scaling row")).first == Approx(2 * 2 * tensor));

  double kept = 0.0;
  for (const layers::Tensor& t : titan.program.blocks[1].tensors) {
    if (t.name == "gathered input") kept += static_cast<double>(in_bytes(t.size));
  }
  CHECK(kept == Approx(2 * 2 * tensor));
  double copied = 0.0;
  for (const layers::Op& op : titan.program.blocks[1].ops) {
    if (op.name == "copy in order") copied += static_cast<double>(in_bytes(op.moved_forward));
  }
  CHECK(copied == Approx(2 * 4 * 2 * tensor));  // two gathered and two scattered, each read and written
}

/// Llama 3.2 1B in bf16 on an H100, 8 x 1,024 tokens (tests/measured/time/h100-trainers.csv): 173.3 ms with SGD, which
/// itself moves 4 bytes a parameter three times over, 227.6 with Adafactor, 215.3 with bitsandbytes' AdamW in 8 bits,
/// 236.6 with torchao's in 4.
TEST_CASE("updates in chains of kernels and in codes take what they took") {
  const auto update = [](const std::string& optimizer) {
    return 1e3 * quantity::in_seconds(
                     test::step_of("--model llama-3.2-1b --framework hf --dtype bf16 --seq 1024 --micro-batch 8 "
                                   "--gpu h100-sxm --recompute none --optimizer " +
                                   optimizer)
                         .optimizer);
  };
  const double sgd = update("sgd");
  CHECK(update("adafactor") - sgd == Approx(227.6 - 173.3).epsilon(0.25));
  CHECK(update("adamw-8bit") - sgd == Approx(215.3 - 173.3).epsilon(0.5));
  CHECK(update("adamw-4bit") - sgd == Approx(236.6 - 173.3).epsilon(0.25));
}

/// mamba_ssm ops/triton/ssd_combined.py: states of 128 numbers for each of 8,192 channels a chunk of 128 positions, in
/// fp32 and 16 bits; products of B and C of eight groups in fp32; x read once more.
TEST_CASE("the chunks of a state space duality hand their states on in training") {
  const test::Asked asked("--model nemotron-h-8b --framework megatron --gpu h100-sxm --seq 4096");
  for (const auto& block : asked.program.blocks) {
    const auto* handed =
        quantity::find_if_or_null(block.ops, [](const auto& op) { return op.name == "states between chunks"; });
    if (handed == nullptr) continue;
    CHECK(in_bytes(handed->moved_forward) == 4096 * (12 * 8192 + 2 * 4 * 8 * 128 + 2 * 8192));
    CHECK(in_bytes(handed->moved_backward) == 4096 * (34 * 8192 + 6 * 4 * 8 * 128 + 16 * 8192));
    return;
  }
  FAIL("no block hands states on");
}

/// Megatron-LM core/transformer/attention.py, get_query_key_value_tensors: [s, b, ng (np / ng + 2) hn] is gathered, of
/// which a rank takes one head of keys and values, while linear_qkv stays cut evenly.
TEST_CASE("ranks that share key and value heads gather their product's rows in both passes") {
  const std::string run =
      "--layers 2 --hidden 512 --heads 8 --head-dim 64 --ffn 2048 --vocab 32000 --seq 1024 --micro-batch 1 "
      "--framework megatron --dtype bf16 --recompute none --gpu h100-sxm:4 --tp 4 --sp 0 ";
  const auto sent = [](const layers::Block& block, layers::Collective kind, bool backward) {
    std::int64_t sum = 0;
    for (const layers::Op& op : block.ops) {
      for (const layers::Message& m : op.messages)
        sum += m.kind == kind && m.backward == backward ? in_bytes(m.size) : 0;
    }
    return sum;
  };
  const test::Asked shared(run + "--kv-heads 2");
  const layers::Block& block = shared.program.blocks[1];
  constexpr std::int64_t row_bytes = std::int64_t{2} * 1024 * (2 * (8 / 2 + 2) * 64);
  CHECK(sent(block, layers::Collective::all_gather, false) == row_bytes);
  CHECK(sent(block, layers::Collective::reduce_scatter, true) == row_bytes);
  const auto of_heads = [](const layers::Weight& w) { return w.role == layers::Role::fused_heads; };
  const auto weight = std::ranges::find_if(block.weights, of_heads);
  REQUIRE(weight != block.weights.end());
  CHECK(weight->elements == 512 * (8 + 2 * 2) * 64 / 4);
  const test::Asked apart(run + "--kv-heads 4");
  CHECK(sent(apart.program.blocks[1], layers::Collective::all_gather, false) == 0);
}
