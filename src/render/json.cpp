#include "render/inner/json.hpp"

#include "render/foreign.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace llmcalc::render {

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
  scalar(name);
  text_ += ": ";
}

void JsonText::scalar(std::int64_t value) { text_ += fmt::format_int(value).c_str(); }

/// The shortest that reads back as the same, and with a point, so that a whole number stays a number.
void JsonText::scalar(double value) {
  if (!std::isfinite(value)) throw std::domain_error("a figure of the answer is not a finite number");
  text_ += nlohmann::json(value).dump();
}

void JsonText::scalar(std::string_view value) { text_.append("\"").append(shown(value, Medium::json)).append("\""); }

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

}  // namespace llmcalc::render
