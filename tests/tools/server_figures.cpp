// What figures of a server's answer say of each other.
#include "tools/rule.hpp"

namespace llmcalc::test {

namespace {

/// Whether servers read their prompts themselves, and write.
bool is_whole(const json& answer) {
  return find(answer, "memory.prefill") == nullptr && at(answer, "speed.tokens_per_s_per_user") > 0.0;
}

bool writes(const json& answer) { return at(answer, "load.output") > 0.0; }

/// Whether as many requests are in flight at all times: the last ones of a number in all find few others.
bool is_steady(const json& answer) {
  const bool is_answered = answer.at("speed").is_object() && answer["speed"]["saturated"] == false;
  return is_answered && answer.at("load").at("num_prompts").is_null();
}

/// Whether it starts, with a cache: what only reads needs none.
bool has_cache(const json& answer) { return answer.at("verdict") == "fits" && at(answer, "kv.needed_bytes") > 0.0; }

/// Whether the whole model is read by the question's own servers, whose requests have nothing in common.
bool reads_all(const json& answer) {
  return is_whole(answer) && answer.at("question").at("shared_prefix").at("value") == "0";
}

/// Whether a cache in blocks is of one kind of layers, which see everything.
bool is_plain(const json& answer) {
  const json& groups = answer.at("kv").at("groups");
  return groups.size() == 1 && groups[0].at("kind") == "full" && at(answer, "kv.blocks") > 0.0;
}

/// Bytes of all layers of a plain cache in a block, where one rank has all: a token's are told of the first.
Figure block_of_all(const json& answer) {
  const bool is_one = answer.at("memory").at("ranks").empty() && answer.at("question").at("dcp").at("value") == "1";
  if (!is_plain(answer) || !is_one) return {};
  return *at(answer.at("kv").at("groups")[0], "page_bytes") * *at(answer.at("kv").at("groups")[0], "layers");
}

/// How far the rank that is told of is from the nearest of all.
Figure from_its_rank(const json& answer) {
  Figure least;
  for (const json& rank : answer.at("memory").at("ranks")) {
    const double apart = std::abs(*at(rank, "held_bytes") - *at(answer, "memory.held_bytes")) +
                         std::abs(*at(rank, "needed_bytes") - *at(answer, "kv.needed_bytes"));
    least = std::min(least.value_or(apart), apart);
  }
  return least;
}

bool starts(const json& answer) { return answer.at("verdict") == "fits"; }

/// Whether the cache is as large as there is room for, and not as somebody said.
bool fills_limit(const json& answer) {
  return starts(answer) && answer.at("question").at("kv_bytes").at("value").is_null();
}

/// Whether all prompts are as long as they are said to be, and experts are met by those of one rank.
bool are_alike(const json& answer) {
  const json& question = answer.at("question");
  return question.at("range_ratio").at("value").is_null() && question.at("attention_dp").at("value") == "1";
}

constexpr double per_million = 3600 / 1e6;  // tokens a second are so many millions an hour

}  // namespace

const std::vector<Rule>& of_servers() {
  using enum Order;
  static const std::vector<Rule> rules{
      {"parts are what is held", same, summed("memory.parts", "bytes"), figure("memory.held_bytes")},
      {"so are those of servers that read prompts", same, summed("memory.prefill.parts", "bytes"),
       figure("memory.prefill.held_bytes")},
      {"blocks hold the tokens", same, product(1.0, {"kv.blocks", "kv.block"}), where(is_plain, figure("kv.tokens"))},
      {"who runs and who waits are all", same, plus(figure("load.running"), figure("load.queued")),
       figure("load.concurrency")},
      {"no more run than there is room for", at_most, figure("load.running"), figure("capacity.max_concurrency")},
      {"a context that all have is none longer than that of one", at_most,
       figure("capacity.max_context_at_concurrency"), figure("capacity.max_context")},
      {"a request is its first token and all later ones", same,
       plus(figure("speed.ttft_s"), tokens_of("load.output", {"speed.tpot_s"})),
       where(writes, figure("speed.request_s"))},
      {"by Little's law", same, product(1.0, {"speed.requests_per_s", "speed.request_s"}),
       where(is_steady, figure("speed.concurrency"))},
      {"who is worked on and who waits are in flight", same, plus(figure("speed.running"), figure("speed.queued")),
       where(is_whole, figure("speed.concurrency"))},
      {"each request has its output", same, tokens_of("load.output", {"speed.requests_per_s"}),
       figure("speed.tokens_per_s")},
      {"a user reads a token at a time", same, product(1.0, {"speed.tokens_per_s_per_user", "speed.tpot_s"}),
       where(is_whole, product(1.0, {}))},
      {"parts are the step", same, summed("speed.parts", "seconds"), figure("speed.decode_step_s")},
      {"waiting for room is a part of the first token", at_most, figure("speed.admission_s"), figure("speed.ttft_s")},
      {"so is the way of a cache", at_most, figure("speed.handover_s"), figure("speed.ttft_s")},
      {"an hour is what its tokens cost", same,
       product(per_million, {"speed.cost.output_with_prompts_usd_per_million", "speed.tokens_per_s"}),
       figure("speed.cost.usd_per_hour")},
      {"prompts and output cost what both do", same,
       tokens_of("load.output", {"speed.cost.output_with_prompts_usd_per_million"}),
       plus(tokens_of("load.prompt", {"speed.cost.input_usd_per_million"}),
            tokens_of("load.output", {"speed.cost.output_usd_per_million"}))},
      {"an accelerator answers its part", same, of_all_gpus({"speed.tokens_per_s_per_gpu"}),
       figure("speed.tokens_per_s")},
      {"each request has its prompt", same, tokens_of("load.prompt", {"speed.requests_per_s"}),
       where(reads_all, figure("speed.prompt_tokens_per_s"))},
      {"a request of the context has room", at_most, where(has_cache, figure("kv.needed_bytes")), figure("kv.bytes")},
      {"parts and cache are within the limit", at_most,
       where(fills_limit, plus(figure("memory.held_bytes"), figure("kv.bytes"))), figure("memory.limit_bytes")},
      {"and on the accelerator", at_most, where(starts, plus(figure("memory.held_bytes"), figure("kv.bytes"))),
       figure("memory.capacity_bytes")},
      {"the limit is within the accelerator", at_most, where(has_cache, figure("memory.limit_bytes")),
       figure("memory.capacity_bytes")},
      {"the tightest rank is one of them", same, from_its_rank, product(0.0, {})},
      {"a block holds its tokens in all layers", same, product(1.0, {"kv.bytes_per_token", "kv.block"}), block_of_all},
      {"a prompt alone is a part of the first token", at_most, where(are_alike, figure("speed.prefill_s")),
       figure("speed.ttft_s")},
      {"tokens of half of the requests come no later than of most", at_most, figure("speed.tail.tpot.p50_s"),
       figure("speed.tail.tpot.p95_s")},
      {"and of most no later than of nearly all", at_most, figure("speed.tail.tpot.p95_s"),
       figure("speed.tail.tpot.p99_s")},
      {"half of the requests wait no longer than most", at_most, figure("speed.tail.ttft.p50_s"),
       figure("speed.tail.ttft.p95_s")},
      {"most wait no longer than nearly all", at_most, figure("speed.tail.ttft.p95_s"),
       figure("speed.tail.ttft.p99_s")},
  };
  return rules;
}

}  // namespace llmcalc::test
