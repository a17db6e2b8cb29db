// What a framework can do at all. What is missing here is refused, searched by no plan and advised to nobody.
#pragma once

#include "frameworks/saving.hpp"
#include "frameworks/set.hpp"
#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/spec/question.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::frameworks {

/// In which directions ranks share one model.
enum class Parallelism { tensor, sequence, pipeline, virtual_stages, context, experts, expert_tensor };

struct Abilities {
  Set<spec::Method> methods;
  Set<spec::Algorithm> algorithms;
  Set<spec::Sharding> shardings;
  Set<Parallelism> splits;
  Set<spec::ContextExchange> exchanges;  ///< of context parallelism
  Set<spec::Schedule> schedules;
  Set<spec::Offload> offloads;
  Set<spec::Optimizer> optimizers;
  Set<formats::Dtype> quantized;  ///< types of frozen base weights, beside the whole ones
  Set<formats::Dtype> narrow;     ///< types of products with fewer than 16 bits
  Set<spec::Loss> losses;
  std::span<const Saving> savings{};  ///< ways to write a checkpoint; the first that holds is its own choice
};

/// The term of a question that asks for what the framework cannot do; empty where it can do all of it.
std::string_view unable_to(spec::Framework framework, const spec::Question& question);

/// The words of frameworks that can do what a term of the question asks for: those nearest to its own first, then the
/// best known, a handful at most.
/// \pre unable_to() names such terms
std::vector<std::string_view> able_to(std::string_view term, const spec::Question& question);

}  // namespace llmcalc::frameworks
