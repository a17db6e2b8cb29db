#include "api/surroundings.hpp"

#include "llmcalc/quantity/error.hpp"

namespace llmcalc::api {

using quantity::BadInput;

read::Catalogue Surroundings::catalogue(const Arguments& arguments) const {
  if (arguments.has("presets")) throw BadInput("--presets", "names a folder, and a question of the library has none");
  return {};
}

read::Catalogue Surroundings::calibrated(const Arguments& arguments) const {
  read::Catalogue known = catalogue(arguments);
  const std::string* file = arguments.find("calibration");
  if (file != nullptr && *file != "none") known.calibrate(read::read_calibration(text(*file, "--calibration"), *file));
  return known;
}

std::optional<std::string> Surroundings::handed_over(const std::string& path) const {
  return outside_.read ? outside_.read(path) : std::nullopt;
}

std::string Surroundings::text(const std::string& path, std::string_view place) const {
  auto text = handed_over(path);
  if (!text) throw BadInput(std::string(place), "cannot read '" + path + "': nobody hands it over");
  return *std::move(text);
}

read::ConfigText Surroundings::config(const std::string& path) const { return {path, text(path, "--config")}; }

bool Surroundings::is_thing(const std::string& word) const {
  return dialects::is_launch_command(word) || handed_over(word);
}

dialects::Reading Surroundings::thing(const std::string& name, Lookup) const {
  const dialects::FindFile beside = [this](const std::string& path) -> std::optional<dialects::NamedFile> {
    auto text = handed_over(path);
    return text ? std::optional(dialects::NamedFile{path, *std::move(text)}) : std::nullopt;
  };
  if (dialects::is_launch_command(name)) return dialects::read_launch_command(name, "command", beside);
  return dialects::read_launch_file(text(name, "--from"), name, beside);
}

void Surroundings::find_model(dialects::Reading&, const std::vector<read::Given>&, const read::Catalogue&,
                              Lookup) const {}

void Surroundings::find_accelerators(dialects::Reading&, std::vector<read::Given>&, const read::Catalogue&) const {
  throw BadInput("--gpu", "'local' is what a machine has, and a question of the library has none",
                 "name the accelerator, as rtx-4090");
}

void Surroundings::watch(const std::function<void(const GoesOn&)>& work, bool) const {
  work(outside_.progress ? outside_.progress : [](double) { return true; });
}

Searched Surroundings::search(const search::PlanSpace& space, const SearchOptions& options) const {
  search::PlanSearch search(space);
  const auto units = space.units();
  double share = 1.0;
  const auto search_all = [&](const GoesOn& goes_on) {
    for (std::size_t n = 0; n < units.size(); ++n) {
      share = static_cast<double>(n) / static_cast<double>(units.size());
      if (!goes_on(share)) return;
      search.search(units[n]);
      if (options.stops_at_first && search.fitting() > 0) break;
    }
    share = 1.0;
  };
  watch(search_all, options.is_quiet);
  return {search.findings(), share};
}

bool wants_colour(const Arguments& arguments, const Surroundings& around) {
  const auto choice = arguments.choice("color");
  return choice == "always" || (choice == "auto" && around.colours);
}

}  // namespace llmcalc::api
