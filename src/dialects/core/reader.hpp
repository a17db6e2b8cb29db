// What reads one thing after the other, where they name each other: an axolotl file its DeepSpeed file, a command both.
#pragma once

#include "dialects/core/names.hpp"
#include "dialects/reading.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {
struct Node;
class Settings;
}  // namespace llmcalc::read

namespace llmcalc::dialects {

struct Format;

class Reader {
 public:
  explicit Reader(const FindFile& find, int depth = 0) : find_(find), depth_(depth) {}

  Reading file(std::string_view text, std::string_view place) const;
  Reading command(std::string_view text, std::string_view place) const;
  /// The same on machines that are said elsewhere.
  Reading command(std::string_view text, std::string_view place, const Settings& machines) const;
  /// A script with what stands around it: SkyPilot's tasks.
  std::optional<Reading> task(const Node& node, std::string_view place) const;
  /// What the containers of a compose file or of manifests start; empty where that is nothing known.
  std::optional<Reading> containers(const Node& node, std::string_view place) const;

  /// The file of that name, if it may be read.
  std::optional<Reading> file_named(const std::string& path) const;

  /// Settings of a format that is known.
  Reading settings(const Format& format, const Settings& written, std::string_view place) const;

  /// On top of those of the file that `defaults` names, as NeMo-RL's files begin.
  Settings inherited(Settings own, int depth) const;

 private:
  const FindFile& find_;
  int depth_;  ///< how many files have named each other to get here
};

}  // namespace llmcalc::dialects
