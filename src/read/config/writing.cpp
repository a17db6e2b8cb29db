#include "read/config/reader.hpp"
#include "read/config/steps.hpp"

namespace llmcalc::read {

spec::Writing writing_of(const Family& family) {
  const ConfigDocument nothing("{}", "no file");
  ConfigReader reader(nothing, family);
  for (const auto& field : word_fields()) reader.read(field);
  for (const auto& field : switch_fields()) reader.read(field);
  if (family.field("activation") != nullptr) read_activation(reader);
  return reader.shape().writing;
}

}  // namespace llmcalc::read
