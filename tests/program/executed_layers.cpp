#include "executed_layers.hpp"

#include "llmcalc/quantity/error.hpp"
#include "memory/block_walk.hpp"
#include "program/build.hpp"
#include "read/config.hpp"
#include "read/typed.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <fstream>

namespace llmcalc::test {

namespace {

using nlohmann::json;

struct Method {
  const char* key;
  const char* words;
};
constexpr std::array methods = {
    Method{"full", "--method full"},
    Method{"lora", "--method lora --lora-rank 8 --lora-targets all-linear"},
    Method{"lora_qv", "--method lora --lora-rank 8 --lora-targets q,v"},
    Method{"checkpointed", "--method full --recompute full"},
};

/// torch counts the whole square of scores, and the fifth product of a fused kernel's backward pass.
LayersCost cost_of(const layers::Block& block) {
  LayersCost cost{quantity::in_bytes(memory::walk_block(block, {}).kept)};
  for (const layers::Op& op : block.ops) {
    const bool counts =
        op.kind == layers::OpKind::linear || op.kind == layers::OpKind::attention || op.kind == layers::OpKind::scores;
    if (!counts || op.forward <= quantity::flops(0)) continue;
    const double seen = quantity::in_flops(op.forward);
    const double whole = seen + quantity::in_flops(op.masked);
    const double back = quantity::in_flops(op.backward_input + op.backward_weight + op.kernel_recompute);
    cost.forward += std::llround(whole);
    cost.both += std::llround(whole + back * whole / seen);
  }
  return cost;
}

LayersCost cost_of(const json& config, spec::Question question) {
  question.model = spec::build_model(read::read_config(config.dump(), "config.json").shape);
  const auto profile = frameworks::make_profile(question.training, question.gpu);
  const auto program = program::build_program(question, profile);
  LayersCost sum;
  for (const auto index : program.sequence) {
    const layers::Block& block = program.blocks[index];
    const LayersCost one = cost_of(block);
    const bool first = block.group_end == 0 || block.group_first == index;  // of those that share a checkpoint
    sum = {sum.kept + (first ? one.kept : 0), sum.forward + one.forward, sum.both + one.both};
  }
  return sum;
}

spec::Question question_of(const json& line, const Method& method) {
  const auto number = [&](const char* key) { return std::to_string(line.at(key).get<int>()); };
  return ask("--framework hf --model llama-3-8b --dtype bf16 --seq " + number("positions") + " --micro-batch " +
             number("samples") + " " + line.value("words", "") + " " + method.words)
      .question;
}

ExecutedMethod method_of(const json& line, const Method& method) {
  const json& executed = line.at(method.key);
  const auto number = [&](const char* key) { return executed.at(key).get<std::int64_t>(); };
  const auto question = question_of(line, method);
  const LayersCost small = cost_of(line.at("configs")[0], question);
  const LayersCost large = cost_of(line.at("configs")[1], question);
  return {method.key,
          {number("kept"), number("forward"), number("both")},
          {large.kept - small.kept, large.forward - small.forward, large.both - small.both}};
}

ExecutedFamily family_of(const json& line) {
  ExecutedFamily family{line.at("type"), line.at("attention"), false, {}};
  try {
    for (const Method& method : methods) {
      if (!line.at(method.key).is_null()) family.methods.push_back(method_of(line, method));
    }
  } catch (const quantity::BadInput&) {
    family.refused = true;
  }
  return family;
}

}  // namespace

std::vector<ExecutedFamily> executed_families(const std::string& path) {
  std::vector<ExecutedFamily> families;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (!line.contains("problem")) families.push_back(family_of(line));
  }
  return families;
}

}  // namespace llmcalc::test
