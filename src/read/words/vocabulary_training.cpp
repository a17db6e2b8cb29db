// Kinds of values of a model and of how it is trained, and their terms.
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/words/terms.hpp"
#include "spec/roles.hpp"
#include "spec/traits.hpp"

namespace llmcalc::read {
namespace {

using spec::LatentShape;
using spec::MoeShape;
using spec::Shape;
using spec::Training;
using spec::WindowPattern;

using Dimension = Whole<1>;

/// Which linear layers carry a bias, as one word: the query, key and value projections, the output projection, the MLP.
struct Bias {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    Shape& shape = question.model.shape;
    const std::string word = quantity::to_lower(text);
    if (word != "all" && word != "none" && word != "qkv") throw_unknown_word(text, place, words());
    shape.qkv_bias = word != "none";
    shape.out_bias = word == "all";
    shape.mlp_bias = word == "all";
  }
  static std::string show(const spec::Question& question) {
    const Shape& shape = question.model.shape;
    if (shape.out_bias != shape.mlp_bias || (shape.out_bias && !shape.qkv_bias)) return {};
    if (shape.out_bias) return "all";
    return shape.qkv_bias ? "qkv" : "none";
  }
  static std::vector<std::string_view> words() { return {"all", "none", "qkv"}; }
};

bool has_towers(const spec::Question& question) { return !question.model.shape.towers.empty(); }

/// Parts of a multimodal model that are left as they are; all its towers by any of their names.
struct Freeze {
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    const std::string word = quantity::to_lower(text);
    if (word != "none" && word != "vision" && word != "audio" && word != "towers") {
      throw_unknown_word(text, place, words());
    }
    question.training.towers = word == "none" ? spec::TowerUse::trained : spec::TowerUse::frozen;
  }
  static std::string show(const spec::Question& question) {
    if (!has_towers(question)) return {};
    return question.training.towers == spec::TowerUse::frozen ? "towers" : "none";
  }
  static std::vector<std::string_view> words() { return {"none", "towers"}; }
};

/// The text part of a multimodal model alone.
struct TextOnly {
  static constexpr std::string_view values = Switch::values;
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    if (Switch::read(text, place)) question.training.towers = spec::TowerUse::absent;
  }
  static std::string show(const spec::Question& question) {
    return spec::sees(question) ? Switch::write(question.training.towers == spec::TowerUse::absent) : "";
  }
};

/// A term of towers; a model without any has no such question.
template <auto member>
struct OfTowers {
  static constexpr std::string_view values = Dimension::values;
  static void apply(spec::Question& question, std::string_view text, std::string_view place) {
    question.training.*member = Dimension::read(text, place);
  }
  static std::string show(const spec::Question& question) {
    const auto value = question.training.*member;
    return has_towers(question) && value > 0 ? Dimension::write(value) : "";
  }
};

/// The preset is looked up by resolve(); what is echoed is its id.
constexpr TermValue model_name{"name", nullptr, nullptr,
                               [](const spec::Question& question) { return question.model.shape.name; }};

constexpr Term model_rows[] = {
#include "vocabulary/model.inc"
};

using formats::Dtype;
using spec::Adapter;
using spec::Precision;
using spec::Recompute;

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
  if (quantity::contains(target_names, name)) return {name};
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
  static std::string write(const std::vector<std::string>& targets) { return quantity::joined(targets, ","); }
};

/// "q:64,down:16": modules whose adapters have a rank of their own (peft rank_pattern).
struct Ranks {
  static constexpr std::string_view values = "list of module:rank";
  static std::vector<spec::ModuleRank> read(std::string_view text, std::string_view place) {
    std::vector<spec::ModuleRank> ranks;
    for (const auto& item : split_list(quantity::to_lower(text), place)) {
      const auto colon = item.find(':');
      if (colon == std::string::npos)
        throw quantity::BadInput(std::string(place), "expected module:rank, as q:64, found " + quantity::quoted(text));
      const std::int64_t rank = Count::read(item.substr(colon + 1), place);
      for (auto& word : words_for(item.substr(0, colon), place)) ranks.push_back({std::move(word), rank});
    }
    return ranks;
  }
  static std::string write(const std::vector<spec::ModuleRank>& ranks) {
    const auto text = [](const spec::ModuleRank& one) { return one.module + ":" + std::to_string(one.rank); };
    return quantity::joined(ranks, ",", text);
  }
};

/// "0,2,8-15": layers, counted from 0.
struct Layers {
  static constexpr std::string_view values = "list of layers from 0, as 0,2,8-15";
  static std::vector<std::int64_t> read(std::string_view text, std::string_view place) {
    using Index = Whole<0, max_layers>;
    std::vector<std::int64_t> layers;
    for (const auto& item : split_list(text, place)) {
      const auto dash = item.find('-', 1);  // in front is a sign
      const std::int64_t first = Index::read(item.substr(0, dash), place);
      const std::int64_t last = dash == std::string::npos ? first : Index::read(item.substr(dash + 1), place);
      for (std::int64_t layer = first; layer <= last; ++layer) layers.push_back(layer);
    }
    return layers;
  }
  static std::string write(const std::vector<std::int64_t>& layers) {
    return quantity::joined(layers, ",", [](std::int64_t layer) { return std::to_string(layer); });
  }
};

/// A switch that is shown where it is on.
struct Extra : Switch {
  static std::string write(bool value) { return value ? "1" : ""; }
};

/// Several words of one vocabulary.
template <class Each>
struct ListOf {
  static std::vector<Each> read(std::string_view text, std::string_view place) {
    const auto one = [&](const std::string& word) { return Word<Each>::read(word, place); };
    return quantity::mapped(split_list(text, place), one);
  }
  static std::string write(const std::vector<Each>& all) {
    return quantity::joined(all, ",", [](Each one) { return spec::name_of(one); });
  }
};

/// The parts of a layer that selective recompute covers.
struct Modules : ListOf<spec::RecomputeModule> {
  static constexpr std::string_view values = "list of core_attn,mlp,moe,shared_experts,moe_act,layernorm,mla_up_proj";
};

struct KeptResults : ListOf<spec::KeptResult> {
  static constexpr std::string_view values = "list of query,key,value,context,out,gate,up,down";
};

/// Sequences, or the tokens that they have, for which the length of a sequence must be known.
struct BatchWord {
  static constexpr std::string_view values = "integer, or 4M tokens";
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

/// "none", "selective", "full", or full recompute of some layers: "every-2", "uniform-2", "block-4".
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
      return say(recompute, spec::RecomputePolicy::full, is_all ? Layers::all : layers->value, count);
    }
    if (spec::find_name<spec::RecomputePolicy>(word) == nullptr) throw_unknown_word(text, place, words());
    say(recompute, Word<spec::RecomputePolicy>::read(word, place), Layers::all, 1);
  }
  static void say(Recompute& recompute, spec::RecomputePolicy policy, Layers layers, std::int64_t count) {
    recompute.policy = policy;
    recompute.layers = layers;
    recompute.count = count;
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

struct SoftwareWords {
  static constexpr std::string_view values = "transformers 4.56, torch 2.8, 2025-09";
  static void apply(spec::Question& question, std::string_view text, std::string_view) {
    question.training.software = read_software(text);
  }
  static std::string show(const spec::Question& question) { return write_software(question.training.software); }
};

constexpr Term run_rows[] = {
#include "vocabulary/run.inc"
};

}  // namespace

std::span<const Term> model_terms() { return model_rows; }

std::span<const Term> run_terms() { return run_rows; }

}  // namespace llmcalc::read
