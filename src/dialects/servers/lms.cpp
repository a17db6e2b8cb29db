// LM Studio's command: "lms load" (lmstudio-ai/lms src/subcommands/load.ts).
#include "dialects/servers/server_rules.hpp"
#include "quantity/text.hpp"

namespace llmcalc::dialects {

/// A share of the layers is no number of them.
void lms_rules(Sheet& sheet) {
  take_served_model(sheet, {"positional.0"});
  if (const Setting* share = sheet.find("gpu")) {
    const auto said = quantity::to_lower(share->text);
    const bool all = said == "max" || said == "1";
    if (all || said == "off" || said == "0") {
      sheet.say("gpu_layers", all ? "all" : "0", *share);
    } else {
      sheet.assume(*share, "as many layers as there is room for", "gpu_layers");
    }
  }
  assume_load(sheet);
}

/// The model is found by a part of its path below LM Studio's own folder, owner/repository/file.
std::string start_lms(const ServerLetter& letter) {
  const std::string& model = letter.names.model;
  const auto path =
      is_gguf_repository(model) ? model.substr(0, model.find(':')) : gguf_file(letter.names, letter.serving().quant);
  std::vector<Line> lines{{"--context-length", letter.text("context")}};
  if (letter.deployment.setup.host_layers == 0) lines.push_back({"--gpu", "max"});
  return command_of("lms load " + path, lines);
}

}  // namespace llmcalc::dialects
