#include "cli/catalogue.hpp"

#include "cli/files.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/calibration.hpp"

namespace llmcalc::cli {

read::Catalogue open_catalogue(const Arguments& arguments, const Environment& environment) {
  auto folder = environment.presets;
  std::string place = "user presets";
  if (const std::string* named = arguments.find("presets")) {
    folder = *named;
    place = "--presets";
    std::error_code error;
    if (!std::filesystem::is_directory(*folder, error)) {
      throw quantity::BadInput(place, "'" + *named + "' is no folder",
                               "it holds models/*.json, accelerators/*.json, families/*.json and rates/*.json");
    }
    const auto holds = [&](const char* name) { return std::filesystem::is_directory(*folder / name, error); };
    if (!holds("models") && !holds("accelerators") && !holds("rates")) {
      throw quantity::BadInput(place, "'" + *named + "' has none of the folders models, accelerators and rates",
                               "it holds models/*.json, accelerators/*.json and rates/*.json");
    }
  }
  if (!folder) return {};
  return {read_presets(*folder / "models", place), read_presets(*folder / "accelerators", place),
          read_presets(*folder / "families", place), read_presets(*folder / "rates", place)};
}

read::Catalogue open_calibrated(const Arguments& arguments, const Environment& environment) {
  read::Catalogue catalogue = open_catalogue(arguments, environment);
  if (const std::string* named = arguments.find("calibration")) {
    if (*named != "none") catalogue.calibrate(read::read_calibration(read_file(*named, "--calibration"), *named));
    return catalogue;
  }
  const std::string* folder = arguments.find("presets");
  if (folder == nullptr && !environment.presets) return catalogue;
  const auto file = (folder != nullptr ? std::filesystem::path(*folder) : *environment.presets) / "calibration.json";
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return catalogue;
  catalogue.calibrate(read::read_calibration(read_file(file, "user presets"), file.string()));
  return catalogue;
}

}  // namespace llmcalc::cli
