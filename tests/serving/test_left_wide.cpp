// What schemes leave in 16 bits: of every family under every scheme of every engine, each matrix that is not narrowed
// is on a list with its reason.
#include "catch.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/quantity/error.hpp"
#include "serving/engine.hpp"
#include "serving/forward.hpp"
#include "serving/questions.hpp"
#include "serving/weights.hpp"
#include "spec/names.hpp"
#include "spec/roles.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace {

using namespace llmcalc;
using formats::Coverage;
using spec::Role;

/// Why a matrix stays as it is.
enum class Why {
  looked_up,  ///< rows of a table are read, not multiplied
  no_linear,  ///< no linear layer holds it, so that what replaces linear layers does not see it
  end,        ///< recipes ignore lm_head and what stands in its place (llm-compressor, ignore=["lm_head"])
  router,     ///< and routers (llm-compressor examples/quantizing_moe, "re:.*mlp.gate$"; ModelOpt excludes "*router*")
  streams,    ///< altup, laurel and inputs of layers, which recipes of Gemma 3n ignore (llm-compressor, "re:.*altup.*",
            ///< "re:.*laurel.*") and llama.cpp leaves (src/llama-quant.cpp, "altup", "laurel", "per_layer_model_proj")
  small,    ///< in 16 bits or 32 beside FP8 as published (deepseek-ai/DeepSeek-V3.2, indexer.weights_proj)
  latents,  ///< attention over latents and delta nets in 4 bits (src/serving/weights.cpp, leaves_attention)
};

struct Left {
  Coverage covers;
  Role role;
  Why why;
};

using enum Why;

constexpr Left lefts[] = {
    {Coverage::layers, Role::vector, no_linear},
    {Coverage::layers, Role::token_table, looked_up},
    {Coverage::layers, Role::position_table, looked_up},
    {Coverage::layers, Role::layer_input_table, looked_up},
    {Coverage::layers, Role::layer_inputs, streams},
    {Coverage::layers, Role::head, end},
    {Coverage::layers, Role::query, latents},
    {Coverage::layers, Role::query_up, latents},
    {Coverage::layers, Role::query_down, latents},
    {Coverage::layers, Role::key_value_down, latents},
    {Coverage::layers, Role::key_value_up, latents},
    {Coverage::layers, Role::attention_out, latents},
    {Coverage::layers, Role::attention_gate, latents},
    {Coverage::layers, Role::index_query, latents},
    {Coverage::layers, Role::index_key, latents},
    {Coverage::layers, Role::index_weight, small},
    {Coverage::layers, Role::delta_fused, latents},
    {Coverage::layers, Role::delta_beta_decay, latents},
    {Coverage::layers, Role::delta_gate, latents},
    {Coverage::layers, Role::delta_beta, latents},
    {Coverage::layers, Role::delta_decay, latents},
    {Coverage::layers, Role::delta_out, latents},
    {Coverage::layers, Role::recurrent_gates, no_linear},
    {Coverage::layers, Role::router, router},
    {Coverage::layers, Role::shared_expert_gate, router},
    {Coverage::layers, Role::stream_router, streams},
    {Coverage::layers, Role::stream_predictions, streams},
    {Coverage::layers, Role::stream_corrections, streams},
    {Coverage::layers, Role::stream_mix, small},
    {Coverage::layers, Role::residual_low_rank, streams},
    {Coverage::layers, Role::pooler, end},
    {Coverage::layers, Role::head_transform, end},
    {Coverage::layers, Role::patches, no_linear},
    {Coverage::layers, Role::projector, end},
    {Coverage::experts, Role::vector, no_linear},
    {Coverage::file, Role::vector, no_linear},
    {Coverage::file, Role::position_table, looked_up},
    {Coverage::file, Role::layer_inputs, streams},
    {Coverage::file, Role::index_weight, small},
    {Coverage::file, Role::recurrent_gates, no_linear},
    {Coverage::file, Role::router, router},
    {Coverage::file, Role::shared_expert_gate, router},
    {Coverage::file, Role::stream_router, streams},
    {Coverage::file, Role::stream_mix, small},
    {Coverage::file, Role::residual_low_rank, streams},
};

std::vector<std::string> configurations() {
  std::vector<std::string> all;
  std::ifstream file(LLMCALC_TEST_DATA "/program/families/counts.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto type = nlohmann::json::parse(line);
    if (!type.contains("problem")) all.push_back(type.at("config").dump());
  }
  return all;
}

/// A question of a family, if its type is read and the engine serves it.
std::optional<spec::Question> served_by(const serving::EngineRow& engine, const std::string& config) {
  try {
    return test::served({"engine", std::string(spec::name_of(engine.engine)), "gpu", "h100-sxm"}, config);
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

using Seen = std::set<std::pair<Coverage, Role>>;

/// Blocks of llama.cpp's types are of 32 inputs at least; what does not consist of them stays in 16 bits
/// (src/llama-quant.cpp, tensor_type_fallback).
bool has_blocks(const layers::Weight& weight) {
  constexpr std::int64_t block = 32;
  return weight.rows % block == 0;
}

void look(const spec::Question& question, const program::Program& program, Seen& seen) {
  const serving::WeightFormat format(question);
  const formats::QuantFacts& scheme = formats::facts(question.serving.quant);
  for (const auto& block : program.blocks) {
    if (block.tower && !scheme.narrows_towers) continue;
    for (const auto& weight : block.weights) {
      if (weight.shared || weight.elements == 0) continue;
      const auto bytes = quantity::in_bytes(format.bytes(block, weight)) * format.copies_over(block, weight);
      if (bytes < 2 * weight.elements) continue;
      if (scheme.covers == Coverage::experts && !serving::is_expert(weight)) continue;
      if (scheme.covers == Coverage::file && !has_blocks(weight)) continue;
      seen.emplace(scheme.covers, weight.role);
    }
  }
}

/// Everything that schemes of an engine leave, of one family.
int look_at_schemes(const serving::EngineRow& engine, spec::Question question, Seen& seen) {
  const auto program = serving::forward_program(question, {.fuses_projections = false});
  int asked = 0;
  for (const auto& scheme : formats::all_quants()) {
    if (formats::is_plain(scheme.quant)) continue;
    if (formats::is_file_type(scheme.quant) != spec::reads_gguf(engine.engine)) continue;
    question.serving.quant = scheme.quant;
    look(question, program, seen);
    ++asked;
  }
  return asked;
}

std::string said(const std::pair<Coverage, Role>& left) {
  return std::string(spec::facts(left.second).word) + " under coverage " + std::to_string(static_cast<int>(left.first));
}

TEST_CASE("each matrix that a scheme leaves in 16 bits has its reason, of every family on every engine", "[long]") {
  Seen seen;
  int asked = 0;
  for (const auto& config : configurations()) {
    for (const auto& engine : serving::all_engines()) {
      if (const auto question = served_by(engine, config)) asked += look_at_schemes(engine, *question, seen);
    }
  }
  CHECK(asked > 25000);
  Seen listed;
  for (const Left& left : lefts) listed.emplace(left.covers, left.role);
  for (const auto& left : seen) {
    INFO(said(left));
    CHECK(listed.contains(left));
  }
  for (const auto& left : listed) {
    INFO(said(left));
    CHECK(seen.contains(left));
  }
}

}  // namespace
