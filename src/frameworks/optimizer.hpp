// What a framework makes of an optimizer beside its published algorithm.
#pragma once

#include "llmcalc/spec/training.hpp"

namespace llmcalc::frameworks {

/// transformers' Trainer asks bitsandbytes to keep the moments of every nn.Embedding in fp32; until release 4.52 it
/// asked for Adam8bit alone, which its options never make (trainer.py, create_optimizer).
bool widens_embedding_moments(const spec::Training& training);

/// The paper's APOLLO makes its random projector again from the seed (Zhu et al. 2024, arXiv:2412.05270 table 1); its
/// package, which every framework uses, keeps it (apollo_torch/random_projector.py).
bool keeps_random_projector(const spec::Training& training);

/// The type of adapters where nobody says: fp32 whatever the base weights are (peft, autocast_adapter_dtype), or that
/// of the whole model.
formats::Dtype adapters_rest_in(const spec::Training& training);

}  // namespace llmcalc::frameworks
