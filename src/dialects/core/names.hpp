// Dialects speak of words, settings and checkpoints as the room that reads them does.
#pragma once

namespace llmcalc::read {}

namespace llmcalc::dialects {
using namespace read;
}
