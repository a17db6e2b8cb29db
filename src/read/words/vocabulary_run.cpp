// The terms that describe how a run trains.
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/words/software.hpp"
#include "read/words/terms.hpp"
#include "spec/roles.hpp"

namespace llmcalc::read {
namespace {

using formats::Dtype;
using spec::Adapter;
using spec::Precision;
using spec::Recompute;
using spec::Training;

using Count = Whole<1>;
using WeightType =
    DtypeIn<Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::nf4, Dtype::nf4_dq, Dtype::fp4, Dtype::fp4_dq,
            Dtype::int4_gptq, Dtype::int8_gptq, Dtype::int8, Dtype::int4, Dtype::fp8_e4m3, Dtype::mxfp8, Dtype::nvfp4>;
using ComputeType =
    DtypeIn<Dtype::bf16, Dtype::fp16, Dtype::fp32, Dtype::tf32, Dtype::fp8_e4m3, Dtype::mxfp8, Dtype::nvfp4>;
using GradientType = DtypeIn<Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::int8>;
using MasterType = DtypeIn<Dtype::fp32, Dtype::bf16, Dtype::fp16>;
using MomentType = DtypeIn<Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8_e4m3, Dtype::int8, Dtype::int4>;

constexpr std::string_view target_names[] = {"q",    "k",   "v",   "o",     "gate", "up",
                                             "down", "fc1", "fc2", "embed", "head", spec::all_linear_word};

/// Our words for a module; others are names that modules have in checkpoints.
std::vector<std::string> words_for(const std::string& name, std::string_view place) {
  if (is_among(name, target_names)) return {name};
  const std::string_view words = spec::words_of_module(name);
  if (!words.empty()) return split_list(words, place);
  throw_unknown_word(name, place, {std::begin(target_names), std::end(target_names)});
}

/// Modules: those that carry an adapter, or are trained whole.
struct Targets {
  static constexpr std::string_view values =
      "list of q,k,v,o,gate,up,down,fc1,fc2,embed,head, names of modules, or all-linear";
  static std::vector<std::string> read(std::string_view text, std::string_view place) {
    std::vector<std::string> targets;
    for (const auto& name : split_list(quantity::to_lower(text), place)) {
      for (auto& word : words_for(name, place)) {
        if (!quantity::contains(targets, word)) targets.push_back(std::move(word));
      }
    }
    return targets;
  }
  static std::string write(const std::vector<std::string>& targets) { return join_list(targets); }
};

/// "q:64,down:16": modules whose adapters have a rank of their own (peft rank_pattern).
struct Ranks {
  static constexpr std::string_view values = "list of module:rank";
  static std::vector<spec::ModuleRank> read(std::string_view text, std::string_view place) {
    std::vector<spec::ModuleRank> ranks;
    for (const auto& item : split_list(quantity::to_lower(text), place)) {
      const auto colon = item.find(':');
      if (colon == std::string::npos) throw quantity::BadInput(std::string(place), "expected module:rank, as q:64");
      const std::int64_t rank = Count::read(item.substr(colon + 1), place);
      for (auto& word : words_for(item.substr(0, colon), place)) ranks.push_back({std::move(word), rank});
    }
    return ranks;
  }
  static std::string write(const std::vector<spec::ModuleRank>& ranks) {
    const auto text = [](const spec::ModuleRank& one) { return one.module + ":" + std::to_string(one.rank); };
    return join_list(quantity::mapped(ranks, text));
  }
};

/// "0,2,8-15": layers, counted from 0.
struct Layers {
  static constexpr std::string_view values = "list of layers from 0, as 0,2,8-15";
  static std::vector<std::int64_t> read(std::string_view text, std::string_view place) {
    using Index = Whole<0, max_layers>;
    std::vector<std::int64_t> layers;
    for (const auto& item : split_list(text, place)) {
      const auto dash = item.find('-');
      const std::int64_t first = Index::read(item.substr(0, dash), place);
      const std::int64_t last = dash == std::string::npos ? first : Index::read(item.substr(dash + 1), place);
      for (std::int64_t layer = first; layer <= last; ++layer) layers.push_back(layer);
    }
    return layers;
  }
  static std::string write(const std::vector<std::int64_t>& layers) {
    return join_list(quantity::mapped(layers, [](std::int64_t layer) { return std::to_string(layer); }));
  }
};

/// A switch that is shown where it is on.
struct Extra : Switch {
  static std::string write(bool value) { return value ? "1" : ""; }
};

/// The parts of a layer that selective recompute covers.
struct Modules {
  static constexpr std::string_view values = "list of core_attn,mlp,moe,shared_experts,moe_act,layernorm,mla_up_proj";
  static std::vector<spec::RecomputeModule> read(std::string_view text, std::string_view place) {
    const auto module = [&](const std::string& word) { return Word<spec::RecomputeModule>::read(word, place); };
    return quantity::mapped(split_list(text, place), module);
  }
  static std::string write(const std::vector<spec::RecomputeModule>& modules) {
    std::vector<std::string> words;
    for (const auto module : modules) words.emplace_back(spec::name_of(module));
    return join_list(words);
  }
};

/// "none", "selective", "full", or full recompute of some layers: "every-2", "uniform-2", "block-4".
/// Sequences, or the tokens that they have, for which the length of a sequence must be known.
struct BatchWord {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    auto& training = question.training;
    const auto tokens = tokens_of_batch(text, place);
    const auto seq = std::max<std::int64_t>(training.seq, 1);
    training.global_batch = tokens ? std::max<std::int64_t>(1, (*tokens + seq / 2) / seq) : Count::read(text, place);
  }
  static std::string show(const spec::Question& question) {
    const auto batch = question.training.global_batch;
    return batch == 0 ? std::string() : std::to_string(batch);
  }
};

struct RecomputeWord {
  using Layers = spec::RecomputeLayers;
  /// Trainers switch checkpointing on and off (transformers TrainingArguments, gradient_checkpointing).
  static std::string policy_of(const std::string& word) {
    if (word == "true" || word == "1" || word == "yes" || word == "on") return "full";
    return word == "false" || word == "0" || word == "no" || word == "off" ? "none" : word;
  }
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    Recompute& recompute = question.training.recompute;
    const std::string word = policy_of(quantity::to_lower(text));
    const auto dash = word.find('-');
    const auto* layers = spec::find_name<Layers>(std::string_view(word).substr(0, dash));
    if (dash != std::string::npos && layers != nullptr && layers->value != Layers::all) {
      const auto count = Whole<1, max_layers>::read(std::string_view(word).substr(dash + 1), place);
      const bool is_all = count == 1 && layers->value != Layers::block;
      recompute = {spec::RecomputePolicy::full, is_all ? Layers::all : layers->value, count, recompute.modules};
      return;
    }
    if (spec::find_name<spec::RecomputePolicy>(word) == nullptr) throw_unknown_word(text, place, words());
    recompute = {Word<spec::RecomputePolicy>::read(word, place), Layers::all, 1, recompute.modules};
  }
  static std::string show(const spec::Question& question) {
    const Recompute& recompute = question.training.recompute;
    if (recompute.layers == Layers::all) return std::string(spec::name_of(recompute.policy));
    return std::string(spec::name_of(recompute.layers)) + "-" + std::to_string(recompute.count);
  }
  static std::vector<std::string_view> words() {
    auto names = canonical_words<spec::RecomputePolicy>();
    for (const auto word : {"every-N", "uniform-N", "block-N"}) names.emplace_back(word);
    return names;
  }
};

constexpr Term rows[] = {
    term<Word<spec::Framework>, InTraining<&Training::framework>>(
        "framework", TermGroup::run, "whose allocations are reproduced; generic: textbook"),
    {"framework_version", TermGroup::run, "transformers 4.56, torch 2.8, 2025-09", nullptr,
     "releases and date of the software; what follows from them: docs/releases.md",
     [](spec::Question& question, std::string_view text, std::string_view) {
       question.training.software = read_software(text);
     },
     [](const spec::Question& question) { return write_software(question.training.software); }},
    term<Word<spec::Method>, InTraining<&Training::method>>("method", TermGroup::run, "what is trained"),
    term<Word<spec::Algorithm>, InTraining<&Training::algorithm>>(
        "algorithm", TermGroup::run, "by what weights are trained; decides further models"),
    term<Word<spec::Reference>, InTraining<&Training::reference>>("reference", TermGroup::run,
                                                                  "from where reference log-probabilities come"),
    term<Count, InTraining<&Training::adapter, &Adapter::rank>>("lora_rank", TermGroup::run, "rank of the adapters"),
    term<Targets, InTraining<&Training::adapter, &Adapter::targets>>("lora_targets", TermGroup::run,
                                                                     "modules that carry an adapter"),
    term<Targets, InTraining<&Training::adapter, &Adapter::excluded>>("exclude_modules", TermGroup::run,
                                                                      "of those, modules that carry none"),
    term<Targets, InTraining<&Training::adapter, &Adapter::parameters>>("target_parameters", TermGroup::run,
                                                                        "parameters of experts that carry one (peft)"),
    term<Ranks, InTraining<&Training::adapter, &Adapter::ranks>>("rank_pattern", TermGroup::run,
                                                                 "modules whose adapters have another rank"),
    term<Layers, InTraining<&Training::adapter, &Adapter::layers>>("layers_to_transform", TermGroup::run,
                                                                   "layers that carry adapters; default: all"),
    term<Extra, InTraining<&Training::adapter, &Adapter::bias>>("lora_bias", TermGroup::run,
                                                                "adapters have a bias of their own"),
    term<Targets, InTraining<&Training::adapter, &Adapter::saved>>("modules_to_save", TermGroup::run,
                                                                   "modules trained whole beside adapters, in a copy"),
    term<Count, InTraining<&Training::adapter, &Adapter::trained_tokens>>(
        "trainable_tokens", TermGroup::run, "rows of the token table trained beside adapters"),
    term<Share, InTraining<&Training::adapter, &Adapter::dropout>>("lora_dropout", TermGroup::run,
                                                                   "dropout of the adapters' inputs"),
    term<Count, InTraining<&Training::adapter, &Adapter::virtual_tokens>>("virtual_tokens", TermGroup::run,
                                                                          "learned positions of prompt and prefix"),
    term<Count, InTraining<&Training::adapter, &Adapter::width>>("adapter_width", TermGroup::run,
                                                                 "inner width of bottleneck adapters"),
    term<WeightType, InTraining<&Training::precision, &Precision::weights>>("weights", TermGroup::run,
                                                                            "type in which weights rest"),
    term<ComputeType, InTraining<&Training::precision, &Precision::compute>>("compute", TermGroup::run,
                                                                             "type of matrix products"),
    term<Switch, InTraining<&Training::precision, &Precision::autocast>>(
        "autocast", TermGroup::run, "weights rest in a wider type and are cast at each use"),
    term<GradientType, InTraining<&Training::precision, &Precision::grads>>("grads", TermGroup::run,
                                                                            "type in which gradients accumulate"),
    term<Switch, InTraining<&Training::precision, &Precision::master>>("master_weights", TermGroup::run,
                                                                       "copy of narrower weights for the optimizer"),
    term<MasterType, InTraining<&Training::precision, &Precision::master_type>>(
        "master_type", TermGroup::run, "type of that copy (DeepSpeed bf16_master_weights_and_grads)"),
    term<Word<spec::Optimizer>, InTraining<&Training::optimizer>>("optimizer", TermGroup::run, "optimizer"),
    term<Word<spec::OptimizerImpl>, InTraining<&Training::optimizer_impl>>("optimizer_impl", TermGroup::run,
                                                                           "how the step walks the tensors"),
    term<Switch, InTraining<&Training::optimizer_in_backward>>(
        "optimizer_in_backward", TermGroup::run,
        "each weight's update right behind its gradient (torchtune optimizer_in_bwd)"),
    term<Count, InTraining<&Training::optimizer_rank>>("optimizer_rank", TermGroup::run,
                                                       "rank in which GaLore and APOLLO keep their moments"),
    term<MomentType, InTraining<&Training::precision, &Precision::moments>>("optimizer_states", TermGroup::run,
                                                                            "type of the optimizer's moments"),
    term<Length, InTraining<&Training::seq>>("seq", TermGroup::run, "tokens a sequence"),
    term<Length, InTraining<&Training::document_length>>(
        "document_length", TermGroup::run,
        "mean tokens of the documents packed into a sequence; attention ends with each"),
    term<Count, InTraining<&Training::micro_batch>>("micro_batch", TermGroup::run, "sequences a rank runs at once"),
    term<Count, InTraining<&Training::grad_accum>>("grad_accum", TermGroup::run, "micro-batches an optimizer step"),
    {"global_batch", TermGroup::run, "integer, or 4M tokens", nullptr, "sequences an optimizer step", &BatchWord::apply,
     &BatchWord::show},
    term<Whole<0>, InTraining<&Training::eval_batch>>("eval_batch", TermGroup::run,
                                                      "sequences a rank evaluates at once; 0: it evaluates none"),
    term<Word<spec::SaveCheckpoint>, InTraining<&Training::save_checkpoint>>(
        "save_checkpoint", TermGroup::run, "how a checkpoint is written, whose memory is counted too"),
    term<Share, InTraining<&Training::colocate_fraction>>(
        "colocate_fraction", TermGroup::run, "share of the accelerator that an engine beside the trainer generates in"),
    {"recompute",
     TermGroup::run,
     {},
     &RecomputeWord::words,
     "activations computed again in backward",
     &RecomputeWord::apply,
     &RecomputeWord::show},
    term<Modules, InTraining<&Training::recompute, &Recompute::modules>>("recompute_modules", TermGroup::run,
                                                                         "what selective recompute covers"),
    term<Word<spec::AttentionKernel>, InTraining<&Training::attention>>("attention", TermGroup::run,
                                                                        "attention kernel"),
    term<Switch, InTraining<&Training::compile>>("compile", TermGroup::run, "torch.compile"),
    term<Switch, InTraining<&Training::fused_kernels>>("fused_kernels", TermGroup::run,
                                                       "fused norm, rope and MLP kernels (Liger)"),
    term<Switch, InTraining<&Training::launch_blocking>>("launch_blocking", TermGroup::run,
                                                         "CUDA_LAUNCH_BLOCKING=1: kernels are handed over one by one"),
    term<Word<spec::TransformerImpl>, InTraining<&Training::transformer_impl>>("transformer_impl", TermGroup::run,
                                                                               "whose layers Megatron-LM runs"),
    term<Switch, InTraining<&Training::grouped_experts>>(
        "grouped_experts", TermGroup::run, "a rank's experts as one grouped product (Megatron-LM --moe-grouped-gemm)"),
    term<Word<spec::CudaGraph>, InTraining<&Training::cuda_graph>>(
        "cuda_graph", TermGroup::run, "what runs without the host; scoped: attention and router (Megatron-LM)"),
    term<Word<spec::Fp8Scaling>, InTraining<&Training::fp8_scaling>>(
        "fp8_scaling", TermGroup::run, "of what 8-bit products share a scale (torchtitan --float8.recipe_name)"),
    term<Switch, InTraining<&Training::fp8_attention>>("fp8_attention", TermGroup::run,
                                                       "attention in 8 bits too (Transformer Engine fp8_dpa)"),
    term<Switch, InTraining<&Training::fp8_head>>("fp8_head", TermGroup::run,
                                                  "the output head in 8 bits too (Megatron-LM --fp8-output-proj)"),
    term<Switch, InTraining<&Training::softmax_fusion>>(
        "softmax_fusion", TermGroup::run, "one kernel for scale, mask and softmax of unfused attention (Megatron-LM)"),
    term<Maybe<Switch>, InTraining<&Training::deterministic>>(
        "deterministic", TermGroup::run, "the same result in every run, with CUBLAS_WORKSPACE_CONFIG=:4096:8"),
    term<Word<spec::Loss>, InTraining<&Training::loss>>("loss", TermGroup::run, "how the loss treats the logits"),
    term<Word<spec::Offload>, InTraining<&Training::offload>>("offload", TermGroup::run, "what leaves the accelerator"),
    term<Maybe<Whole<0, max_layers>>, InTraining<&Training::offload_layers>>(
        "offload_layers", TermGroup::run, "layers whose activations leave, of the whole model; default: all"),
    term<Word<spec::OffloadTarget>, InTraining<&Training::offload_to>>("offload_to", TermGroup::run,
                                                                       "where that rests (nvme: ZeRO-Infinity)"),
};

}  // namespace

std::span<const Term> run_terms() { return rows; }

}  // namespace llmcalc::read
