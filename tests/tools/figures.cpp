#include "tools/figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>

namespace llmcalc::test {

namespace {

using nlohmann::json;
using Figure = std::optional<double>;

/// What is at a place such as "speed.cost.usd_per_hour"; nullptr where it or what it stands in is missing or null.
const json* find(const json& answer, std::string_view place) {
  const json* value = &answer;
  while (!place.empty()) {
    const auto end = std::min(place.find('.'), place.size());
    if (!value->is_object()) return nullptr;
    const auto member = value->find(std::string(place.substr(0, end)));
    if (member == value->end()) return nullptr;
    value = &*member;
    place.remove_prefix(std::min(end + 1, place.size()));
  }
  return value->is_null() ? nullptr : value;
}

Figure at(const json& answer, std::string_view place) {
  const json* value = find(answer, place);
  return value == nullptr ? Figure() : Figure(value->get<double>());
}

/// The number that a term of the question has.
double term(const json& answer, const char* name) {
  return std::stod(answer.at("question").at(name).at("value").get<std::string>());
}

enum class Order { same, at_most };

/// Two sides that are the same figure, found in two ways, or one of which is never above the other.
struct Rule {
  const char* said;
  Order order;
  std::function<Figure(const json&)> one, other;
};

/// Of the answer, a product of figures and of a number.
auto product(double factor, std::vector<const char*> places) {
  return [=](const json& answer) {
    Figure result = factor;
    for (const char* place : places) {
      const Figure figure = at(answer, place);
      if (!figure) return Figure();
      *result *= *figure;
    }
    return result;
  };
}

/// A product with a length that requests have in the mean, of which the longest is told.
auto tokens_of(const char* longest, std::vector<const char*> places) {
  places.push_back(longest);
  return [=](const json& answer) {
    const Figure figures = product(1.0, places)(answer);
    const json& ratio = answer.at("question").at("range_ratio").at("value");
    const double shortest = ratio.is_string() ? std::stod(ratio.get<std::string>()) : 1.0;
    if (!figures) return Figure();
    return at(answer, longest) == 1.0 ? figures : Figure(*figures * (1 + shortest) / 2);  // no text has less
  };
}

auto figure(const char* place) { return product(1.0, {place}); }

/// Of a member of each in a list; nothing where the list is empty or its parts are not told apart.
auto summed(const char* list, const char* member) {
  return [=](const json& answer) {
    const json* all = find(answer, list);
    if (all == nullptr || all->empty()) return Figure();
    double total = 0;
    for (const json& each : *all) total += each.at(member).get<double>();
    return total > 0 ? Figure(total) : Figure();
  };
}

/// The member of the one in a list that is called as it says elsewhere.
auto of_that(const char* list, const char* name, const char* said, const char* member) {
  return [=](const json& answer) {
    for (const json& each : *find(answer, list)) {
      if (each.at(name) == *find(answer, said)) return at(each, member);
    }
    return Figure();
  };
}

/// The largest of a member of each in a list.
auto highest(const char* list, const char* member) {
  return [=](const json& answer) {
    const json* all = find(answer, list);
    Figure most;
    for (const json& each : all == nullptr ? json::array() : *all) {
      most = std::max(most.value_or(0.0), each.at(member).get<double>());
    }
    return most;
  };
}

/// How far the parts of a moment are from it, of the one where they are furthest.
Figure apart(const json& answer) {
  double most = 0;
  for (const json& point : answer.at("memory").at("timeline")) {
    double left = point.at("allocated_bytes").get<double>();
    for (const auto& part : point.at("held_bytes")) left -= part.get<double>();
    most = std::max(most, std::abs(left));
  }
  return most;
}

/// A figure and a share of it, above or below.
auto with_share(const char* place, double sign, const char* share) {
  return [=](const json& answer) {
    const Figure whole = at(answer, place), part = at(answer, share);
    return whole && part ? Figure(*whole * (1 + sign * *part)) : Figure();
  };
}

/// A product with the accelerators of the question.
auto of_all_gpus(std::vector<const char*> places) {
  return [=](const json& answer) {
    const Figure one = product(1.0, places)(answer);
    return one ? Figure(*one * term(answer, "gpus")) : Figure();
  };
}

/// Both sides together.
auto plus(std::function<Figure(const json&)> one, std::function<Figure(const json&)> other) {
  return [=](const json& answer) {
    const Figure first = one(answer), second = other(answer);
    return first && second ? Figure(*first + *second) : Figure();
  };
}

/// The rule where something is the case.
auto where(bool (*holds)(const json&), std::function<Figure(const json&)> side) {
  return [=](const json& answer) { return holds(answer) ? side(answer) : Figure(); };
}

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

Figure flops_of(const json& answer, const char* id, const char* member) {
  for (const json& each : answer.at("compute").at("flops")) {
    if (each.at("id") == id) return at(each, member);
  }
  return {};
}

auto flops(const char* id, const char* member, double factor, std::vector<const char*> places) {
  return [=](const json& answer) {
    const Figure found = flops_of(answer, id, member), more = product(factor, places)(answer);
    return found && more ? Figure(*found * *more) : Figure();
  };
}

/// Of the accelerator's peak, by a way to count FLOP; nothing where it is not told.
auto rate_of(const char* id) { return flops(id, "utilization", 1.0, {"time.peak_flops_per_second"}); }
auto done_of(const char* id) { return flops(id, "per_token", 1.0, {"time.tokens_per_second_per_gpu"}); }

bool fits(const json& answer) { return answer.at("verdict") == "fits" || answer.at("verdict") == "tight"; }
bool has_stages(const json& answer) { return !answer.at("memory").at("stages").empty(); }

bool is_of_steps(const json& answer) {
  const json& phase = answer.at("memory").at("peak_phase");
  return phase != "evaluation" && phase != "checkpoint";
}

/// Whether a sequence of the data is one of the step: a preference has two.
bool is_of_sequences(const json& answer) { return answer.at("question").at("algorithm").at("value") == "sft"; }

/// Share of the wall time that t of training between two checkpoints keep (docs/time.md, goodput); of n segments the
/// last has its checkpoint as the run's result.
Figure kept(const json& answer) {
  const auto in = [&](const char* name) { return at(answer, std::string("time.goodput.") + name); };
  const Figure t = in("checkpoint_interval_seconds"), d = in("checkpoint_seconds"), m = in("mtbf_seconds"),
               r = in("restart_seconds"), useful = at(answer, "time.useful_seconds");
  if (!t || !d || !m || !r || !useful || at(answer, "time.goodput.share") == 0.0) return {};
  const double save = *d * (1 - *t / *useful);
  return *t / (*m * std::exp(*r / *m) * std::expm1((*t + save) / *m));
}

const std::vector<Rule>& of_runs() {
  using enum Order;
  static const std::vector<Rule> rules{
      {"what must fit is the need", same, figure("needed_bytes"), figure("memory.peak_needed_bytes")},
      {"what is likely is the need", same, figure("error_bar.likely_bytes"), figure("needed_bytes")},
      {"the bar reaches down by its share", same, with_share("needed_bytes", -1, "error_bar.share_below"),
       figure("error_bar.low_bytes")},
      {"and up by its other", same, with_share("needed_bytes", 1, "error_bar.share"), figure("error_bar.high_bytes")},
      {"need and headroom are the capacity", same, plus(figure("needed_bytes"), figure("headroom_bytes")),
       figure("capacity_bytes")},
      {"a token passes no more than there is", at_most, figure("model.parameters_active"),
       figure("model.parameters_total")},
      {"tables are parameters", at_most, figure("model.parameters_embedding"), figure("model.parameters_total")},
      {"what is offloaded is a part of what the host has", at_most, figure("memory.host_bytes"),
       summed("memory.host_ledger", "bytes")},
      {"the highest phase is the peak", same, highest("memory.phases", "allocated_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"and is that which is told", same, of_that("memory.phases", "phase", "memory.peak_phase", "allocated_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"stages are counted from 0", same, highest("memory.stages", "stage"),
       where(has_stages, [](const json& answer) { return Figure(term(answer, "pp") - 1); })},
      {"what the driver shows of a run that fits is within the card", at_most,
       where(fits, figure("memory.peak_device_bytes")), figure("capacity_bytes")},
      {"no moment is above the peak", at_most, highest("memory.timeline", "allocated_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"what a moment holds is held for something", same, apart, product(0.0, {})},
      {"no stage peaks higher than the highest", at_most, where(is_of_steps, figure("memory.peak_allocated_bytes")),
       highest("memory.stages", "peak_allocated_bytes")},
      {"all work of the hardware", same, flops("hardware", "per_token", 1.0, {"compute.tokens"}),
       flops("hardware", "total", 1.0, {})},
      {"and with a full square", same, flops("full_square", "per_token", 1.0, {"compute.tokens"}),
       flops("full_square", "total", 1.0, {})},
      {"utilization is that of the model's work", same, flops("model", "utilization", 1.0, {}), figure("time.mfu")},
      {"and of other countings of theirs", same, rate_of("hardware"), done_of("hardware")},
      {"with the whole square too", same, rate_of("full_square"), done_of("full_square")},
      {"and of six FLOP a parameter", same, rate_of("six_pd"), done_of("six_pd")},
      {"all tokens are seen in the useful time", same,
       of_all_gpus({"time.tokens_per_second_per_gpu", "time.useful_seconds"}),
       where(is_of_sequences, figure("compute.tokens"))},
      {"a slow host makes the bar no shorter", at_most, figure("time.step_error_bar"),
       figure("time.step_error_bar_above")},
      {"what is kept follows from failures, checkpoints and restarts", same, kept, figure("time.goodput.share")},
      {"failures come in the wall time", same, product(1.0, {"time.goodput.failures", "time.goodput.mtbf_seconds"}),
       figure("time.total_seconds")},
      {"what rests is no more than the peak", at_most, figure("memory.persistent_bytes"),
       figure("memory.peak_allocated_bytes")},
      {"allocated is reserved", at_most, figure("memory.peak_allocated_bytes"), figure("memory.peak_reserved_bytes")},
      {"reserved is shown by the driver", at_most, figure("memory.peak_reserved_bytes"),
       figure("memory.peak_device_bytes")},
      {"a rank's host is one of its machine's", at_most, figure("memory.host_bytes"),
       figure("memory.host_needed_bytes")},
      {"a run is its tokens", same, flops("model", "per_token", 1.0, {"compute.tokens"}),
       flops("model", "total", 1.0, {})},
      {"a day is 8.64e19 FLOP", same, product(8.64e19, {"compute.pflop_days"}), flops("six_pd", "total", 1.0, {})},
      {"six FLOP a parameter and token", same, flops("six_pd", "per_token", 1.0, {}),
       product(6.0, {"model.parameters_active"})},
      {"recomputation is no less work", at_most, flops("model", "per_token", 1.0, {}),
       flops("hardware", "per_token", 1.0, {})},
      {"the square is no less than what is below the mask", at_most, flops("model", "per_token", 1.0, {}),
       flops("full_square", "per_token", 1.0, {})},
      {"utilization is of the peak", same, flops("model", "per_token", 1.0, {"time.tokens_per_second_per_gpu"}),
       product(1.0, {"time.mfu", "time.peak_flops_per_second"})},
      {"parts are the step", same, summed("time.step_parts", "seconds"), figure("time.step_seconds")},
      {"shares are of the step", same, summed("time.step_parts", "share"), product(1.0, {})},
      {"useful is a share of the wall", same, product(1.0, {"time.total_seconds", "time.goodput.share"}),
       figure("time.useful_seconds")},
      {"hours are of all accelerators", same,
       [](const json& answer) {
         const Figure total = at(answer, "time.total_seconds");
         return total ? Figure(*total * term(answer, "gpus") / 3600) : Figure();
       },
       figure("time.gpu_hours")},
      {"hours have a price", same, product(1.0, {"time.gpu_hours", "time.price_usd_per_gpu_hour"}),
       figure("time.cost_usd")},
      {"hours draw power", same, product(1e-3, {"time.gpu_hours", "time.energy.power_watts", "time.energy.pue"}),
       figure("time.energy.kilowatt_hours")},
      {"energy emits", same, product(1e-3, {"time.energy.kilowatt_hours", "time.carbon.grams_per_kilowatt_hour"}),
       figure("time.carbon.kilograms_co2e")},
  };
  return rules;
}

}  // namespace

std::vector<std::string> disagreements(std::string_view verb, const json& answer) {
  constexpr double rounding = 1e-6;
  std::vector<std::string> broken;
  if (verb != "fit" && verb != "serve") return broken;
  for (const Rule& rule : verb == "fit" ? of_runs() : of_servers()) {
    const Figure one = rule.one(answer), other = rule.other(answer);
    if (!one || !other) continue;
    const double above = *one - *other, borne = rounding * std::abs(*other);
    if (rule.order == Order::same ? std::abs(above) <= borne : above <= borne) continue;
    broken.push_back(std::string(rule.said) + ": " + std::to_string(*one) + " and " + std::to_string(*other));
  }
  return broken;
}

}  // namespace llmcalc::test
