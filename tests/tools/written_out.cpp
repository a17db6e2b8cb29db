#include "tools/written_out.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

namespace llmcalc::test {

namespace {

using nlohmann::json;

const std::map<std::string, double, std::less<>> worths{{"B", 1},
                                                        {"KiB", 1024},
                                                        {"MiB", 1048576},
                                                        {"GiB", 1073741824},
                                                        {"TiB", 1099511627776},
                                                        {"PiB", 1125899906842624},
                                                        {"us", 1e-6},
                                                        {"ms", 1e-3},
                                                        {"s", 1},
                                                        {"min", 60},
                                                        {"h", 3600},
                                                        {"days", 86400},
                                                        {"years", 31557600},
                                                        {"Wh", 1e-3},
                                                        {"kWh", 1},
                                                        {"MWh", 1e3},
                                                        {"GWh", 1e6},
                                                        {"TWh", 1e9},
                                                        {"GB", 1e9},
                                                        {"TB", 1e12},
                                                        {"GB/s", 1e9},
                                                        {"TB/s", 1e12},
                                                        {"TFLOP/s", 1e12},
                                                        {"PFLOP/s", 1e15},
                                                        {"EFLOP/s", 1e18},
                                                        {"GFLOP/s", 1e9},
                                                        {"GPU-hours", 3600},
                                                        {"%", 0.01}};

/// Words of the text, brackets and operators apart from what they touch.
std::vector<std::string> words_of(std::string_view written) {
  std::vector<std::string> words(1);
  for (const char c : written) {
    const bool is_alone = c == '(' || c == ')' || c == '^';
    if (c == ' ' || is_alone) words.emplace_back();
    if (is_alone) words.back() = c;
    if (is_alone) words.emplace_back();
    if (c != ' ' && c != ',' && c != '$' && !is_alone) words.back() += c;
  }
  std::erase(words, "");
  return words;
}

/// What a letter or a price's hour behind a number makes of it.
double worth_of_end(std::string_view end) {
  constexpr double hour = 3600;
  if (end == "/h") return 1 / hour;
  constexpr std::string_view letters = "kMBT";
  const auto letter = end.size() == 1 ? letters.find(end[0] == 'K' ? 'k' : end[0]) : letters.npos;
  return letter == letters.npos ? 1.0 : std::pow(1e3, static_cast<double>(letter + 1));
}

/// Recursive descent over sums of products of powers.
class Reckoner {
 public:
  explicit Reckoner(std::vector<std::string> words) : words_(std::move(words)) {}

  std::optional<double> all() {
    const auto value = sum();
    return at_ == words_.size() ? value : std::nullopt;
  }

 private:
  bool is(std::string_view word) const { return at_ < words_.size() && words_[at_] == word; }

  void skip_words() {
    while (at_ < words_.size() && std::isalpha(static_cast<unsigned char>(words_[at_][0])) != 0 && !is("x")) ++at_;
  }

  bool takes(std::string_view sign) {
    const bool is_there = is(sign);
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  std::optional<double> sum() {
    auto value = product();
    while (value && (is("+") || is("-"))) {
      const double sign = takes("-") ? -1 : takes("+") ? 1 : 0;
      const auto next = product();
      value = next ? std::optional(*value + sign * *next) : std::nullopt;
    }
    return value;
  }

  /// A bracket behind a number multiplies it.
  std::optional<double> product() {
    auto value = power();
    while (value && (is("x") || is("/") || is("("))) {
      const bool divides = takes("/");
      if (!divides) takes("x");
      const auto next = power();
      value = next ? std::optional(divides ? *value / *next : *value * *next) : std::nullopt;
    }
    return value;
  }

  std::optional<double> power() {
    const auto base = number();
    if (!base || !takes("^")) return base;
    const auto exponent = number();
    return exponent ? std::optional(std::pow(*base, *exponent)) : std::nullopt;
  }

  std::optional<double> number() {
    skip_words();
    if (at_ == words_.size()) return std::nullopt;
    std::optional<double> value;
    if (is("(")) {
      ++at_;
      value = sum();
      if (!is(")")) return std::nullopt;
      ++at_;
    } else {
      char* end = nullptr;
      value = std::strtod(words_[at_].c_str(), &end);
      if (end == words_[at_].c_str()) return std::nullopt;
      *value *= worth_of_end(end);
      ++at_;
      const auto unit = at_ < words_.size() ? worths.find(words_[at_]) : worths.end();
      if (unit != worths.end()) *value *= unit->second, ++at_;
    }
    skip_words();
    return value;
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

/// Three digits are shown of most, of terabytes one behind the point.
bool agree(double one, double other, std::string_view written) {
  const double share = written.find("TiB") != written.npos ? 0.08 : 0.012;
  return std::abs(one - other) <= share * std::max(std::abs(one), std::abs(other));
}

/// The written side of each "=", and the figure, are one number.
void check(const json& figure, double value, std::vector<std::string>& wrong) {
  const auto written = figure.at("numbers").get<std::string>();
  for (std::string_view rest = written; !rest.empty();) {
    const auto end = std::min(rest.find(" = "), rest.size());
    const auto side = worked_out(rest.substr(0, end));
    const bool counts = rest.substr(0, end).find(" tokens") == rest.npos;  // sequences of an activation's sum
    if (counts && (!side || !agree(*side, value, written)))
      wrong.push_back(written + " is not " + std::to_string(value));
    rest.remove_prefix(std::min(end + 3, rest.size()));
  }
}

/// "d = 99 GB / 1 GB/s = 99 s" of the pieces between commas: its last figure.
double named(std::string_view numbers, std::string_view name) {
  const auto at = numbers.find(std::string(name) + " = ");
  if (at == numbers.npos) return 0;
  auto piece = numbers.substr(at);
  for (auto comma = piece.find(','); comma != piece.npos; comma = piece.find(',', comma + 1)) {
    if (piece.substr(comma).starts_with(", ")) piece = piece.substr(0, comma);
  }
  return worked_out(piece.substr(piece.rfind(" = ") + 3)).value_or(0);
}

/// Daly 2006, doi:10.1016/j.future.2004.11.016 equation 20. Behind the last interval nothing has to be saved.
void check_goodput(const json& time, std::vector<std::string>& wrong) {
  const json& goodput = time.at("goodput");
  if (goodput.is_null() || !goodput.at("numbers").is_string() || !goodput.at("mtbf_seconds").is_number()) return;
  const auto at = [&](const char* name) { return goodput.at(name).get<double>(); };
  const double t = at("checkpoint_interval_seconds"), m = at("mtbf_seconds");
  const double saved = at("checkpoint_seconds") * (1 - std::min(1.0, t / time.at("useful_seconds").get<double>()));
  const double share = t / (m * std::exp(at("restart_seconds") / m) * std::expm1((t + saved) / m));
  const auto numbers = goodput["numbers"].get<std::string>();
  const bool ends = at("share") > 0;  // a share of a thousandth is none
  if (ends && std::abs(share - at("share")) > 1e-6)
    wrong.push_back(numbers + " is not the share " + std::to_string(at("share")));
  for (const auto& [name, member] :
       {std::pair{"t", "checkpoint_interval_seconds"}, std::pair{"d", "checkpoint_seconds"},
        std::pair{"M", "mtbf_seconds"}, std::pair{"R", "restart_seconds"}}) {
    if (!agree(named(numbers, name), at(member), {})) wrong.push_back(numbers + " says another " + name);
  }
}

/// Figures of an object that is there.
void check_member(const json& object, const char* member, double unit, std::vector<std::string>& wrong) {
  if (object.is_null() || !object.at("numbers").is_string() || !object.at(member).is_number()) return;
  check(object, unit * object[member].get<double>(), wrong);
}

void check_run(const json& answer, std::vector<std::string>& wrong) {
  const json& memory = answer.at("memory");
  for (const char* ledger : {"ledger", "host_ledger"}) {
    for (const auto& line : memory.at(ledger)) {
      const auto numbers = line.at("numbers").get<std::string>();
      if (numbers.ends_with("B") && numbers.find(": ") == numbers.npos) check_member(line, "bytes", 1, wrong);
    }
  }
  json why = memory.at("peak_why");
  if (!why.is_null()) why["bytes"] = memory.at("peak_allocated_bytes");
  check_member(why, "bytes", 1, wrong);
  for (const auto& figure : answer.at("compute").at("flops")) {
    if (figure.at("id") == "six_pd") check_member(figure, "per_token", 1, wrong);
  }
  const json& time = answer.at("time");
  if (time.is_null() || !time.at("step_seconds").is_number()) return;
  for (const auto& part : time.at("step_parts")) {
    if (part.at("numbers").get<std::string>().find(" x (") != std::string::npos)
      check_member(part, "seconds", 1, wrong);
  }
  const auto term = [&](const char* name) {
    return std::stod(answer.at("question").at(name).at("value").get<std::string>());
  };
  const double a_step = time.at("tokens_per_second_per_gpu").get<double>() * time.at("step_seconds").get<double>();
  const double tokens = a_step * term("gpus") / term("dp") / term("grad_accum");
  for (const auto& figure : answer["compute"]["flops"]) {
    if (figure.at("id") == "model") check_member(figure, "per_token", tokens, wrong);
  }
  check_member(time.at("energy"), "kilowatt_hours", 3.6e6, wrong);
  const json& energy = time.at("energy");
  const bool has_digits =
      energy.is_object() && energy.at("kilowatt_hours").is_number() && energy["kilowatt_hours"] > 1e-6;
  if (has_digits)
    check_member(time.at("carbon"), "kilograms_co2e", 1e3, wrong);  // of a single token's energy six decimals show two
  check_goodput(time, wrong);
}

/// Whether a person can work it out: it is no sentence, no single figure, and has no function.
bool is_arithmetic(std::string_view numbers) {
  const auto has = [&](std::string_view part) { return numbers.find(part) != numbers.npos; };
  const bool joins = has(" x ") || has(" / ") || has("^") || has(" - ");
  return joins && !has("exp") && !has("sqrt") && !has("effective") && !has(" = ") && !has("the ");
}

/// How far numbers that were rounded as they are shown may lie off, as shares that add up: counts to whole ones, others
/// to three digits and more. 1, 2 and 6 are the formulas' own.
double rounded_off(std::string_view numbers) {
  constexpr double of_three_digits = 0.005;
  double share = 0;
  for (const std::string& word : words_of(numbers)) {
    char* end = nullptr;
    const double value = std::abs(std::strtod(word.c_str(), &end));
    if (end == word.c_str() || value == 1.0 || value == 2.0 || value == 6.0) continue;
    const bool counts = *end == '\0' && word.find_first_of(".e") == word.npos;
    share += counts ? 0.5 / std::max(value, 0.5) : of_three_digits;
  }
  return share;
}

/// What a line of a scaling plan shows of itself comes to the figure beside it.
void check_plan(const json& lines, std::vector<std::string>& wrong) {
  constexpr double digits = 0.02;  // of three that are shown, raised to powers and taken from one another
  for (const auto& line : lines) {
    if (!line.at("numbers").is_string()) continue;
    const auto numbers = line["numbers"].get<std::string>();
    const auto text = line.at("text").get<std::string>();
    if (!is_arithmetic(numbers)) continue;
    const auto written = worked_out(numbers), shown = worked_out(text);
    const bool is_whole = line["id"] == "gpus" || line["id"] == "batch_steps";
    const double whole = is_whole ? 1.0 : 0.0;  // of an accelerator and a step there is no half
    const double off = digits + rounded_off(numbers) + rounded_off(text);
    const bool agrees =
        written && shown && std::abs(*written - *shown) <= whole + off * std::max(std::abs(*shown), 1.0);
    if (!agrees) wrong.push_back(line.at("id").get<std::string>() + ": " + numbers + " is not " + text);
  }
}

bool closes(std::string_view text) {
  const auto opens = [&](std::size_t at) { return at == 0 || text[at - 1] == ' ' || text[at - 1] == '('; };
  int brackets = 0, quotes = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    brackets += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (text[at] == '\'') quotes += opens(at) ? 1 : 0;
    const bool ends = at + 1 == text.size() || std::isalnum(static_cast<unsigned char>(text[at + 1])) == 0;
    if (text[at] == '\'' && !opens(at) && ends && quotes > 0) --quotes;
  }
  return brackets == 0 && quotes == 0;
}

/// What is reckoned has a source, which is no arithmetic.
void check_source(const json& line, std::vector<std::string>& wrong) {
  const bool has_both = line.is_object() && line.contains("formula") && line.contains("source");
  if (has_both && line["source"].is_string() && line["source"] == line["formula"])
    wrong.push_back("a source that is its formula: " + line.dump());
}

/// Every sentence; what is typed into a shell has quotes of its own.
void check_sentences(const json& value, std::vector<std::string>& wrong) {
  check_source(value, wrong);
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const bool has_gap = text.find("  ") != text.npos || text.find("{}") != text.npos || text.find(" ,") != text.npos;
    if (!closes(text) || has_gap || text.starts_with(' ') || text.ends_with(' '))
      wrong.push_back("badly said: " + text);
  }
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    if (key.find("launch") == key.npos && key != "command") check_sentences(member, wrong);
  }
}

}  // namespace

std::optional<double> worked_out(std::string_view written) { return Reckoner(words_of(written)).all(); }

std::vector<std::string> wrongly_written(const json& answer) {
  std::vector<std::string> wrong;
  check_sentences(answer, wrong);
  if (answer.contains("memory") && answer["memory"].contains("ledger")) check_run(answer, wrong);
  constexpr double least = 1e6;  // of a handful of parameters or tokens the first digit is rounded
  const bool is_plan = answer.contains("law") && answer.contains("lines");
  const auto is_large = [&](const char* what) { return answer[what].is_number() && answer[what] > least; };
  if (is_plan && is_large("parameters") && is_large("tokens")) check_plan(answer["lines"], wrong);
  return wrong;
}

}  // namespace llmcalc::test
