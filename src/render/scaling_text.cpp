// `llmcalc scale` for people.
//
//   parameters  7B
//   tokens      140B           assumed
//   compute     5.88e+21 FLOP  derived
#include "llmcalc/render/scaling.hpp"
#include "render/scale_origin.hpp"
#include "render/text_common.hpp"

namespace llmcalc::render {

std::string to_text(const answer::ScaleAnswer& answer, bool explain) {
  Table table({Align::left, Align::left, Align::left}, "");
  const TextStyle style{.explain = explain};
  for (const auto& line : answer.lines) {
    table.add_row({std::string(line.label), line.text, std::string(word_of(line.origin))});
    if (line.origin != answer::Origin::given) add_explanation(table, line.why, style);
  }
  return table.render();
}

}  // namespace llmcalc::render
