#include "answer/model_size.hpp"

#include "llmcalc/spec/question.hpp"
#include "program/build.hpp"

namespace llmcalc::answer {

using quantity::parameters;

SizeAnswer size_answer(const program::Size& size) {
  return {parameters(size.total), parameters(size.active), parameters(size.trainable), parameters(size.tables)};
}

SizeAnswer model_size(const spec::Shape& shape) {
  spec::Question question;
  question.model = spec::build_model(shape);
  question.training.seq = 1;
  const auto profile = frameworks::make_profile(question.training, question.gpu);
  return size_answer(program::count_parameters(program::build_program(question, profile)));
}

}  // namespace llmcalc::answer
