// transformers' generate: the cache grows with the sequences, and prompts go through all at once.
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "serving/inner/engines.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::serving {

using quantity::Bytes;
using quantity::product;

namespace {

/// One layer's hidden states and MLP in 16 bits: 4 as wide as the hidden state, 3 as the MLP.
Bytes activations(const Deployment& deployment, const Demand& demand) {
  const spec::Load& load = deployment.question.serving.load;
  const std::int64_t prompt = std::max(demand.length - load.output, quantity::ceil_divide(demand.length, 2));
  const double width =
      4.0 * static_cast<double>(deployment.question.model.shape.hidden) + 3.0 * mlp_width(deployment.question);
  const auto tokens = static_cast<double>(product(demand.sequences, prompt));
  return quantity::bytes(std::llround(2.0 * tokens * width));
}

/// Logits of the last position alone, and an fp32 copy (generation/utils.py, _sample).
Bytes logits(const Deployment& deployment, const Demand& demand) {
  return quantity::bytes(product(demand.sequences, deployment.question.model.shape.vocab, 6));
}

/// A layer's keys are written anew, one position longer, before the old ones go (cache_utils.py, DynamicLayer.update).
Bytes growing_layer(const Deployment& deployment, const Stage& stage, const Demand& demand) {
  Bytes largest = quantity::bytes(0);
  for (const CacheGroup& group : stage.cache) {
    if (group.layer.reach == Reach::state) continue;
    largest = std::max(largest, cache_bytes(deployment.setup.cache, group.layer.elements / 2));
  }
  return largest * product(demand.length, demand.sequences);
}

Setup transformers_setup(const spec::Question& question) {
  Setup setup;
  setup.release = parse_release(question.serving.engine_version);
  setup.cache = usual_cache(question, setup.assumptions);
  const auto& load = question.serving.load;
  setup.context = load.context > 0 ? load.context : quantity::checked_add(load.prompt, load.output);
  setup.max_sequences = question.serving.options.max_sequences.value_or(question.serving.load.concurrency);
  setup.batched_tokens = product(std::max<std::int64_t>(load.prompt, 1), setup.max_sequences);
  return setup;
}

RankMemory transformers_memory(const Deployment& deployment, std::size_t rank, const Demand& demand) {
  const Stage& stage = deployment.stages[rank];
  RankMemory memory;
  memory.capacity = memory.limit = visible_memory(deployment.question);
  hold_weights(deployment, stage.weights.whole, memory);
  memory.holdings.push_back({"activations", "activations of the prompt", activations(deployment, demand), false,
                             "tokens x 2 x (4 hidden + 3 ffn)", "transformers, one layer of the forward pass"});
  memory.holdings.push_back({"logits", "logits", logits(deployment, demand), false, "sequences x vocab x (2 + 4)",
                             "transformers generation/utils.py"});
  memory.holdings.push_back({"growing", "a layer's keys while they grow", growing_layer(deployment, stage, demand),
                             false, "length x sequences x bytes of a layer's keys", "transformers cache_utils.py"});
  memory.holdings.push_back({"context", "CUDA context", deployment.question.runtime.context.value_or(usual_context),
                             true, "500 MiB", "as of the training kernels"});
  memory.pool = memory.limit - memory.held();
  share_by_group(deployment, stage, demand, 0.0, memory);
  return memory;
}

}  // namespace

#include "engines/hf_row.inc"

}  // namespace llmcalc::serving
