// A model beside the one that is served, which proposes tokens to it.
#pragma once

#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/model.hpp"

namespace llmcalc::spec {

struct DraftModel {
  Model model;
  formats::Quant quant = formats::Quant::bf16;  ///< of its weights
};

}  // namespace llmcalc::spec
