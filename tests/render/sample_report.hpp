// A report made by hand, so that renderers are tested without the rooms that compute.
#pragma once

#include "llmcalc/render/report.hpp"

namespace llmcalc::render {

/// Llama-3-8B (8,030,261,248 parameters, trained on 15T tokens: Meta's model card) in pure bf16 with 8-bit AdamW on
/// one A100, which it fits. Model states are 2 + 2 + 2 bytes a parameter.
Report sample_report();

/// The same on an accelerator of 24 GiB.
Report report_that_does_not_fit();

/// The same with no accelerator named.
Report report_without_accelerator();

/// Nothing but a verdict: no ledger, no phases, no notes.
Report empty_report();

}  // namespace llmcalc::render
