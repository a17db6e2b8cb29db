#include "quantity/lists.hpp"
#include "read/presets.hpp"
#include "read/presets/fields.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

constexpr std::int64_t most_runs = 1'000'000'000;

/// Estimates that are off by more are not of the runs that were measured.
constexpr double largest_factor = 100.0;

double positive(const JsonPlace& value, double largest) {
  const double number = value.number();
  if (number <= 0.0 || number > largest) {
    value.fail("expected a number above 0 and up to " + std::to_string(static_cast<int>(largest)));
  }
  return number;
}

constexpr Field<spec::Bias> bias_fields[] = {
    {"runs",
     [](spec::Bias& bias, const JsonPlace& value) { bias.runs = value.integer(most_runs, spec::Bias::fewest_runs); }},
    {"factor", [](spec::Bias& bias, const JsonPlace& value) { bias.factor = positive(value, largest_factor); }},
    {"bar", [](spec::Bias& bias, const JsonPlace& value) { bias.bar = positive(value, largest_factor); }},
};

spec::Bias read_bias(const JsonPlace& object) {
  spec::Bias bias;
  read_fields(bias, object, bias_fields);
  for (const auto& field : bias_fields) {
    if (!object.has(field.key)) object.fail("has no \"" + std::string(field.key) + "\"");
  }
  return bias;
}

constexpr Field<OwnRuns> kind_fields[] = {
    {"framework", [](OwnRuns& runs, const JsonPlace& value) { assign(runs.framework, value); }},
    {"memory", [](OwnRuns& runs, const JsonPlace& value) { runs.calibration.memory = read_bias(value); }},
    {"time", [](OwnRuns& runs, const JsonPlace& value) { runs.calibration.time = read_bias(value); }},
};

OwnRuns read_kind(const JsonPlace& object) {
  OwnRuns runs;
  read_fields(runs, object, kind_fields);
  if (!object.has("framework")) object.fail("has no \"framework\"");
  return runs;
}

}  // namespace

std::vector<OwnRuns> read_calibration(std::string_view text, std::string_view file) {
  const PresetDocument document(text, file);
  const JsonPlace root = document.root();
  if (!root.has("calibration") || !root.member("calibration").value().is_array()) {
    root.fail("is no calibration: it has no list \"calibration\"", "llmcalc validate --calibrate runs.csv writes one");
  }
  for (const std::string& key : root.keys()) {
    constexpr std::string_view known[] = {"calibration", "llmcalc_version"};
    if (!quantity::contains(known, key)) fail_unknown_key(root, key, known);
  }
  const JsonPlace list = root.member("calibration");
  std::vector<OwnRuns> all;
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    OwnRuns runs = read_kind(list.item(i));
    const auto is_same = [&](const OwnRuns& other) { return other.framework == runs.framework; };
    if (std::ranges::any_of(all, is_same)) list.item(i).fail("a second entry of its framework");
    all.push_back(runs);
  }
  return all;
}

void Catalogue::calibrate(std::vector<OwnRuns> runs) {
  own_runs_ = std::make_shared<const std::vector<OwnRuns>>(std::move(runs));
}

const OwnRuns* Catalogue::own_runs(spec::Framework framework) const {
  if (own_runs_ == nullptr) return nullptr;
  const auto found = std::ranges::find(*own_runs_, framework, &OwnRuns::framework);
  return found == own_runs_->end() ? nullptr : &*found;
}

}  // namespace llmcalc::read
