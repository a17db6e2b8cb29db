// What the weights of a rank take at rest under a quantization scheme: a walk over the tensors of its step program.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace llmcalc::serving {

using spec::Use;

/// True of a matrix of which every expert has its own.
bool is_expert(const layers::Weight& weight);

/// A matrix as a kernel holds it.
struct Padded {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Bytes of parts.
struct WeightBytes {
  quantity::Bytes table;
  quantity::Bytes lookups;
  quantity::Bytes head;
  quantity::Bytes attention;
  quantity::Bytes mlp;
  quantity::Bytes experts;
  quantity::Bytes other;
  quantity::Bytes towers;

  quantity::Bytes total() const { return table + lookups + head + attention + mlp + experts + other + towers; }
  WeightBytes& operator+=(const WeightBytes& more);
};

/// Where a layer stands, which decides what file types of llama.cpp do with its tensors.
struct LayerPlace {
  std::int64_t layer = 0;      ///< of all layers
  std::int64_t attention = 0;  ///< of those that keep keys and values
};

/// Places of all blocks that a program runs, in its order; of what is no layer, the next one's.
std::vector<LayerPlace> layer_places(const spec::Question& question, const program::Program& program);

/// How one model's tensors rest.
class WeightFormat {
 public:
  explicit WeightFormat(const spec::Question& question);

  /// Bytes of one tensor on its rank; of a scheme that is not one of llama.cpp's the place does not matter.
  quantity::Bytes bytes(const layers::Block& block, const layers::Weight& weight, const LayerPlace& place = {}) const;

  /// The scheme that a tensor of this block rests in: bf16 of what the checkpoint leaves alone.
  formats::Quant scheme(const layers::Block& block, const layers::Weight& weight, const LayerPlace& place = {}) const;

  /// Whether equal blocks may rest otherwise in another place.
  bool goes_by_place() const;

  /// Copies of the attention over which a matrix is cut once more, whose tokens it meets: SGLang's MLP and shared
  /// experts are parallel over all ranks of --tp-size, which attention is not (srt/models/deepseek_v2.py,
  /// DeepseekV2MLP, parallel_group "tp" beside "attn_tp").
  std::int64_t copies_over(const layers::Block& block, const layers::Weight& weight) const;

 private:
  quantity::Bytes resting(const layers::Block& block, const layers::Weight& weight, const LayerPlace& place) const;
  std::optional<double> in_file(const layers::Weight& weight, const LayerPlace& place) const;
  quantity::Bytes matrix_bytes(const layers::Weight& weight, formats::Quant scheme) const;
  const spec::FileTensors* file() const;

  const spec::Question& question_;
  std::int64_t attention_layers_ = 0;
};

/// The tensors of every block that a pipeline stage runs, in forward order: embedding, layers, head.
struct StageWeights {
  std::vector<WeightBytes> layers;
  WeightBytes ends;   ///< embedding and head, as far as the stage has them
  WeightBytes whole;  ///< layers and ends
};

/// \param program  forward_program() of the same question
StageWeights stage_weights(const spec::Question& question, const program::Program& program, std::int64_t stage);

/// All tensors of the model, on no particular rank.
quantity::Bytes model_bytes(const spec::Question& question);

/// The size of the GGUF file that holds them, tokenizer included.
quantity::Bytes file_bytes(const spec::Question& question);

}  // namespace llmcalc::serving
