// Families whose structure depends on their files in a way of their own. Each adjusts a shape that holds the sizes.
#pragma once

#include "llmcalc/spec/shape.hpp"

namespace llmcalc::read {

class ConfigReader;

void adjust_falcon(ConfigReader& reader, spec::Shape& shape);
void adjust_gpt_bigcode(ConfigReader& reader, spec::Shape& shape);
void adjust_mpt(ConfigReader& reader, spec::Shape& shape);
void adjust_opt(ConfigReader& reader, spec::Shape& shape);
void adjust_chatglm(ConfigReader& reader, spec::Shape& shape);
void adjust_stablelm(ConfigReader& reader, spec::Shape& shape);
void adjust_encoder(ConfigReader& reader, spec::Shape& shape);
void adjust_t5(ConfigReader& reader, spec::Shape& shape);
void adjust_llama4(ConfigReader& reader, spec::Shape& shape);

}  // namespace llmcalc::read
