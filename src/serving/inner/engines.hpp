// The rows of the engines, each defined in its own file (engine_<name>.cpp), and what several of them have in common.
#pragma once

#include "serving/engine.hpp"
#include "serving/inner/pace.hpp"

#include <array>
#include <string>
#include <string_view>

namespace llmcalc::serving {

#include "engines/rows_declared.inc"

/// Whether it has products of 4-bit floats with NVIDIA's scales, and kernels for them.
bool multiplies_nvfp4(const spec::Accelerator& gpu);

bool runs_on_torch(formats::Quant quant);
bool runs_in_trtllm(formats::Quant quant);
bool runs_on_ggml(formats::Quant quant);
bool keeps_in_pages(spec::CacheType type);
bool keeps_in_ggml(spec::CacheType type);
bool keeps_plain(spec::CacheType type);

/// vLLM docs/getting_started/installation (Gaudi, TPU and Neuron by plug-ins); SGLang docs/platforms; TensorRT-LLM
/// docs/source/legacy/reference/support-matrix.md; llama.cpp docs/build.md.
inline constexpr std::string_view servers_on = "NVIDIA AMD Intel Google AWS";
inline constexpr std::string_view ggml_on = "NVIDIA AMD Intel Apple";
inline constexpr std::string_view torch_on = "NVIDIA AMD Intel Apple Google AWS";

inline constexpr std::array<std::string_view, 4> of_pages{"group_size", "shared_prefix", "prefill_servers",
                                                          "prefill_tp"};
inline constexpr std::array<std::string_view, 3> of_gguf{"imatrix", "shared_prefix", "host_bandwidth"};
inline constexpr std::array<std::string_view, 1> of_batches{"group_size"};

/// True if an option of the engine says the term, or its files or its load do.
bool takes(const EngineRow& row, std::string_view term);

/// A CUDA context with the kernels of PyTorch, of engines of which none was measured by itself: assumed, as of
/// training.
inline constexpr quantity::Bytes usual_context = quantity::mib(500);

/// True where accelerators of a node are joined by more than a bus, or nobody said which they are: NCCL sets up
/// channels by the link.
bool joins_widely(const spec::Question& question);

/// Buffers of NCCL and of the custom all-reduce of two ranks. Over NVLink 0.55 GiB outside PyTorch's allocator where
/// one rank has 0.13 (llm-d-planner docs/empirical-vllm-memory-results.md); over PCIe 0.25 on two RTX 4090 (vllm issue
/// 13061), 0.12 on four L40S and, in SGLang, 0.13 for four A10G alone.
quantity::Bytes exchange_of_pair(const spec::Question& question);

/// The weights of a stage, part by part, as lines of the ledger.
void hold_weights(const Deployment& deployment, const WeightBytes& weights, RankMemory& memory);

/// Cosines and sines of the rotary embedding for every position that the model is built for: max_position x width of
/// what is rotated x 2 bytes (vLLM model_executor/layers/rotary_embedding/base.py; the logged weights of Llama-3.1-8B,
/// 14.9888 GiB, are exact with it).
quantity::Bytes rotary_cache(const spec::Question& question);

/// Width of the MLP that one token passes through on a rank.
double mlp_width(const spec::Question& question);

/// Sequences of one rank where a deployment carries so many: spread over copies and over copies of the attention.
std::int64_t sequences_of_rank(const spec::Question& question, std::int64_t concurrency);

/// 16 bits, or 8 where the checkpoint brings scales for the cache: NVIDIA's 4-bit checkpoints say FP8 in
/// hf_quant_config.json (kv_cache_quant_algo).
spec::CacheType usual_cache(const spec::Question& question, std::vector<std::string>& assumptions);

/// Limit that the engine's file says, or the model's own.
std::int64_t model_limit(const spec::Question& question);

/// Bytes of one position in one layer that keeps positions.
quantity::Bytes position_bytes(const Deployment& deployment, const LayerCache& layer);

/// Bytes of a recurrent layer's state of one sequence: llama.cpp, SGLang and transformers keep the recurrence in 32
/// bits (src/llama-model.cpp, recurrent_type_s; configs/mamba_utils.py, mamba2_state_dtype), vLLM and TensorRT-LLM in
/// the model's 16 unless the checkpoint asks for 32 (vLLM model_executor/layers/mamba/mamba_utils.py,
/// _mamba_state_dtype; models/config.py). What its convolution needs has 16 bits, llama.cpp's 32.
quantity::Bytes state_bytes(const spec::Question& question, const LayerCache& layer);

/// Leading positions that all sequences have in common, as far as the demanded length goes.
std::int64_t shared_positions(const Deployment& deployment, const Demand& demand);

/// Positions that a sequence holds in layers that do not see everything.
struct Holds {
  std::int64_t in_flight = 0;  ///< positions of a windowed layer beyond its window
  std::int64_t states = 1;     ///< of a recurrent layer
};

/// Sequences of an encoder hold no room: as many run as a step takes.
void keep_nothing(const Deployment& deployment, RankMemory& memory);

/// One pool of equal blocks that all groups of layers draw from (vLLM v1/core/kv_cache_utils.py and
/// v1/kv_cache_interface.py). Fills block, blocks, groups, needed and sequences_in_pool.
void share_pool(const Deployment& deployment, const Stage& stage, const Demand& demand, const Holds& holds,
                RankMemory& memory);

/// True of a model some of whose keys stand for several positions.
bool compresses_keys(const spec::Model& model);

/// One pool of such a model's, as share_pool.
/// \param in_flight  positions beyond a window
void share_compressed(const Deployment& deployment, const Stage& stage, const Demand& demand, std::int64_t in_flight,
                      RankMemory& memory);

/// Each group of layers by itself; states as well, unless they have places of their own (RankMemory::seats).
/// \param window_share  of the positions of full layers that windowed ones are given; 0: as many as their window
void share_by_group(const Deployment& deployment, const Stage& stage, const Demand& demand, double window_share,
                    RankMemory& memory);

/// Positions that llama.cpp keeps are whole ones of these (src/llama-context.cpp).
constexpr std::int64_t cell_padding = 256;

/// Cuts the context, and then what is on the cards, of a server that fits both to them: llama.cpp's --fit
/// (common/fit.cpp, common_fit_params) and Ollama (llm/server.go, createLayout), of which a layer is the least that
/// moves.
void fit_to_cards(Deployment& deployment);

/// Whether the engine puts a part of the model into host memory that nobody asked it to.
bool leaves_by_itself(const Deployment& deployment);

/// Whether the host has room for what is left to it: where a machine holds no more, its operating system would read the
/// rest from the drive for each token. One memory with the accelerator's is counted there.
bool host_has_room(const Deployment& deployment, quantity::Bytes needed);

/// Leaves the fewest layers, or experts of layers, to the host, if it has room for them.
void leave_layers(Deployment& deployment);

}  // namespace llmcalc::serving
