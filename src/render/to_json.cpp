// Every answer for programs; docs/json.md says what each key means.
#include "render/error.hpp"
#include "render/foreign.hpp"
#include "render/inner/fields_data.hpp"
#include "render/inner/fields_lists.hpp"
#include "render/inner/fields_serve.hpp"
#include "render/inner/json.hpp"

namespace llmcalc::render {

std::string to_json(const Report& report) { return json_of(report); }
std::string to_json(const ServingReport& report) { return json_of(report); }
std::string to_json(const PlanReport& report) { return json_of(report); }
std::string to_json(const PlanTable& table) { return json_of(table); }
std::string to_json(const Runs& runs) { return json_of(runs); }
std::string to_json(const Understood& question) { return json_of(question); }

std::string to_json(const laws::ScaleAnswer& answer, std::string_view version) {
  return json_of(ScaleReport{&answer, version});
}
std::string to_json(const trust::Validation& validation, std::string_view version) {
  return json_of(ValidationReport{&validation, version});
}
std::string to_json(const quantity::BadInput& error, std::string_view version) {
  return json_of(ErrorAnswer{shortened(error.place()), shortened(error.problem()), shortened(error.hint()), version});
}

std::string to_json(const ModelCard& card, std::string_view version) { return json_of(ModelAnswer{&card, version}); }
std::string to_json(std::span<const ModelCard> cards, std::string_view version) {
  return json_of(ModelList{cards, version});
}
std::string to_json(const AcceleratorCard& card, std::string_view version) {
  return json_of(AcceleratorAnswer{&card, version});
}
std::string to_json(std::span<const AcceleratorCard> cards, std::string_view version) {
  return json_of(AcceleratorList{cards, version});
}
std::string to_json(std::span<const FormatLine> lines, std::string_view version) {
  return json_of(FormatList{lines, version});
}
std::string to_json(const QuantizedList& list, std::string_view version) {
  return json_of(QuantizedAnswer{&list, version});
}

std::string to_calibration(const std::vector<trust::OwnBias>& biases, std::string_view version) {
  const auto is_known = [](const trust::OwnBias& own) {
    return own.calibration.memory.is_known() || own.calibration.time.is_known();
  };
  const auto known = quantity::mapped_if(biases, std::identity(), is_known);
  return json_of(CalibrationFile{known, version});
}

}  // namespace llmcalc::render
