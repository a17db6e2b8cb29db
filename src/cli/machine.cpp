#include "cli/machine.hpp"

#include "cli/files.hpp"
#include "cli/hub.hpp"
#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <csignal>

namespace llmcalc::cli {
namespace {

const Outside nothing_handed_over;

/// Text that is piped in.
std::string standard_input() {
  std::string text;
  for (int c = std::getc(stdin); c != EOF; c = std::getc(stdin)) text.push_back(static_cast<char>(c));
  return text;
}

std::optional<std::filesystem::path> user_presets() {
  const std::filesystem::path ours = "llmcalc/presets";
  if (const auto folder = variable("XDG_CONFIG_HOME"); !folder.empty()) return std::filesystem::path(folder) / ours;
  if (const auto home = variable("HOME"); !home.empty()) return std::filesystem::path(home) / ".config" / ours;
  return std::nullopt;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a signal handler reaches nothing else
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "what a signal handler may write");

/// A second one is deadly as ever.
extern "C" void note_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

/// Notes Ctrl-C instead of dying of it.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, note_interrupt)) {}
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*before_)(int);
};

std::string bar_of(double share) {
  constexpr std::size_t width = 30;
  constexpr double percent = 100.0;
  const auto filled = static_cast<std::size_t>(share * width);
  return fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(width - filled, '.'), percent * share);
}

}  // namespace

Machine::Machine(const Environment& environment) : Machine(environment, nothing_handed_over) {}

Machine::Machine(const Environment& environment, const Outside& outside)
    : Surroundings(outside), environment_(environment) {
  colours = environment.terminal && !environment.no_color;
  terminal = environment.terminal;
  out = environment.out;
}

read::Catalogue Machine::catalogue(const api::Arguments& arguments) const {
  auto folder = environment_.presets;
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
    if (!holds("models") && !holds("accelerators") && !holds("families") && !holds("rates")) {
      throw quantity::BadInput(place,
                               "'" + *named + "' has none of the folders models, accelerators, families and rates",
                               "it holds models/*.json, accelerators/*.json, families/*.json and rates/*.json");
    }
  }
  if (!folder) return {};
  return {read_presets(*folder / "models", place), read_presets(*folder / "accelerators", place),
          read_presets(*folder / "families", place), read_presets(*folder / "rates", place)};
}

read::Catalogue Machine::calibrated(const api::Arguments& arguments) const {
  read::Catalogue known = Surroundings::calibrated(arguments);
  const std::string* folder = arguments.find("presets");
  if (arguments.has("calibration") || (folder == nullptr && !environment_.presets)) return known;
  const auto file = (folder != nullptr ? std::filesystem::path(*folder) : *environment_.presets) / "calibration.json";
  if (is_file(file)) known.calibrate(read::read_calibration(read_file(file, "user presets"), file.string()));
  return known;
}

std::string Machine::text(const std::string& path, std::string_view place) const {
  auto handed = handed_over(path);
  if (handed) return *std::move(handed);
  return path == "-" ? standard_input() : read_file(path, place);
}

read::ConfigText Machine::config(const std::string& path) const {
  const auto file = is_folder(path) ? std::filesystem::path(path) / "config.json" : std::filesystem::path(path);
  return {file.string(), text(file.string(), "--config")};
}

bool Machine::is_thing(const std::string& word) const { return cli::is_thing(word) || handed_over(word); }

dialects::Reading Machine::thing(const std::string& name, api::Lookup lookup) const {
  if (handed_over(name)) return Surroundings::thing(name, lookup);
  if (is_address(name)) return read_address(name, read_hub_environment(lookup.offline));
  return name == "-" ? dialects::read_launch_file(standard_input(), "standard input", files_below("."))
                     : read_thing(name);
}

void Machine::find_model(dialects::Reading& reading, const std::vector<read::Given>& options,
                         const read::Catalogue& catalogue, api::Lookup lookup) const {
  lookup.is_quiet = lookup.is_quiet || !environment_.errors_on_terminal;
  cli::find_model(reading, options, catalogue, lookup);
}

void Machine::find_accelerators(dialects::Reading& reading, std::vector<read::Given>& words,
                                const read::Catalogue& catalogue) const {
  take_local_cards(reading, words, catalogue, local_cards(environment_.root));
}

void Machine::watch(const std::function<void(const api::GoesOn&)>& work, bool is_quiet) const {
  if (is_watched()) return Surroundings::watch(work, is_quiet);
  cli::watch(work, environment_.errors_on_terminal && !is_quiet);
}

Environment read_environment() {
  const bool plain = variable("TERM") == "dumb";  // can neither colour nor draw (terminfo's entry of that name)
  return {.terminal = is_terminal(stdout) && !plain,
          .errors_on_terminal = is_terminal(stderr) && !plain,
          .no_color = !variable("NO_COLOR").empty(),
          .presets = user_presets()};
}

Notice::~Notice() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Notice::show(std::string_view text) {
  next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  shown_ = true;
  std::fputs(fmt::format("\r\033[K{}", text).c_str(), stderr);
  std::fflush(stderr);
}

void watch(const std::function<void(const api::GoesOn&)>& work, bool draws) {
  interrupted = false;
  const InterruptGuard guard;
  Notice notice;
  work([&](double share) {
    if (draws && notice.is_due()) notice.show(bar_of(share));
    return !interrupted.load();
  });
}

}  // namespace llmcalc::cli
