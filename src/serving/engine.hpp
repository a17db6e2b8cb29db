// An engine, one row and one file each: what it is called, what it can run, its defaults, and what it allocates.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"
#include "serving/cache.hpp"
#include "serving/options.hpp"
#include "serving/weights.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::serving {

/// Release as an engine calls it, or the month of a build that is known by its date.
struct EngineRelease {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t patch = 0;

  friend auto operator<=>(const EngineRelease&, const EngineRelease&) = default;
};

/// Parts of a model that an engine puts into host memory of its own accord where its cards have no room.
enum class Moves { nothing, layers, experts };

/// Options of an engine with nothing left open.
struct Setup {
  EngineRelease release;
  spec::CacheType cache = spec::CacheType::bf16;
  std::int64_t context = 0;  ///< longest sequence that the server takes
  bool shortens = false;     ///< the context, which nobody asked for, to what its cards have room for
  Moves moves = Moves::nothing;
  quantity::Bytes margin;         ///< of each card, that stays free where something is moved
  std::int64_t host_layers = 0;   ///< leading ones that are in host memory; the head counts as the last layer
  std::int64_t host_experts = 0;  ///< leading layers whose experts are
  double memory_fraction = 1.0;
  std::int64_t batched_tokens = 0;  ///< of one engine step
  std::int64_t max_sequences = 0;   ///< of one engine step
  std::int64_t block = 1;           ///< positions of a cache block
  std::int64_t graph_batch = 0;     ///< the largest captured batch; 0: no graphs
  std::int64_t slots = 1;           ///< sequences that share what was set aside
  bool flash = true;
  bool drafts_in_graphs = true;          ///< as steps are, where graphs are captured
  std::int64_t graph_prompts = 0;        ///< tokens of prompts up to which a step replays a graph
  double front_us = 0;                   ///< of the one process that takes requests up, a request
  double front_token_us = 0;             ///< and a token of its prompt
  double late_us = 0;                    ///< of a step that is scheduled only after the one before
  bool ahead = false;                    ///< what a step holds is decided while the one before it is at work
  bool admits_whole = false;             ///< a sequence runs only where all of its answer will have room
  bool flash_states = false;             ///< gated delta rules run FlashInfer's kernel in prompts
  bool reads_whole = false;              ///< a prompt that fits into a step is not cut
  std::vector<std::string> assumptions;  ///< defaults that move the answer and are not the engine's alone
};

/// Holdings of one pipeline stage, whatever the engine.
struct Stage {
  StageWeights weights;
  std::vector<CacheGroup> cache;
  quantity::Bytes adapters;  ///< resident low-rank adapters
  quantity::Bytes draft;     ///< layers that propose tokens, on the last stage
};

/// A question with what its walks over the step program found.
struct Deployment {
  spec::Question question;
  Setup setup;
  std::vector<Stage> stages;
  std::vector<LayerCache> layers_kept;        ///< by kind of layer
  std::shared_ptr<const Deployment> draft;    ///< of a model that proposes tokens, alone on one stage
  std::shared_ptr<const Deployment> prefill;  ///< of the servers that read prompts for these
};

/// So many sequences of such a length at once, on one copy of the attention part.
struct Demand {
  std::int64_t length = 0;
  std::int64_t sequences = 1;
};

/// A line of the ledger. A measured one is a constant of the runtime, not a sum. Its words are literals: bisections put
/// ledgers together by the hundred.
struct MemoryLine {
  std::string_view id;
  std::string_view label;
  quantity::Bytes size;
  bool measured = false;
  std::string_view formula;
  std::string_view source;
};

/// Where positions of a sequence are kept in blocks that all groups of layers draw from one pool.
struct BlockGroup {
  CacheGroup group;
  std::int64_t pages = 0;   ///< blocks of the pool that one block of positions takes
  std::int64_t blocks = 0;  ///< that a sequence of the demanded length takes
  quantity::Bytes page;     ///< of a block in one layer, or of a state
};

/// Memory of one accelerator while a demand is met.
struct RankMemory {
  quantity::Bytes capacity;  ///< of the accelerator, as programs see it
  quantity::Bytes limit;     ///< what the engine lets holdings and cache take together
  std::vector<MemoryLine> holdings;
  quantity::Bytes pool;     ///< set aside for the cache; negative where the holdings exceed the limit
  quantity::Bytes needed;   ///< of the cache for the demand
  quantity::Bytes host;     ///< in host memory
  bool hosted = true;       ///< there is room there for layers that were left to it
  quantity::Bytes beside;   ///< on the accelerator beyond the limit: what comes after the cache was sized
  std::int64_t block = 1;   ///< positions
  std::int64_t blocks = 0;  ///< of the pool
  std::vector<BlockGroup> groups;
  double sequences_in_pool = 0.0;     ///< of the demanded length
  std::optional<std::int64_t> seats;  ///< sequences that a pool of recurrent states has room for; empty: there is none
  bool seated = true;                 ///< the demanded sequences are no more than those

  quantity::Bytes held() const;
  bool fits() const { return seated && hosted && needed <= pool; }
};

/// How a server that reads prompts hands them to one that writes answers.
struct Handover {
  bool by_chunks = false;     ///< each part of a cache is sent as it is read: its receiver knows of the request by then
  bool has_first = false;     ///< the first token is made of the prompt, and sent with it
  std::string_view router{};  ///< what requests are sent to
};

struct EngineRow {
  spec::Engine engine;
  std::string_view program;  ///< its name for people
  std::string_view newest;   ///< the release that its defaults are those of
  std::string_view vendors;  ///< whose accelerators it runs on
  bool (*runs)(formats::Quant quant);
  bool (*keeps)(spec::CacheType type);
  Setup (*setup)(const spec::Question& question);
  RankMemory (*memory)(const Deployment& deployment, std::size_t rank, const Demand& demand);
  std::span<const EngineOption> options = {};
  /// Terms that no option says, since they are of its files or of its load.
  std::span<const std::string_view> beside;
  Handover handover = {};
  std::string_view follower = {};  ///< the option of its command on all nodes but the first
  Padded (*pads)(const spec::Question& question, const layers::Weight& weight,
                 formats::Quant scheme) = nullptr;  ///< matrices, for its kernels
  EngineRelease counts_by_length = {};  ///< the first that logs how many sequences its pool holds, not blocks
  EngineRelease drafts_in_stages = {};  ///< the first that proposes tokens where layers are cut into stages
  bool prompts_alone = false;           ///< reads prompts in steps of their own, before anything is decoded
  bool cuts_dense = false;              ///< MLP and shared experts over the ranks of all copies of the attention
  bool starts_copies = false;           ///< one command starts several copies of the whole model
  bool spreads_experts = false;         ///< but of a mixture, whose experts its ranks share, also cut
  bool quantizes = false;               ///< as it loads: to fp8, and with bitsandbytes
  bool reserves = true;                 ///< takes all of its limit for the cache, whatever the demand
  bool emulates_nvfp4 = false;          ///< on accelerators without kernels for it
  bool scales_inside = false;           ///< operators of C++ launch what scales their inputs as well
  bool pads_vocabulary = false;         ///< to whole rows of 64 for each rank
  bool loads_towers = false;            ///< of what a checkpoint sees with, also where text alone is asked for
  EngineRelease leaves_towers = {};     ///< the first that loads none where text alone is asked for; none: no release
  bool narrows_cache = false;           ///< to 8 bits, where weights have no more than these
  bool narrows_index = false;           ///< what an indexer scores positions by is in 8 bits, whatever the cache
  bool pools = true;                    ///< serves embeddings and scores
  bool narrows_states = false;          ///< recurrences have the model's 16 bits unless its checkpoint asks for 32
  bool profiles_sequences = false;      ///< its profile run draws a token of as many sequences as a step takes
};

const EngineRow& row_of(spec::Engine engine);
std::span<const EngineRow> all_engines();

/// True if the engine runs these weights on this accelerator.
bool can_run(const spec::Question& question);

/// \throws quantity::BadInput at what the engine cannot run, with the engines that can
void check_abilities(const spec::Question& question);

/// True if the engine has every option that was said.
bool takes_options(const spec::Serving& serving);

/// The releases of "0.11", "v0.11.2", "0.5.9rc1"; of "2024-12" and "2026-01-03" year, month and day. Zeros where no
/// number is found.
EngineRelease parse_release(std::string_view text);

/// Builds the step program once and walks it. \pre the question was resolved and the engine can run it
Deployment deploy(const spec::Question& question);

/// Says what is left to the host as options that ask for it.
void say_placement(const Deployment& deployment, spec::EngineOptions& options);

/// Cards that one server of a GGUF file spreads it over.
inline std::int64_t cards_of(const spec::Question& question) { return question.layout.gpus / question.layout.dp; }

/// Accelerators whose memory differs: pipeline stages, or the cards that llama.cpp places layers on.
std::size_t rank_count(const Deployment& deployment);

/// The rank that has least room for the demand.
RankMemory tightest_rank(const Deployment& deployment, const Demand& demand);

/// Whether all of the engine's limit becomes cache, whatever the demand: none does of a model that keeps nothing.
bool reserves(const Deployment& deployment);

/// Rank of each adapter beside the model: what was said, or what engines take unasked.
std::int64_t adapter_rank(const spec::Question& question);

/// Memory that the driver leaves of the accelerator for programs, or what a person said; 0 without either.
quantity::Bytes total_memory(const spec::Question& question);

/// That less what others take.
quantity::Bytes visible_memory(const spec::Question& question);

}  // namespace llmcalc::serving
