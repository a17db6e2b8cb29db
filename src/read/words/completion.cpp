#include "frameworks/layout_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/format.hpp"
#include "read/words/draft.hpp"
#include "read/words/terms.hpp"
#include "spec/load.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

namespace llmcalc::read {
namespace {

/// Tokens of a step, as Llama 2 was trained: 1,024 sequences of 4,096 (Touvron et al. 2023, arXiv:2307.09288
/// section 2.2).
constexpr std::int64_t pretraining_batch = 1024 * 4096;

/// A pipeline with four times as many micro-batches as stages waits less than a quarter of its step: (p - 1) / m of the
/// rest (Narayanan et al. 2021, arXiv:2104.04473 section 2.2.1).
constexpr std::int64_t micro_batches_a_stage = 4;

/// Enough to say how long tuning takes where nobody says on how much.
constexpr double usual_steps = 1000.0;

bool is_up_to_us(const QuestionDraft& draft) {
  const auto& question = draft.question;
  const auto& training = question.training;
  return spec::accumulates(training) && !draft.given("grad_accum") && question.layout.gpus > 1 &&
         frameworks::row_of(training.framework).asks_for_batch && frameworks::pretrains(question);
}

void complete_samples(QuestionDraft& draft) {
  take_default(draft, "packing");
  const auto& data = draft.question.pricing.data;
  const auto seq = draft.training().seq;
  if (!data.sample_tokens) {
    draft.assumptions.push_back({"every sample fills its sequence", "sample_tokens", std::to_string(seq)});
  } else if (*data.sample_tokens > static_cast<double>(seq)) {
    draft.assume("samples are cut to --seq " + std::to_string(seq));
  }
}

/// Micro-batches of a step where neither the person nor the framework says how many: enough for a batch of
/// pre-training. \pre layout, sequence and micro_batch are complete
void complete_accumulation(QuestionDraft& draft) {
  if (!is_up_to_us(draft)) return;
  spec::Training& training = draft.training();
  const spec::Layout& layout = draft.layout();
  const std::int64_t at_once = quantity::product(training.micro_batch, training.seq, layout.dp);
  const std::int64_t by_tokens = pretraining_batch / at_once;
  const std::int64_t by_stages = layout.pp > 1 ? quantity::product(micro_batches_a_stage, layout.pp) : 1;
  training.grad_accum = quantity::ceil_to(std::max({std::int64_t{1}, by_tokens, by_stages}), layout.pp);
  draft.assume("grad_accum", "4M tokens a step", std::to_string(training.grad_accum),
               "4M tokens a step or a full pipeline");
}

using quantity::product;
using spec::Method;

constexpr std::int64_t longest_default_seq = 4096;
constexpr std::int64_t assumed_seq = 2048;   // the context of Llama 1 and GPT-3, for a shape known by its size alone
constexpr std::int64_t peft_rank = 8;        // peft, LoraConfig.r
constexpr std::int64_t adalora_rank = 12;    // peft, AdaLoraConfig.init_r: with which the singular values start
constexpr std::int64_t virtual_tokens = 20;  // peft's documentation, num_virtual_tokens
constexpr std::int64_t adapter_width = 64;   // Houlsby et al. 2019, arXiv:1902.00751 section 3.2

std::int64_t replica_size(const spec::Layout& layout) { return product(layout.tp, layout.pp, layout.cp); }

/// One of the factors of a product that must come out exactly.
std::int64_t exact_share(const QuestionDraft& draft, std::int64_t whole, std::int64_t part, std::string_view whole_term,
                         std::string_view part_term, std::string_view rule) {
  if (whole % part != 0 || whole < part) draft.contradiction(whole_term, part_term, rule);
  return whole / part;
}

/// The term to name when a product of layout degrees does not come out: the first that was given.
std::string_view given_degree(const QuestionDraft& draft) {
  constexpr std::string_view degrees[] = {"tp", "pp", "cp"};
  const auto* given = quantity::find_if_or_null(degrees, [&](std::string_view term) { return draft.given(term); });
  return given == nullptr ? "dp" : *given;
}

void complete_sharding(QuestionDraft& draft) {
  take_default(draft, "sharding");
  const bool is_said = draft.given("sharding") || draft.layout().sharding != spec::Sharding::none;
  if (is_said || draft.layout().dp == 1) return;
  draft.layout().sharding = spec::Sharding::ddp;
  draft.derive("sharding", "dp above 1");
}

constexpr std::string_view node_rule = "gpus = nodes x gpus_per_node";

std::optional<std::int64_t> stated_per_node(QuestionDraft& draft) {
  const Given* word = draft.words.find("gpus_per_node");
  if (word == nullptr) return std::nullopt;
  draft.set_origin("gpus_per_node", word->origin);
  return Whole<1>::read(word->text, word->origin.where);
}

/// The accelerators of a run of which only the machines were said, or one of them.
void count_machines(QuestionDraft& draft, std::int64_t per_node) {
  const Given& word = *draft.words.find(draft.given("nodes") ? "nodes" : "gpus_per_node");
  draft.layout().gpus =
      check_range(product(draft.layout().nodes, per_node), 1, max_dimension, word.text, word.origin.where);
  draft.derive("gpus", "nodes x gpus_per_node");
}

void complete_nodes(QuestionDraft& draft, std::optional<std::int64_t> per_node) {
  spec::Layout& layout = draft.layout();
  if (draft.given("nodes")) {
    if (per_node && product(layout.nodes, *per_node) != layout.gpus) {
      draft.contradiction("gpus_per_node", "gpus", node_rule);
    }
  } else if (per_node) {
    layout.nodes = exact_share(draft, layout.gpus, *per_node, "gpus", "gpus_per_node", node_rule);
    draft.derive("nodes", "gpus / gpus_per_node");
  } else {
    const auto typical = spec::accelerators_per_node(draft.question.gpu);
    layout.nodes = spec::usual_nodes(layout.gpus, typical);
    draft.derive("nodes", "up to " + std::to_string(typical) + " accelerators a node");
  }
  if (!per_node) draft.derive("gpus_per_node", "gpus / nodes");
}

constexpr std::string_view batch_rule = "global_batch = micro_batch x grad_accum x dp";

/// Sequences of one optimizer step on one rank.
std::int64_t batch_of_rank(const QuestionDraft& draft, const spec::Training& training, std::int64_t dp) {
  return exact_share(draft, training.global_batch, dp, "global_batch", draft.given("dp") ? "dp" : "gpus", batch_rule);
}

/// A batch that is said in tokens, in the nearest number of sequences that all replicas share evenly.
void settle_tokens(QuestionDraft& draft) {
  const Given& word = *draft.words.find("global_batch");
  if (!tokens_of_batch(word.text, word.origin.where)) return;
  draft.take("global_batch");  // of sequences whose length is known by now
  spec::Training& training = draft.training();
  const auto at_once = product(draft.layout().dp, draft.given("micro_batch") ? training.micro_batch : 1);
  training.global_batch = product(std::max<std::int64_t>(1, (training.global_batch + at_once / 2) / at_once), at_once);
  draft.assumptions.push_back({fmt::format("{} in sequences of {}", word.text, training.seq), "global_batch",
                               std::to_string(training.global_batch)});
}

void split_global_batch(QuestionDraft& draft) {
  settle_tokens(draft);
  spec::Training& training = draft.training();
  const auto of_rank = batch_of_rank(draft, training, draft.layout().dp);
  if (draft.given("grad_accum") && !draft.given("micro_batch")) {
    training.micro_batch = exact_share(draft, of_rank, training.grad_accum, "global_batch", "grad_accum", batch_rule);
    draft.derive("micro_batch", batch_rule);
    training.batch_of_rank = training.micro_batch;
    return;
  }
  if (!draft.given("micro_batch")) take_default(draft, "micro_batch");
  if (!draft.given("micro_batch") && of_rank % training.micro_batch != 0) {
    training.micro_batch = 1;
    draft.assume("micro_batch", batch_rule, "1");
  }
  const auto accum = exact_share(draft, of_rank, training.micro_batch, "global_batch", "micro_batch", batch_rule);
  if (draft.given("grad_accum") && accum != training.grad_accum) {
    draft.contradiction("global_batch", "grad_accum", batch_rule);
  }
  training.batch_of_rank = draft.given("grad_accum") ? training.micro_batch : of_rank;
  if (!draft.given("grad_accum")) draft.derive("grad_accum", batch_rule);
  training.grad_accum = accum;
}

void complete_low_rank(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  const bool starts_wider = training.method == Method::adalora;
  if (!starts_wider) take_default(draft, "lora_rank");
  take_default(draft, "lora_targets");
  take_default(draft, "lora_dropout");
  if (training.adapter.rank == 0) {
    training.adapter.rank = starts_wider ? adalora_rank : peft_rank;
    draft.assume("lora_rank", "peft default", std::to_string(training.adapter.rank));
  }
  if (training.adapter.targets.empty()) {
    training.adapter.targets = {"all-linear"};
    draft.assume("lora_targets", "default", "all-linear");
  }
}

/// Megatron-LM cuts experts as it cuts the rest where nobody says (core/parallel_state.py, initialize_model_parallel:
/// None is the tensor-parallel size).
void complete_expert_cut(QuestionDraft& draft) {
  spec::Layout& layout = draft.layout();
  const bool follows = frameworks::row_of(draft.training().framework).cuts_experts_as_layers;
  if (!follows || draft.shape().moe.experts == 0 || draft.given("etp") || layout.tp == 1) return;
  layout.etp = layout.tp;
  draft.derive("etp", "tp");
}

constexpr std::string_view terms_of_kernels[] = {"recompute",     "offload", "loss",    "attention", "optimizer_impl",
                                                 "fused_kernels", "compile", "reshard", "sp",        "node_dispatch"};

/// Encoders write nothing, and decoders that are published for embeddings are asked for these (vLLM config/model.py,
/// _get_default_runner_type). Their inputs are as long as usual prompts, or as long as they may be.
void complete_reading(QuestionDraft& draft) {
  spec::Load& load = draft.question.serving.load;
  const bool encodes = draft.shape().stack == spec::Stack::encoder;
  if (draft.given("output")) {
    if (encodes && load.output > 0) draft.contradiction("output", "model", "an encoder makes no tokens");
  } else if (encodes || draft.embeds) {
    load.output = 0;
    draft.derive("output", "the model is asked for embeddings or scores");
  }
  const std::int64_t longest = draft.shape().max_position;
  if (!spec::reads_only(load) || draft.given("prompt") || longest == 0 || load.prompt <= longest) return;
  load.prompt = longest;
  draft.derive("prompt", "as long as the model reads");
}

}  // namespace

std::int64_t usual_batch(const spec::Question& question) {
  const spec::Training& training = question.training;
  if (frameworks::pretrains(question)) return std::max<std::int64_t>(1, pretraining_batch / training.seq);
  return quantity::product(training.micro_batch, training.grad_accum, question.layout.dp);
}

void complete_data(QuestionDraft& draft) {
  if (draft.given("samples")) return complete_samples(draft);
  if (draft.given("sample_tokens")) {
    complete_samples(draft);
    draft.assume("the time is of full sequences: --samples says how many shorter ones there are");
  }
  if (draft.given("tokens") || draft.given("steps")) return;
  if (frameworks::pretrains(draft.question)) {
    draft.assumptions.push_back({"20 for each parameter (Hoffmann et al. 2022)", "tokens", "20x"});
    return;
  }
  draft.question.pricing.data.steps = usual_steps;
  draft.assume("steps", "default", "1000", "for want of data: --samples or --tokens say how much there is");
}

void complete_price(QuestionDraft& draft) {
  const auto& gpu = draft.question.gpu;
  if (!gpu || !gpu->bought_for || draft.given("price")) return;
  draft.assumptions.push_back(
      {gpu->price_source, "price", quantity::format_number(quantity::in_dollars(*gpu->price_per_hour), 4)});
}

void complete_sequence(QuestionDraft& draft) {
  auto& shape = draft.shape();
  auto& training = draft.training();
  take_default(draft, "seq");
  if (!draft.given("seq") && shape.max_position != 0 && training.seq > shape.max_position) {
    training.seq = shape.max_position;
    draft.assume("seq", "max_position", std::to_string(training.seq));
  }
  if (training.seq == 0) {
    const bool by_size = draft.question.stated_parameters && shape.max_position == 0;
    const auto longest = shape.max_position == 0 ? longest_default_seq : shape.max_position;
    training.seq = by_size ? assumed_seq : std::min(longest, longest_default_seq);
    draft.assume("seq", by_size ? "of an assumed shape" : "min(max_position, 4096)", std::to_string(training.seq));
  }
  if (shape.max_position != 0) return;
  shape.max_position = training.seq;
  draft.derive("max_position", "seq");
  if (shape.position == spec::Position::learned) shape.position_rows = shape.max_position;
}

/// The models of presets and files say what theirs were trained with.
void complete_dropout(QuestionDraft& draft) {
  if (!draft.given("model") && !draft.given("config")) take_default(draft, "dropout");
}

void complete_layout(QuestionDraft& draft) {
  complete_expert_cut(draft);
  spec::Layout& layout = draft.layout();
  const auto replica = replica_size(layout);
  const auto per_node = stated_per_node(draft);
  const bool by_machines = !draft.given("gpus") && per_node && (draft.given("nodes") || !draft.given("dp"));
  if (by_machines) count_machines(draft, *per_node);
  const bool counted = by_machines || draft.given("gpus");
  if (counted && draft.given("dp")) {
    if (product(replica, layout.dp) != layout.gpus) draft.contradiction("gpus", "dp", "gpus = dp x tp x pp x cp");
  } else if (counted) {
    layout.dp = exact_share(draft, layout.gpus, replica, "gpus", given_degree(draft), "gpus = dp x tp x pp x cp");
    draft.derive("dp", "gpus / (tp x pp x cp)");
  } else {
    layout.gpus = product(replica, layout.dp);
    draft.derive("gpus", "dp x tp x pp x cp");
  }
  complete_nodes(draft, per_node);
  complete_sharding(draft);
}

void complete_pipeline(QuestionDraft& draft) {
  if (!frameworks::counts_ends_as_layers({draft.shape(), draft.training(), draft.layout()})) return;
  draft.assume("embedding and loss each take a layer's place in the pipeline, as in Megatron-LM");
}

void complete_batch(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  if (draft.given("global_batch")) return split_global_batch(draft);
  const bool has_micro_batch = take_default(draft, "micro_batch");
  if (!has_micro_batch && !draft.given("micro_batch")) draft.assume("micro_batch", "default", "1");
  if (!take_default(draft, "grad_accum")) complete_accumulation(draft);
  training.global_batch = product(training.micro_batch, training.grad_accum, draft.layout().dp);
  draft.derive("global_batch", "micro_batch x grad_accum x dp");
}

void complete_kernels(QuestionDraft& draft) {
  for (const auto term : terms_of_kernels) take_default(draft, term);
}

/// Nobody needs to hear of memory in which nothing rests.
void complete_host(QuestionDraft& draft) {
  const auto capacity = spec::host_capacity_of(draft.question);
  if (draft.given("host_memory") || !capacity || !spec::uses_host(draft.question)) return;
  const auto& source = draft.question.gpu->host_memory_source;
  draft.assume("host_memory", "of the accelerator", fmt::format("{:.0f}GiB a machine", quantity::in_gib(*capacity)),
               source.empty() ? "64 for each accelerator" : source);
}

void complete_optimizer(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  if (training.method == Method::galore && !draft.given("optimizer")) {
    training.optimizer = spec::Optimizer::galore_adamw_8bit;
    draft.derive("optimizer", "method galore");
  } else if (spec::has_backward_pass(training.method)) {
    take_default(draft, "optimizer");
  }
  if (spec::has_backward_pass(training.method)) take_default(draft, "optimizer_in_backward");
  const std::int64_t rank = default_projection_rank(training);
  if (rank == 0 || training.optimizer_rank > 0) return;
  training.optimizer_rank = rank;
  draft.assume("optimizer_rank", "default", std::to_string(rank));
}

void complete_method(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  if (!spec::has_backward_pass(training.method) && !draft.given("optimizer")) {
    training.optimizer = spec::Optimizer::none;
    draft.derive("optimizer", "nothing is trained");
  }
  if (spec::has_low_rank(training.method)) return complete_low_rank(draft);
  auto& adapter = training.adapter;
  if (has_virtual_tokens(training.method) && adapter.virtual_tokens == 0) {
    adapter.virtual_tokens = virtual_tokens;
    draft.assume("virtual_tokens", "peft default", std::to_string(virtual_tokens));
  }
  if (has_bottleneck(training) && adapter.width == 0) {
    adapter.width = adapter_width;
    draft.assume("adapter_width", "default", std::to_string(adapter_width));
  }
}

/// Usual lengths are of models that read more: of those that read less, what is not said is what they leave.
void share_longest(QuestionDraft& draft) {
  spec::Load& load = draft.question.serving.load;
  const std::int64_t longest = draft.shape().max_position;
  if (longest == 0 || spec::reads_only(load) || quantity::checked_add(load.prompt, load.output) <= longest) return;
  const bool prompt = draft.given("prompt");
  if (prompt && draft.given("output")) return;
  if (prompt || draft.given("output")) {
    const std::int64_t left = longest - (prompt ? load.prompt : load.output);
    if (left > 0) (prompt ? load.output : load.prompt) = left;
    if (left <= 0 && draft.shape().position == spec::Position::learned)
      draft.contradiction(prompt ? "prompt" : "output", "max_position", "a learned position table has no more rows");
    return;
  }
  spec::Load within = load;
  within.context = longest;
  spec::share_context(within);
  load.prompt = within.prompt;
  load.output = within.output;
}

void complete_load(QuestionDraft& draft) {
  complete_reading(draft);
  spec::Load& load = draft.question.serving.load;
  const bool prompt = draft.given("prompt");
  const bool writes_none = draft.shape().stack == spec::Stack::encoder || draft.embeds;
  const bool output = draft.given("output") && !(writes_none && load.output == 0);
  load.lengths_said = prompt || output;
  if (!draft.given("context")) {
    share_longest(draft);
    if (prompt || output) load.context = quantity::checked_add(load.prompt, load.output);
    if (prompt || output) draft.derive("context", "prompt + output");
    return;
  }
  if (load.context == 0) load.context = draft.shape().max_position;
  if (load.context == 0) draft.contradiction("context", "model", "it says no length that it was built for");
  const bool reads = spec::reads_only(load);
  if (!load.lengths_said && !reads) spec::share_context(load);
  if (prompt && !output && !reads)
    load.output = spec::answer_within(std::max<std::int64_t>(load.context - load.prompt, 0));
  if (!prompt) load.prompt = std::max<std::int64_t>(load.context - load.output, 0);
  if (!output && !reads) draft.derive("output", "at most what the prompt leaves of the context");
  if (!prompt) draft.derive("prompt", "context - output");
  if (quantity::checked_add(load.prompt, load.output) > load.context) {
    draft.contradiction("context", prompt ? "prompt" : "output", "prompt and answer do not fit into it");
  }
}

}  // namespace llmcalc::read
