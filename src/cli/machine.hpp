// The machine that the program runs on, as a question's surroundings: files, the Hub, cores, Ctrl-C.
#pragma once

#include "api/surroundings.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

namespace llmcalc::cli {

/// Facts that the program learns from its surroundings, read once.
struct Environment {
  bool terminal = false;                              ///< stdout is one
  bool errors_on_terminal = false;                    ///< stderr is one
  bool no_color = false;                              ///< https://no-color.org
  std::optional<std::filesystem::path> presets = {};  ///< of the user; need not exist
  std::filesystem::path root = "/";                   ///< below which the kernel tells of its devices
  std::function<void(std::string_view)> out = {};     ///< where long answers go piece by piece; empty: nowhere
};

Environment read_environment();

class Machine : public api::Surroundings {
 public:
  explicit Machine(const Environment& environment);
  /// A machine for who hands over texts, which come before files of their names, and watches searches.
  /// \pre both arguments outlive it
  Machine(const Environment& environment, const Outside& outside);

  /// Presets of the folder that --presets names, else the user's configuration folder if there is one.
  /// Both hold models/*.json and accelerators/*.json.
  read::Catalogue catalogue(const api::Arguments& arguments) const override;
  /// The file of --calibration, or else calibration.json in the folder of presets.
  read::Catalogue calibrated(const api::Arguments& arguments) const override;
  std::string text(const std::string& path, std::string_view place) const override;
  read::ConfigText config(const std::string& path) const override;
  bool is_thing(const std::string& word) const override;
  dialects::Reading thing(const std::string& name, api::Lookup lookup) const override;
  void find_model(dialects::Reading& reading, const std::vector<read::Given>& options, const read::Catalogue& catalogue,
                  api::Lookup lookup) const override;
  void find_accelerators(dialects::Reading& reading, std::vector<read::Given>& words,
                         const read::Catalogue& catalogue) const override;
  void watch(const std::function<void(const api::GoesOn&)>& work, bool is_quiet) const override;

 private:
  const Environment& environment_;
};

}  // namespace llmcalc::cli
