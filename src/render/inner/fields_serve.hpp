// `serve`, described.
#pragma once

#include "render/answers.hpp"
#include "render/inner/fields_fit.hpp"
#include "spec/names.hpp"

namespace llmcalc::render {

inline constexpr std::array<std::string_view, 3> server_verdicts{"fits", "does_not_fit", "no_accelerator"};

/// The engine's options, those that nobody said with its own defaults in that version.
void describe_engine(auto& field, const serving::Deployment& deployment) {
  const auto& setup = deployment.setup;
  const auto& serving = deployment.question.serving;
  const auto& version = serving.engine_version;
  field("name", serving.engine, "the engine");
  field("version", version.empty() ? serving::row_of(serving.engine).newest : std::string_view(version), "its release");
  field("kv_dtype", spec::name_of(setup.cache), "type of the cache");
  field("memory_fraction", setup.memory_fraction, "share of the accelerator's memory that it may take");
  field("batched_tokens", setup.batched_tokens, "most tokens of a step");
  field("max_seqs", setup.max_sequences, "most requests of a step");
  field("largest_graph", setup.graph_batch, "requests of the largest captured graph");
  field("slots", setup.slots, "requests at once where each has a place of its own");
  field("flash", setup.flash, "whether attention is one kernel");
  field("host_layers", setup.host_layers, "leading ones that are in host memory, the head the last of them");
  field("host_expert_layers", setup.host_experts, "leading ones whose experts are");
}

void describe(auto& field, const serving::MemoryLine& line) {
  static constexpr std::array<std::string_view, 2> kinds{"computed", "measured-constant"};
  field.is("server_holding", "What a server holds beside the cache.");
  field("id", line.id, "for programs");
  field("label", line.label, "in words");
  field("bytes", line.size, "of it");
  field("kind", OneOf{kinds[line.measured ? 1 : 0], kinds}, "where the figure comes from");
  field("formula", line.formula, "how it is calculated");
  field("source", line.source, "the engine's file or the measurement");
}

void describe(auto& field, const serving::RankMemory& rank) {
  field.is("server_rank", "A pipeline stage or a card.");
  field("held_bytes", rank.held(), "sum of its parts");
  field("pool_bytes", Signed<quantity::Bytes>{rank.pool}, "left for the cache; negative where nothing is");
  field("needed_bytes", rank.needed, "of it by one request of the context");
  field("parts", rank.holdings, "what it holds");
}

/// The accelerator that has least room.
void describe_memory(auto& field, const serving::ServingAnswer& answer) {
  const auto& memory = answer.memory;
  field("capacity_bytes", memory.capacity, "as programs see it");
  field("limit_bytes", memory.limit, "that parts and cache may take together");
  field("held_bytes", memory.held(), "sum of the parts");
  field("beside_bytes", memory.beside, "taken beyond the limit, after the cache");
  field("host_bytes", memory.host, "in the memory of the machine");
  field("model_bytes", answer.model, "all tensors of the model");
  field("file_bytes", answer.file, "of the GGUF file; 0 for other checkpoints");
  field("parts", memory.holdings, "what it holds beside the cache");
  field("prefill", answer.prefill, "of a server that reads prompts for these; null where each reads its own");
  field("ranks", answer.ranks, "all pipeline stages or cards, in order; empty where there is one");
}

void describe(auto& field, const serving::BlockGroup& group) {
  const auto& layer = group.group.layer;
  field.is("cache_group", "Layers that keep alike; a page is a block in one layer, a cell of llama.cpp, or a state.");
  field("kind", Word<serving::Reach>{layer.reach, serving::Reach::state, serving::name_of}, "what they see");
  field("layers", group.group.layers, "how many");
  field("window", layer.window, "tokens that a layer sees; 0: all");
  field("elements_per_token", layer.elements, "that a layer keeps");
  field("state_elements", layer.state_elements, "that a layer keeps of a sequence, however long");
  field("blocks_at_context", group.blocks, "that one request of the context takes");
  field("page_bytes", group.page, "of a block in one layer, or of a state");
}

/// The cache on the accelerator that has least room.
void describe_cache(auto& field, const serving::ServingAnswer& answer) {
  const auto& memory = answer.memory;
  const bool is_kept = !memory.groups.empty();  // what encoders read nobody reads again
  field("bytes", is_kept ? std::max(memory.pool, quantity::bytes(0)) : quantity::bytes(0), "what is left for it");
  field("needed_bytes", memory.needed, "by one request of the context");
  field("bytes_per_token", answer.bytes_per_token, "in layers that see everything");
  field("state_bytes", answer.state, "of recurrent layers");
  field("block", memory.block, "positions of a block");
  field("blocks", memory.blocks, "that there are");
  field("tokens", answer.capacity.cache_tokens, "that they hold");
  field("groups", memory.groups, "layers that keep alike");
}

void describe(auto& field, const serving::Capacity& capacity) {
  field.is("capacity", "Asked again with these numbers, the answer is that they fit, and one more does not.");
  field("context", capacity.context, "tokens of a request");
  field("max_context", capacity.max_context, "of one request");
  field("max_context_at_concurrency", capacity.shared_context, "of each where as many run as were asked for");
  field("max_concurrency", capacity.max_concurrency, "requests of the context at once");
  field("binding", capacity.binding, "what limits them");
}

/// The load that the server is asked to carry.
void describe_load(auto& field, const serving::ServingAnswer& answer) {
  const auto& load = answer.deployment.question.serving.load;
  field("prompt", load.prompt, "tokens");
  field("output", load.output, "tokens");
  field("concurrency", load.concurrency, "requests at once");
  field("num_prompts", load.prompts, "requests in all; null where the load has no end");
  field("running", answer.capacity.running, "of them at once, where each takes its whole context");
  field("queued", answer.capacity.queued, "of them that then wait for room");
  field("rate", load.rate, "requests a second; null where a concurrency is asked");
}

/// Limits of --ttft, --tpot, their 95th percentiles and costs; null where nothing is asked.
void describe_limits(auto& field, const serving::ServingAnswer& answer) {
  const auto& load = answer.deployment.question.serving.load;
  const bool asked = answer.speed && serving::is_limited(load);
  field("ttft_s", load.ttft, "to the first token");
  field("tpot_s", load.tpot, "to each later one");
  field("ttft_p95_s", load.ttft_p95, "to the first token of 95 of 100 requests");
  field("tpot_p95_s", load.tpot_p95, "to each later one of 95 of 100 requests");
  field("usd_per_hour", load.hour_cost, "of all accelerators");
  field("output_with_prompts_usd_per_million", load.token_cost, "tokens of output, their prompts included");
  field("kept", asked ? std::optional(serving::keeps_limits(load, *answer.speed)) : std::nullopt,
        "whether the load keeps them");
}

void describe(auto& field, const serving::SpeedPart& part) {
  field.is("speed_part", "What a decoding step spends its time on.");
  field("id", part.id, "for programs");
  field("label", part.label, "in words");
  field("seconds", part.time, "of the step");
}

void describe(auto& field, const trust::Spread& bar) {
  field.is("spread", "Shares of the figure, below and above it.");
  field("below", bar.below, "down to where it may be");
  field("above", bar.above, "up to where it may be");
}

void describe(auto& field, const serving::TokenCost& cost) {
  field.is("token_cost", "Null where no price or no power is known.");
  field("input_usd_per_million", cost.input, "tokens of prompts");
  field("output_usd_per_million", cost.output, "tokens of output");
  field("output_with_prompts_usd_per_million", cost.all, "tokens of output, their prompts included");
  field("usd_per_hour", cost.hour, "of all accelerators");
  field("energy_kwh_per_million", cost.energy, "tokens of output, their prompts included");
  field("co2e_kg_per_million", cost.carbon, "of that energy");
  field("price_source", Text{cost.source}, "who said so");
}

void describe(auto& field, const serving::Percentiles& share) {
  field.is("percentiles", "The mean, and what so many of a hundred requests do not exceed.");
  field("mean_s", share.mean, "of all");
  field("p50_s", share.p50, "half of them");
  field("p95_s", share.p95, "95 of 100");
  field("p99_s", share.p99, "99 of 100");
}

void describe(auto& field, const serving::Tail& tail) {
  field.is("server_tail", "Requests that went one by one through the engine's scheduler; docs/serve-speed.md.");
  field("ttft", tail.ttft, "to the first token");
  field("tpot", tail.tpot, "to each later one, a request's mean");
  field("requests", tail.requests, "that were counted");
  field("preempted", tail.preempted, "times that one lost its room in the cache and was read again");
}

void describe(auto& field, const serving::Speed& speed) {
  field.is("server_speed",
           "What the server does under the load. What is never steady is null where it is `saturated`.");
  field("concurrency", unless_infinite(speed.concurrency), "requests in flight: asked for, or what --rate leads to");
  field("running", speed.running, "of them at once");
  field("queued", unless_infinite(speed.queued), "of them that wait for room in the cache");
  field("saturated", speed.saturated, "requests come faster than they are answered");
  field("prefill_s", speed.prefill, "of one prompt alone");
  field("handover_s", speed.handover, "of ttft_s, a cache on its way from the server that read the prompt");
  field("decode_step_s", speed.decode_step, "a token of all that run");
  field("ttft_s", unless_infinite(in_seconds(speed.ttft)), "to the first token");
  field("tpot_s", speed.tpot, "to each later one");
  field("admission_s", unless_infinite(in_seconds(speed.admission)), "of ttft_s, waiting for room in the cache");
  field("request_s", unless_infinite(in_seconds(speed.request)), "from arrival to the last token");
  field("requests_per_s", speed.requests_per_s, "over the deployment");
  field("tokens_per_s", speed.tokens_per_s, "of output, over the deployment");
  field("prompt_tokens_per_s", speed.prompt_tokens_per_s, "over the deployment");
  field("tokens_per_s_per_gpu", speed.tokens_per_s_per_gpu, "of output");
  field("tokens_per_s_per_user", speed.tokens_per_s_per_user, "of output");
  field("tail", speed.tail, "null where no arrivals and no percentiles are asked about, or nothing is steady");
  field("parts", speed.parts, "of the decoding step");
  field.object("error_bar", "how far off such figures were", [&] {
    field("ttft", speed.ttft_bar, "of ttft_s");
    field("tpot", speed.tpot_bar, "of tpot_s");
  });
  field("measured_on", Text{speed.measured_on}, "the part whose kernels were measured");
  field("cost", speed.cost, "of tokens");
}

void describe(auto& field, const search::ServerPlan& plan) {
  const auto& question = plan.question;
  field.is("server_plan", "A layout and what it does under the most that it carries within the limits.");
  field("engine", spec::name_of(question.serving.engine), "that serves");
  field("quant", spec::name_of(question.serving.quant), "scheme of the weights");
  field("tp", question.layout.tp, "tensor-parallel ranks");
  field("pp", question.layout.pp, "pipeline stages");
  field("ep", question.layout.ep, "expert-parallel ranks");
  field("attention_dp", question.serving.layout.attention_dp, "ranks that share requests in attention");
  field("dp", question.layout.dp, "copies");
  field("prefill_servers", question.serving.layout.prefill_servers, "that read prompts for them");
  field("concurrency", question.serving.load.concurrency, "requests at once");
  field("speed", plan.speed, "then");
}

void describe(auto& field, const search::ServerPlans& plans) {
  field.is("server_plans", "What --find layout found; null otherwise.");
  field("layouts", plans.layouts, "that were looked at");
  field("starting", plans.starting, "of which so many start");
  field("estimates", plans.estimates, "loads that were priced");
  field("best", plans.best, "the best first");
}

void describe(auto& field, const serving::Candidate& change) {
  field.is("server_change", "A change, asked again.");
  field("change", change.change, "what to type");
  field("cost", Text{change.cost}, "what it costs, in words");
  field("starts", change.starts, "with one request of the context");
  field("max_context", change.max_context, "of one request");
  field("max_concurrency", change.max_concurrency, "requests of the context at once");
  field("carries_load", change.carries, "the load that was asked for, within its limits");
  field("uses_host", change.uses_host, "the engine leaves a part to the host's memory of its own accord");
}

void describe(auto& field, const serving::CardAnswer& card) {
  field.is("server_card", "Whether a usual card takes the whole load.");
  field("gpu", card.gpu, "its id");
  field("verdict", OneOf{server_verdicts[card.takes_it ? 0 : 1], std::span(server_verdicts).first(2)}, "of it alone");
}

void describe(auto& field, const serving::CapacityCell& cell) {
  field.is("capacity_cell", "A cell of --table.");
  field("context", cell.context, "tokens of a request");
  field("concurrency", cell.concurrency, "requests at once");
  field("fits", cell.fits, "whether they have room");
  field("cache_share", cell.cache_share, "of what is left for the cache");
}

void describe(auto& field, const ServingReport& report) {
  const auto& answer = report.answer;
  field.answer("serve", report.version,
               "Whether a server starts, what it carries, how fast it is and what tokens cost.");
  field("verdict", OneOf{verdict_of(answer.verdict).value, server_verdicts},
        "whether the engine starts with one request of the context");
  field("reason", Text{answer.reason}, "why it does not start");
  field("broken_limits", answer.broken_limits,
        "what the load asks and the server does not keep (exit 1); empty where it does");
  field("question", echoes(report.question), "the effective question, as in `fit`");
  field.object("engine", "its options", [&] { describe_engine(field, answer.deployment); });
  field("parameters", answer.parameters, "of the whole model");
  field.object("memory", "of the accelerator with least room", [&] { describe_memory(field, answer); });
  field.object("kv", "the cache there", [&] { describe_cache(field, answer); });
  field("capacity", answer.capacity, "what there is room for");
  field.object("load", "what was asked", [&] { describe_load(field, answer); });
  field.object("limits", "what the load is held to", [&] { describe_limits(field, answer); });
  field("speed", answer.speed, "null where it does not start, or layers stay in host memory");
  field("plans", report.plans, "of --find layout; null otherwise");
  field("advice", report.advice, "changes that help");
  field("cards", report.cards, "whether the usual cards take the whole load; empty where --gpu names one");
  field("found", report.found, "what --find compared");
  field("table", report.table, "of --table");
  field("launch", Text{report.launch}, "the command that starts the server; null where there is none");
  field("launch_notes", report.launch_notes,
        "what to put in it, or do beside it, before it starts anything; or why there is none");
  field("launched_with", Text{report.launched_with},
        "the first advice, which that command takes, where the server does not start or carry the load as asked");
  field("servers", report.servers, "that are started so, each on accelerators of its own");
  field("prefill_launch", Text{report.prefill_launch},
        "the command that starts those that read prompts for these; null where each reads its own");
  field("prefill_servers", report.prefill_servers, "that are started so");
  field("assumptions", sentences(report.assumptions), "what nobody said and the answer depends on");
  field("warnings", report.warnings, "what the caller should look at");
  field("notes", answer.notes, "what is not modelled");
}

}  // namespace llmcalc::render
