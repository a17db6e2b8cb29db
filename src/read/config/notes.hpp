// What a file says and the shape of its text model leaves out.
#pragma once

namespace llmcalc::read {

class ConfigReader;

void note_what_is_left_out(ConfigReader& reader);

}  // namespace llmcalc::read
