// DeepSpeed's JSON (runtime/config.py, runtime/zero/config.py). "auto" is what transformers fills in from its own
// arguments, so it says nothing here.
#include "dialects/core/format.hpp"
#include "dialects/trainers/torch_rules.hpp"
#include "frameworks/table.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace llmcalc::dialects {
namespace {

/// MiCS shards within groups; the old switch of stage 2 moved its optimizer to the host.
void take_states(Sheet& sheet) {
  take_zero(sheet, "zero_optimization.stage", "zero_optimization.offload_optimizer.device",
            "zero_optimization.offload_param.device");
  const Setting* group = sheet.find("zero_optimization.mics_shard_size");
  if (group != nullptr && sheet.count(group->key).value_or(0) > 0) sheet.say("sharding_group", group->text, *group);
}

void take_types(Sheet& sheet) {
  for (const auto key : {"bf16.enabled", "bfloat16.enabled", "fp16.enabled"}) {
    if (!sheet.is_on(key)) continue;
    return sheet.say("dtype", std::string_view(key).starts_with('f') ? "fp16" : "bf16", *sheet.find(key));
  }
  // runtime/engine.py: fp32 where no block enables another type.
  const bool open = sheet.text("bf16.enabled") == "auto" || sheet.text("fp16.enabled") == "auto";
  if (!open) sheet.by_default("dtype", "fp32", "DeepSpeed default");
}

/// runtime/precision_config.py, DeepSpeedBF16Config; the gradients that the optimizer reads go with the masters.
void take_narrow_states(Sheet& sheet) {
  constexpr auto masters = "bf16.bf16_master_weights_and_grads";
  if (sheet.is_on(masters)) {
    sheet.say("master_type", "bf16", *sheet.find(masters));
    sheet.say("grads", "bf16", *sheet.find(masters));
  }
}

std::string deepspeed_json(const spec::Question& question) {
  const spec::Training& training = question.training;
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

std::string write_deepspeed(Letter& letter) {
  const spec::Question& question = letter.question;
  const bool is_its_own = question.training.framework == spec::Framework::deepspeed;
  if (!is_its_own && !frameworks::hands_to_deepspeed(question.training, question.layout.sharding)) return {};
  letter.settings.put("deepspeed", "ds_config.json");
  return file_text("ds_config.json", deepspeed_json(question) + "\n");
}

void deepspeed_rules(Sheet& sheet) {
  sheet.reading().usual_framework = "deepspeed";  // a trainer that names the file has its own name
  take_states(sheet);
  take_types(sheet);
  take_narrow_states(sheet);
  const auto tensor_parallel = sheet.count("tensor_parallel.autotp_size");
  if (tensor_parallel.value_or(0) > 0) {
    sheet.say("tp", std::to_string(*tensor_parallel), *sheet.find("tensor_parallel.autotp_size"));
  }
  if (sheet.has("cp")) sheet.by_default("cp_exchange", "all-to-all", "DeepSpeed-Ulysses");
}

}  // namespace llmcalc::dialects
