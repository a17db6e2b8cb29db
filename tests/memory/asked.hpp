// The memory of a step, asked as on the command line.
#pragma once

#include "memory/step_walk.hpp"
#include "read/typed.hpp"

#include <string_view>
#include <utility>

namespace llmcalc::test {

/// A matrix that one rank holds whole.
inline layers::Weight matrix(std::int64_t rows, std::int64_t columns) {
  layers::Weight w;
  w.rows = rows;
  w.columns = columns;
  w.elements = w.whole = rows * columns;
  return w;
}

inline spec::Question question_of(std::string_view line) { return ask(line).question; }

struct Asked {
  spec::Question question;
  frameworks::Profile profile;
  program::Program program;

  explicit Asked(std::string_view line) : Asked(question_of(line)) {}

  explicit Asked(spec::Question asked)
      : question(std::move(asked)),
        profile(frameworks::make_profile(question.training, question.gpu)),
        program(program::build_program(question, profile)) {}

  memory::StepMemory walk() const { return memory::StepWalk(program, question, profile).walk(0); }

  /// The states of all weights of the model, without buffers.
  program::States states() const {
    program::States sum;
    for (const auto index : program.sequence) {
      sum += program::block_states(program.blocks[index], question.training, program::StateSharding(question.layout));
    }
    return sum;
  }

  std::int64_t parameters() const {
    std::int64_t sum = 0;
    for (const auto index : program.sequence) {
      for (const auto& w : program.blocks[index].weights) sum += w.shared ? 0 : w.elements;
    }
    return sum;
  }
};

inline const memory::Moment& at(const memory::StepMemory& memory, memory::Phase phase) {
  return memory.steady[static_cast<std::size_t>(phase)].alive;
}

}  // namespace llmcalc::test
