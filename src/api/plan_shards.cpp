#include "api/inner/plan_shards.hpp"

#include "frameworks/layout_rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace llmcalc::api {
namespace {

using search::Choice;
using search::Findings;
using search::PlannedRun;
using Json = nlohmann::ordered_json;
using quantity::BadInput;

constexpr std::string_view kind = "llmcalc plan part";

template <class T>
Json cell(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else {
    return value;
  }
}

Json write(const Choice& choice) {
  return std::apply([](const auto&... values) { return Json::array({cell(values)...}); }, search::chosen(choice));
}

Json write(const PlannedRun& run) {
  Json json{{"choice", write(run.choice)},
            {"bytes", quantity::in_bytes(run.memory)},
            {"step", quantity::in_seconds(run.step)},
            {"total", quantity::in_seconds(run.total)}};
  if (run.cost) json["cost"] = quantity::in_dollars(*run.cost);
  if (run.energy) json["energy"] = quantity::in_kilowatt_hours(*run.energy);
  return json;
}

Json write(const std::vector<PlannedRun>& runs) {
  Json json = Json::array();
  for (const PlannedRun& run : runs) json.push_back(write(run));
  return json;
}

template <class Enum>
Enum enum_of(const Json& json) {
  const auto value = static_cast<Enum>(json.get<int>());
  if (quantity::contains(spec::vocabulary<Enum>(), value, &spec::Named<Enum>::value)) return value;
  throw BadInput("--merge", "a part has a word number " + json.dump() + ", which there is not");
}

constexpr std::int64_t most_shards = 1'000'000;

Shard read_shard(const Json& json) {
  const Shard shard{json.at(0), json.at(1)};
  if (shard.of >= 1 && shard.of <= most_shards && shard.index >= 0 && shard.index < shard.of) return shard;
  throw BadInput("--merge", "there is no part " + json.dump());
}

template <class T>
void read_cell(const Json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = enum_of<T>(json);
  } else {
    json.get_to(value);
  }
}

/// What was chosen; the rest of the layout is the base's, which a part does not repeat.
Choice read_choice(const Json& json) {
  Choice choice;
  std::size_t i = 0;
  std::apply([&](auto&... values) { (read_cell(json.at(i++), values), ...); }, search::chosen(choice));
  return choice;
}

std::vector<PlannedRun> read_runs(const Json& json) {
  std::vector<PlannedRun> runs;
  for (const Json& item : json) {
    PlannedRun run;
    run.choice = read_choice(item.at("choice"));
    run.memory = quantity::bytes(item.at("bytes"));
    run.step = quantity::seconds(item.at("step"));
    run.total = quantity::seconds(item.at("total"));
    if (item.contains("cost")) run.cost = quantity::dollars(item.at("cost"));
    if (item.contains("energy")) run.energy = quantity::kilowatt_hours(item.at("energy"));
    runs.push_back(run);
  }
  return runs;
}

/// Everything that makes the question, so that two parts can be told to be of one.
Json write_question(const PlanOptions& options) {
  Json words = Json::array();
  for (const auto& word : options.words) words.push_back({word.term, word.text});
  Json question{{"words", words}, {"objective", word_of(options.objective)}, {"strict", options.strict}};
  question["top"] = options.best;
  if (options.limits.memory) question["max_memory"] = quantity::in_bytes(*options.limits.memory);
  if (options.limits.time) question["max_seconds"] = quantity::in_seconds(*options.limits.time);
  if (options.limits.cost) question["max_dollars"] = quantity::in_dollars(*options.limits.cost);
  return question;
}

void read_question(const Json& question, PlanOptions& options) {
  for (const Json& word : question.at("words")) {
    const std::string term = word.at(0);
    options.words.push_back({term, word.at(1), {read::Source::flag, "--" + read::option_name(term)}});
  }
  options.objective = objective_of(question.at("objective").get<std::string>());
  options.strict = question.at("strict");
  options.best = question.at("top");
  if (question.contains("max_memory")) options.limits.memory = quantity::bytes(question["max_memory"]);
  if (question.contains("max_seconds")) options.limits.time = quantity::seconds(question["max_seconds"]);
  if (question.contains("max_dollars")) options.limits.cost = quantity::dollars(question["max_dollars"]);
}

struct ShardPart {
  Json question;
  Shard shard;
  Findings findings;
};

ShardPart read_part(const std::string& file, const Surroundings& around) try {
  const Json json = Json::parse(around.text(file, "--merge"));
  if (json.at("kind") != kind) throw BadInput(file, "is no part of a plan");
  ShardPart part{json.at("question"), read_shard(json.at("shard")), {}};
  part.findings.looked_at = json.at("looked_at");
  part.findings.fitting = json.at("fitting");
  part.findings.unanswered = json.at("unanswered");
  part.findings.obstacle = json.at("obstacle");
  part.findings.best = read_runs(json.at("best"));
  part.findings.each = read_runs(json.at("each"));
  part.findings.front = read_runs(json.at("front"));
  return part;
} catch (const Json::exception& error) {
  throw BadInput(file, std::string("is no part of a plan: ") + error.what(), "made by llmcalc plan --shard i/n");
}

void check_complete(const std::vector<ShardPart>& parts, const std::vector<std::string>& files) {
  const std::int64_t of = parts.front().shard.of;
  std::vector<bool> seen(static_cast<std::size_t>(of));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].question != parts.front().question || parts[i].shard.of != of) {
      throw BadInput(files[i], "is a part of another search than " + files.front());
    }
    const auto index = static_cast<std::size_t>(parts[i].shard.index);
    if (seen[index]) throw BadInput(files[i], "is part " + std::to_string(index) + ", which was there before");
    seen[index] = true;
  }
  const auto missing = std::ranges::find(seen, false) - seen.begin();
  if (missing < of) {
    throw BadInput("--merge", "part " + std::to_string(missing) + " of " + std::to_string(of) + " is missing");
  }
}

template <class T>
bool is_degree(const T& value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return value >= 1 && value <= std::numeric_limits<std::int32_t>::max();
  } else {
    return true;
  }
}

/// A layout that a search of the space could have found.
bool is_in(const search::PlanSpace& space, const Choice& choice) {
  const bool counted =
      std::apply([](const auto&... values) { return (is_degree(values) && ...); }, search::chosen(choice));
  if (!counted || choice.recompute >= space.recomputes().size()) return false;
  const spec::Question q = space.question_of(choice);
  const spec::Layout& l = q.layout;
  const bool spread = quantity::product(l.tp, l.pp) <= l.gpus && quantity::product(l.cp, l.dp) <= l.gpus &&
                      quantity::product(l.tp * l.pp, l.cp * l.dp) == l.gpus;
  const bool batched = q.training.global_batch % quantity::product(l.dp, choice.micro_batch) == 0;
  return spread && batched && frameworks::broken_rule({q.model.shape, q.training, l}) == nullptr;
}

/// A choice of a part in the layout of its base.
Choice in_base(const search::PlanSpace& space, const Choice& told) {
  const BadInput unknown("--merge", "a part holds a layout that the search does not have");
  const auto& bases = space.question().bases;
  if (told.base >= bases.size()) throw unknown;
  Choice whole = told;
  whole.layout = bases[told.base].layout;
  search::chosen(whole) = search::chosen(told);
  if (!is_in(space, whole)) throw unknown;
  return whole;
}

}  // namespace

std::string to_part(const PlanOptions& options, const Findings& findings) {
  const Json json{{"kind", kind},
                  {"question", write_question(options)},
                  {"shard", {options.pool.shard.index, options.pool.shard.of}},
                  {"looked_at", findings.looked_at},
                  {"fitting", findings.fitting},
                  {"unanswered", findings.unanswered},
                  {"obstacle", findings.obstacle},
                  {"best", write(findings.best)},
                  {"each", write(findings.each)},
                  {"front", write(findings.front)}};
  return json.dump() + "\n";
}

Parts read_parts(const PlanOptions& options, const Surroundings& around) {
  std::vector<ShardPart> read;
  for (const auto& file : options.merged) read.push_back(read_part(file, around));
  check_complete(read, options.merged);
  Parts parts{options, {}};
  parts.options.words.clear();
  read_question(read.front().question, parts.options);
  for (auto& part : read) parts.findings.push_back(std::move(part.findings));
  return parts;
}

search::Findings merged(const search::PlanSpace& space, const std::vector<Findings>& parts) {
  Findings all;
  for (Findings part : parts) {
    for (auto* runs : {&part.best, &part.each, &part.front}) {
      for (PlannedRun& run : *runs) run.choice = in_base(space, run.choice);
    }
    all = search::merge(space, all, part);
  }
  return all;
}

}  // namespace llmcalc::api
