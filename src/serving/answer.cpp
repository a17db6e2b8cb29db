#include "serving/answer.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/count.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "serving/forward.hpp"
#include "serving/inner/engines.hpp"
#include "serving/inner/pace.hpp"
#include "spec/load.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"
#include "timing/kernels.hpp"

#include <fmt/format.h>

#include <variant>

namespace llmcalc::serving {

using quantity::Bytes;

namespace {

/// vLLM v1/worker/utils.py, request_memory: it refuses to start where others have taken what it would ask for.
bool finds_too_little(const RankMemory& memory) { return memory.limit > memory.capacity; }

/// A cache whose size was said is not cut to what is left.
bool sets_too_much_aside(const RankMemory& memory) { return memory.held() + memory.pool > memory.capacity; }

}  // namespace

bool starts(const RankMemory& memory) {
  return memory.fits() && !finds_too_little(memory) && !sets_too_much_aside(memory);
}

namespace {

/// The smallest share with which one request of the context would start, in thousandths: of what it is a share is the
/// engine's business, so the engine is asked.
std::string smallest_fraction(const Deployment& deployment) {
  if (!reserves(deployment)) return {};
  Deployment changed = deployment;
  const auto memory_at = [&](int thousandths) {
    changed.setup.memory_fraction = thousandths / 1000.0;
    return tightest_rank(changed, {changed.setup.context, 1});
  };
  int low = 0;
  int high = 999;
  if (!memory_at(high).fits()) return {};
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (memory_at(middle).fits() ? high : low) = middle;
  }
  if (!starts(memory_at(high))) return {};
  return fmt::format("; --memory-fraction {:.3f} would do", high / 1000.0);
}

std::string reason_of(const Deployment& deployment, const RankMemory& memory) {
  if (finds_too_little(memory)) {
    return fmt::format("free memory: {} asked for, {} free", quantity::format_gib(memory.limit),
                       quantity::format_gib(memory.capacity));
  }
  if (!memory.hosted) {
    const auto room = spec::host_capacity_of(deployment.question).value_or(quantity::bytes(0));
    return fmt::format("what is left to the host takes {} of the {} of its memory (--host-memory)",
                       quantity::format_gib(memory.host), quantity::format_gib(room));
  }
  if (memory.pool <= quantity::bytes(0)) {
    return fmt::format("weights and what stands beside them leave no room for the cache: {} of {}",
                       quantity::format_gib(memory.held()), quantity::format_gib(memory.limit));
  }
  if (memory.fits()) {
    return fmt::format("a cache of {} beside {}, of {}", quantity::format_gib(memory.pool),
                       quantity::format_gib(memory.held()), quantity::format_gib(memory.capacity));
  }
  return fmt::format("one request of {} tokens needs {} of cache, {} are left", deployment.setup.context,
                     quantity::format_gib(memory.needed), quantity::format_gib(memory.pool));
}

/// "it answers 20.7 of 500 requests a second", "the first token comes after 1.2 s, not within 1 s"
void add_broken(const spec::Load& load, const Speed& speed, std::vector<std::string>& broken) {
  const auto add_cost = [&](std::string_view what, const auto& costs, const auto& limit) {
    if (!limit || *costs <= *limit) return;
    broken.push_back(
        fmt::format("{} {}, not {}", what, quantity::format_money(*costs), quantity::format_money(*limit)));
  };
  add_cost("an hour costs", speed.cost.hour, load.hour_cost);
  add_cost("a million tokens cost", speed.cost.all, load.token_cost);
  const auto add = [&](std::string_view what, quantity::Seconds takes, const std::optional<quantity::Seconds>& limit) {
    if (!limit || takes <= *limit) return;
    broken.push_back(fmt::format("{} after {}, not within {}", what, quantity::format_duration(takes),
                                 quantity::format_duration(*limit)));
  };
  if (speed.saturated) {  // a first token comes ever later
    broken.push_back(fmt::format("it answers {} of {} a second", quantity::format_number(speed.requests_per_s, 3),
                                 quantity::format_counted(*load.rate, "request")));
  } else {
    add("the first token comes", speed.ttft, load.ttft);
  }
  add("each later one", speed.tpot, load.tpot);
  if (!speed.tail) return;
  add("the first token of 95 in 100 comes", speed.tail->ttft.p95, load.ttft_p95);
  add("each later one of 95 in 100", speed.tail->tpot.p95, load.tpot_p95);
}

/// A limit of what is not known cannot be held.
void check_limits(const spec::Question& question) {
  const spec::Load& load = question.serving.load;
  const auto require = [&](bool is_limited, bool is_known, const char* option, const char* why, const char* hint) {
    if (is_limited && !is_known) throw quantity::BadInput(option, why, hint);
  };
  constexpr const char* no_card = "there is no accelerator whose hours cost anything";
  const bool has_card = question.gpu.has_value();
  const auto* why = has_card ? "the accelerator's price is not known" : no_card;
  const auto* hint = has_card ? "say it with --price" : "name one with --gpu";
  const bool is_priced = has_card && price_of(question);
  require(load.hour_cost.has_value(), is_priced, "--max-cost-per-hour", why, hint);
  require(load.token_cost.has_value(), is_priced, "--max-cost-per-million", why, hint);
  require(load.token_cost.has_value(), load.output > 0, "--max-cost-per-million", "no token is written",
          "see --output");
  require(question.pricing.host_memory.has_value(), spec::reads_gguf(question.serving.engine), "--host-memory",
          "this engine leaves nothing of a model to its machine's memory", "llama.cpp and Ollama do");
  const bool has_memory = has_card || question.pricing.memory;
  const auto* no_memory = "there is no accelerator whose memory is taken";
  require(load.memory.memory.has_value(), has_memory, "--max-memory", no_memory, "name one with --gpu");
  require(load.memory.margin || load.memory.margin_share, has_memory, "--margin", no_memory, "name one with --gpu");
}

void judge(ServingAnswer& answer) {
  if (total_memory(answer.deployment.question) == quantity::bytes(0)) return;
  const auto why_not = [](const Deployment& deployment, const RankMemory& memory) {
    return starts(memory) ? std::string() : reason_of(deployment, memory) + smallest_fraction(deployment);
  };
  const Deployment& deployment = answer.deployment;
  answer.reason = why_not(deployment, answer.memory);
  if (answer.reason.empty() && answer.prefill) answer.reason = why_not(*deployment.prefill, *answer.prefill);
  answer.verdict = answer.reason.empty() ? trust::VerdictKind::fits : trust::VerdictKind::does_not_fit;
}

/// Parameters of the model on one rank: what several hold a copy of counts once.
std::int64_t parameters_of(const spec::Question& question) {
  spec::Question whole = question;
  whole.layout = {};
  const auto program = forward_program(whole, {});
  return program::count_parameters(program).total;
}

Bytes states_of(const Deployment& deployment, const std::vector<CacheGroup>& groups, std::int64_t sequences) {
  return quantity::sum_of(groups, [&](const CacheGroup& group) {
    return state_bytes(deployment.question, group.layer) * (group.layers * sequences);
  });
}

Bytes used(const RankMemory& memory, bool reserves) {
  return memory.held() + (reserves ? std::max(memory.pool, memory.needed) : memory.needed) + memory.beside;
}

/// Where all layers have windows a token takes room until it is out of their reach.
void take_bytes_per_token(const std::vector<CacheGroup>& groups, spec::CacheType type, ServingAnswer& answer) {
  answer.bytes_per_token = bytes_per_token(groups, type);
  if (answer.bytes_per_token > quantity::bytes(0)) return;
  answer.bytes_per_token = bytes_within_windows(groups, type);
  for (const CacheGroup& group : groups) answer.reach = std::max(answer.reach, group.layer.window);
}

std::vector<RankMemory> all_ranks(const Deployment& deployment, const Demand& demand) {
  std::vector<RankMemory> ranks;
  const std::size_t count = rank_count(deployment);
  if (count == 1) return ranks;
  const EngineRow& row = row_of(deployment.question.serving.engine);
  for (std::size_t rank = 0; rank < count; ++rank) {
    ranks.push_back(row.memory(deployment, rank, demand));
  }
  return ranks;
}

using Notes = std::vector<std::string>;

void note_model(const spec::Question& question, const ServingAnswer& answer, Notes& notes) {
  const auto& shape = question.model.shape;
  const bool latent = shape.latent.kv_rank > 0;
  if (!latent && shape.kv_heads < question.layout.tp) {
    notes.push_back(fmt::format("{} of keys and values for {} ranks: each rank keeps one, and some keep the same",
                                quantity::format_counted(shape.kv_heads, "head"), question.layout.tp));
  }
  if (latent && question.layout.tp > 1) {
    notes.emplace_back("latents are whole on every tensor-parallel rank: --attention-dp keeps each once");
  }
  // Each of two stacks counts positions of its own: one those of prompts, the other those of answers.
  const auto& load = question.serving.load;
  const std::int64_t longest = shape.stack == spec::Stack::encoder_decoder ? std::max(load.prompt, load.output)
                                                                           : answer.deployment.setup.context;
  if (shape.max_position > 0 && longest > shape.max_position) {
    notes.push_back(
        fmt::format("the model was built for {} positions: longer contexts need rope scaling", shape.max_position));
  }
}

/// Bytes of all layers that attend to what a tower hands over: each request keeps them from its first step on
/// (transformers modeling_mllama.py, MllamaTextCrossAttention.forward).
std::int64_t tower_key_bytes(const Deployment& deployment) {
  const spec::Model& model = deployment.question.model;
  std::int64_t bytes = 0;
  for (const auto kind : model.layers) {
    const auto* attention = std::get_if<spec::GroupedAttention>(&model.kinds[kind].mixer);
    if (attention == nullptr || !attention->reads_tower) continue;
    bytes += quantity::in_bytes(cache_bytes(deployment.setup.cache, attention->key_width() + attention->value_width()));
  }
  return bytes;
}

void note_towers(const Deployment& deployment, Notes& notes) {
  if (!deployment.question.model.shape.towers.empty())
    notes.emplace_back("first tokens are without the time that towers take to read images or sound before");
  const std::int64_t bytes = tower_key_bytes(deployment);
  if (bytes == 0) return;
  notes.push_back(
      fmt::format("layers that attend to images keep {} bytes for each position of a request's images, "
                  "which are not counted",
                  quantity::format_count(bytes)));
}

/// Builds are known by numbers: a name without any is taken for the newest.
void note_release(const spec::Question& question, Notes& notes) {
  const std::string& version = question.serving.engine_version;
  const auto newest = row_of(question.serving.engine).newest;
  if (version.empty()) return;
  if (version.find_first_of("0123456789") == std::string::npos)
    notes.push_back(fmt::format("'{}' says no release: defaults are those of {}", version, newest));
  if (parse_release(newest) < parse_release(version))
    notes.push_back(fmt::format("{} is newer than {}, the newest that is known: defaults are its", version, newest));
}

void note_scheme(const spec::Question& question, Notes& notes) {
  const auto& serving = question.serving;
  if (formats::facts(serving.quant).covers == formats::Coverage::experts && question.model.shape.moe.experts == 0) {
    notes.push_back(fmt::format("{} narrows routed experts alone, which this model has none of: all rests in 16 bits",
                                spec::name_of(serving.quant)));
  }
  if (serving.mixed_by_hand) {
    notes.push_back(
        fmt::format("files of this name are mixed tensor by tensor for one model: weights as in {}, the "
                    "nearest plain type",
                    spec::name_of(serving.quant)));
  }
  if (formats::is_fp8(serving.quant) && question.gpu && !question.gpu->peaks.fp8) {
    notes.push_back(question.gpu->id + " has no 8-bit products: weights rest in 8 bits and are multiplied in 16");
  }
  if (serving.quant == formats::Quant::nvfp4 && question.gpu && !multiplies_nvfp4(*question.gpu)) {
    notes.push_back(question.gpu->id + " has no products of NVFP4: weights rest in 4 bits and are multiplied in 16");
  }
}

/// On what a speed rests that nobody measured.
void note_rates(const ServingAnswer& answer, Notes& notes) {
  const auto& question = answer.deployment.question;
  if (!question.gpu) return;
  const spec::Generation& generation = question.gpu->generation;
  const bool ggml = spec::reads_gguf(question.serving.engine);
  const auto program = row_of(question.serving.engine).program;
  if (!answer.speed) {
    if (ggml || generation.can(spec::Ability::measured_runs)) return;
    return notes.push_back(
        fmt::format("nothing was measured on {} under {}: memory as NVIDIA's", question.gpu->arch, program));
  }
  const auto stand_in = timing::stand_in_source(*question.gpu);
  if (generation.is_nearest && !stand_in.empty()) return notes.push_back(stand_in);
  const bool measured = ggml ? !generation.ggml_is_nearest : generation.can(spec::Ability::measured_servers);
  if (measured) return;
  const std::string_view measured_on = ggml ? generation.ggml_of : std::string_view(answer.speed->measured_on);
  if (measured_on == question.gpu->id) {
    return notes.push_back(fmt::format("of {} only dense models in FP8 were measured, under vLLM", measured_on));
  }
  notes.push_back(fmt::format("nothing was measured on {} under {}: its peaks and bandwidth are used as by {}",
                              ggml ? question.gpu->arch : question.gpu->id, program, measured_on));
}

/// Inputs are priced as the prompts of answers, which were measured.
void note_reading(const ServingAnswer& answer, Notes& notes) {
  if (!answer.speed || !spec::reads_only(answer.deployment.question.serving.load)) return;
  const bool bounds = answer.deployment.setup.front_us > 0;
  notes.push_back(
      fmt::format("no server that only reads was measured: inputs are priced as prompts, and the host's cutting them "
                  "into tokens {}",
                  bounds ? "goes through one process" : "bounds nothing"));
}

bool leaves_experts(const Deployment& deployment) {
  return deployment.setup.host_experts > 0 && deployment.question.model.shape.moe.experts > 0;
}

void note_load(const spec::Question& question, const ServingAnswer& answer, Notes& notes) {
  const auto& setup = answer.deployment.setup;
  const std::int64_t seats =
      quantity::product(setup.max_sequences, question.layout.dp, question.serving.layout.attention_dp);
  const bool reserves = row_of(question.serving.engine).reserves;
  if (reserves && question.serving.load.concurrency > seats) {
    notes.push_back(fmt::format("the engine runs {} sequences at most (--max-seqs): the others wait", seats));
  }
  if (question.serving.options.cpu_experts > 0 && question.model.shape.moe.experts == 0) {
    notes.emplace_back("--cpu-experts moves nothing: the model has no experts");
  }
  if (uses_processor(answer.deployment)) {
    const bool experts = leaves_experts(answer.deployment);
    const bool said = question.serving.options.host_bandwidth.has_value();
    notes.push_back(fmt::format("{} are in host memory, which the processor reads at {:.0f} % of {:.4g} GB/s{}",
                                experts ? "experts of the first layers" : "the first layers",
                                100.0 * ggml_kernels().host_share,
                                quantity::in_gigabytes_per_second(host_bandwidth(question)),
                                said ? "" : " (DDR5-5600, two channels): --host-bandwidth says another"));
  }
}

std::vector<std::string> notes_on(const ServingAnswer& answer) {
  const auto& question = answer.deployment.question;
  Notes notes;
  note_model(question, answer, notes);
  note_towers(answer.deployment, notes);
  note_release(question, notes);
  note_scheme(question, notes);
  note_load(question, answer, notes);
  note_rates(answer, notes);
  note_reading(answer, notes);
  return notes;
}

}  // namespace

std::vector<std::string> beyond_memory(const Deployment& deployment, const RankMemory& memory) {
  return trust::beyond(deployment.question.serving.load.memory, used(memory, reserves(deployment)), memory.capacity);
}

bool uses_processor(const Deployment& deployment) {
  return leaves_experts(deployment) || deployment.setup.host_layers > 0;
}

ServingAnswer serve(const spec::Question& question) {
  check_abilities(question);
  check_limits(question);
  ServingAnswer answer;
  answer.deployment = deploy(question);
  const Deployment& deployment = answer.deployment;
  const auto requests = question.gpu ? 1 : sequences_of_rank(question, question.serving.load.concurrency);
  answer.memory = tightest_rank(deployment, {deployment.setup.context, requests});
  if (deployment.prefill) answer.prefill = tightest_rank(*deployment.prefill, {deployment.setup.context, 1});
  answer.ranks = all_ranks(deployment, {deployment.setup.context, requests});
  answer.capacity = capacity_of(deployment);
  answer.parameters = parameters_of(question);
  answer.model = model_bytes(question);
  if (spec::reads_gguf(question.serving.engine)) answer.file = file_bytes(question);
  const auto a_token = [&](const auto& stage) { return bytes_per_token(stage.cache, deployment.setup.cache); };
  const auto& groups = std::ranges::max_element(deployment.stages, {}, a_token)->cache;  // an encoder's is none
  take_bytes_per_token(groups, deployment.setup.cache, answer);
  answer.state = states_of(deployment, groups, deployment.setup.slots);
  judge(answer);
  if (answer.verdict == trust::VerdictKind::fits) answer.speed = speed_of(deployment);
  if (answer.verdict == trust::VerdictKind::fits) answer.broken_limits = beyond_memory(deployment, answer.memory);
  if (answer.speed) add_broken(question.serving.load, *answer.speed, answer.broken_limits);
  answer.notes = notes_on(answer);
  return answer;
}

Bytes device_total(const ServingAnswer& answer) { return used(answer.memory, reserves(answer.deployment)); }

Bytes device_total_of_all(const ServingAnswer& answer) {
  auto sum = quantity::bytes(0);
  const Demand demand{answer.deployment.setup.context, 1};
  const EngineRow& row = row_of(answer.deployment.question.serving.engine);
  for (std::size_t rank = 0; rank < rank_count(answer.deployment); ++rank) {
    sum += used(row.memory(answer.deployment, rank, demand), reserves(answer.deployment));
  }
  return spec::reads_gguf(answer.deployment.question.serving.engine) ? sum : sum * answer.deployment.question.layout.tp;
}

}  // namespace llmcalc::serving
