// The memory of a step, asked as on the command line.
#pragma once

#include "llmcalc/memory/step_walk.hpp"
#include "llmcalc/read/resolve.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// A matrix that one rank holds whole.
inline program::Weight matrix(std::int64_t rows, std::int64_t columns) {
  program::Weight w;
  w.rows = rows;
  w.columns = columns;
  w.elements = w.whole = rows * columns;
  return w;
}

/// "--seq 8k --optimizer lomo" -> the words and their values.
inline std::vector<read::Given> words_of(std::string_view line) {
  std::vector<read::Given> given;
  while (!line.empty()) {
    const auto end = std::min(line.find(" --"), line.size());
    const auto flag = line.substr(2, line.find(' ') - 2);
    const auto text = line.substr(flag.size() + 3, end - flag.size() - 3);
    given.push_back({std::string(flag), std::string(text), {read::Source::flag, "--" + std::string(flag)}});
    line.remove_prefix(end == line.size() ? end : end + 1);
  }
  return given;
}

inline spec::Question question_of(std::string_view line) {
  return read::resolve(words_of(line), std::nullopt, read::Catalogue()).question;
}

struct Asked {
  spec::Question question;
  program::Profile profile;
  program::Program program;

  explicit Asked(std::string_view line)
      : question(question_of(line)),
        profile(program::make_profile(question.training, question.gpu)),
        program(program::build_program(question, profile)) {}

  memory::StepMemory walk() const { return memory::StepWalk(program, question, profile).walk(0); }

  /// The states of all weights of the model, without buffers.
  program::States states() const {
    program::States sum;
    for (const auto index : program.sequence) {
      sum += program::block_states(program.blocks[index], question.training, program::Sharding(question.layout));
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
