#include "frameworks/attention_library.hpp"

#include "llmcalc/frameworks/release.hpp"

namespace llmcalc::frameworks {

namespace {

/// PyTorch's scaled_dot_product_attention runs FlashAttention-2 unless cuDNN comes first, which it does on Hopper and
/// Blackwell since the release that ships cuDNN 9.15 (pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
/// check_prefer_cudnn_attention; pull request 138522 had made it opt-in in 2.5.1).
AttentionLibrary library_of_torch(const spec::Training& training) {
  constexpr Release cudnn_first{2, 11};
  return torch_release(training.framework_version) >= cudnn_first ? AttentionLibrary::native
                                                                  : AttentionLibrary::flash_2;
}

/// InternEvo shipped flash-attn 1.0.5 in 2023 (InternLM requirements, third_party/flash-attention).
AttentionLibrary library_of_internevo(const spec::Training& training) {
  const bool of_2023 = training.framework_version.find("2023") != std::string::npos;
  return of_2023 ? AttentionLibrary::flash_1 : AttentionLibrary::flash_2;
}

}  // namespace

/// Where flash attention is asked for, some frameworks leave the kernel to cuDNN and Transformer Engine, llm-foundry
/// takes Triton's (attn_impl triton), the others import flash-attn 2.
AttentionLibrary attention_library(const spec::Training& training) {
  using spec::Framework;
  if (training.attention == spec::AttentionKernel::sdpa) return library_of_torch(training);
  switch (training.framework) {
    case Framework::generic:
    case Framework::megatron:
    case Framework::nemo:
    case Framework::pax:
    case Framework::maxtext:
    case Framework::llm_c:
      return AttentionLibrary::native;
    case Framework::composer:
      return AttentionLibrary::triton;
    case Framework::internevo:
      return library_of_internevo(training);
    default:
      return AttentionLibrary::flash_2;
  }
}

}  // namespace llmcalc::frameworks
