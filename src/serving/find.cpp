#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"
#include "serving/speed.hpp"
#include "spec/cut.hpp"
#include "spec/load.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace llmcalc::serving {

using formats::Quant;
using spec::Engine;
using spec::Question;

bool carries(const Deployment& deployment, const Capacity& capacity) {
  const Question& question = deployment.question;
  const auto& load = question.serving.load;
  const Demand alone{capacity.context, 1};
  const auto rank = tightest_rank(deployment, alone);
  if (!starts(rank) || !beyond_memory(deployment, rank).empty()) return false;
  if (deployment.prefill && !starts(tightest_rank(*deployment.prefill, alone))) return false;
  if (!load.rate && capacity.max_concurrency < load.concurrency) return false;
  if (!question.gpu || !(load.rate || is_limited(load))) return true;
  const auto speed = speed_of(deployment);
  return speed && keeps_limits(load, *speed);
}

Candidate weigh(const Question& question, std::string change, std::string cost) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  return {std::move(change),           std::move(cost),          capacity.max_concurrency > 0,
          capacity.max_context,        capacity.max_concurrency, carries(deployment, capacity),
          leaves_by_itself(deployment)};
}

std::pair<Question, std::string> with_context(Question question, std::int64_t context) {
  auto& load = question.serving.load;
  std::string words = fmt::format("--context {}", context);
  load.context = context;
  if (!load.lengths_said) {
    spec::share_context(load);
  } else if (load.prompt + load.output > context) {
    load.output = std::min(load.output, context / 2);
    load.prompt = std::min(load.prompt, context - load.output);
    words += fmt::format(" --prompt {} --output {}", load.prompt, load.output);
  }
  return {std::move(question), std::move(words)};
}

Question copied(Question question, const Copies& copies) {
  const auto [tp, count, readers, pp] = copies;
  spec::Layout& layout = question.layout;
  if (spec::reads_gguf(question.serving.engine)) {
    layout = {};
    layout.dp = count;
    layout.gpus = quantity::product(count, tp);
    return question;
  }
  auto& serving = question.serving.layout;
  if (tp != layout.tp) {
    const bool whole = layout.ep > 1 && layout.etp == 1;
    const std::int64_t ranks = quantity::product(tp, serving.attention_dp);
    layout.tp = tp;
    if (layout.ep == 1) spec::share_experts(question);
    if (whole) layout.ep = ranks;
    layout.etp = ranks / layout.ep;
    serving.expert_tp = layout.etp;
  }
  layout.pp = pp;
  layout.dp = count;
  serving.prefill_servers = readers;
  const std::int64_t ranks = count * tp + readers * serving.prefill_tp.value_or(tp);
  layout.gpus = quantity::product(ranks, layout.pp, serving.attention_dp);
  layout.nodes = spec::usual_nodes(layout.gpus, spec::accelerators_per_node(question.gpu));
  return question;
}

std::string layout_words(const Question& changed, const Question& asked) {
  std::string words;
  const auto add = [&](std::string_view option, std::int64_t value, std::int64_t before) {
    if (value > 1 || before > 1) words += fmt::format(" --{} {}", option, value);
  };
  const bool has_ranks = !spec::reads_gguf(changed.serving.engine);
  if (has_ranks) words += fmt::format(" --tp {}", changed.layout.tp);
  if (!has_ranks) add("copies", changed.layout.dp, asked.layout.dp);
  add("pp", changed.layout.pp, asked.layout.pp);
  const auto& [now, before] = std::tie(changed.serving.layout, asked.serving.layout);
  add("attention-dp", now.attention_dp, before.attention_dp);
  add("ep", changed.layout.ep, asked.layout.ep);
  if (now.prefill_servers > 0) words += fmt::format(" --prefill-servers {}", now.prefill_servers);
  return words;
}

bool can_cut(const Question& question, std::int64_t tp) {
  return !spec::server_conflict(copied(question, {tp, 1, 0, 1}));
}

namespace {

constexpr Quant torch_ladder[] = {Quant::bf16, Quant::fp8, Quant::awq};
constexpr Quant ggml_ladder[] = {Quant::f16,    Quant::q8_0,   Quant::q6_k, Quant::q5_k_m,
                                 Quant::q4_k_m, Quant::q3_k_m, Quant::q2_k};

double bits_a_weight(Quant quant) {
  constexpr std::int64_t width = 4096;
  const formats::QuantFacts& facts = formats::facts(quant);
  const auto elements = quantity::product(width, width);
  const quantity::Bytes whole = facts.base ? formats::storage_bytes(*facts.base, elements)
                                           : formats::storage_bytes(facts, width, width, facts.group);
  return 8.0 * static_cast<double>(quantity::in_bytes(whole)) / static_cast<double>(elements);
}

/// "mxfp4" of checkpoints is "mxfp4_moe" of files.
bool is_named_alike(Quant one, Quant other) {
  const auto &a = spec::name_of(one), &b = spec::name_of(other);
  return a.starts_with(b) || b.starts_with(a);
}

}  // namespace

std::span<const Quant> ladder(Engine engine) {
  if (spec::reads_gguf(engine)) return ggml_ladder;
  return torch_ladder;
}

Quant nearest(const EngineRow& row, Quant asked) {
  if (row.runs(asked)) return asked;
  const auto* alike = quantity::find_if_or_null(formats::all_quants(), [&](const formats::QuantFacts& each) {
    return row.runs(each.quant) && is_named_alike(each.quant, asked);
  });
  if (alike != nullptr) return alike->quant;
  const auto apart = [&](Quant each) { return std::abs(bits_a_weight(each) - bits_a_weight(asked)); };
  return *std::ranges::min_element(ladder(row.engine), {}, apart);
}

namespace {

/// Whether a search counts what an engine would leave to the host by itself: only where the cards alone carry nothing.
enum class Room { cards, cards_and_host };

bool has_room(const Deployment& deployment, Room room) {
  return room == Room::cards_and_host || !leaves_by_itself(deployment);
}

Candidate present(const Question& question, std::string change, Room room = Room::cards_and_host) {
  Candidate candidate = weigh(question, std::move(change), {});
  candidate.carries = candidate.carries && (room == Room::cards_and_host || !candidate.uses_host);
  return candidate;
}

/// More requests at once make a token cheaper, and more copies dearer: a search by their number asks how soon tokens
/// come alone, and what it finds is held to its costs.
Question without_costs(Question question) {
  question.serving.load.hour_cost.reset();
  question.serving.load.token_cost.reset();
  return question;
}

/// The most that is kept of both, the cache's room and the limits of the load.
std::vector<Candidate> find_concurrency(const Question& question, const Capacity& capacity) {
  Question changed = without_costs(question);
  changed.serving.load.rate.reset();
  const auto keeps = [&](std::int64_t n) {
    changed.serving.load.concurrency = n;
    const Deployment deployment = deploy(changed);
    return carries(deployment, capacity_of(deployment));
  };
  if (capacity.max_concurrency < 1) return {};
  const std::int64_t most = std::max<std::int64_t>(largest(capacity.max_concurrency, keeps), 1);
  changed = question;
  changed.serving.load.rate.reset();
  changed.serving.load.concurrency = most;
  return {present(changed, fmt::format("--concurrency {}", most))};
}

std::vector<Candidate> find_context(const Question& question, const Capacity& capacity, Room room) {
  if (capacity.shared_context < 1) return {};
  Question changed = question;
  const auto leaves_enough = [&](std::int64_t context) {
    changed.serving.load.context = context;
    const Deployment deployment = deploy(changed);
    return has_room(deployment, room) && beyond_memory(deployment, tightest_rank(deployment, {context, 1})).empty();
  };
  const auto longest = largest(capacity.shared_context, leaves_enough);
  const auto [found, said] = with_context(question, longest > 0 ? longest : capacity.shared_context);
  return {present(found, said, room)};
}

/// Ranks that one layer can be cut over, or cards that layers are spread over. Pipelines and ranks of experts stay as
/// they were said.
std::vector<std::int64_t> widths_of(const Question& question) {
  const spec::Layout& layout = question.layout;
  if (layout.pp > 1 || layout.ep > 1 || question.serving.layout.attention_dp > 1) return {layout.tp};
  const bool has_ranks = !spec::reads_gguf(question.serving.engine);
  std::vector<std::int64_t> widths;
  constexpr std::int64_t most = 64;
  const std::int64_t joined = std::min(most, spec::accelerators_per_node(question.gpu));
  for (std::int64_t tp = 1; tp <= joined; tp *= 2) {
    const bool goes = has_ranks ? can_cut(question, tp) : tp <= question.model.layer_count();
    if (goes) widths.push_back(tp);
  }
  if (widths.empty()) widths.push_back(layout.tp);
  return widths;
}

/// As few as carry the load; one where none do. \param carry  whether so many do
template <class Carry>
std::int64_t fewest(std::int64_t limit, const Carry& carry) {
  const std::int64_t failing = largest(limit, [&](std::int64_t n) { return !carry(n); });
  return failing == limit ? 1 : failing + 1;
}

/// Copies of one width: those with as many servers that read prompts as there may be, then the fewest of those.
Copies fewest_copies(const Question& question, std::int64_t tp, std::int64_t limit, Room room) {
  const auto carry = [&](const Copies& copies) {
    const Deployment deployment = deploy(copied(question, copies));
    return has_room(deployment, room) && carries(deployment, capacity_of(deployment));
  };
  Copies copies{tp, 1, question.serving.layout.prefill_servers > 0 ? limit : 0, question.layout.pp};
  copies.count = fewest(limit, [&](std::int64_t n) { return carry({tp, n, copies.readers, copies.pp}); });
  if (copies.readers > 0)
    copies.readers = fewest(limit, [&](std::int64_t n) { return carry({tp, copies.count, n, copies.pp}); });
  return copies;
}

std::vector<Candidate> find_gpus(const Question& question, Room room) {
  constexpr std::int64_t most = 1024;
  std::vector<std::pair<std::int64_t, Candidate>> found;
  for (const std::int64_t tp : widths_of(question)) {
    const Copies copies = fewest_copies(without_costs(question), tp, most / tp, room);
    const Question changed = copied(question, copies);
    const std::int64_t gpus = changed.layout.gpus;
    found.emplace_back(gpus, present(changed, fmt::format("--gpus {}{}", gpus, layout_words(changed, question)), room));
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return std::pair(!one.second.carries, one.first); });
  return quantity::mapped(found, [](const auto& one) { return one.second; });
}

std::vector<Candidate> find_quant(const Question& question, Room room) {
  std::vector<Candidate> found;
  for (const Quant quant : ladder(question.serving.engine)) {
    Question changed = question;
    changed.serving.quant = quant;
    found.push_back(present(changed, fmt::format("--quant {}", spec::name_of(quant)), room));
    if (found.back().carries) break;
  }
  return found;
}

using Typed = std::function<std::optional<Question>(const std::string& change)>;

/// Each that has all the options that were said, with weights that it can run: the question's own, or the nearest of
/// its kind.
std::vector<Candidate> find_engine(const Question& question, Room room, const Typed& typed) {
  std::vector<Candidate> found;
  for (const EngineRow& row : all_engines()) {
    const Quant quant = nearest(row, question.serving.quant);
    auto change = fmt::format("--engine {} --quant {}", spec::name_of(row.engine), spec::name_of(quant));
    if (const auto changed = typed(change)) found.push_back(present(*changed, std::move(change), room));
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const Candidate& each) { return std::pair(each.carries, each.max_concurrency); });
  return found;
}

std::vector<Candidate> find_in(Room room, const Question& question, Find what, const Typed& typed) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  switch (what) {
    case Find::concurrency: return find_concurrency(question, capacity);
    case Find::context: return find_context(question, capacity, room);
    case Find::gpus: return find_gpus(question, room);
    case Find::quant: return find_quant(question, room);
    case Find::engine: break;
  }
  return find_engine(question, room, typed);
}

}  // namespace

std::vector<Candidate> find(const Question& question, Find what, const Typed& typed) {
  auto found = find_in(Room::cards, question, what, typed);
  const bool any_carries = std::ranges::any_of(found, &Candidate::carries);
  const bool may_move = deploy(question).setup.moves != Moves::nothing || what == Find::engine;
  return any_carries || !may_move ? found : find_in(Room::cards_and_host, question, what, typed);
}

std::vector<CapacityCell> capacity_cells(const Question& question) {
  const Deployment deployment = deploy(question);
  const Capacity capacity = capacity_of(deployment);
  constexpr std::int64_t shortest = 1024;
  constexpr std::int64_t most_requests = 256;
  std::vector<CapacityCell> cells;
  for (std::int64_t context = shortest; context / 2 < capacity.max_context; context *= 2) {
    const std::int64_t length = std::min(context, capacity.max_context);
    for (std::int64_t requests = 1; requests <= most_requests; requests *= 2) {
      const auto memory = tightest_rank(deployment, {length, sequences_of_rank(question, requests)});
      const double share = memory.pool > quantity::bytes(0) ? memory.needed / memory.pool : 0.0;
      cells.push_back({length, requests, memory.fits(), share});
    }
  }
  return cells;
}

std::vector<CardAnswer> ask_cards(const Question& question, const std::vector<spec::Accelerator>& cards) {
  std::vector<CardAnswer> answers;
  Question changed = question;
  const std::int64_t context = deploy(question).setup.context;
  for (const spec::Accelerator& gpu : cards) {
    changed.gpu = gpu;
    const Deployment deployment = deploy(changed);
    const auto requests = question.serving.load.concurrency;
    answers.push_back({gpu.id, fits(deployment, std::max(deployment.setup.context, context), requests)});
  }
  return answers;
}

}  // namespace llmcalc::serving
