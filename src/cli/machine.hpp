// The machine that the program runs on, as a question's surroundings: files, the Hub, cores, Ctrl-C, and the
// accelerators that its drivers tell of, which `--gpu local` stands for.
#pragma once

#include "api/surroundings.hpp"
#include "dialects/cards.hpp"
#include "dialects/reading.hpp"
#include "read/presets.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

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

using dialects::Card;
using dialects::Holder;

/// By NVML, which comes with NVIDIA's driver and is loaded for this; empty where it is not installed.
/// \throws quantity::BadInput at --gpu where the driver does not answer
std::vector<Card> nvidia_cards();

/// By what the kernel shows of amdgpu and xe. Names come from the tables of libdrm and pciutils.
/// \param root  "/", or a folder that stands for it
std::vector<Card> kernel_cards(const std::filesystem::path& root);

/// Cards that drivers, the kernel below `root` or the processor itself tell of.
/// \throws quantity::BadInput at --gpu where there is no card, or its driver does not answer
std::vector<Card> local_cards(const std::filesystem::path& root);

/// Puts the presets of cards, and the memory that is free on them, in the place of "local" or "local:2".
/// \throws quantity::BadInput at --gpu where several differ, or one is like none that is known
void take_local_cards(dialects::Reading& reading, std::vector<read::Given>& words, const read::Catalogue& catalogue,
                      std::vector<Card> cards);

/// A line on stderr that shows after half a second, is renewed ten times a second, and is gone with its object.
class Notice {
 public:
  Notice() = default;
  ~Notice();
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  /// Whether a new text would be shown now.
  bool is_due() const { return std::chrono::steady_clock::now() >= next_; }
  void show(std::string_view text);

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
};

/// Ctrl-C ends the work with what it has so far.
/// \param draws  how far it is
void watch(const std::function<void(const api::GoesOn&)>& work, bool draws);

}  // namespace llmcalc::cli
