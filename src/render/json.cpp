// Every answer for programs; docs/json.md says what each key means.
#include "render/inner/json.hpp"

#include "render/foreign.hpp"
#include "render/inner/described.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace llmcalc::render {
namespace {

template <class T>
std::string versioned(const T& value, std::string_view version) {
  return json_of(Versioned<T>{&value, version});
}

}  // namespace

void JsonText::begin_line() {
  if (depth_ > 0) text_.append("\n").append(2 * depth_, ' ');
}

void JsonText::open(char bracket) {
  text_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonText::close(char bracket) {
  --depth_;
  if (!empty_) text_.append("\n").append(2 * depth_, ' ');
  text_ += bracket;
  empty_ = false;
}

void JsonText::item() {
  if (!empty_) text_ += ',';
  begin_line();
  empty_ = false;
}

void JsonText::key(std::string_view name) {
  item();
  text_.append("\"").append(name).append("\": ");
}

void JsonText::scalar(std::int64_t value) { text_ += fmt::format_int(value).c_str(); }

/// The shortest that reads back as the same, and with a point, so that a whole number stays a number.
void JsonText::scalar(double value) {
  if (!std::isfinite(value)) throw std::domain_error("a figure of the answer is not a finite number");
  text_ += nlohmann::json(value).dump();
}

void JsonText::scalar(std::string_view value) {
  text_ += '"';
  append_shown(text_, value, Medium::json);
  text_ += '"';
}

void JsonText::word(std::string_view words) {
  std::string id(words);
  std::ranges::replace(id, ' ', '_');
  scalar(std::string_view(id));
}

void JsonFields::envelope(std::string_view kind, std::string_view version) {
  text_.key("schema_version");
  text_.scalar(std::int64_t{1});
  text_.key("kind");
  text_.scalar(kind);
  text_.key("tool");
  text_.open('{');
  text_.key("name");
  text_.scalar(std::string_view("llmcalc"));
  text_.key("version");
  text_.scalar(version);
  text_.close('}');
}

std::string to_json(const Report& report) { return json_of(report); }
std::string to_json(const ServingReport& report) { return json_of(report); }
std::string to_json(const PlanReport& report) { return json_of(report); }
std::string to_json(const PlanTable& table) { return json_of(table); }
std::string to_json(const Runs& runs) { return json_of(runs); }
std::string to_json(const Understood& question) { return json_of(question); }

std::string to_json(const quantity::BadInput& error, std::string_view version) {
  return json_of(ErrorAnswer{shortened(error.place()), shortened(error.problem()), shortened(error.hint()), version});
}

std::string to_json(const laws::ScaleAnswer& answer, std::string_view version) { return versioned(answer, version); }
std::string to_json(const trust::Validation& found, std::string_view version) { return versioned(found, version); }
std::string to_json(const ModelCard& card, std::string_view version) { return versioned(card, version); }
std::string to_json(std::span<const ModelCard> cards, std::string_view version) { return versioned(cards, version); }
std::string to_json(const AcceleratorCard& card, std::string_view version) { return versioned(card, version); }
std::string to_json(std::span<const AcceleratorCard> all, std::string_view version) { return versioned(all, version); }
std::string to_json(std::span<const FormatLine> lines, std::string_view version) { return versioned(lines, version); }
std::string to_json(const QuantizedList& list, std::string_view version) { return versioned(list, version); }

std::string to_calibration(const std::vector<trust::OwnBias>& biases, std::string_view version) {
  const auto is_known = [](const trust::OwnBias& own) {
    return own.calibration.memory.is_known() || own.calibration.time.is_known();
  };
  const auto known = quantity::mapped_if(biases, std::identity(), is_known);
  return versioned(known, version);
}

}  // namespace llmcalc::render
