// The rows of the engines, each defined in its own file, and what several of them have in common.
#pragma once

#include "serving/engine.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace llmcalc::serving {

RankMemory vllm_memory(const Deployment& deployment, std::size_t rank, const Demand& demand);
Setup vllm_setup(const spec::Question& question);
RankMemory sglang_memory(const Deployment& deployment, std::size_t rank, const Demand& demand);
Setup sglang_setup(const spec::Question& question);
RankMemory trtllm_memory(const Deployment& deployment, std::size_t rank, const Demand& demand);
Setup trtllm_setup(const spec::Question& question);
RankMemory llama_cpp_memory(const Deployment& deployment, std::size_t rank, const Demand& demand);
Setup llama_cpp_setup(const spec::Question& question);
Setup ollama_setup(const spec::Question& question);
RankMemory transformers_memory(const Deployment& deployment, std::size_t rank, const Demand& demand);
Setup transformers_setup(const spec::Question& question);

std::span<const EngineOption> vllm_options();
std::span<const EngineOption> sglang_options();
std::span<const EngineOption> trtllm_options();
std::span<const EngineOption> llama_cpp_options();
std::span<const EngineOption> ollama_options();
std::span<const EngineOption> transformers_options();

/// Whether it has products of 4-bit floats with NVIDIA's scales, and kernels for them.
bool multiplies_nvfp4(const spec::Accelerator& gpu);

bool runs_on_torch(formats::Quant quant);
bool runs_in_trtllm(formats::Quant quant);
bool runs_in_transformers(formats::Quant quant);
bool runs_on_ggml(formats::Quant quant);
bool keeps_in_pages(spec::CacheType type);
bool keeps_in_ggml(spec::CacheType type);
bool keeps_plain(spec::CacheType type);

/// vLLM docs/getting_started/installation (Gaudi, TPU and Neuron by plug-ins); SGLang docs/platforms; TensorRT-LLM
/// docs/source/legacy/reference/support-matrix.md; llama.cpp docs/build.md.
inline constexpr std::string_view servers_on = "NVIDIA AMD Intel Google AWS";
inline constexpr std::string_view ggml_on = "NVIDIA AMD Intel Apple";
inline constexpr std::string_view torch_on = "NVIDIA AMD Intel Apple Google AWS";

inline constexpr std::array<std::string_view, 2> of_pages{"group_size", "shared_prefix"};
inline constexpr std::array<std::string_view, 2> of_gguf{"imatrix", "shared_prefix"};
inline constexpr std::array<std::string_view, 1> of_batches{"group_size"};

inline constexpr EngineRow vllm_row{.engine = spec::Engine::vllm,
                                    .program = "vLLM",
                                    .newest = "0.33.0",
                                    .vendors = servers_on,
                                    .runs = &runs_on_torch,
                                    .keeps = &keeps_in_pages,
                                    .setup = &vllm_setup,
                                    .memory = &vllm_memory,
                                    .options = &vllm_options,
                                    .beside = of_pages,
                                    .starts_copies = true,
                                    .quantizes = true,
                                    .emulates_nvfp4 = true};
inline constexpr EngineRow sglang_row{.engine = spec::Engine::sglang,
                                      .program = "SGLang",
                                      .newest = "0.5.23",
                                      .vendors = servers_on,
                                      .runs = &runs_on_torch,
                                      .keeps = &keeps_in_pages,
                                      .setup = &sglang_setup,
                                      .memory = &sglang_memory,
                                      .options = &sglang_options,
                                      .beside = of_pages,
                                      .starts_copies = true,
                                      .quantizes = true};
inline constexpr EngineRow trtllm_row{.engine = spec::Engine::trtllm,
                                      .program = "TensorRT-LLM",
                                      .newest = "1.2",
                                      .vendors = "NVIDIA",
                                      .runs = &runs_in_trtllm,
                                      .keeps = &keeps_in_pages,
                                      .setup = &trtllm_setup,
                                      .memory = &trtllm_memory,
                                      .options = &trtllm_options,
                                      .beside = of_pages};
inline constexpr EngineRow llama_cpp_row{.engine = spec::Engine::llama_cpp,
                                         .program = "llama.cpp",
                                         .newest = "2026-11",
                                         .vendors = ggml_on,
                                         .runs = &runs_on_ggml,
                                         .keeps = &keeps_in_ggml,
                                         .setup = &llama_cpp_setup,
                                         .memory = &llama_cpp_memory,
                                         .options = &llama_cpp_options,
                                         .beside = of_gguf,
                                         .reserves = false};
inline constexpr EngineRow ollama_row{.engine = spec::Engine::ollama,
                                      .program = "Ollama",
                                      .newest = "0.17",
                                      .vendors = ggml_on,
                                      .runs = &runs_on_ggml,
                                      .keeps = &keeps_in_ggml,
                                      .setup = &ollama_setup,
                                      .memory = &llama_cpp_memory,
                                      .options = &ollama_options,
                                      .beside = of_gguf,
                                      .reserves = false};
inline constexpr EngineRow transformers_row{.engine = spec::Engine::hf,
                                            .program = "transformers",
                                            .newest = "5.23.0",
                                            .vendors = torch_on,
                                            .runs = &runs_in_transformers,
                                            .keeps = &keeps_plain,
                                            .setup = &transformers_setup,
                                            .memory = &transformers_memory,
                                            .options = &transformers_options,
                                            .beside = of_batches,
                                            .reserves = false};

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

/// What the engine's file says, or the model's own limit.
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

}  // namespace llmcalc::serving
