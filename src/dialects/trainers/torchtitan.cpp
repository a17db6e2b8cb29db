// torchtitan: the TOML of releases up to 0.2 and the options of later ones, whose keys are the same
// (torchtitan/config/job_config.py, config/manager.py).
#include "dialects/trainers/rules.hpp"
#include "program/sharding.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <tuple>

namespace llmcalc::dialects {
namespace {

/// torchtitan/models/<name>/__init__.py, the flavors that are public models.
struct Flavor {
  std::string_view model;
  std::string_view flavor;
  std::string_view preset;
};
constexpr Flavor flavors[] = {
#include "dialects/torchtitan_flavors.inc"
};

/// Flavors that attend by another kernel, or in chunks, have the shape of those without; names of functions have '_'
/// where flavors have '-' or '.'.
std::string_view plain_flavor(std::string_view flavor) {
  for (const auto kernel : {"_flex_attn", "_flex", "_varlen", "_irope"}) flavor = quantity::without_end(flavor, kernel);
  return flavor;
}

bool is_flavor(std::string_view written, std::string_view flavor) {
  return std::ranges::equal(written, flavor,
                            [](char a, char b) { return a == b || (a == '_' && (b == '-' || b == '.')); });
}

/// Functions of the registry that quantize say so (torchtitan/models/<name>/config_registry.py).
constexpr Spelling products[] = {{"_mxfp8", "mxfp8"}, {"_float8", "fp8-e4m3"}};

/// Without the module in front, whose '_' names of functions may leave out ("qwen35_4b" of qwen3_5).
std::string without_module(const std::string& flavor, std::string module) {
  const auto rest = quantity::without_start(flavor, module + "_");
  std::erase(module, '_');
  return std::string(rest.size() < flavor.size() ? rest : quantity::without_start(flavor, module + "_"));
}

/// "llama3" with "8B", or the registry's name "llama3_8b".
void take_torchtitan_model(Sheet& sheet) {
  const Setting* name = sheet.find({"model.flavor", "config"});
  if (name == nullptr) {  // forks name a repository in its place
    const Setting* repository = sheet.find("model.name");
    if (repository != nullptr && repository->text.find('/') != std::string::npos) sheet.take("model", {"model.name"});
    return;
  }
  const std::string module = sheet.text({"model.name", "module"});
  const std::string written = without_module(quantity::to_lower(name->text), module);
  std::string_view flavor = written;
  for (const auto& [ending, product] : products) {
    if (!flavor.ends_with(ending)) continue;
    flavor.remove_suffix(ending.size());
    sheet.say("compute", product, *name);
  }
  flavor = plain_flavor(flavor);
  const auto is_it = [&](const Flavor& each) { return each.model == module && is_flavor(flavor, each.flavor); };
  if (const auto* found = quantity::find_if_or_null(flavors, is_it)) return sheet.say("model", found->preset, *name);
  sheet.assume(*name, "no public model is known by that name: say --model or the shape");
}

/// Where every degree is said, how many ranks there are. \param data  ranks of data parallelism; 0 where that is the
/// rest
void take_world(Sheet& sheet, std::int64_t data) {
  constexpr std::string_view degrees[] = {"parallelism.tensor_parallel_degree", "parallelism.pipeline_parallel_degree",
                                          "parallelism.context_parallel_degree"};
  std::int64_t ranks = data;
  for (const auto degree : degrees) {
    const auto count = sheet.count(degree).value_or(1);
    if (count < 1 || ranks > most_ranks / count) return;
    ranks *= count;
  }
  if (ranks > 1) sheet.say("gpus", std::to_string(ranks), *sheet.find("parallelism.data_parallel_shard_degree"));
}

/// Sharding goes over all ranks that nothing else takes, unless a degree says otherwise; -1 is "the rest".
void take_data_parallelism(Sheet& sheet) {
  const auto degree = [&](std::string_view key) {
    const Setting* setting = sheet.find(key);
    return setting == nullptr || setting->text.starts_with('-') ? 0 : sheet.count(key).value_or(0);
  };
  const auto shards = degree("parallelism.data_parallel_shard_degree");
  const auto replicas = degree("parallelism.data_parallel_replicate_degree");
  const Setting* copies = sheet.find("parallelism.data_parallel_replicate_degree");
  if (replicas > 1) {
    sheet.say("sharding", shards == 1 ? "ddp" : "hsdp", *copies);
    if (shards > 1) sheet.say("sharding_group", std::to_string(shards), *copies);
  } else {
    sheet.by_default("sharding", "fsdp2", "torchtitan default");
  }
  take_world(sheet, shards * std::max<std::int64_t>(replicas, 1));
  const std::string reshard = sheet.text("parallelism.fsdp_reshard_after_forward");
  if (reshard == "never") sheet.say("reshard", "0", *sheet.find("parallelism.fsdp_reshard_after_forward"));
  const auto tensor = degree("parallelism.tensor_parallel_degree");
  if (tensor > 1) {
    sheet.say("tp", std::to_string(tensor), *sheet.find("parallelism.tensor_parallel_degree"));
    sheet.by_default("sp", "1", "torchtitan default");
  }
}

/// compile.components (config/configs.py): the loss can be compiled without the model.
void take_compile(Sheet& sheet) {
  const Setting* components = sheet.find("compile.components");
  if (components == nullptr || !sheet.is_on("compile.enable")) return;
  if (components->text.find("model") != std::string::npos) return;
  sheet.say("compile", "0", *components);
  sheet.assume(*components, "the model is not compiled, nor is the loss");
}

void take_checkpointing(Sheet& sheet) {
  const Setting* mode = sheet.find("activation_checkpoint.mode");
  if (mode == nullptr) return;
  const std::string option = sheet.text("activation_checkpoint.selective_ac_option");
  const bool some = quantity::to_lower(mode->text) == "selective" && quantity::is_number(option);
  sheet.say("recompute", some ? "every-" + option : quantity::to_lower(mode->text), *mode);
}

void take_types(Sheet& sheet) {
  const std::string resting = sheet.text("training.dtype");
  const Setting* param = sheet.find("training.mixed_precision_param");
  const bool single = param != nullptr && quantity::to_lower(param->text) == "float32";
  if (resting == "bfloat16") {
    sheet.say("dtype", "bf16", *sheet.find("training.dtype"));
  } else if (param != nullptr) {
    sheet.say("dtype", single ? "fp32" : "mixed-bf16", *param);
  } else {
    sheet.by_default("dtype", "mixed-bf16", "torchtitan default");
  }
  const Setting* converters = sheet.find("model.converters");
  if (converters == nullptr) return;
  if (converters->text.find("float8") != std::string::npos) sheet.say("compute", "fp8-e4m3", *converters);
  if (converters->text.find("mx") != std::string::npos) sheet.say("compute", "mxfp8", *converters);
  for (const char* key : {"float8.recipe_name", "quantize.linear.float8.recipe_name"}) {
    if (sheet.text(key) == "rowwise") sheet.say("fp8_scaling", "row", *sheet.find(key));
  }
}

void take_schedule(Sheet& sheet) {
  const std::string name = sheet.text("parallelism.pipeline_parallel_schedule");
  if (name.empty() || name == "1f1b") return;
  const Setting& setting = *sheet.find("parallelism.pipeline_parallel_schedule");
  if (name == "gpipe") return sheet.say("schedule", "gpipe", setting);
  if (name.find("zerobubble") != std::string::npos) return sheet.say("schedule", "zero-bubble", setting);
  sheet.assume(setting, "1F1B; --vpp says how many stages a rank has");
}

/// A rank's batch goes through a pipeline in micro-batches of their own size (components: 1 where none is said).
void take_microbatches(Sheet& sheet) {
  const Setting* stages = sheet.find("parallelism.pipeline_parallel_degree");
  if (stages == nullptr || sheet.count(stages->key).value_or(1) <= 1) return;
  const Setting* local = sheet.find({"training.local_batch_size", "training.batch_size"});
  const Setting* size = sheet.find("parallelism.pipeline_parallel_microbatch_size");
  const auto micro = size == nullptr ? 1 : sheet.count(size->key).value_or(1);
  const auto all = local == nullptr ? micro : sheet.count(local->key).value_or(micro);
  sheet.say("micro_batch", std::to_string(micro), size == nullptr ? *stages : *size);
  const bool divides = micro > 0 && all % micro == 0;
  if (local != nullptr && divides && !sheet.has("global_batch")) {
    sheet.say("grad_accum", std::to_string(all / micro), *local);
  }
}

std::string_view schedule_of(const spec::Layout& layout) {
  if (layout.schedule == spec::Schedule::gpipe) return "GPipe";
  return layout.vpp > 1 ? "Interleaved1F1B" : "1F1B";
}

void write_degrees(const spec::Layout& layout, Page& page) {
  const auto weights = program::StateSharding(layout).of(layers::Split::replicated).weights;
  const std::int64_t shards = std::max<std::int64_t>(1, weights / layout.cp);
  page.put("parallelism.data_parallel_shard_degree", shards);
  page.put("parallelism.data_parallel_replicate_degree", layout.dp / shards);
  page.put("parallelism.tensor_parallel_degree", layout.tp);
  if (layout.ep > 1) page.put("parallelism.expert_tensor_parallel_degree", layout.etp);
  if (layout.pp > 1) page.put("parallelism.pipeline_parallel_schedule", schedule_of(layout));
}

}  // namespace

void torchtitan_rules(Sheet& sheet) {
  take_model_file(sheet);
  take_torchtitan_model(sheet);
  take_data_parallelism(sheet);
  take_checkpointing(sheet);
  take_compile(sheet);
  take_types(sheet);
  take_schedule(sheet);
  const Setting* batch = sheet.find("training.global_batch_size");
  if (batch != nullptr && !batch->text.starts_with('-')) sheet.say("global_batch", batch->text, *batch);
  take_microbatches(sheet);
  const std::string implementation = sheet.text("optimizer.implementation");
  if (implementation == "fused" || implementation == "foreach" || implementation == "for-loop") {
    sheet.say("optimizer_impl", implementation, *sheet.find("optimizer.implementation"));
  }
  take_length(sheet, {"training.steps", {}});
}

/// torchtitan 0.3.0, config/configs.py. A local batch is what a pipeline cuts into micro-batches; without one
/// torchtitan accumulates up to the global batch.
std::string write_torchtitan(Letter& letter) {
  const auto& [training, layout] = std::tie(letter.question.training, letter.question.layout);
  const std::int64_t local = training.micro_batch * (layout.pp > 1 ? training.grad_accum : 1);
  letter.settings.put("training.local_batch_size", local);
  letter.settings.put("training.global_batch_size", training.global_batch);
  write_rows(letter);
  write_degrees(layout, letter.settings);
  if (layout.pp > 1) letter.settings.put("parallelism.pipeline_parallel_microbatch_size", training.micro_batch);
  letter.settings.put("activation_checkpoint.mode", letter.text("recompute"));
  if (spec::offloads_weights(training.offload)) letter.settings.say("training.enable_cpu_offload", true);
  return letter.settings.options(torchrun(layout, "-m torchtitan.train"), Style::bare);
}

}  // namespace llmcalc::dialects
