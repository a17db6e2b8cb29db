// The configuration of DeepSpeed: runtime/config.py and runtime/zero/config.py.
#include "dialects/writing/launchers.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

namespace llmcalc::dialects {

using spec::Layout;
using spec::Question;
using spec::Training;

namespace {

std::string deepspeed_json(const Question& question) {
  const Training& training = question.training;
  std::string zero = fmt::format(R"("stage": {})", spec::zero_stage(question.layout.sharding));
  if (spec::offloads_optimizer(training.offload)) zero += R"(, "offload_optimizer": {"device": "cpu"})";
  if (spec::offloads_weights(training.offload)) zero += R"(, "offload_param": {"device": "cpu"})";
  std::string json = fmt::format(R"({{"train_batch_size": {}, "train_micro_batch_size_per_gpu": {})",
                                 training.global_batch, training.micro_batch);
  const auto add = [&](const std::string& entry) { json += ",\n  " + entry; };
  add(fmt::format(R"("gradient_accumulation_steps": {})", training.grad_accum));
  add(fmt::format(R"("zero_optimization": {{{}}})", zero));
  if (training.precision.compute == formats::Dtype::bf16) add(R"("bf16": {"enabled": true})");
  if (training.precision.compute == formats::Dtype::fp16) add(R"("fp16": {"enabled": true})");
  if (question.layout.tp > 1) add(fmt::format(R"("tensor_parallel": {{"autotp_size": {}}})", question.layout.tp));
  return json + "}";
}

}  // namespace

Launch launch_deepspeed(const Question& question) {
  const Layout& layout = question.layout;
  Launch launch;
  launch.framework = "DeepSpeed";
  launch.command = fmt::format("echo '{}' > ds_config.json\n", deepspeed_json(question)) +
                   fmt::format("deepspeed --num_nodes {} --num_gpus {} train.py --deepspeed_config ds_config.json",
                               layout.nodes, layout.gpus / layout.nodes);
  if (layout.pp > 1) launch.beyond.emplace_back("the pipeline: its stages are a PipelineModule of the program");
  if (layout.pp > 1 && spec::zero_stage(layout.sharding) > 1)
    launch.beyond.emplace_back("stages 2 and 3 in a pipeline");
  if (layout.cp > 1) launch.beyond.emplace_back("context parallelism: DistributedAttention (Ulysses) in the program");
  if (layout.ep > 1)
    launch.beyond.emplace_back("expert parallelism: ep_size of deepspeed.moe.layer.MoE in the program");
  if (layout.vpp > 1) launch.beyond.emplace_back("virtual stages");
  if (question.training.recompute.policy != spec::RecomputePolicy::none) {
    launch.beyond.emplace_back("recomputation: deepspeed.checkpointing in the program");
  }
  return launch;
}

}  // namespace llmcalc::dialects
