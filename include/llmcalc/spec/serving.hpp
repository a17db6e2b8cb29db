// How a model is served: the engine with its own choices, and the load that it shall carry.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::spec {

enum class Engine { vllm, sglang, trtllm, llama_cpp, ollama, hf };

/// Kind of an engine: its words, and its use of several accelerators.
enum class EngineKind {
  server,   ///< loads checkpoints, and cuts every layer over the accelerators
  ggml,     ///< reads GGUF files, and places layers on cards one after another
  library,  ///< loads checkpoints, and places layers so
};

/// Kind of each engine, in their order.
inline constexpr EngineKind engine_kinds[] = {EngineKind::server, EngineKind::server, EngineKind::server,
                                              EngineKind::ggml,   EngineKind::ggml,   EngineKind::library};

constexpr EngineKind kind_of(Engine engine) { return engine_kinds[static_cast<std::size_t>(engine)]; }

constexpr bool reads_gguf(Engine engine) { return kind_of(engine) == EngineKind::ggml; }

/// Whose answer is given where nobody names an engine: of checkpoints, of GGUF files, and of names with tags, which
/// are those of a library ("llama3.1:8b").
inline constexpr Engine usual_server = Engine::vllm;
inline constexpr Engine usual_ggml = Engine::llama_cpp;
inline constexpr Engine usual_library = Engine::ollama;

/// Type in which keys and values are kept.
enum class CacheType { automatic, bf16, f16, f32, fp8, int8, nvfp4, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl };

/// How llama.cpp spreads a model over several cards (--split-mode).
enum class CardSplit { layer, row, tensor };

/// Part of a request that a server does: all of it, or its prompt alone, whose cache it hands to one that writes
/// answers.
enum class ServerRole { both, prefill, decode };

/// Draft that proposes tokens ahead of the model.
enum class DraftKind { none, mtp, eagle, model };

struct DraftModel;
class FileTensors;
struct Tower;

struct Draft {
  DraftKind kind = DraftKind::none;
  std::int64_t tokens = 1;  ///< proposed a step
  std::string model;        ///< its name, where it is a model of its own, or layers that somebody named

  friend bool operator==(const Draft&, const Draft&) = default;
};

/// Options of an engine; what is empty is the engine's own default in that version on that accelerator.
struct EngineOptions {
  std::optional<double> memory_fraction;       ///< what of is the engine's business
  std::optional<quantity::Bytes> cache_bytes;  ///< of the cache itself, whatever is free
  std::optional<std::int64_t> batched_tokens;  ///< of one engine step
  std::optional<std::int64_t> max_sequences;   ///< of one engine step
  std::optional<std::int64_t> block;           ///< positions of a cache block
  std::optional<bool> graphs;                  ///< captured CUDA graphs
  std::optional<std::int64_t> largest_graph;   ///< tokens of the largest step that is captured
  std::optional<std::int64_t> ubatch;          ///< llama.cpp: tokens of one pass
  std::optional<std::int64_t> slots;           ///< llama.cpp: sequences side by side
  std::optional<std::int64_t> gpu_layers;      ///< llama.cpp: layers on the accelerator, the head counting as one
  std::int64_t cpu_experts = 0;                ///< llama.cpp: leading layers whose experts stay in host memory
  std::optional<quantity::Bandwidth> host_bandwidth;  ///< of the host's memory; empty: a usual desktop's
  std::optional<bool> flash;                          ///< one attention kernel, without scores in memory
  std::optional<bool> prefix_cache;                   ///< what requests have in common is kept for later ones
  std::optional<std::int64_t> stream_interval;        ///< tokens of an answer behind its first that are sent together
  double wait_steps = 0.0;     ///< decoding steps for which a new request is let wait, in the mean
  std::int64_t max_loras = 0;  ///< adapters resident beside the model
  Draft draft;
  double accept = 0.7;  ///< share of proposed tokens that the model agrees with
};

struct ServingLayout {
  std::int64_t attention_dp = 1;          ///< copies of the attention part, each with its own sequences
  std::optional<std::int64_t> expert_tp;  ///< ranks over which one expert is cut; empty: what ep leaves
  std::int64_t dcp = 1;                   ///< ranks over which a sequence's cache is spread in decoding
  CardSplit split = CardSplit::layer;
  std::int64_t prefill_servers = 0;        ///< that read prompts for the others; 0: each reads its own
  std::optional<std::int64_t> prefill_tp;  ///< tensor-parallel ranks of each; empty: as many as the others have
};

/// One of a load's requests.
struct Request {
  double arrival = 0;       ///< in seconds
  std::int64_t prompt = 0;  ///< tokens
  std::int64_t output = 0;  ///< tokens of its answer
};

/// Load that the server is asked to bear.
struct Load {
  std::int64_t context = 0;  ///< longest sequence, prompt and answer together; 0: the engine's own limit
  std::int64_t prompt = 1024;
  std::int64_t output = 256;
  bool lengths_said = false;              ///< one of both, instead of what follows from the context
  std::optional<double> range_ratio;      ///< shortest prompt and answer, as a share of these, which are the longest
  bool natural_text = false;              ///< prompts are sentences, not tokens drawn by chance as benchmarks send them
  std::int64_t concurrency = 1;           ///< requests in flight over the whole deployment
  std::optional<std::int64_t> prompts;    ///< requests in all, of which the last ones find others gone
  std::optional<double> rate;             ///< requests a second, instead of a concurrency
  std::int64_t shared_prefix = 0;         ///< leading tokens that all requests have in common, kept once
  std::optional<quantity::Seconds> ttft;  ///< to be kept: time to the first token
  std::optional<quantity::Seconds> tpot;  ///< and time of each later one
  std::optional<quantity::Seconds> ttft_p95;  ///< the same of 95 of 100 requests
  std::optional<quantity::Seconds> tpot_p95;
  MemoryLimits memory;                                ///< of what the engine takes of one accelerator
  std::optional<quantity::Money> hour_cost;           ///< to be kept: of all accelerators
  std::optional<quantity::Money> token_cost;          ///< and of a million tokens of output with their prompts
  std::shared_ptr<const std::vector<Request>> trace;  ///< of requests that came, in the order of their arrivals
};

struct Serving {
  Engine engine = usual_server;
  std::string engine_version;  ///< release, build or date; empty: the newest that is known
  formats::Quant quant = formats::Quant::bf16;
  bool mixed_by_hand = false;                ///< quant is the nearest type to a mixture that was made for one model
  std::int64_t group_size = 0;               ///< inputs that share a scale; 0: the scheme's own
  bool imatrix = true;                       ///< GGUF: quantized with an importance matrix
  bool from_mxfp4 = false;                   ///< GGUF: made of a checkpoint whose experts are published in MXFP4
  std::shared_ptr<const FileTensors> file;   ///< GGUF: the tensors of the file that is at hand
  std::shared_ptr<const Tower> beside_text;  ///< that the checkpoint holds and the shape leaves out
  CacheType cache = CacheType::automatic;
  EngineOptions options;
  std::shared_ptr<const DraftModel> draft_model;  ///< set where options.draft names one
  ServerRole role = ServerRole::both;
  ServingLayout layout;
  Load load;
  quantity::Bytes other_usage;  ///< of the accelerator's memory, by others
};

}  // namespace llmcalc::spec
