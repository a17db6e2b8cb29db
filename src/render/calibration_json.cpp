#include "render/inner/json_values.hpp"
#include "render/validation.hpp"

#include <nlohmann/json.hpp>

namespace llmcalc::render {
namespace {

Json bias_object(const spec::Bias& bias) { return {{"runs", bias.runs}, {"factor", bias.factor}, {"bar", bias.bar}}; }

}  // namespace

std::string to_calibration(const std::vector<trust::OwnBias>& biases, std::string_view version) {
  Json list = Json::array();
  for (const trust::OwnBias& own : biases) {
    Json entry = {{"framework", own.framework}};
    if (own.calibration.memory.is_known()) entry["memory"] = bias_object(own.calibration.memory);
    if (own.calibration.time.is_known()) entry["time"] = bias_object(own.calibration.time);
    if (entry.size() > 1) list.push_back(std::move(entry));
  }
  const Json document = {{"llmcalc_version", version}, {"calibration", std::move(list)}};
  return dump(document);
}

}  // namespace llmcalc::render
