#include "program/inner/companions.hpp"

#include "layers/blocks.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::program {

using spec::Algorithm;
using spec::Method;
using spec::Reference;

namespace {

bool asks_reference(const spec::Training& training) {
  return training.reference == Reference::model || training.reference == Reference::base;
}

/// Appends the blocks of the same shape under another method, in the order of the trained model's own.
/// \returns the index of the first
std::size_t append_model(const spec::Question& question, const frameworks::Profile& profile, Program& program) {
  const layers::Context context(question, profile);
  const auto& kinds = question.model.kinds;
  const std::size_t first = program.blocks.size();
  program.blocks.resize(first + kinds.size() + 2 + (question.model.encoder_layers > 0 ? 1 : 0));
  layers::embedding_block(context, program.blocks[first]);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    layers::layer_block(context, kinds[i], context.differentiates, program.blocks[first + 1 + i]);
  }
  const std::size_t head = first + 1 + kinds.size();
  layers::head_block(context, context.differentiates, program.blocks[head]);
  if (question.model.encoder_layers > 0) layers::bridge_block(context, program.blocks[head + 1]);
  return first;
}

spec::Question under(const spec::Question& question, Method method) {
  spec::Question further = question;
  further.training.method = method;
  further.training.recompute = {};
  return further;
}

/// All samples of an optimizer step are made at once (trl trainer/grpo_config.py, steps_per_generation).
spec::Question of_generation(const spec::Question& question) {
  spec::Question further = under(question, Method::inference);
  auto& training = further.training;
  training.micro_batch = quantity::product(training.micro_batch, training.grad_accum);
  return further;
}

std::size_t append_score(const spec::Question& question, const frameworks::Profile& profile, Program& program) {
  program.blocks.emplace_back();
  layers::score_block(layers::Context(question, profile), program.blocks.back());
  return program.blocks.size() - 1;
}

/// Which block of the model at `first` runs in whose place; layers that a method spares have a block of their own and
/// are of the first kind here.
std::vector<std::uint16_t> in_place_of(std::span<const std::uint16_t> plain, const Program& program, std::size_t first,
                                       std::size_t last_known) {
  std::vector<std::uint16_t> runs(program.blocks.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool is_known = plain[i] <= last_known;
    runs[program.sequence[i]] = static_cast<std::uint16_t>(first + (is_known ? plain[i] : 1));
  }
  return runs;
}

/// The same layers with another head: a value model learns what the policy learns of its layers.
std::vector<std::uint16_t> with_head(std::vector<std::uint16_t> runs, const Program& program, std::size_t head) {
  runs[program.sequence.back()] = static_cast<std::uint16_t>(head);
  return runs;
}

std::vector<std::uint16_t> own_blocks(const Program& program) {
  std::vector<std::uint16_t> runs(program.blocks.size());
  for (const std::uint16_t block : program.sequence) runs[block] = block;
  return runs;
}

/// The remainder of a stated size is held by every model that has weights of its own.
void copy_remainder(const spec::Question& question, std::size_t first, Program& program) {
  const auto& outside = program.blocks.front().weights;
  if (!question.stated_parameters || outside.back().role != layers::Role::remainder) return;
  layers::Weight rest = outside.back();
  rest.trainable = false;
  program.blocks[first].weights.push_back(rest);
}

}  // namespace

bool has_companions(const spec::Training& training) { return asks_reference(training) || training.makes_samples(); }

/// DPO and KTO: a reference (Rafailov et al. 2023, arXiv:2305.18290 eq. 7). PPO: reference, reward and value model
/// (Ouyang et al. 2022, arXiv:2203.02155 section 3.5 and appendix C). GRPO: the mean reward of a group of samples
/// replaces the value model (Shao et al. 2024, arXiv:2402.03300 section 4.1.1), its rewards are taken to be rules.
void add_companions(const spec::Question& question, const frameworks::Profile& profile,
                    std::span<const std::uint16_t> plain, Program& program) {
  const auto& training = question.training;
  const std::size_t last_known = question.model.kinds.size() + (question.model.encoder_layers > 0 ? 2 : 1);
  const auto value = with_head(own_blocks(program), program, 0);
  const spec::Question frozen = under(question, Method::forward_only);
  const std::size_t model = append_model(frozen, profile, program);
  copy_remainder(question, model, program);
  const auto reference = in_place_of(plain, program, model, last_known);
  if (training.makes_samples() && training.colocate_fraction == 0.0) {
    const std::size_t generator = append_model(of_generation(question), profile, program);
    program.companions.push_back(
        {CompanionRole::generation, false, training.grad_accum, in_place_of(plain, program, generator, last_known)});
  }
  if (asks_reference(training)) {
    program.companions.push_back({CompanionRole::reference, training.reference == Reference::model, 1, reference});
  }
  if (training.algorithm != Algorithm::ppo) return;
  const std::size_t reward_head = append_score(frozen, profile, program);
  program.companions.push_back({CompanionRole::reward, true, 1, with_head(reference, program, reward_head)});
  const std::size_t value_head = append_score(question, profile, program);
  program.companions.push_back({CompanionRole::value, true, 1, with_head(value, program, value_head)});
}

}  // namespace llmcalc::program
